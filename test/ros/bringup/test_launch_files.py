"""The launch files themselves, where launch_ros is installed; otherwise that they are whole."""

from __future__ import annotations

import ast
import re
import runpy
from pathlib import Path

import pytest
from ros2_tools import HAS_LAUNCH

from dvrk_kinematics.ros.bringup.launch import LAUNCHES
from dvrk_kinematics.ros.executables import EXECUTABLES

FOLDER = Path(__file__).parents[3] / "launch"
FILES = sorted(FOLDER.glob("*.launch.py"))


def test_there_is_a_file_for_every_launch() -> None:
    assert {file.name.removesuffix(".launch.py") for file in FILES} == set(LAUNCHES)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_file_asks_for_its_own_launch_and_holds_no_logic(file: Path) -> None:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    (asked,) = [c.args[0].value for c in calls if getattr(c.func, "id", "") == "describe"]
    assert asked == file.name.removesuffix(".launch.py")
    assert not any(isinstance(node, ast.If | ast.For | ast.While) for node in ast.walk(tree))


@pytest.mark.skipif(not HAS_LAUNCH, reason="no launch_ros; DVRK_ROS_TOOLS can name a prefix")
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_launch_ros_takes_the_description(file: Path) -> None:
    import launch

    description = runpy.run_path(str(file))["generate_launch_description"]()
    declared = [
        (entity.name, entity.description)
        for entity in description.entities
        if isinstance(entity, launch.actions.DeclareLaunchArgument)
    ]
    expected = LAUNCHES[file.name.removesuffix(".launch.py")].declared
    assert declared == [(argument.name, argument.help) for argument in expected]


def test_every_executable_is_installed_by_its_name() -> None:
    text = (FOLDER.parent / "setup.py").read_text(encoding="utf-8")
    listed = re.findall(r'^ +"(\w+) = dvrk_kinematics\.ros\.executables:(\w+)",$', text, re.M)
    assert listed == [(name, name) for name in EXECUTABLES]

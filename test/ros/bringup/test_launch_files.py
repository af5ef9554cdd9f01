"""The launch files themselves, where launch_ros is installed; otherwise that they are whole."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path

import pytest

from dvrk_kinematics.ros.launching import LAUNCHES

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


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_launch_ros_takes_the_description(file: Path) -> None:
    pytest.importorskip("launch_ros")
    launch = pytest.importorskip("launch")
    description = runpy.run_path(str(file))["generate_launch_description"]()
    declared = [
        (entity.name, entity.description, entity.choices)
        for entity in description.entities
        if isinstance(entity, launch.actions.DeclareLaunchArgument)
    ]
    expected = LAUNCHES[file.name.removesuffix(".launch.py")].declared
    assert declared == [
        (argument.name, argument.description, list(argument.choices) or None)
        for argument in expected
    ]

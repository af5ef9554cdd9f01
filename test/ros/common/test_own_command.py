"""The help of a command names it as it was typed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dvrk_kinematics.ros.bringup.processes import Process, command_line

TIMEOUT_S = 60.0


def _help_of(command: list[str]) -> str:
    told = [*command, "--help"]
    shown = subprocess.run(told, capture_output=True, text=True, timeout=TIMEOUT_S, check=True)
    return shown.stdout


@pytest.mark.parametrize("name", ["arm", "record"])
def test_dvrk_shows_itself(name: str) -> None:
    shown = _help_of(command_line(Process(name)))
    assert shown.startswith(f"usage: ./dvrk {name} [") and "ros2 run" not in shown


@pytest.mark.parametrize("name", ["arm", "record"])
def test_an_installed_program_shows_ros2_run(name: str, tmp_path: Path) -> None:
    program = tmp_path / "lib" / "dvrk_kinematics" / name
    program.parent.mkdir(parents=True)
    # As setuptools writes it for an entry point.
    program.write_text(
        f"import sys\nfrom dvrk_kinematics.ros.executables import {name}\nsys.exit({name}())\n"
    )
    shown = _help_of([sys.executable, str(program)])
    assert shown.startswith(f"usage: ros2 run dvrk_kinematics {name} [")
    assert "./dvrk" not in shown

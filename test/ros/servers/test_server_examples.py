"""The examples that need servers run against real ones."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from kinematics_client import SERVER
from motion_client import TIMEOUT_S, MotionClient, make_processes
from rclpy.node import Node

EXAMPLES = Path(__file__).parents[3] / "examples"


def run_example(name: str) -> str:
    """What an example prints."""
    path = EXAMPLES / name
    assert len(path.read_text(encoding="utf-8").splitlines()) < 60
    done = subprocess.run(
        [sys.executable, str(path)],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_node_asks_for_joint_positions(run: Any) -> None:
    run(SERVER)
    text = run_example("02_ik_from_another_node.py")
    assert "pose 0: ok [" in text and "pose 1: ok [" in text
    assert "pose 2: outside limits" in text and "] insertion" in text
    assert "position first: ok" in text
    assert "refused: frame 'nowhere' is not on tf" in text


def test_two_arms_replay_a_recording_together(
    run: Any, node: Node, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("recordings")
    for process in make_processes(["PSM1", "PSM2"], str(folder)):
        run(process)
    for name in ("PSM1", "PSM2"):
        MotionClient(node, name).get_ready()
    text = run_example("05_two_arms_replay.py")
    assert "recorded: planned, not moved" in text
    assert (folder / "lesson.yaml").is_file()
    assert "PSM1: planned, not moved" in text and "PSM2: planned, not moved" in text
    arrived = re.findall(r"(PSM\d) arrived: .*; contour ([0-9.]+) um, lag -?[0-9.]+ ms", text)
    assert [name for name, _ in arrived] == ["PSM1", "PSM2"], text
    assert all(float(contour_um) <= 2.0 for _, contour_um in arrived), text

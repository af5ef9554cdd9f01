"""The examples that need servers run against real ones."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from joint_goals import HOME, at
from kinematics_client import SERVER
from motion_client import TIMEOUT_S, MotionClient, make_processes
from rclpy.node import Node

EXAMPLES = Path(__file__).parents[3] / "examples"


def run_example(name: str, code: int = 0) -> str:
    """What an example prints that ends with an exit code."""
    path = EXAMPLES / name
    assert len(path.read_text(encoding="utf-8").splitlines()) < 60
    done = subprocess.run(
        [sys.executable, str(path)],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done.stdout if code == 0 else done.stdout + done.stderr


def test_a_node_asks_for_joint_positions(run_alone: Any) -> None:
    run_alone(SERVER)
    text = run_example("02_ik_from_another_node.py")
    assert "pose 0: ok [" in text and "pose 1: ok [" in text
    assert "pose 2: outside limits" in text and "] insertion" in text
    assert "position first: ok" in text
    assert "refused: frame 'nowhere' is not on tf" in text


def test_two_arms_replay_a_recording_together_and_one_makes_a_first_motion(
    run_alone: Any, node: Node, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("recordings")
    for process in make_processes(["PSM1", "PSM2"], str(folder)):
        run_alone(process)
    clients = {name: MotionClient(node, name) for name in ("PSM1", "PSM2")}
    clients["PSM1"].get_ready()
    refused = run_example("05_two_arms_replay.py", code=1)
    assert "PSM2 home" in refused and "Traceback" not in refused
    assert "PSM2 arrived" not in refused

    clients["PSM2"].get_ready()
    text = run_example("05_two_arms_replay.py")
    assert "./dvrk up --arm PSM1 --arm PSM2" in text
    assert "recorded: planned, not moved" in text
    assert (folder / "lesson.yaml").is_file()
    assert "PSM1: planned, not moved" in text and "PSM2: planned, not moved" in text
    assert "PSM1 arrived: " in text and "PSM2 arrived: " in text
    contours_um = [float(found) for found in re.findall(r"PSM\d: contour ([0-9.]+) um", text)]
    assert len(contours_um) == 2 and max(contours_um) <= 2.0, text

    began = clients["PSM1"].model.forward(clients["PSM1"].setpoint)
    begin_s = time.monotonic()
    text = run_example("00_first_motion.py")
    took_s = time.monotonic() - begin_s
    words = (
        "./dvrk up",
        "enable: ENABLED",
        "home: homed",
        "mm in PSM1_base",
        "goal: goal reached",
    )
    assert all(word in text for word in words), text
    assert "\nhold: " in text
    way_m = clients["PSM1"].model.forward(clients["PSM1"].setpoint)[:3, 3] - began[:3, 3]
    # 10 mm by the goal, and as far by the jog as 5 mm/s come while the example ran.
    assert 0.010 < way_m[0] < 0.010 + 0.005 * took_s and abs(way_m[1:]).max() < 1e-4, way_m

    # So near the limit of the insertion that 10 mm along x fit no more.
    clients["PSM1"].reach(at(yaw=0.9, insertion=0.238), 2.0)
    refused = run_example("00_first_motion.py", code=1)
    assert "10 mm along x: " in refused and "Traceback" not in refused, refused
    assert "goal: " not in refused and "hold: " not in refused
    clients["PSM1"].reach(HOME, 2.0)

    # A goal that is ended by somebody else: no jog follows.
    example = subprocess.Popen(
        [sys.executable, str(EXAMPLES / "00_first_motion.py")],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        clients["PSM1"].wait_moving(before=clients["PSM1"].commands.mark())
        clients["PSM1"].do("hold")
        said, _ = example.communicate(timeout=TIMEOUT_S)
    finally:
        example.kill()
    assert example.returncode == 1 and "goal: hold was asked for" in said, said
    assert "hold: " not in said and "Traceback" not in said, said

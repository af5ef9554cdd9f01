"""A bridge that fails at some goals, and its loop once a file is there.

failing_bridge.py FILE NAMESPACE
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from dvrk_kinematics.driver import Finding, Goal, PreparedGoal, prepare_goal
from dvrk_kinematics.driver.jaw import JawPlayer
from dvrk_kinematics.ros.bridge import arm_drive as bridge_drive
from dvrk_kinematics.ros.bridge.crtk_port import CrtkPort
from dvrk_kinematics.ros.bridge.node import main

BAD_TIME_NS, BAD_OPENING = 1_234_567_891, 0.1234
"""What a goal of the arm, and one of the jaw, must hold to fail."""
poll, accept = CrtkPort.poll, JawPlayer.accept


def poll_or_fail(port: CrtkPort, now_ns: int) -> bool:
    if Path(sys.argv[1]).exists():
        raise RuntimeError("no luck")
    return poll(port, now_ns)


def prepare_or_fail(goal: Goal, *settings: Any) -> PreparedGoal | Finding:
    if goal.knots.times_ns[-1] == BAD_TIME_NS:
        raise ZeroDivisionError("no luck with this goal")
    return prepare_goal(goal, *settings)


def accept_or_fail(player: JawPlayer, goal_id: bytes, position: float) -> Finding | None:
    if position == BAD_OPENING:
        raise ZeroDivisionError("no luck with this opening")
    return accept(player, goal_id, position)


if __name__ == "__main__":
    bridge_drive.prepare_goal = prepare_or_fail
    JawPlayer.accept = accept_or_fail  # type: ignore[method-assign]
    CrtkPort.poll = poll_or_fail  # type: ignore[method-assign]
    sys.exit(main(["--ros-args", "-r", f"__ns:=/{sys.argv[2]}"]))

"""What fails inside a bridge: a goal alone ends that goal, the control loop ends the bridge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bridge_client import BridgeClient
from failing_bridge import BAD_OPENING, BAD_TIME_NS
from joint_goals import ABORTED, HOME, SUCCEEDED, TIMEOUT_S, at, check_ended
from rclpy.node import Node

from dvrk_kinematics.driver import Reason, ResultCode
from dvrk_kinematics.ros.bringup.processes import simulated_arms


def _check_goals_fail_alone(client: BridgeClient) -> None:
    """Whatever looking at a goal raises refuses that goal, and no other."""
    for _ in range(2):
        refused = client.go(at(yaw=0.1), BAD_TIME_NS * 1e-9).result(TIMEOUT_S)
        text = check_ended(refused, Reason.PREPARATION_FAILED, ResultCode.INVALID_GOAL)
        assert "no luck with this goal" in text
        assert client.grip(BAD_OPENING).result(TIMEOUT_S).status == ABORTED
        client.reach(at(yaw=0.05))
        assert client.grip(0.3).result(TIMEOUT_S).status == SUCCEEDED
        client.reach(HOME)


def test_goals_that_fail_end_alone_and_a_loop_that_fails_freezes_the_arm(
    run_alone: Any, node: Node, start: Any, tmp_path: Path
) -> None:
    run_alone(simulated_arms(["PSM1"], "failing"))
    bridge = start("bridge/failing_bridge.py", str(tmp_path / "fail"), "failing")
    client = BridgeClient(node, "PSM1", "failing")
    client.get_ready()
    _check_goals_fail_alone(client)
    before, holds = client.commands.mark(), client.commands.mark("hold")
    goal = client.go(at(yaw=1.2), 20.0)
    client.wait_moving(0.3, before=before)
    (tmp_path / "fail").touch()
    text = check_ended(
        goal.result(TIMEOUT_S), Reason.LOOP_FAILED, ResultCode.PATH_TOLERANCE_VIOLATED
    )
    assert "no luck" in text
    assert client.commands.mark("hold") == holds + 1
    client.wait_at("setpoint_js", client.commands.setpoints()[-1], 1e-9)
    assert bridge.wait(TIMEOUT_S) != 0
    said = bridge.stdout.read()
    for line in ("no luck with this goal", "no luck with this opening"):
        # With a traceback, once a goal; the warning of the refusal is throttled.
        assert said.count(f"\nZeroDivisionError: {line}") == 2, said

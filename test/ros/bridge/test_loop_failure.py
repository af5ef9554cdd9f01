"""A control loop that fails: the arm is held, the client is told, and the bridge ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bridge_client import BridgeClient
from joint_goals import TIMEOUT_S, at, check_ended
from rclpy.node import Node

from dvrk_kinematics.driver import Reason, ResultCode
from dvrk_kinematics.ros.bringup import simulated_arms


def test_a_loop_that_fails_freezes_the_arm_and_tells_the_client(
    run: Any, node: Node, start: Any, tmp_path: Path
) -> None:
    run(simulated_arms(["PSM1"], "failing"))
    bridge = start("bridge/failing_bridge.py", str(tmp_path / "fail"), "failing")
    client = BridgeClient(node, "PSM1", "failing")
    client.get_ready()
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

"""The moves of the dVRK's own arm test, waited for exactly as its Python client waits.

That client takes home() for done at the first state that is homed and not busy, which comes before
the homing motion, and a move for done at the first state after its start that is not busy.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import pytest
from arm_client import ArmClient
from geometry_msgs.msg import PoseStamped
from rclpy.node import Node
from sensor_msgs.msg import JointState

from dvrk_kinematics.ros.bringup.processes import simulated_arms
from dvrk_kinematics.ros.common.conversions import matrix_to_pose, pose_to_matrix, to_flat
from dvrk_kinematics.ros.common.stamps import stamp_to_ns
from dvrk_kinematics.ros.crtk.contract import Kind

TIMEOUT_S = 30.0
STREAM_S = 1.0
PERIOD_S = 0.01


def move(arm: ArmClient, name: str, message: Any) -> None:
    """Send a move and wait as the client's handle does."""
    start_ns = time.time_ns()
    arm.send(name, message)
    seen = len(arm.heard["operating_state"])

    def is_done() -> bool:
        states = arm.heard["operating_state"]
        if stamp_to_ns(states[-1].header.stamp) > start_ns and not states[-1].is_busy:
            return True
        return any(not state.is_busy for state in states[seen:])

    arm.wait("operating_state", is_done, name)


def move_joints(arm: ArmClient, goal: Any) -> None:
    move(arm, "move_jp", JointState(position=to_flat(np.asarray(goal))))


def setpoint(arm: ArmClient) -> Any:
    """Set-point of the joints, waited for until it is valid."""
    while stamp_to_ns((message := arm.newest("setpoint_js")).header.stamp) == 0:
        pass
    return np.array(message.position)


def prepare_cartesian(arm: ArmClient) -> None:
    goal = setpoint(arm)
    goal[:4] = 0.0, 0.0, 0.12, 0.0
    move_joints(arm, goal)


@pytest.mark.parametrize("name", ["PSM1", "ECM"])
def test_arm_test_runs_through(run: Any, node: Node, name: str) -> None:
    run(simulated_arms([name], f"test_{name}"))
    arm = ArmClient(node, name, f"test_{name}/")
    arm.hear("operating_state", "setpoint_js", "measured_js", "setpoint_cp", "error", "warning")
    arm.hear("status")
    arm.prepare("state_command", "servo_jp", "move_jp", "servo_cp", "move_cp")
    arm.check_connections()
    arm.enable()
    arm.command("home", lambda state: state.is_homed and not state.is_busy)
    prepare_cartesian(arm)
    arm.settle_homed(0)
    prepare_cartesian(arm)
    start = setpoint(arm)
    np.testing.assert_allclose(start, [0.0, 0.0, 0.12, 0.0, 0.0, 0.0][: len(start)], atol=1e-6)
    move_joints(arm, start)
    stream_joints(arm, start)
    for sign in (1.0, -1.0, 0.0):
        goal = start + np.pad([sign, -sign], (0, len(start) - 2)) * math.radians(10.0)
        move_joints(arm, goal)
        np.testing.assert_allclose(arm.newest("measured_js").position, goal, atol=1e-6)
    prepare_cartesian(arm)
    stream_poses(arm)
    prepare_cartesian(arm)
    if arm.kind is Kind.PSM:
        move_poses(arm)
    assert arm.texts("error") == [] and arm.texts("warning") == []
    assert arm.state.state == "ENABLED"


def stream_joints(arm: ArmClient, start: Any) -> None:
    samples = round(STREAM_S / PERIOD_S)
    velocity = np.zeros(len(start))
    for k in range(samples + 1):
        angle = 2.0 * math.pi * k / samples
        goal = start.copy()
        goal[:2] += math.radians(5.0) * (1.0 - math.cos(angle))
        velocity[:2] = math.radians(5.0) * math.sin(angle)
        arm.send("servo_jp", JointState(position=to_flat(goal), velocity=to_flat(velocity)))
        assert arm.heard["measured_js"][-1].header.stamp.sec > 0
        time.sleep(PERIOD_S)
    arm.wait("setpoint_js", lambda: np.allclose(_latest_setpoint(arm), start, rtol=0.0, atol=1e-9))


def _latest_setpoint(arm: ArmClient) -> Any:
    return arm.heard["setpoint_js"][-1].position


def stream_poses(arm: ArmClient) -> None:
    start = pose_to_matrix(arm.newest("setpoint_cp").pose)
    samples = round(STREAM_S / PERIOD_S)
    goal = start.copy()
    for k in range(samples + 1):
        goal[:2, 3] = start[:2, 3] + 0.01 * (1.0 - math.cos(2.0 * math.pi * k / samples))
        arm.send("servo_cp", PoseStamped(pose=matrix_to_pose(goal)))
        time.sleep(PERIOD_S)

    def is_back() -> bool:
        reached = pose_to_matrix(arm.heard["setpoint_cp"][-1].pose)
        return bool(np.allclose(reached[:3, 3], start[:3, 3], rtol=0.0, atol=1e-5))

    arm.wait("setpoint_cp", is_back)


def move_poses(arm: ArmClient) -> None:
    start = pose_to_matrix(arm.newest("setpoint_cp").pose)
    for axis in (0, 1):
        for way in (-0.05, 0.05, 0.0):
            goal = start.copy()
            goal[axis, 3] += way
            move(arm, "move_cp", PoseStamped(pose=matrix_to_pose(goal)))
            reached = pose_to_matrix(arm.newest("setpoint_cp").pose)
            np.testing.assert_allclose(reached[:3, 3], goal[:3, 3], atol=1e-5)

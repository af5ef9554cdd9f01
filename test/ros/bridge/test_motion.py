"""Motions on the wire: what is sent, how they stop along their path, and what they end with."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from typing import Any

import numpy as np
import pytest
from bridge_client import BridgeClient
from joint_goals import (
    CANCELED,
    HOME,
    PSM_JOINTS,
    SUCCEEDED,
    TIMEOUT_S,
    at,
    check_ended,
    make_goal,
)

from dvrk_kinematics.driver import Reason, ResultCode
from dvrk_kinematics.ros.common.stamps import stamp_to_ns

LINE_M = 1e-9
SUCCESSFUL, VIOLATED = ResultCode.SUCCESSFUL, ResultCode.PATH_TOLERANCE_VIOLATED
FAR = at(yaw=1.2, pitch=-0.6, insertion=0.2, roll=0.8)


@pytest.fixture(scope="module")
def rig(make_rig: Any) -> Any:
    rig = make_rig("motion")
    rig.client.get_ready()
    return rig


@pytest.fixture
def client(rig: Any) -> Any:
    """An arm at home; whatever the test does, its commands are checked."""
    rig.client.reach(HOME)
    yield rig.client
    rig.client.commands.check()


def line_errors(q: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """How far setpoints are from the straight line between two (rad, m), and along it (0..1)."""
    way = end - start
    along = (q - start) @ way / (way @ way)
    return np.abs(q - start - along[:, None] * way).max(axis=1)


def straight(end: np.ndarray, seconds: float) -> Any:
    """A goal that goes straight from home to an end: cubic, all joints in proportion."""
    return make_goal(PSM_JOINTS, [0.0, seconds], [HOME, end], qd=np.zeros((2, 6)))


def long_drawn(end: np.ndarray) -> Any:
    """A goal that goes straight from home to an end, and slows down for half of its time."""
    way, late_s = end - HOME, 3.0
    q = [HOME, HOME + 0.8 * way, end]
    # From there on with constant deceleration.
    qd = [0.0 * way, 2.0 * 0.2 / late_s * way, 0.0 * way]
    return make_goal(PSM_JOINTS, [0.0, 2.2, 2.2 + late_s], q, qd=qd)


def test_setpoints_are_those_of_the_goal(client: BridgeClient) -> None:
    sent = client.commands.mark()
    response = client.follow(straight(FAR, 2.5)).result(TIMEOUT_S)
    check_ended(response, Reason.REACHED, SUCCESSFUL, SUCCEEDED)
    q = client.commands.setpoints(sent)
    assert len(q) > 100
    np.testing.assert_allclose(q[-1], FAR, atol=1e-12)
    assert line_errors(q, HOME, FAR).max() < LINE_M
    assert (np.diff(q[:, 0]) >= 0.0).all()


def test_feedback_names_joints_and_comes_while_a_goal_is_played(client: BridgeClient) -> None:
    client.go(at(yaw=0.3), 2.0).result(TIMEOUT_S)
    client.until(lambda: len(client.feedback) >= 5, "feedback")
    for message in client.feedback:
        assert list(message.joint_names) == list(PSM_JOINTS)
        error = np.array(message.actual.positions) - np.array(message.desired.positions)
        np.testing.assert_allclose(message.error.positions, error, atol=1e-12)
    times = [stamp_to_ns(message.desired.time_from_start) for message in client.feedback]
    assert times == sorted(times)


@pytest.mark.parametrize(
    ("phase", "share"), [("acceleration", 0.1), ("cruise", 0.5), ("deceleration", 0.85)]
)
@pytest.mark.parametrize("how", ["cancel", "hold"])
def test_a_stop_keeps_to_the_path(
    client: BridgeClient, phase: str, share: float, how: str
) -> None:
    sent = client.commands.mark()
    goal = client.follow(long_drawn(FAR))
    wanted = HOME[0] + share * (FAR[0] - HOME[0])

    def is_there() -> bool:
        return client.commands.count() > sent and bool(client.commands.newest()[0] >= wanted)

    client.until(is_there, phase, every_s=0.005)
    if how == "cancel":
        assert goal.cancel(TIMEOUT_S)
        response = goal.result(TIMEOUT_S)
        check_ended(response, Reason.CANCELLED, SUCCESSFUL, CANCELED)
    else:
        assert client.trigger("hold").message == "stopped"
        check_ended(goal.result(TIMEOUT_S), Reason.HOLD_REQUESTED, VIOLATED)
    q = client.commands.setpoints(sent)
    assert line_errors(q, HOME, FAR).max() < LINE_M
    steps = np.diff(q[:, 0])
    assert (steps >= 0.0).all()
    assert wanted <= q[-1, 0] < FAR[0]
    client.wait_at("setpoint_js", q[-1], 1e-9)
    client.wait_stop(Reason.CANCELLED if how == "cancel" else Reason.HOLD_REQUESTED)
    # No sudden end: the last steps shrink as the acceleration allows, also if some were not heard
    # or were late.
    acceleration = client.model.model.joints[0].acceleration
    elapsed_s = float(np.diff(client.commands.stamps_ns(sent))[-1]) * 1e-9
    last_s = max(0.01 * float(client.commands.gaps(sent)[-1]), 2.0 * elapsed_s)
    assert steps[-1] <= 3.0 * acceleration * last_s**2


def test_a_hold_at_rest_tells_the_arm_to_hold(client: BridgeClient) -> None:
    before = client.commands.mark("hold")
    with client.commands.silence("servo_jp"):
        client.do("hold")
    assert client.commands.mark("hold") == before + 1


def test_a_path_tolerance_that_cannot_be_kept_stops_along_the_path(client: BridgeClient) -> None:
    sent = client.commands.mark()
    # What is sent is measured a few ms later: at full speed that is more than 1e-4 rad.
    goal = make_goal(
        PSM_JOINTS, [0.0, 2.5], [HOME, at(yaw=1.0)], np.zeros((2, 6)), path_tolerance=1e-4
    )
    text = check_ended(client.follow(goal).result(TIMEOUT_S), Reason.PATH_TOLERANCE, VIOLATED)
    assert "yaw" in text and "allowed 0.0001" in text
    assert client.commands.setpoints(sent)[-1, 0] < 0.9
    client.wait_stop(Reason.PATH_TOLERANCE)


def test_a_goal_tolerance_that_cannot_be_met_is_told(client: BridgeClient) -> None:
    client.fault("stalled_joint", fault_joint="roll")
    goal = make_goal(PSM_JOINTS, [0.5], [at(roll=0.05)], goal_tolerance=0.01, goal_time_s=0.2)
    response = client.follow(goal).result(TIMEOUT_S)
    text = check_ended(response, Reason.GOAL_TOLERANCE, ResultCode.GOAL_TOLERANCE_VIOLATED)
    assert "roll = -0.05" in text
    client.fault("clear")
    client.wait_stop(Reason.GOAL_TOLERANCE)


def test_a_goal_without_tolerance_is_reached_when_its_path_is_played(client: BridgeClient) -> None:
    client.fault("stalled_joint", fault_joint="roll")
    goal = make_goal(PSM_JOINTS, [0.5], [at(roll=0.05)], goal_tolerance=-1.0)
    response = client.follow(goal).result(TIMEOUT_S)
    check_ended(response, Reason.REACHED, SUCCESSFUL, SUCCEEDED)
    client.fault("clear")


def test_a_motion_plays_on_when_its_client_dies_and_hold_stops_it(
    rig: Any, client: BridgeClient
) -> None:
    script = f"""
        import time
        import rclpy
        from control_msgs.action import FollowJointTrajectory
        from trajectory_msgs.msg import JointTrajectoryPoint
        from rclpy.action import ActionClient
        rclpy.init()
        node = rclpy.create_node("mortal")
        client = ActionClient(node, FollowJointTrajectory,
            "motion/bridge/PSM1/follow_joint_trajectory")
        client.wait_for_server()
        goal = FollowJointTrajectory.Goal()
        goal.trajectory.joint_names = {list(PSM_JOINTS)}
        point = JointTrajectoryPoint(positions={at(yaw=1.2).tolist()})
        point.time_from_start.sec = 20
        goal.trajectory.points = [point]
        rclpy.spin_until_future_complete(node, client.send_goal_async(goal))
        time.sleep(60.0)
    """
    sent = client.commands.mark()
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)]) as mortal:
        try:
            client.wait_moving(0.2, before=sent)
        finally:
            os.kill(mortal.pid, signal.SIGKILL)
    client.wait_moving(0.5)
    assert client.trigger("hold").message == "stopped"
    assert client.setpoint[0] < 1.0
    client.wait_stop(Reason.HOLD_REQUESTED)

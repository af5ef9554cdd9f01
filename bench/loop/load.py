"""The load on a bridge: subscribers, service calls, and arriving goals."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import rclpy
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionClient
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from tf2_msgs.msg import TFMessage
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from bench.loop.edges import JOINTS
from dvrk_kinematics.ros.client.calls import call, send_goal
from dvrk_kinematics.ros.common import qos
from dvrk_kinematics.ros.common.spinning_node import SpinningNode
from dvrk_kinematics.ros.common.stamps import ns_to_stamp

__all__ = ["Load", "make_goal", "open_load"]

_TIMEOUT_S = 60.0
_CALLS_PER_SECOND = 20.0


def make_goal(points: int) -> FollowJointTrajectory.Goal:
    """A goal with position and velocity at every knot, 50 ms apart."""
    t = 0.05 * np.arange(points)[:, None]
    position = (0.1 * np.sin(0.1 * t + np.arange(len(JOINTS)))).tolist()
    velocity = (0.01 * np.cos(0.1 * t + np.arange(len(JOINTS)))).tolist()
    knots = [
        JointTrajectoryPoint(
            positions=p, velocities=v, time_from_start=ns_to_stamp(k * 50_000_000, Duration)
        )
        for k, (p, v) in enumerate(zip(position, velocity, strict=True))
    ]
    trajectory = JointTrajectory(joint_names=list(JOINTS), points=knots)
    return FollowJointTrajectory.Goal(trajectory=trajectory)


class Load:
    """A node that loads the bridges of some arms.

    Args:
        node: A node that is spun by another thread.
        arms: Namespaces of the arms.
    """

    def __init__(self, node: Node, arms: Sequence[str]) -> None:
        self.heard = 0
        self._holds = [node.create_client(Trigger, f"bridge/{arm}/hold") for arm in arms]
        self._follow = [
            ActionClient(node, FollowJointTrajectory, f"bridge/{arm}/follow_joint_trajectory")
            for arm in arms
        ]
        for arm in arms:
            node.create_subscription(
                JointState, f"{arm}/joint_states", self._hear, qos.STATE_READER, raw=True
            )
        node.create_subscription(TFMessage, "/tf", self._hear, qos.TF, raw=True)

    def wait_until_ready(self) -> None:
        """Wait until every bridge hears its arm and we hear the bridges."""
        deadline = time.monotonic() + _TIMEOUT_S
        while not (self._all_hear() and self.heard):
            if time.monotonic() > deadline:
                raise TimeoutError("the stand-ins did not find each other")
            time.sleep(0.1)

    def call_for(self, seconds: float) -> None:
        """Call every bridge's service at a steady rate for a while."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self._all_hear()
            time.sleep(1.0 / _CALLS_PER_SECOND)

    def send(self, goal: Any, times: int, pause_s: float) -> None:
        """Send a goal to every bridge, several times, while calls of its service continue."""
        expected = str(len(goal.trajectory.points))
        for _ in range(times):
            for client in self._follow:
                answer = send_goal(client, goal, _TIMEOUT_S).result(_TIMEOUT_S)
                if answer.result.error_string != expected:
                    raise RuntimeError(f"a goal of {expected} points arrived incomplete")
            self.call_for(pause_s)

    def _all_hear(self) -> bool:
        return all([call(hold, Trigger.Request(), _TIMEOUT_S).success for hold in self._holds])

    def _hear(self, _: bytes) -> None:
        self.heard += 1


@contextmanager
def open_load(arms: Sequence[str]) -> Iterator[Load]:
    """A load in this process, spinning."""
    rclpy.init(args=[])
    node = Node("load")
    try:
        with SpinningNode(node):
            yield Load(node, arms)
    finally:
        node.destroy_node()
        rclpy.try_shutdown()

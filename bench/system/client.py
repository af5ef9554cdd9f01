"""Brings up the arms of a system, listens to them, and keeps them moving."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from control_msgs.action import FollowJointTrajectory
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.action import ActionClient
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from tf2_msgs.msg import TFMessage
from trajectory_msgs.msg import JointTrajectoryPoint

from dvrk_kinematics import load_arm
from dvrk_kinematics.models.model_files import model_name
from dvrk_kinematics.ros.client.calls import call, send_goal
from dvrk_kinematics.ros.common import qos
from dvrk_kinematics.ros.common.stamps import write_stamp
from dvrk_kinematics.ros.rclpy_ext.polled_subscription import PolledSubscription

__all__ = ["SystemClient", "Ticks"]

_START_S = 60.0
_SWAY = 0.02
"""How far joints sway about their position, as a fraction of their range."""

Ticks = dict[str, tuple[int, int]]
"""Ticks made and missed, by arm."""


class SystemClient:
    """A client of several arms.

    Args:
        node: A spinning node.
        arms: Names of the arms.
    """

    def __init__(self, node: Node, arms: Sequence[str]) -> None:
        self._node = node
        self._arms = tuple(arms)
        self._ticks: Ticks = {}
        self._changed = threading.Condition()
        node.create_subscription(DiagnosticArray, "/diagnostics", self._hear, qos.STATE)
        # Received as bytes and not read: having a listener is what costs the nodes.
        self._heard = [
            PolledSubscription(node, JointState, f"{arm}/joint_states", qos.STATE) for arm in arms
        ]
        self._tf = PolledSubscription(node, TFMessage, "/tf", qos.TF)

    def bring_up(self) -> None:
        """Enable and home all."""
        for word in ("enable", "home"):
            for arm in self._arms:
                client = self._node.create_client(Trigger, f"bridge/{arm}/{word}")
                answer = call(client, Trigger.Request(), _START_S)
                if not answer.success:
                    raise RuntimeError(f"{arm}: {word}: {answer.message}")

    def move(self, seconds: float) -> list[Any]:
        """Let all arms sway for a time; return the goals."""
        return [self._send(arm, seconds) for arm in self._arms]

    def read_ticks(self) -> Ticks:
        """Ticks of all bridges, from diagnostics yet to come."""
        with self._changed:
            self._ticks.clear()
            if not self._changed.wait_for(lambda: len(self._ticks) >= len(self._arms), _START_S):
                raise RuntimeError(f"only {sorted(self._ticks)} say how they are")
            return dict(self._ticks)

    def _send(self, arm: str, seconds: float) -> Any:
        model = load_arm(model_name(arm))
        name = f"bridge/{arm}/follow_joint_trajectory"
        goal = FollowJointTrajectory.Goal()
        goal.trajectory.joint_names = list(model.joint_names)
        span = model.limits.upper - model.limits.lower
        middle = model.limits.clamp(0.0 * span + [*([0.0] * 2), 0.12, *([0.0] * (len(span) - 3))])
        for k in range(1, int(seconds / 2.0) + 1):
            point = JointTrajectoryPoint()
            sign = 1.0 if k % 2 else -1.0
            point.positions = (middle + sign * _SWAY * span).tolist()
            point.velocities = [0.0] * len(span)
            write_stamp(point.time_from_start, k * 2_000_000_000)
            goal.trajectory.points.append(point)
        client = ActionClient(self._node, FollowJointTrajectory, name)
        return send_goal(client, goal, _START_S)

    def _hear(self, message: Any) -> None:
        with self._changed:
            for status in message.status:
                values = {value.key: value.value for value in status.values}
                if "missed_ticks" in values:
                    ticks = (int(values["ticks"]), int(values["missed_ticks"]))
                    self._ticks[status.hardware_id] = ticks
            self._changed.notify_all()

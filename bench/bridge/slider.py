"""How soon a motion slows down after a request."""

from __future__ import annotations

import time

import numpy as np
from control_msgs.msg import SpeedScalingFactor
from rclpy.node import Node
from sensor_msgs.msg import JointState

from dvrk_kinematics.ros.common import qos
from dvrk_kinematics.ros.rclpy_ext.patched_message import RawReader
from dvrk_kinematics.ros.rclpy_ext.polled_subscription import PolledSubscription

__all__ = ["SPEED", "Slider"]

_QUEUE = qos.with_depth(qos.STATE, 1000)
_SLOWER = 0.85
"""Fraction of its speed below which a joint counts as slower, whatever the jitter of the stamps.
At SPEED the first slower setpoint is below it."""
SPEED = 0.03
"""Speed of the first joint (rad/s) before each slow-down: its acceleration reduces it by a quarter
in a period."""
_CLOSEST_S = 0.003
"""Setpoints closer than this (s) show no speed: one was sent late."""
_TIMEOUT_S = 2.0


class Slider:
    """Requests a lower speed, and notes when the setpoints have it.

    Args:
        node: The node.
        arm: Name of the arm.
    """

    def __init__(self, node: Node, arm: str) -> None:
        self._publisher = node.create_publisher(
            SpeedScalingFactor, f"bridge/{arm}/speed_scaling_input", qos.SPEED_SCALING
        )
        self._setpoints = PolledSubscription(node, JointState, f"{arm}/servo_jp", _QUEUE)
        self._reader: RawReader[JointState] = RawReader(JointState, ["position", "velocity"])
        self._last: tuple[int, float] | None = None
        self._rng = np.random.default_rng(1)

    def measure(self) -> float | None:
        """Ask for half of the speed once, while the first joint moves at SPEED.

        Returns:
            Time from the request to the sending of the first slower setpoint (s), None if the
            joint did not move like that.
        """
        self._setpoints.take_newest()
        self._last = None
        deadline = time.monotonic() + _TIMEOUT_S
        while not 0.95 < self._next_speed(deadline)[1] / SPEED < 1.05:
            if time.monotonic() > deadline:
                return None
        # At any moment of a period, not always just after a setpoint.
        time.sleep(float(self._rng.uniform(0.0, 0.005)))
        asked_ns = time.time_ns()
        self._publisher.publish(SpeedScalingFactor(factor=0.5))
        found = None
        while found is None and time.monotonic() < deadline:
            sent_ns, speed = self._next_speed(deadline)
            if sent_ns > asked_ns and 0.0 < speed < _SLOWER * SPEED:
                found = (sent_ns - asked_ns) * 1e-9
        self._publisher.publish(SpeedScalingFactor(factor=1.0))
        return found

    def _next_speed(self, deadline: float) -> tuple[int, float]:
        """When the next setpoint was sent (ns), and the first joint's speed (rad/s) until then.

        The speed is 0 where it is unknown.
        """
        while (message := self._setpoints.take_raw(self._reader)) is None:
            if time.monotonic() > deadline:
                return 0, 0.0
            time.sleep(0.0005)
        now = message.stamp_ns, float(message["position"][0])
        last, self._last = self._last or now, now
        elapsed_s = (now[0] - last[0]) * 1e-9
        return now[0], abs(now[1] - last[1]) / elapsed_s if elapsed_s > _CLOSEST_S else 0.0

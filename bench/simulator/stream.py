"""A stream of servo commands at 200 Hz, and whether the arm followed every one."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import JointState

from dvrk_kinematics.ros.common import qos
from dvrk_kinematics.ros.common.conversions import make_joint_state
from dvrk_kinematics.ros.common.steady_loop import SteadyLoop, Tick
from dvrk_kinematics.ros.rclpy_ext.patched_message import PatchedMessage

__all__ = ["ServoStream"]

PERIOD_S = 0.005
STEP_RAD = 1e-5
"""How far each command goes; each differs from all others, so that we can recognise it."""

SEND_QUEUE = qos.ARM_STATE
"""A queue at the sender, so that a moment of load loses nothing before it is sent."""


class Listener(Protocol):
    """Listens to the arm's topics."""

    setpoints: list[float]

    def listen(self, seconds: float) -> None:
        """Take arriving messages for a while."""


class ServoStream:
    """Streams absolute (servo_jp) or relative (servo_jr) commands to the yaw of an arm.

    Args:
        node: The node.
        arm: The arm's name; it must be homed.
        kind: servo_jp or servo_jr.
    """

    def __init__(self, node: Node, arm: str, kind: str) -> None:
        self._kind = kind
        self._publisher = node.create_publisher(JointState, f"{arm}/{kind}", SEND_QUEUE)
        self._message = PatchedMessage(
            make_joint_state([], np.zeros(6), np.zeros(6)), ["position", "velocity"]
        )
        self._home = np.array([0.0, 0.0, 0.12, 0.0, 0.0, 0.0])
        self._start = 0.0
        self.sent = 0

    def run(self, ear: Listener, seconds: float) -> dict[str, Any]:
        """Stream for a while and compare the commands with the received set-points."""
        ear.listen(1.0)
        self._start = ear.setpoints[-1]
        ear.setpoints.clear()
        loop = SteadyLoop(PERIOD_S, self._send)
        loop.start()
        ear.listen(seconds)
        loop.stop()
        ear.listen(1.0)
        heard = np.rint((np.array(ear.setpoints) - self._start) / STEP_RAD).astype(int)
        distinct = np.unique(heard[heard > 0])
        return {
            "kind": self._kind,
            "sent": self.sent,
            "seen_in_setpoint_js": len(distinct),
            "last_applied": int(heard[-1]),
            "in_order": bool(np.all(np.diff(heard) >= 0)),
            "error_of_last_rad": float(ear.setpoints[-1] - self._start - self.sent * STEP_RAD),
        }

    def _send(self, _: Tick) -> None:
        self.sent += 1
        position = np.zeros(6)
        position[0] = STEP_RAD
        if self._kind == "servo_jp":
            position = self._home.copy()
            position[0] = self._start + self.sent * STEP_RAD
        self._message["position"] = position
        self._publisher.publish(self._message.stamped(0))

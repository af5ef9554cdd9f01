"""The factor at which a bridge plays motions, as it publishes it."""

from __future__ import annotations

from control_msgs.msg import SpeedScalingFactor
from rclpy.node import Node
from rclpy.serialization import deserialize_message

from dvrk_kinematics.ros import qos
from dvrk_kinematics.ros.polled import PolledSubscription

__all__ = ["HeardSpeedScaling"]


class HeardSpeedScaling:
    """Reads the factor when asked; costs nothing else, since it is published when it changes.

    Args:
        node: The node.
        arm: Name of the arm.
    """

    def __init__(self, node: Node, arm: str) -> None:
        self._subscription = PolledSubscription(
            node, SpeedScalingFactor, f"bridge/{arm}/speed_scaling", qos.SPEED_SCALING
        )
        self._factor = 1.0

    def read(self) -> float:
        """The newest factor, from 0 to 1; 1 where none was heard."""
        data = self._subscription.take_newest()
        if data is not None:
            try:
                factor = float(deserialize_message(data, SpeedScalingFactor).factor)
            except Exception:
                # Bytes that are no such message say nothing, and must not end a motion.
                return self._factor
            if 0.0 <= factor <= 1.0:
                self._factor = factor
        return self._factor

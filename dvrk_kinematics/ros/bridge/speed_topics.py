"""Topics for the speed of motions: the user's request, and the actual factor."""

from __future__ import annotations

from typing import Any

from control_msgs.msg import SpeedScalingFactor
from rclpy.node import Node

from dvrk_kinematics.ros.bridge.contract import SPEED_SCALING, SPEED_SCALING_INPUT
from dvrk_kinematics.ros.rclpy_ext.polled_subscription import PolledSubscription

__all__ = ["SpeedTopics"]

_STEP = 0.01
"""Smallest change of the factor that is published during a transition."""


class SpeedTopics:
    """``speed_scaling_input`` and ``speed_scaling`` of one arm, used by the control loop.

    Args:
        node: The node.
        arm: Name of the arm.
    """

    def __init__(self, node: Node, arm: str) -> None:
        self._logger = node.get_logger()
        self._name = SPEED_SCALING_INPUT.name_of(arm)
        self._input: PolledSubscription[Any] = PolledSubscription(
            node, *SPEED_SCALING_INPUT.of(arm)
        )
        self.topic = SPEED_SCALING.name_of(arm)
        """Topic that only bridges of this arm publish."""
        self._publisher = node.create_publisher(*SPEED_SCALING.of(arm))
        self._told: float | None = None

    def take(self) -> float | None:
        """The newest factor that a user requests; None without one from 0 to 1."""
        message = self._input.take_newest_message()
        if message is None:
            return None
        factor = float(message.factor)
        # This also excludes NaN.
        if 0.0 <= factor <= 1.0:
            return factor
        self._logger.warning(
            f"{self._name}: {factor} is refused, a factor is from 0 to 1; nothing changes",
            throttle_duration_sec=1.0,
        )
        return None

    def tell(self, factor: float, wanted: float) -> None:
        """Publish the speed factor of motions if it has changed.

        Args:
            factor: The current factor.
            wanted: The factor that it approaches; always published once reached.
        """
        told = self._told
        if factor == told or (
            told is not None and factor != wanted and abs(factor - told) < _STEP
        ):
            return
        self._told = factor
        self._publisher.publish(SpeedScalingFactor(factor=factor))

"""The speed of motions on the wire: what a user asks for, and what is played."""

from __future__ import annotations

from typing import Any

from control_msgs.msg import SpeedScalingFactor
from rclpy.node import Node

from dvrk_kinematics.ros.bridge.contract import SPEED_SCALING, SPEED_SCALING_INPUT
from dvrk_kinematics.ros.rclpy_ext.polled_subscription import PolledSubscription

__all__ = ["SpeedTopics"]

_STEP = 0.01
"""Smallest change of the factor that is published on its way."""


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
        """Topic that bridges of this arm publish, and nobody else."""
        self._publisher = node.create_publisher(*SPEED_SCALING.of(arm))
        self._told: float | None = None

    def take(self) -> float | None:
        """The newest factor that a user asks for; None if none has come, or none from 0 to 1."""
        message = self._input.take_newest_message()
        if message is None:
            return None
        factor = float(message.factor)
        # NaN is not inside either.
        if 0.0 <= factor <= 1.0:
            return factor
        self._logger.warning(
            f"{self._name}: {factor} is refused, a factor is from 0 to 1; nothing changes",
            throttle_duration_sec=1.0,
        )
        return None

    def tell(self, factor: float, wanted: float) -> None:
        """Publish the factor at which motions are played, if it has changed.

        Args:
            factor: The factor now.
            wanted: The factor that it comes to; published in any case once it is there.
        """
        told = self._told
        if factor == told or (
            told is not None and factor != wanted and abs(factor - told) < _STEP
        ):
            return
        self._told = factor
        self._publisher.publish(SpeedScalingFactor(factor=factor))

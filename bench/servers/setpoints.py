"""How long a motion really took: by when the bridge sent its setpoints."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from math import nan
from typing import NamedTuple

import numpy as np
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from dvrk_kinematics.ros.common import qos
from dvrk_kinematics.ros.rclpy_ext.polled_subscription import PolledSubscription

__all__ = ["TICK_S", "SetpointTimes", "Taken", "measure"]

TICK_S = 0.005
"""Period of the bridge's loop, in which it sends one setpoint."""
_CATCH_UP_S = 2.0 * TICK_S
"""How far one tick takes a motion at most: what is late by a tick is made up for, not more."""
_STAMP = struct.Struct("<4xiI")
"""The stamp in the bytes of a message that begins with a header: seconds, nanoseconds."""
_DEPTH = 2000
"""Setpoints that can wait to be looked at: ten seconds of them."""


class Taken(NamedTuple):
    """The time of a motion.

    Attributes:
        took_s: From the first setpoint to the last (s); NaN if none was heard.
        missed_ticks: Ticks in between in which none was sent.
        lost_s: Time of those that the motion could not make up for (s).
    """

    took_s: float = nan
    missed_ticks: int = 0
    lost_s: float = 0.0


def measure(sent: Sequence[tuple[int, int]]) -> Taken:
    """Find what a motion took.

    Args:
        sent: When each of its setpoints was sent (ns), and the number that the bridge gave it: one
            that was lost on its way to us is no tick that was missed.
    """
    if not sent:
        return Taken()
    times_s, numbers = (np.array(one, dtype=np.float64) for one in zip(*sent, strict=True))
    gaps_s, ticks = np.diff(times_s * 1e-9), np.diff(numbers)
    took_s = float(gaps_s.sum())
    return Taken(
        took_s,
        max(0, round(took_s / TICK_S) - int(ticks.sum())),
        float(np.maximum(gaps_s - ticks * _CATCH_UP_S, 0.0).sum()),
    )


class SetpointTimes:
    """Hears when setpoints are sent, and when the motion begins that is asked about.

    Nothing is called while the arm moves: what arrives waits in the middleware until :meth:`poll`.

    Args:
        node: The node.
        arm: Name of the arm.
    """

    def __init__(self, node: Node, arm: str) -> None:
        self._setpoints = PolledSubscription(
            node, JointState, f"{arm}/servo_jp", QoSProfile(depth=_DEPTH)
        )
        # Sent after the way to the start, and right before the motion itself.
        self._paths = PolledSubscription(
            node, JointTrajectory, f"trajectory/{arm}/planned_path", qos.DESCRIPTION
        )
        self._sent: list[tuple[int, int]] = []
        self._begin_ns = 0

    def begin(self) -> None:
        """Forget what was heard."""
        self.poll()
        self._sent.clear()
        self._begin_ns = 0

    def poll(self) -> None:
        """Take in what was sent; at least every ten seconds while an arm moves."""
        while (path := self._paths.take_with_info()) is not None:
            # It is sent before the motion without a stamp, and then with when the motion began.
            seconds, nanoseconds = _STAMP.unpack_from(path[0])
            self._begin_ns = seconds * 10**9 + nanoseconds
        while (setpoint := self._setpoints.take_with_info()) is not None:
            info = setpoint[1]
            number = info["publication_sequence_number"]
            self._sent.append((int(info["source_timestamp"] or 0), int(number or 0)))

    def read(self) -> Taken:
        """The time of the newest motion."""
        self.poll()
        return measure([one for one in self._sent if one[0] >= self._begin_ns > 0])

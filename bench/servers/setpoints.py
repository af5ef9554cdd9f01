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
"""Most that one tick advances a motion: it makes up for one late tick, not more."""
_STAMP = struct.Struct("<4xiI")
"""The stamp in the bytes of a message that begins with a header: seconds, nanoseconds."""
_DEPTH = 2000
"""Setpoints that can wait to be read: ten seconds of them."""


class Taken(NamedTuple):
    """The time of a motion.

    Attributes:
        took_s: From the first setpoint to the last (s); NaN if none was received.
        missed_ticks: Ticks in between without a setpoint.
        lost_s: Time of those that the motion could not make up for (s).
    """

    took_s: float = nan
    missed_ticks: int = 0
    lost_s: float = 0.0


def measure(sent: Sequence[tuple[int, int]]) -> Taken:
    """Find how long a motion took.

    Args:
        sent: When each of its setpoints was sent (ns), and the bridge's number for it: one lost
            on its way to us is not a missed tick.
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
    """Notes when setpoints are sent, and when the motion in question begins.

    Nothing is called while the arm moves: messages wait in the middleware until :meth:`poll`.

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
        """Forget all received messages."""
        self.poll()
        self._sent.clear()
        self._begin_ns = 0

    def poll(self) -> None:
        """Read the messages; call at least every ten seconds while an arm moves."""
        while (path := self._paths.take_with_info()) is not None:
            # It is sent without a stamp before the motion, then with the motion's start time.
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

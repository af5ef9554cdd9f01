"""Quality of service by name, so that both ends of a topic agree."""

from __future__ import annotations

from rclpy.duration import Duration
from rclpy.qos import (
    QoSDurabilityPolicy,
    QoSHistoryPolicy,
    QoSLivelinessPolicy,
    QoSProfile,
    QoSReliabilityPolicy,
)

__all__ = [
    "ACTION_STATUS",
    "ACTION_STATUS_WATCH",
    "ARM_STATE",
    "COMMAND",
    "DESCRIPTION",
    "EVENT",
    "LEASE_S",
    "SERVICE",
    "SPEED_SCALING",
    "STATE",
    "STATE_READER",
    "TF",
    "TF_STATIC",
    "TRIGGER",
    "with_depth",
]


def _reliable(depth: int, *, latched: bool = False) -> QoSProfile:
    durability = QoSDurabilityPolicy.TRANSIENT_LOCAL if latched else QoSDurabilityPolicy.VOLATILE
    return QoSProfile(
        history=QoSHistoryPolicy.KEEP_LAST,
        depth=depth,
        reliability=QoSReliabilityPolicy.RELIABLE,
        durability=durability,
    )


def with_depth(profile: QoSProfile, depth: int) -> QoSProfile:
    """Return the same profile with a longer or shorter queue."""
    return QoSProfile(
        history=profile.history,
        depth=depth,
        reliability=profile.reliability,
        durability=profile.durability,
    )


STATE = _reliable(depth=5)
"""Published state (joint_states, measured_js): reliable, so that both kinds of readers connect."""

ARM_STATE = _reliable(depth=100)
"""State as the dVRK publishes it: a slow reliable reader gets the last hundred."""

STATE_READER = QoSProfile(
    history=QoSHistoryPolicy.KEEP_LAST,
    depth=1,
    reliability=QoSReliabilityPolicy.BEST_EFFORT,
    durability=QoSDurabilityPolicy.VOLATILE,
)
"""Reading state where only the newest counts: best effort accepts every publisher and never
waits for a resend.
"""

COMMAND = _reliable(depth=1)
"""Commands, sent and read: only the newest counts, and a command is never latched."""

EVENT = _reliable(depth=100, latched=True)
"""Events as the dVRK publishes them (operating_state, error, ...): a late subscriber gets the
last ones.
"""

SERVICE = _reliable(depth=100)
"""A burst of requests or goals is queued and not lost; the usual depth of 10 loses most of a
hundred. The queue is no longer than this, since its messages may be large.
"""

TRIGGER = _reliable(depth=1000)
"""The same for requests that hold little or no data, such as to stop."""

DESCRIPTION = _reliable(depth=1, latched=True)
"""robot_description: one text for every subscriber, however late."""

SPEED_SCALING = _reliable(depth=1, latched=True)
"""The factor at which motions are played: a new subscriber gets the current one."""

LEASE_S = 1.0
"""A server that is silent for this long (s) is gone, or as good as gone. The middleware of its
process signals that it is alive, whatever Python does meanwhile."""


def _alive(durability: QoSDurabilityPolicy) -> QoSProfile:
    return QoSProfile(
        history=QoSHistoryPolicy.KEEP_LAST,
        depth=1,
        reliability=QoSReliabilityPolicy.RELIABLE,
        durability=durability,
        liveliness=QoSLivelinessPolicy.AUTOMATIC,
        liveliness_lease_duration=Duration(seconds=LEASE_S),
    )


ACTION_STATUS = _alive(QoSDurabilityPolicy.TRANSIENT_LOCAL)
"""An action's goal status as in ROS, with liveliness so that clients notice a server's end."""

ACTION_STATUS_WATCH = _alive(QoSDurabilityPolicy.VOLATILE)
"""Watching whether such a server is alive."""

TF = _reliable(depth=100)
"""/tf as everybody publishes and reads it."""

TF_STATIC = _reliable(depth=100, latched=True)
"""/tf_static as everybody publishes and reads it."""

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
    """The same profile with a longer or shorter queue."""
    return QoSProfile(
        history=profile.history,
        depth=depth,
        reliability=profile.reliability,
        durability=profile.durability,
    )


STATE = _reliable(depth=5)
"""Published state (joint_states, measured_js): reliable, so that both kinds of reader connect."""

ARM_STATE = _reliable(depth=100)
"""State as the dVRK publishes it: a slow reliable reader finds the last hundred."""

STATE_READER = QoSProfile(
    history=QoSHistoryPolicy.KEEP_LAST,
    depth=1,
    reliability=QoSReliabilityPolicy.BEST_EFFORT,
    durability=QoSDurabilityPolicy.VOLATILE,
)
"""Reading state where only the newest counts: best effort accepts every publisher and never
waits for a repeat.
"""

COMMAND = _reliable(depth=1)
"""Commands, sent and read: only the newest counts, and a command is never latched."""

EVENT = _reliable(depth=100, latched=True)
"""Events as the dVRK publishes them (operating_state, error, ...): a late subscriber gets the
last ones.
"""

SERVICE = _reliable(depth=100)
"""Requests and goals that come all at once wait, and are not lost; the usual depth of 10 loses
most of a hundred. Not more, since what waits may be large.
"""

TRIGGER = _reliable(depth=1000)
"""The same for requests that hold nothing or little, such as to stop."""

DESCRIPTION = _reliable(depth=1, latched=True)
"""robot_description: one text for all who come, whenever they come."""

SPEED_SCALING = _reliable(depth=1, latched=True)
"""The factor at which motions are played: whoever comes gets the one of now."""

LEASE_S = 1.0
"""A server that is not heard of for so long (s) is gone, or as good as that. The middleware of its
process tells that it lives, whatever Python does meanwhile."""


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
"""The status of an action's goals as ROS has it, from a server whose end is noticed."""

ACTION_STATUS_WATCH = _alive(QoSDurabilityPolicy.VOLATILE)
"""Watching whether such a server is there."""

TF = _reliable(depth=100)
"""/tf as everybody publishes and reads it."""

TF_STATIC = _reliable(depth=100, latched=True)
"""/tf_static as everybody publishes and reads it."""

"""Quality of service by name, so that both ends of a topic agree."""

from __future__ import annotations

from rclpy.qos import (
    QoSDurabilityPolicy,
    QoSHistoryPolicy,
    QoSProfile,
    QoSReliabilityPolicy,
)

__all__ = [
    "ARM_STATE",
    "COMMAND",
    "DESCRIPTION",
    "EVENT",
    "LATCHED",
    "SERVICE",
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

LATCHED = _reliable(depth=1, latched=True)
"""A setting that holds until it is changed: whoever comes later gets the last one."""

DESCRIPTION = _reliable(depth=1, latched=True)
"""robot_description: one text for all who come, whenever they come."""

TF = _reliable(depth=100)
"""/tf as everybody publishes and reads it."""

TF_STATIC = _reliable(depth=100, latched=True)
"""/tf_static as everybody publishes and reads it."""

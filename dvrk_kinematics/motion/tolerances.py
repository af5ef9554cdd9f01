"""What counts as equal, kept or nothing at all in motions: each with its quantity and unit."""

from __future__ import annotations

__all__ = [
    "DEPTH_TOLERANCE_M",
    "EXACT_RAD",
    "JOINT_GAP",
    "LEAST_LENGTH",
    "POSITION_TOLERANCE_M",
    "RELATIVE_SLACK",
    "ROTATION_ROUNDING",
    "ROTATION_TOLERANCE_RAD",
    "SAME_POSE",
    "SHARE_ROUNDING",
]

POSITION_TOLERANCE_M = 1e-6
"""How far what is played may be from the exact path."""
ROTATION_TOLERANCE_RAD = 1e-6
"""How far it may be turned from it."""

RELATIVE_SLACK = 1e-3
"""By how much a velocity or acceleration may be above its limit: planners that use a limit to the
full meet it only to the accuracy of their splines."""
DEPTH_TOLERANCE_M = 1e-9
"""By how much a wrist may be too near to the remote centre: that much is rounding."""

SAME_POSE = 1e-9
"""Poses (m, rad) and joint positions (rad, m) nearer than this are the same."""
JOINT_GAP = 1e-6
"""How far a segment may begin from where the joints are (rad, m)."""
EXACT_RAD = 1e-9
"""A tool that is turned away by less follows its path exactly."""
LEAST_LENGTH = 1e-12
"""Lengths (m), angles (rad) and parts of a length that are none."""
SHARE_ROUNDING = 1e-9
"""Averages of zeros and ones below this are 0 but for rounding."""
ROTATION_ROUNDING = 1e-14
"""Largest entry of |R^T R - I| of a rotation that is exact but for rounding."""

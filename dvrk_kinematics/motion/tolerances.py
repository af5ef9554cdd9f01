"""What counts as equal, within limits or zero in motions: each with its quantity and unit."""

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
"""How far what is played may be turned from the exact path."""

RELATIVE_SLACK = 1e-3
"""How far a velocity or acceleration may exceed its limit: planners that use a limit fully meet it
only to the accuracy of their splines."""
DEPTH_TOLERANCE_M = 1e-9
"""How far a wrist may be too near to the remote centre: that much is rounding."""

SAME_POSE = 1e-9
"""Poses (m, rad) and joint positions (rad, m) closer than this are the same."""
JOINT_GAP = 1e-6
"""How far from the joints' positions a segment may begin (rad, m)."""
EXACT_RAD = 1e-9
"""A tool turned away by less than this follows its path exactly."""
LEAST_LENGTH = 1e-12
"""Lengths (m), angles (rad) and fractions of a length that count as zero."""
SHARE_ROUNDING = 1e-9
"""Averages of zeros and ones below this are 0 but for rounding."""
ROTATION_ROUNDING = 1e-14
"""Largest entry of |R^T R - I| of a rotation that is exact but for rounding."""

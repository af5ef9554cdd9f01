"""What counts as equal, reached or degenerate in kinematics: each with its quantity and unit."""

from __future__ import annotations

__all__ = [
    "AXIS_GUARD_SINE",
    "CHAIN_ANGLE_RAD",
    "GUARD_M",
    "LIMIT_TOLERANCE",
    "NEARLY_INSIDE",
    "NEAR_GUARD_M",
    "ORIENTATION_TOLERANCE_RAD",
    "POSITION_TOLERANCE_M",
    "SEARCH_TOLERANCE",
    "SETTLED_WITHIN",
    "SINGULAR",
]

LIMIT_TOLERANCE = 1e-9
"""Rounding that is not a violation (rad, m): a solver sets such a value onto its limit.

Compare it with the difference of value and limit: a sum with the limit rounds differently.
"""

POSITION_TOLERANCE_M = 1e-9
"""Position error up to which a position counts as reached."""
ORIENTATION_TOLERANCE_RAD = 1e-6
"""Rotation error up to which a closed form's orientation counts as reached."""
SEARCH_TOLERANCE = 1e-9
"""Errors (m, rad) at which a search by iteration has reached a pose."""

SETTLED_WITHIN = 1e-4
"""Joints farther outside than this (rad, m) are truly outside, not by rounding: where two postures
become one, a pose known to 1e-17 m determines its joints to 1e-5 rad."""
NEARLY_INSIDE = 10.0 * SETTLED_WITHIN
"""A candidate farther outside (rad, m) is not the best of those that are outside by rounding."""

GUARD_M = 1e-10
"""Closer than this to a degenerate place, a pose counts as degenerate: the seed's choice then
moves the tip by no more than this."""
NEAR_GUARD_M = 1e-9
"""Closer than this to one, batches leave a pose to the code for degenerate poses."""
AXIS_GUARD_SINE = 1e-9
"""Sine of the angle between two axes, or length of a projected unit vector, below which the seed
decides what they leave open."""
SINGULAR = 1e-6
"""Sines of angles, and distances (m), below which a posture counts as singular."""

CHAIN_ANGLE_RAD = 1e-12
"""How far the angles of a chain may differ from those that a closed form requires."""

"""What counts as equal, still or rounding in the driver: each with its quantity and unit.

User settings are in settings; the tolerances of a goal are in goal_tolerances.
"""

from __future__ import annotations

__all__ = [
    "BOUND_ROUNDING",
    "RATE_ROUNDING",
    "REST_SPEED",
    "SAME_STATE",
    "SAME_TIME_S",
    "STEP_ROUNDING",
    "VELOCITY_ROUNDING",
]

STEP_ROUNDING = 1e-9
"""Steps of a setpoint (rad, m) that are rounding."""
VELOCITY_ROUNDING = 1e-9
"""Differences of velocities (rad/s, m/s) that are rounding."""
RATE_ROUNDING = 1e-9
"""Part of a rate that is rounding."""
BOUND_ROUNDING = 1e-10
"""A joint that goes less than this (rad, m) beyond a bound on the way does not move towards it."""
SAME_STATE = 1e-12
"""States closer than this (rad, m; per s) need no joining."""
SAME_TIME_S = 1e-9
"""Knots closer than this, the resolution of a goal's times, are one knot."""
REST_SPEED = 1e-6
"""Speed (rad/s, m/s) below which a goal's last point counts as at rest."""

"""The largest positions, velocities and accelerations of a spline, between its knots too."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

import numpy as np

from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.interruptible import check_in
from dvrk_kinematics.kinematics.result import Breach
from dvrk_kinematics.kinematics.tolerances import LIMIT_TOLERANCE
from dvrk_kinematics.motion.limits import MotionLimits
from dvrk_kinematics.motion.spline import Spline, evaluate_polynomials
from dvrk_kinematics.motion.tolerances import RELATIVE_SLACK

__all__ = [
    "Excess",
    "Extremes",
    "SplineQuantity",
    "find_excess",
    "find_extremes",
    "find_outside_limits",
    "find_relapse",
]

_CHUNK = 8192
"""Segments processed together: a million of them must not all be in memory at once."""

_QUINTIC_STEPS = 32
"""Places within a quintic segment that are checked for positions and speeds. Accelerations of
quintics, and everything of cubics, are solved exactly."""


class SplineQuantity(Enum):
    """Which quantity of a joint is beyond its limit."""

    POSITION = "position"
    VELOCITY = "velocity"
    ACCELERATION = "acceleration"


class Excess(NamedTuple):
    """A limit that a motion violates.

    Attributes:
        quantity: What is beyond the limit.
        breach: The joint, the most extreme value (rad, m; per s; per s^2), what is allowed.
    """

    quantity: SplineQuantity
    breach: Breach


class Extremes(NamedTuple):
    """The most extreme values of a motion, shape (n,) each.

    Attributes:
        lowest: Smallest positions (rad, m).
        highest: Largest positions (rad, m).
        speed: Largest speeds (rad/s, m/s).
        acceleration: Largest absolute accelerations (rad/s^2, m/s^2).
    """

    lowest: Array
    highest: Array
    speed: Array
    acceleration: Array


def find_extremes(spline: Spline) -> Extremes:
    """Find the extremes of a spline."""
    lowest, highest = spline.position.min(axis=0), spline.position.max(axis=0)
    speed = np.abs(spline.velocity).max(axis=0)
    acceleration = np.zeros_like(speed)
    for first in range(0, len(spline.times) - 1, _CHUNK):
        check_in()
        last = min(first + _CHUNK, len(spline.times) - 1)
        h = np.diff(spline.times[first : last + 1])[:, None]
        with np.errstate(over="ignore", invalid="ignore"):
            coefficients = spline.segments(first, last)
            q, qd, qdd = _evaluate(coefficients, _places(coefficients))
        lowest = np.minimum(lowest, q.min(axis=(0, 1)))
        highest = np.maximum(highest, q.max(axis=(0, 1)))
        speed = np.maximum(speed, (np.abs(qd).max(axis=0) / h).max(axis=0))
        acceleration = np.maximum(acceleration, (np.abs(qdd).max(axis=0) / (h * h)).max(axis=0))
    return Extremes(lowest, highest, speed, acceleration)


def _places(coefficients: Array) -> Array:
    """Where in u, shape (P, S, n), a segment can be extreme."""
    shape = coefficients.shape[1:]
    if len(coefficients) == 6:
        steps = np.linspace(0.0, 1.0, _QUINTIC_STEPS + 1)
        # Where the jerk 6 d + 24 e u + 60 f u^2 is zero.
        _, _, _, d, e, f = coefficients
        inner = _half_roots(10.0 * f, 2.0 * e, d)
        return np.concatenate([np.broadcast_to(steps[:, None, None], (len(steps), *shape)), inner])
    _, b, c, d = coefficients
    with np.errstate(divide="ignore", invalid="ignore"):
        fastest = -c / (3.0 * d)
    inner = np.concatenate([_inside(fastest[None]), _half_roots(3.0 * d, c, b)])
    return np.concatenate([np.zeros((1, *shape)), inner, np.ones((1, *shape))])


def _half_roots(a: Array, b: Array, c: Array) -> Array:
    """The roots of a u^2 + 2 b u + c inside (0, 1), else 0; shape (2, ...)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(np.maximum(b * b - a * c, 0.0))
        # The stable form: no difference of nearly equal numbers.
        half = -(b + np.copysign(root, b))
        return _inside(np.stack([half / a, c / half]))


def _inside(u: Array) -> Array:
    return np.where((u > 0.0) & (u < 1.0), u, 0.0)


def _evaluate(coefficients: Array, u: Array) -> tuple[Array, Array, Array]:
    q, qd, half_qdd = evaluate_polynomials(coefficients[::-1], u, 2)
    return q, qd, 2.0 * half_qdd


def find_excess(found: Extremes, limits: MotionLimits, start: Array) -> Excess | None:
    """Find where a motion leaves the limits of position, velocity or acceleration.

    Args:
        found: The motion's extremes.
        limits: What is allowed.
        start: Joint positions at the start (rad, m), shape (n,).
    """
    outside = find_outside_limits(found, limits, start)
    if outside is not None:
        return outside
    for quantity, values, allowed in (
        (SplineQuantity.VELOCITY, found.speed, limits.velocity),
        (SplineQuantity.ACCELERATION, found.acceleration, limits.acceleration),
    ):
        with np.errstate(over="ignore"):
            j = int(np.argmax(values / allowed))
        # Written to refuse NaN too, from numbers too large to compute with.
        if not values[j] <= allowed[j] * (1.0 + RELATIVE_SLACK):
            breach = Breach(limits.names[j], float(values[j]), float(allowed[j]))
            return Excess(quantity, breach)
    return None


def find_outside_limits(found: Extremes, limits: MotionLimits, start: Array) -> Excess | None:
    """Find where a motion leaves the joint limits.

    Args:
        found: The motion's extremes.
        limits: What is allowed.
        start: Joint positions at the start (rad, m), shape (n,). An arm outside a limit may come
        back, but not go farther out.
    """
    lower, upper = limits.position.lower, limits.position.upper
    below = np.minimum(lower, start) - LIMIT_TOLERANCE - found.lowest
    above = found.highest - np.maximum(upper, start) - LIMIT_TOLERANCE
    j = int(np.argmax(np.maximum(below, above)))
    if below[j] <= 0.0 and above[j] <= 0.0:
        return None
    value, limit = (found.lowest, lower) if below[j] > above[j] else (found.highest, upper)
    breach = Breach(limits.names[j], float(value[j]), float(limit[j]))
    return Excess(SplineQuantity.POSITION, breach)


def find_relapse(spline: Spline, limits: MotionLimits) -> Excess | None:
    """Find a joint that starts outside its limits, comes back, and leaves them again.

    Args:
        spline: The motion.
        limits: What is allowed.
    """
    lower = limits.position.lower - LIMIT_TOLERANCE
    upper = limits.position.upper + LIMIT_TOLERANCE
    q = spline.position
    is_inside = (q >= lower) & (q <= upper)
    for j in np.flatnonzero(~is_inside[0] & is_inside.any(axis=0)):
        back = slice(int(np.argmax(is_inside[:, j])), None)
        rest = Spline(
            spline.times[back],
            q[back],
            spline.velocity[back],
            None if spline.acceleration is None else spline.acceleration[back],
        )
        outside = find_outside_limits(find_extremes(rest), limits, rest.position[0])
        if outside is not None:
            return outside
    return None

"""Joining: from the commanded state to where a goal begins, inside the limits and without a jump.

Each joint changes its velocity with full acceleration to a cruise velocity, keeps that, and
changes it again; all joints take the same time. For a given time the cruise velocity has a closed
form, so we find the shortest time in which every joint can arrive by trying many at once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dvrk_kinematics.driver.tolerances import SAME_STATE, SAME_TIME_S
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.motion.limits import MotionLimits
from dvrk_kinematics.motion.spline import Sample, Spline

__all__ = ["cruise_velocity", "make_join"]

_GRID = 256
"""Number of candidate times tried together."""
_REFINEMENTS = 2
"""Number of rounds: the second one searches between two times of the first."""


def make_join(
    start: Sample, end: Sample, at_least_s: float, limits: MotionLimits
) -> Spline | None:
    """Make the motion that brings the joints from one state to another.

    Args:
        start: State commanded last.
        end: State to arrive in.
        at_least_s: Time to take, if that is enough (s).
        limits: Velocities and accelerations that may be used.

    Returns:
        The motion from t = 0 on, None if none is needed. It takes longer than requested where
        the limits require it: joining late is safe, joining fast is not.
    """
    d = end.q - start.q
    change = np.abs(end.qd - start.qd)
    if at_least_s <= 0.0 and max(np.abs(d).max(), change.max()) <= SAME_STATE:
        return None
    a, v_max = limits.acceleration, limits.velocity
    shortest = max(at_least_s, float((change / a).max()))
    # Braking, crossing at full speed with both ramps, and speeding up again, twice over.
    run = np.abs(d) + (start.qd**2 + end.qd**2 + 2.0 * v_max**2) / a
    longest = shortest + float((2.0 * run / v_max + 8.0 * v_max / a).max())
    low, high = shortest, longest
    spread = np.linspace(0.0, 1.0, _GRID) ** 3
    for _ in range(_REFINEMENTS):
        times = low + (high - low) * spread
        _, fits = cruise_velocity(times[:, None], d, start.qd, end.qd, limits)
        # The longest time always fits; use the last one if rounding disagrees.
        possible = np.append(np.all(fits[:-1], axis=1), True)
        first = int(np.argmax(possible))
        low, high = float(times[max(first - 1, 0)]), float(times[first])
        spread = np.linspace(0.0, 1.0, _GRID)
    return _make_profile(start, end, high, limits)


def cruise_velocity(
    T: Array, d: Array, v0: Array, v1: Array, limits: MotionLimits
) -> tuple[Array, NDArray[np.bool_]]:
    """Cruise velocities with which joints cover a distance in a given time.

    Args:
        T: Times (s), shape (N, 1).
        d: Distances (rad, m), shape (n,).
        v0: Velocities at the start, shape (n,).
        v1: Velocities at the end, shape (n,).
        limits: Velocities and accelerations that may be used.

    Returns:
        Cruise velocities, shape (N, n), and where they are possible.
    """
    a = limits.acceleration
    low, high = np.minimum(v0, v1), np.maximum(v0, v1)
    # Distance covered while the velocity goes evenly from v0 to v1.
    turn_s, turn = np.abs(v1 - v0) / a, 0.5 * (v0 + v1) * np.abs(v1 - v0) / a
    spare = T - turn_s
    rising, falling = d > turn + high * spare, d < turn + low * spare
    # Above both velocities v^2 - (a T + v0 + v1) v + a d + (v0^2 + v1^2) / 2 = 0; below, mirrored.
    sign = np.where(falling, -1.0, 1.0)
    b = a * T + sign * (v0 + v1)
    c = sign * a * d + 0.5 * (v0**2 + v1**2)
    square = b * b - 4.0 * c
    root = np.sqrt(np.maximum(square, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        # The smaller root; for long times b and the square root are nearly the same number.
        beyond = sign * np.where(b > 0.0, 2.0 * c / (b + root), 0.5 * (b - root))
        between = np.where(spare > 0.0, (d - turn) / spare, low)
    between = np.clip(between, low, high)
    outer = rising | falling
    cruise = np.where(outer, beyond, between)
    fast = np.abs(cruise) > np.maximum(limits.velocity, np.maximum(np.abs(v0), np.abs(v1)))
    return cruise, (spare >= 0.0) & ~fast & (~outer | (square >= 0.0))


def _make_profile(start: Sample, end: Sample, T: float, limits: MotionLimits) -> Spline:
    a = limits.acceleration
    cruise = cruise_velocity(np.array([[T]]), end.q - start.q, start.qd, end.qd, limits)[0][0]
    first = np.abs(cruise - start.qd) / a
    last = np.maximum(T - np.abs(end.qd - cruise) / a, first)
    times = np.unique(np.concatenate([[0.0], first, last, [T]]))
    times = times[(times >= 0.0) & (times <= T)]
    # Knots closer than a nanosecond would divide by next to nothing; the ends stay.
    keep = np.concatenate([[True], np.diff(times) > SAME_TIME_S])
    times = times[keep]
    if len(times) == 1:
        times = np.array([0.0, max(T, SAME_TIME_S)])
    times[-1] = max(T, times[-1])
    t = times[:, None]
    up = np.clip(t, 0.0, first)
    cruising = np.clip(t - first, 0.0, last - first)
    down = np.clip(t - last, 0.0, None)
    ramp0, ramp1 = np.sign(cruise - start.qd) * a, np.sign(end.qd - cruise) * a
    q = start.q + (start.qd + 0.5 * ramp0 * up) * up + cruise * cruising
    q = q + (cruise + 0.5 * ramp1 * down) * down
    qd = start.qd + ramp0 * up + ramp1 * down
    # Set the ends exactly: rounding must not show as a jump.
    q[0], qd[0], q[-1], qd[-1] = start.q, start.qd, end.q, end.qd
    return Spline(times, q, qd)

"""How fast to move along a way and still be able to stop in time.

A way is a row of joint positions q(s); s is the time (s) it would take at the speed asked for, and
the rate r = ds/dt is 1 there. With x = r^2 and u = dr/dt the joints' velocities are q' r and their
accelerations q' u + q'' x: linear in x and u. So the largest x from which one can still come to
rest at the end of the way follows place by place, from the end backwards. Limits, fast joints and
bends all are seen in time, and the whole motion is slowed, never a single joint.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import inf

import numpy as np

from dvrk_kinematics.geometry.arrays import Array

__all__ = ["RateProfile", "find_rate_profile"]

_TINY = 1e-9
"""Slopes (rad, m per s) below this belong to joints that do not move."""
_HALVINGS = 24
"""Resolution of the chosen rate: 6e-8 of the largest."""


@dataclass(frozen=True, slots=True)
class RateProfile:
    """The largest rates along a way from which the arm can still stop at its end.

    Attributes:
        places: Increasing places s (s), from 0 to the end of the way.
        squares: Squares of the largest rates there; 0 at the end. Between places they are linear,
            as under constant acceleration.
        slow_joints: The joint that bounds the rate there, through its velocity or through a
            bend; -1 where the end of the way bounds it.
    """

    places: list[float]
    squares: list[float]
    slow_joints: list[int]

    def square_at(self, s: float) -> float:
        """Largest square of the rate at a place (s)."""
        k = self._before(s)
        if k + 1 >= len(self.places):
            return 0.0
        part = (s - self.places[k]) / (self.places[k + 1] - self.places[k])
        return self.squares[k] + part * (self.squares[k + 1] - self.squares[k])

    def slow_joint_at(self, s: float) -> int:
        """Which joint bounds the rate at a place (s), -1 if the end of the way does."""
        return self.slow_joints[min(self._before(s) + 1, len(self.slow_joints) - 1)]

    def _before(self, s: float) -> int:
        k = 0
        while k + 1 < len(self.places) and self.places[k + 1] <= s:
            k += 1
        return k

    def highest_rate(self, rate: float, at_most: float, step_s: float, lead_s: float) -> float:
        """Largest rate at the end of a tick from which the rest of the way is safe.

        Args:
            rate: Rate at the start of the tick.
            at_most: Rate that must not be exceeded.
            step_s: Length of the tick (s), over which the rate changes evenly.
            lead_s: Half of the longest tick (s). The arm comes to rest at the end of a tick, not
                within one, so the last tick covers more than slowing down alone.
        """

        def is_safe(later: float) -> bool:
            return later * later <= self.square_at(0.5 * (rate + later) * step_s + later * lead_s)

        if is_safe(at_most):
            return at_most
        low, high = 0.0, at_most
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if is_safe(middle) else (low, middle)
        return low


def find_rate_profile(
    places: list[float],
    slope: Array,
    slopes: Array,
    curves: Array,
    velocity: Array,
    acceleration: Array,
) -> RateProfile:
    """Find the largest rates along a way.

    Args:
        places: Increasing places s (s), shape (K + 1,); the last is the end of the way.
        slope: q' at the first place (rad, m per s), shape (n,).
        slopes: q' half-way between places, shape (K, n).
        curves: q'' there, shape (K, n).
        velocity: Velocity limits (rad/s, m/s), shape (n,).
        acceleration: Accelerations that may be used, shape (n,).
    """
    spans = [later - earlier for earlier, later in pairwise(places)]
    sizes = np.abs(slopes)
    around = sizes.copy()
    np.maximum(sizes[1:], sizes[:-1], out=around[1:])
    np.maximum(sizes[0], np.abs(slope), out=around[0])
    fast = (velocity / np.maximum(around, _TINY)) ** 2
    # Half-way x has become x + u span, so that the joints' accelerations there are
    # (q' + q'' span) u + q'' x.
    inner = slopes + np.array(spans)[:, None] * curves
    size = np.maximum(np.abs(inner), _TINY)
    brake = acceleration / size
    bend = np.where(inner < 0.0, -curves, curves) / size
    # Two joints: one needs u above, the other u below some line in x.
    apart = np.maximum(bend[:, None, :] - bend[:, :, None], 1e-200)
    turn = ((brake[:, :, None] + brake[:, None, :]) / apart).min(axis=1)
    tops = np.minimum(fast, turn)
    slowest = tops.argmin(axis=1).tolist()
    top, brakes, bends = tops.min(axis=1).tolist(), brake.tolist(), bend.tolist()
    squares, joints = [0.0], [-1]
    for k in reversed(range(len(slopes))):
        span = 2.0 * spans[k]
        reach = inf
        for b, c in zip(brakes[k], bends[k], strict=True):
            share = 1.0 - span * c
            if share > 0.0:
                reach = min(reach, (squares[-1] + span * b) / share)
        is_bound_here = top[k] < reach
        joints.append(slowest[k] if is_bound_here else joints[-1])
        squares.append(top[k] if is_bound_here else reach)
    return RateProfile(places, squares[::-1], joints[::-1])

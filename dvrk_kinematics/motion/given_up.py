"""A path whose orientation is given up somewhere, as joint positions that are smooth in time.

Where a joint reaches its limit and stays there, the nearest orientation has a kink: a velocity
would have to jump. So around such places the joints are averaged over a short while, which keeps
them inside their limits, and then moved by the little that brings the tip back onto its path.
"""

from __future__ import annotations

import numpy as np
from scipy.interpolate import CubicSpline

from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.arm import Arm
from dvrk_kinematics.kinematics.interruption import check_in
from dvrk_kinematics.motion.segments import TipSegment

__all__ = ["GivenUpPath"]

_SMOOTHING_S = 0.1
"""Over how long joints are averaged, to each side."""
_ROUNDING = 1e-9
_ITERATIONS = 4
"""Newton's steps back onto the path: each squares what is left."""
_CHUNK = 8192
"""Samples that are looked at together."""


class GivenUpPath:
    """Joint positions of a segment.

    Args:
        arm: The arm.
        segment: The path in time.
        t: Times at which it was followed, evenly spaced (s), shape (N,).
        q: Joint positions there (rad, m), shape (N, n).
        given_up: Angles that were given up there (rad), shape (N,).
        q_begin: Where the joints are at the begin (rad, m), shape (n,).
    """

    def __init__(
        self,
        arm: Arm,
        segment: TipSegment,
        t: Array,
        q: Array,
        given_up: Array,
        q_begin: Array,
    ) -> None:
        self._arm = arm
        self._segment = segment
        half = max(1, min(int(_SMOOTHING_S / float(t[1] - t[0])), len(t) // 4))
        turned = np.where(given_up > 0.0, 1.0, 0.0)[:, None]
        around = np.where(_average(turned, 2 * half) > _ROUNDING, 1.0, 0.0)
        near = _average(_average(around, half), half)
        smooth = q + near * (_average(_average(q, half), half) - q)
        # The motion begins where the joints are, and forgets that little difference.
        smooth = smooth + (q_begin - smooth[0]) * np.exp(-t / _SMOOTHING_S)[:, None]
        self._q = CubicSpline(t, smooth, bc_type="clamped")
        self._near = (t, near[:, 0])

    def q(self, t: Array) -> Array:
        """Joint positions at times t (s), shape (N,) -> (N, n); the tip is on its path."""
        q: Array = self._q(t)
        for first in range(0, len(t), _CHUNK):
            rows = slice(first, first + _CHUNK)
            q[rows] = self._put_back(q[rows], self._segment.pose(t[rows])[:, :3, 3])
        return q

    def _put_back(self, q: Array, p: Array) -> Array:
        """Move the joints, shape (N, n), by the little that brings the tip to p, shape (N, 3)."""
        for _ in range(_ITERATIONS):
            check_in()
            J = self._arm.jacobian(q)[:, :3]
            Jt = np.swapaxes(J, 1, 2)
            miss = p - self._arm.forward(q)[:, :3, 3]
            q = q + (Jt @ np.linalg.solve(J @ Jt, miss[:, :, None]))[..., 0]
        return q

    def is_given_up(self, t: Array) -> Array:
        """1 where the orientation is not the path's, 0 where it is; shape (N,) -> (N,)."""
        times, near = self._near
        return np.where(np.interp(t, times, near) > _ROUNDING, 1.0, 0.0)


def _average(values: Array, half: int) -> Array:
    """Averages over a few rows to each side; the ends go on as they are. Shape (N, k)."""
    count = len(values)
    padded = np.concatenate(
        [np.repeat(values[:1], half, axis=0), values, np.repeat(values[-1:], half, axis=0)]
    )
    sums = np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(padded, axis=0)])
    width = 2 * half + 1
    result: Array = (sums[width : width + count] - sums[:count]) / width
    return result

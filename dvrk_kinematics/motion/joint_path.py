"""A joint motion through knots that can be evaluated at many times at once."""

from __future__ import annotations

import numpy as np

from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.motion.spline import Spline, evaluate_polynomials

__all__ = ["JointPath"]


class JointPath:
    """Knots, and the motion between them.

    Args:
        times: Increasing times of the knots (s), shape (K,), K >= 1.
        position: Positions (rad, m), shape (K, n).
        velocity: Velocities, shape (K, n); None for straight lines in between.
        acceleration: Accelerations, shape (K, n); None for cubics in between.

    Attributes:
        duration_s: Time of the last knot (s).
    """

    def __init__(
        self,
        times: Array,
        position: Array,
        velocity: Array | None = None,
        acceleration: Array | None = None,
    ) -> None:
        self.duration_s = float(times[-1])
        self._times, self._position = times, position
        is_smooth = velocity is not None and len(times) > 1
        self._coefficients = (
            Spline(times, position, velocity, acceleration).segments(0, len(times) - 1)
            if is_smooth and velocity is not None
            else None
        )

    def position(self, times: Array) -> Array:
        """Joint positions at times along the path (s); (N,) -> (N, n)."""
        if self._coefficients is None:
            columns = self._position.T
            return np.stack([np.interp(times, self._times, column) for column in columns], axis=1)
        last = len(self._times) - 2
        row = np.clip(np.searchsorted(self._times, times, side="right") - 1, 0, last)
        width = self._times[row + 1] - self._times[row]
        u = np.clip((times - self._times[row]) / width, 0.0, 1.0)[:, None]
        return evaluate_polynomials((part[row] for part in self._coefficients[::-1]), u, 0)[0]

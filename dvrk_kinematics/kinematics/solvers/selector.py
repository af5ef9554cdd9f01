"""Choosing one of several exact solutions: inside the limits first, then near the seed."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, pi

import numpy as np
import numpy.typing as npt

from dvrk_kinematics.kinematics.limits import JointLimits
from dvrk_kinematics.kinematics.tolerances import LIMIT_TOLERANCE

__all__ = ["TIE", "TURN", "Selector", "opposite", "opposite_batch"]

FloatArray = npt.NDArray[np.float64]
TURN = 2.0 * pi
"""A whole turn (rad)."""
TIE = 1e-9
"""Scores closer than this are equal: then the earlier candidate wins, however sums round."""


def opposite(angle: float) -> float:
    """Turn an angle by half a turn, staying within -pi to pi (rad)."""
    return angle - pi if angle > 0.0 else angle + pi


def opposite_batch(angle: FloatArray) -> FloatArray:
    """Turn angles by half a turn, staying within -pi to pi (rad)."""
    return np.asarray(np.where(angle > 0.0, angle - pi, angle + pi))


class Selector:
    """Ranks candidate joint positions of one arm.

    Violations and distances are fractions of each joint's range, summed over the joints, so that
    radians and metres can be added.

    Args:
        limits: The arm's joint limits.
        turning: Joints that may take a full turn more or less, by index.
    """

    __slots__ = ("_limits", "_scale", "_turning", "rest")

    def __init__(self, limits: JointLimits, turning: Sequence[int]) -> None:
        self._limits = limits
        self._turning = tuple(turning)
        span = limits.upper - limits.lower
        self._scale = 1.0 / np.where(span > 0.0, span, 1.0)
        self.rest: tuple[float, ...] = tuple(limits.clamp(np.zeros(len(limits))).tolist())
        """The default seed: zero, or the limit nearest to it."""

    def turn(self, value: float, joint: int, seed: float) -> float:
        """Add full turns: the angle nearest the seed inside the limits, else nearest to them."""
        low, high = self._limits.pairs[joint]
        near = min(max(seed, low), high)
        value += TURN * floor((near - value) / TURN + 0.5 + TIE)
        if low - value <= LIMIT_TOLERANCE and value - high <= LIMIT_TOLERANCE:
            return value
        other = value - TURN if value > high else value + TURN
        excess = max(low - value, value - high)
        return other if max(low - other, other - high) < excess else value

    def choose(
        self, candidates: Sequence[Sequence[float]], seed: Sequence[float]
    ) -> tuple[list[float], bool]:
        """Pick the best of a few candidates.

        Args:
            candidates: Joint positions (rad, m), each n floats.
            seed: Joint positions to stay near (rad, m).

        Returns:
            The candidate, with rounding at a limit set onto it, and whether it is inside the
            limits.
        """
        best: list[float] = []
        best_excess = best_distance = float("inf")
        scale = self._scale.tolist()
        for candidate in candidates:
            q = list(candidate)
            for joint in self._turning:
                q[joint] = self.turn(q[joint], joint, seed[joint])
            excess = distance = 0.0
            for i, (low, high) in enumerate(self._limits.pairs):
                outside = max(low - q[i], q[i] - high)
                if outside > LIMIT_TOLERANCE:
                    excess += outside * scale[i]
                elif outside > 0.0:
                    q[i] = low if q[i] < low else high
                distance += abs(q[i] - seed[i]) * scale[i]
            # A candidate inside comes first, however little the other is outside.
            better = excess < best_excess - TIE or excess == 0.0 < best_excess
            equal = excess < best_excess + TIE and (excess == 0.0 or best_excess > 0.0)
            if better or (equal and distance < best_distance - TIE):
                best, best_excess, best_distance = q, excess, distance
        return best, best_excess == 0.0

    def turn_batch(self, value: FloatArray, joint: int, seed: FloatArray) -> FloatArray:
        """Add full turns to many angles, as :meth:`turn` does to one."""
        low, high = self._limits.pairs[joint]
        near = np.minimum(np.maximum(seed, low), high)
        value = value + TURN * np.floor((near - value) / TURN + (0.5 + TIE))
        excess = np.maximum(low - value, value - high)
        far = excess > LIMIT_TOLERANCE
        if far.any():
            other = np.where(value > high, value - TURN, value + TURN)
            better = far & (np.maximum(low - other, other - high) < excess)
            value = np.where(better, other, value)
        return np.asarray(value)

    def choose_batch(self, candidates: FloatArray, seed: FloatArray) -> FloatArray:
        """Pick the best of the same number of candidates for many poses.

        Args:
            candidates: Joint positions (rad, m), shape (N, K, n).
            seed: Joint positions to stay near (rad, m), shape (n,) or (N, n).

        Returns:
            One candidate per pose, with rounding at a limit set onto it, shape (N, n).
        """
        q = candidates.copy()
        near = seed[..., None, :]
        for joint in self._turning:
            q[..., joint] = self.turn_batch(q[..., joint], joint, near[..., joint])
        outside = self._limits.excess(q)
        rounding = (outside > 0.0) & (outside <= LIMIT_TOLERANCE)
        if rounding.any():
            q = np.where(rounding, self._limits.clamp(q), q)
            outside[rounding] = 0.0
        excess = outside @ self._scale
        distance = np.abs(q - near) @ self._scale
        least = excess.min(axis=1, keepdims=True)
        fair = (excess < least + TIE) & ((excess == 0.0) | (least > 0.0))
        distance = np.where(fair, distance, np.inf)
        first = np.argmax(distance < distance.min(axis=1, keepdims=True) + TIE, axis=1)
        return np.asarray(q[np.arange(len(q)), first])

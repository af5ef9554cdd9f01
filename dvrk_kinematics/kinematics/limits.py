"""Joint limits: which joint is outside, by how much, and how far the others are from theirs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from dvrk_kinematics.errors import InvalidInput, LimitViolation
from dvrk_kinematics.kinematics.result import Violation
from dvrk_kinematics.kinematics.tolerances import LIMIT_TOLERANCE

__all__ = ["JointLimits"]

FloatArray = npt.NDArray[np.float64]


class JointLimits:
    """Lower and upper limits of an arm's joints (rad, m); immutable.

    Args:
        names: The joints, in the order of the chain.
        lower: Smallest values allowed, shape (n,).
        upper: Largest values allowed, shape (n,).

    Raises:
        InvalidInput: Lengths differ, a limit is NaN, or a lower limit is above its upper one.
    """

    __slots__ = ("_lower", "_names", "_pairs", "_upper")

    def __init__(
        self, names: Iterable[str], lower: Sequence[float], upper: Sequence[float]
    ) -> None:
        self._names = tuple(names)
        self._lower = np.array(lower, dtype=np.float64)
        self._upper = np.array(upper, dtype=np.float64)
        count = len(self._names)
        if self._lower.shape != (count,) or self._upper.shape != (count,):
            shapes = f"{self._lower.shape} and {self._upper.shape}"
            raise InvalidInput("limits", f"{count} joints, but bounds of shapes {shapes}")
        for name, low, high in zip(self._names, self._lower, self._upper, strict=True):
            if not low <= high:
                raise InvalidInput("limits", f"{name}: lower {low} is not below upper {high}")
        self._lower.setflags(write=False)
        self._upper.setflags(write=False)
        self._pairs = tuple(zip(self._lower.tolist(), self._upper.tolist(), strict=True))

    @property
    def names(self) -> tuple[str, ...]:
        """The joints, in the order of the chain."""
        return self._names

    @property
    def lower(self) -> FloatArray:
        """Smallest values allowed (rad, m), shape (n,), read-only."""
        return self._lower

    @property
    def upper(self) -> FloatArray:
        """Largest values allowed (rad, m), shape (n,), read-only."""
        return self._upper

    @property
    def pairs(self) -> tuple[tuple[float, float], ...]:
        """(lower, upper) of each joint as plain floats, for scalar code."""
        return self._pairs

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"JointLimits({self._names}, {self._lower.tolist()}, {self._upper.tolist()})"

    def read_seed(self, seed: Sequence[float] | FloatArray | None) -> list[float] | None:
        """Read joint positions to stay near (rad, m) as plain floats; None stays None.

        Raises:
            InvalidInput: Not one value per joint.
        """
        if seed is None:
            return None
        floats: list[float] = np.asarray(seed, dtype=np.float64).tolist()
        if len(floats) != len(self):
            raise InvalidInput("seed", f"has {len(floats)} values, must have {len(self)}")
        return floats

    def violations(self, q: Sequence[float] | FloatArray) -> tuple[Violation, ...]:
        """Name every joint of ``q`` (rad, m; shape (n,)) that is outside its limits."""
        found = []
        for name, value, (low, high) in zip(self._names, q, self._pairs, strict=True):
            if not (low - value <= LIMIT_TOLERANCE and value - high <= LIMIT_TOLERANCE):
                found.append(Violation(name, float(value), low, high))
        return tuple(found)

    def check(self, q: Sequence[float] | FloatArray) -> None:
        """Raise for the first joint of ``q`` (rad, m; shape (n,)) outside its limits.

        Raises:
            LimitViolation: With the joint, its value and its bounds.
        """
        found = self.violations(q)
        if found:
            raise LimitViolation(*found[0])

    def contains(self, q: FloatArray) -> npt.NDArray[np.bool_]:
        """Return which rows of ``q``, shape (..., n), are inside all limits."""
        return np.asarray((self.excess(q) <= LIMIT_TOLERANCE).all(axis=-1))

    def mask_batch(self, q: FloatArray) -> npt.NDArray[np.uint32]:
        """Return one bit mask per row of ``q``, (N, n): bit i is set if joint i is outside."""
        mask = np.zeros(len(q), dtype=np.uint32)
        for i, (low, high) in enumerate(self._pairs):
            value = q[:, i]
            outside = (low - value > LIMIT_TOLERANCE) | (value - high > LIMIT_TOLERANCE)
            mask |= outside.astype(np.uint32) << np.uint32(i)
        return mask

    def excess(self, q: FloatArray) -> FloatArray:
        """Return how far each joint of ``q``, (..., n), is outside (rad, m); 0 inside."""
        return np.asarray(np.maximum(np.maximum(self._lower - q, q - self._upper), 0.0))

    def clamp(self, q: FloatArray) -> FloatArray:
        """Move each joint of ``q``, (..., n), to the nearest value inside its limits."""
        return np.asarray(np.minimum(np.maximum(q, self._lower), self._upper))

    def margin(self, q: FloatArray) -> FloatArray:
        """Return the distance to the nearest limit as a fraction of that joint's range.

        0.5 is the middle of every range, 0 is on a limit, negative is outside. A joint without a
        range (equal limits) or without a limit on one side does not count.

        Args:
            q: Joint positions (rad, m), shape (..., n).

        Returns:
            The smallest fraction over the joints, shape (...).
        """
        return np.asarray(np.minimum(self.margins(q), 0.5).min(axis=-1))

    def margins(self, q: FloatArray) -> FloatArray:
        """Return the distance of each joint to its nearest limit, as :meth:`margin` does for all.

        Args:
            q: Joint positions (rad, m), shape (..., n).

        Returns:
            Fractions of the ranges, shape (..., n); infinite for a joint that does not count.
        """
        span = self._upper - self._lower
        counts = (span > 0.0) & np.isfinite(span)
        near = np.minimum(q - self._lower, self._upper - q)
        return np.where(counts, near / np.where(counts, span, 1.0), np.inf)

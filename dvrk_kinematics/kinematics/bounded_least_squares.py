"""Least squares inside a box, for the few unknowns of an arm (Stark and Parker's BVLS)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dvrk_kinematics.geometry.arrays import Array

__all__ = ["bounded_least_squares"]

_Mask = npt.NDArray[np.bool_]

_SMALL_SLOPE = 1e-9
"""Slope at a bound, as a part of the first residual, that is worth no step."""


def bounded_least_squares(A: Array, b: Array, lower: Array, upper: Array) -> Array:
    """Find x between bounds that makes the norm of A x - b smallest.

    Args:
        A: Shape (m, n), of full column rank.
        b: Shape (m,).
        lower: Smallest values allowed, shape (n,).
        upper: Largest values allowed, shape (n,).

    Returns:
        Shape (n,); at the bounds exactly where it is held by them.
    """
    x: Array = np.minimum(np.maximum(0.0, lower), upper)
    free = x == 0.0
    small = _SMALL_SLOPE * float(np.linalg.norm(b - A @ x))
    for _ in range(4 * len(x)):
        x, free = _solve_free(A, b, (lower, upper), x, free)
        downhill = A.T @ (b - A @ x)
        inward = np.where(x <= lower, downhill, -downhill)
        inward[free] = 0.0
        best = int(inward.argmax())
        if inward[best] <= small:
            break
        free[best] = True
    return x


def _solve_free(
    A: Array, b: Array, bounds: tuple[Array, Array], x: Array, free: _Mask
) -> tuple[Array, _Mask]:
    """Move the free unknowns to their best; those that meet a bound on the way are held there."""
    lower, upper = bounds
    x, free = x.copy(), free.copy()
    while free.any():
        rest = b - A[:, ~free] @ x[~free]
        goal = x.copy()
        goal[free] = np.linalg.lstsq(A[:, free], rest, rcond=None)[0]
        blocked = free & ((goal < lower) | (goal > upper))
        if not blocked.any():
            return goal, free
        bound = np.where(goal < lower, lower, upper)
        way = np.where(blocked, goal - x, 1.0)
        fraction = np.where(blocked, np.clip((bound - x) / way, 0.0, 1.0), 1.0)
        first = int(fraction.argmin())
        x[free] += fraction[first] * (goal - x)[free]
        x[first] = bound[first]
        x = np.minimum(np.maximum(x, lower), upper)
        free[first] = False
    return x, free

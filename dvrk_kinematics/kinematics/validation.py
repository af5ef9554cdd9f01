"""Reading what callers pass in: joint vectors, poses, seeds.

Written for speed, since every call pays for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.geometry.arrays import Array, ArrayLike, as_floats

__all__ = [
    "joint_array",
    "joint_floats",
    "pose_rows",
    "poses_and_mask",
    "seed_array",
    "twist_array",
]

_TOL = so3.TOLERANCE
_CHUNK = 8192
"""Poses checked at a time: their columns stay in the cache."""
_DOUBLE = np.dtype(np.float64)
_FAR_M = 1e50
"""Largest distance of a pose (m)."""
_FAR_SQUARED = _FAR_M * _FAR_M
"""Squared distances beyond this are too large to compute with."""
_LAST_ROW = [0.0, 0.0, 0.0, 1.0]


def joint_array(q: ArrayLike, names: Sequence[str], argument: str = "q") -> Array:
    """Reads joint values of shape (n,) or (N, n), all finite.

    Raises:
        InvalidInput: Wrong shape or not finite; names the joint that is not.
    """
    values = as_floats(q, argument)
    n = len(names)
    if values.ndim not in (1, 2) or values.shape[-1] != n:
        raise InvalidInput(
            argument,
            f"needs shape ({n},) or (N, {n}) for {', '.join(names)}, got {values.shape}",
        )
    if not np.isfinite(values).all():
        index = tuple(int(i) for i in np.argwhere(~np.isfinite(values))[0])
        where = f"row {index[0]}, " if values.ndim == 2 else ""
        raise InvalidInput(argument, f"{where}{names[index[-1]]} is {values[index]}")
    return values


def joint_floats(q: Any, names: Sequence[str], argument: str = "q") -> list[float]:
    """Reads one joint vector as plain floats; (n,) only.

    Raises:
        InvalidInput: Wrong shape or not finite.
    """
    if type(q) is np.ndarray and q.dtype is _DOUBLE:
        values: list[float] = q.tolist()
        # NaN and infinity survive a sum, and only a finite number times 0 is 0.
        if q.ndim == 1 and len(values) == len(names) and sum(values) * 0.0 == 0.0:
            return values
    array = joint_array(q, names, argument)
    if array.ndim != 1:
        raise InvalidInput(argument, f"needs shape ({len(names)},), got {array.shape}")
    values = array.tolist()
    return values


def pose_rows(T: Any) -> list[list[float]]:
    """Reads one pose as four rows of plain floats, finite and rigid.

    The quick test is one chain of comparisons; NaN fails each of them. Poses that fail go through
    the slow check, which reports what is wrong.

    Raises:
        InvalidInput: Wrong shape, not finite, or not a rigid transform, with how far off.
    """
    if type(T) is np.ndarray and T.dtype is _DOUBLE and T.shape == (4, 4):
        rows: list[list[float]] = T.tolist()
        (a, d, g, x), (b, e, h, y), (c, f, i, z), last = rows
        if (
            -_TOL < a * a + b * b + c * c - 1.0 < _TOL
            and -_TOL < d * d + e * e + f * f - 1.0 < _TOL
            and -_TOL < a * d + b * e + c * f < _TOL
            # The third column is the cross product of the first two: rigid and not mirrored.
            and -_TOL < b * f - c * e - g < _TOL
            and -_TOL < c * d - a * f - h < _TOL
            and -_TOL < a * e - b * d - i < _TOL
            and last == _LAST_ROW
            and x * x + y * y + z * z < _FAR_SQUARED
        ):
            return rows
    array = se3.check(T)
    if array.ndim != 2:
        raise InvalidInput("T", f"needs shape (4, 4), got {array.shape}")
    rows = array.tolist()
    if not sum(row[3] * row[3] for row in rows[:3]) < _FAR_SQUARED:
        farthest = max(abs(row[3]) for row in rows[:3])
        raise InvalidInput("T", f"is {farthest:.3g} m away, at most {_FAR_M:g} m can be computed")
    return rows


def poses_and_mask(T: ArrayLike) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Reads N poses, and reports which of them are valid.

    Args:
        T: Homogeneous matrices, shape (N, 4, 4).

    Returns:
        The float64 array, and which rows are finite and rigid, shape (N,).

    Raises:
        InvalidInput: Wrong shape.
    """
    values = as_floats(T, "T")
    if values.ndim != 3 or values.shape[1:] != (4, 4):
        raise InvalidInput("T", f"needs shape (N, 4, 4), got {values.shape}")
    good = np.empty(len(values), dtype=np.bool_)
    with np.errstate(invalid="ignore", over="ignore"):
        for start in range(0, len(values), _CHUNK):
            block = values[start : start + _CHUNK].reshape(-1, 16).T
            good[start : start + _CHUNK] = _rigid(np.ascontiguousarray(block))
    return values, good


def _rigid(block: Array) -> npt.NDArray[np.bool_]:
    """Which poses are rigid; entries row by row, shape (16, N), so that each one is contiguous."""
    a, d, g, x, b, e, h, y, c, f, i, z = block[:12]
    worst = np.abs(a * a + b * b + c * c - 1.0)
    for term in (
        d * d + e * e + f * f - 1.0,
        a * d + b * e + c * f,
        b * f - c * e - g,
        c * d - a * f - h,
        a * e - b * d - i,
        block[12],
        block[13],
        block[14],
        block[15] - 1.0,
    ):
        # np.maximum passes NaN on, and NaN is not below the tolerance.
        np.maximum(worst, np.abs(term), out=worst)
    rigid: npt.NDArray[np.bool_] = (worst < _TOL) & (x * x + y * y + z * z < _FAR_SQUARED)
    return rigid


def seed_array(
    seed: ArrayLike | None, names: Sequence[str], good: npt.NDArray[np.bool_]
) -> tuple[Array | None, npt.NDArray[np.bool_]]:
    """Reads the seed of a batch: none, one for all (n,), or one per pose (N, n).

    A seed row that is not finite makes its pose invalid; it does not spoil the others.

    Returns:
        The seed, and ``good`` without the rows whose seed is not finite.

    Raises:
        InvalidInput: Wrong shape, or a seed for all that is not finite.
    """
    if seed is None:
        return None, good
    values = as_floats(seed, "seed")
    n, count = len(names), len(good)
    if values.shape == (n,):
        return joint_array(values, names, "seed"), good
    if values.shape != (count, n):
        raise InvalidInput("seed", f"needs shape ({n},) or ({count}, {n}), got {values.shape}")
    return values, good & np.isfinite(values).all(axis=1)


def twist_array(value: ArrayLike, lead: tuple[int, ...], argument: str) -> Array:
    """Reads twists or accelerations of the tip, shape (*lead, 6), all finite.

    Raises:
        InvalidInput: Wrong shape or not finite.
    """
    values = as_floats(value, argument)
    if values.shape != (*lead, 6):
        raise InvalidInput(argument, f"needs shape {(*lead, 6)}, got {values.shape}")
    if not np.isfinite(values).all():
        raise InvalidInput(argument, "holds NaN or infinity")
    return values

"""Angles on the circle: wrapping, and the turn nearest to a reference."""

from __future__ import annotations

import math
from typing import overload

import numpy as np

from dvrk_kinematics.geometry.arrays import Array

__all__ = ["difference", "nearest_turn", "unwrap", "wrap_to_pi"]

_TURN = 2.0 * math.pi
"""A whole turn (rad)."""


@overload
def wrap_to_pi(angle: float) -> float: ...
@overload
def wrap_to_pi(angle: Array) -> Array: ...
def wrap_to_pi(angle: float | Array) -> float | Array:
    """The same direction in (-pi, pi] (rad); angles already there come back unchanged."""
    if isinstance(angle, np.ndarray):
        wrapped = angle - _TURN * np.round(angle / _TURN)
        return np.where(wrapped <= -math.pi, wrapped + _TURN, wrapped)
    wrapped_float = math.remainder(angle, _TURN)
    return math.pi if wrapped_float <= -math.pi else wrapped_float


@overload
def difference(a: float, b: float) -> float: ...
@overload
def difference(a: Array, b: Array) -> Array: ...
def difference(a: float | Array, b: float | Array) -> float | Array:
    """The shortest way from b to a on the circle, in (-pi, pi] (rad)."""
    return wrap_to_pi(a - b)


@overload
def nearest_turn(angle: float, reference: float) -> float: ...
@overload
def nearest_turn(angle: Array, reference: Array) -> Array: ...
def nearest_turn(angle: float | Array, reference: float | Array) -> float | Array:
    """The same direction, on the turn nearest to a reference.

    Args:
        angle: Angle (rad), scalar or any shape.
        reference: The angle to be near (rad), same shape.

    Returns:
        angle + 2 pi k with the whole k that brings it within pi of the reference.
    """
    if isinstance(angle, np.ndarray):
        return angle + _TURN * np.round((reference - angle) / _TURN)
    return angle + _TURN * round((float(reference) - angle) / _TURN)


def unwrap(path: Array) -> Array:
    """Removes jumps of whole turns from a path of angles.

    Args:
        path: Angles (rad), shape (N, ...); the first axis is the path.

    Returns:
        The same directions, no step longer than pi; the first row is unchanged.
    """
    unwrapped: Array = np.unwrap(path, axis=0).astype(np.float64)
    return unwrapped

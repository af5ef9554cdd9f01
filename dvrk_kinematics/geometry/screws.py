"""Screw axes as twists (v, w), and their exponentials.

A screw of pitch 0 is a revolute axis, a screw without rotation a prismatic one.
"""

from __future__ import annotations

import numpy as np

from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.geometry.arrays import Array, ArrayLike

__all__ = ["bracket", "prismatic", "revolute", "screw_exp"]


def revolute(axis: ArrayLike, point: ArrayLike) -> Array:
    """The unit twist of turning about an axis through a point (m); (3,), (3,) -> (6,)."""
    w = np.asarray(axis, dtype=np.float64)
    w = w / np.linalg.norm(w, axis=-1, keepdims=True)
    return np.concatenate([np.cross(np.asarray(point, dtype=np.float64), w), w], axis=-1)


def prismatic(axis: ArrayLike) -> Array:
    """The unit twist of sliding along an axis; (3,) -> (6,)."""
    v = np.asarray(axis, dtype=np.float64)
    v = v / np.linalg.norm(v, axis=-1, keepdims=True)
    return np.concatenate([v, np.zeros_like(v)], axis=-1)


def screw_exp(screw: Array, amount: ArrayLike) -> Array:
    """The motion by an amount (rad or m) along a unit screw; (6,), () -> (4, 4)."""
    return se3.exp(screw * np.asarray(amount, dtype=np.float64)[..., None])


def bracket(a: Array, b: Array) -> Array:
    """The Lie bracket [a, b] of two twists: how b changes when carried along a; -> (6,)."""
    W_a, V_a = so3.hat(a[..., 3:]), so3.hat(a[..., :3])
    v = (W_a @ b[..., :3, None] + V_a @ b[..., 3:, None])[..., 0]
    w = (W_a @ b[..., 3:, None])[..., 0]
    return np.concatenate([v, w], axis=-1)

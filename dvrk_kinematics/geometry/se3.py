"""Poses: SE(3) as 4x4 matrices, vectorised over leading axes.

``T_a_b`` is the pose of frame b in frame a; it maps coordinates in b to coordinates in a.
Twists are (v, w), linear before angular.
"""

from __future__ import annotations

import numpy as np

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.geometry import so3
from dvrk_kinematics.geometry.arrays import Array, ArrayLike, as_floats

__all__ = [
    "adjoint",
    "apply",
    "check",
    "exp",
    "inverse",
    "log",
    "make",
    "pose_error",
    "translation",
]


def make(R: ArrayLike, p: ArrayLike) -> Array:
    """Combines a rotation (3, 3) and a translation (3,) (m); -> (4, 4)."""
    rotation, position = np.asarray(R, dtype=np.float64), np.asarray(p, dtype=np.float64)
    lead = np.broadcast_shapes(rotation.shape[:-2], position.shape[:-1])
    T = np.zeros((*lead, 4, 4))
    T[..., :3, :3] = rotation
    T[..., :3, 3] = position
    T[..., 3, 3] = 1.0
    return T


def translation(p: ArrayLike) -> Array:
    """The pose with no rotation; (3,) (m) -> (4, 4)."""
    return make(np.eye(3), p)


def inverse(T: Array) -> Array:
    """The inverse of a pose, T_b_a of T_a_b; (4, 4) -> (4, 4)."""
    R_t = np.swapaxes(T[..., :3, :3], -1, -2)
    return make(R_t, -(R_t @ T[..., :3, 3:])[..., 0])


def apply(T_a_b: Array, points_b: Array) -> Array:
    """Points given in b, seen from a; (..., 4, 4) and (..., 3) -> (..., 3), broadcast."""
    moved: Array = (T_a_b[..., :3, :3] @ points_b[..., None])[..., 0] + T_a_b[..., :3, 3]
    return moved


def _left_jacobian(w: Array) -> Array:
    """The matrix V with p = V v in exp(v, w)."""
    theta2 = np.sum(w * w, axis=-1)
    theta = np.sqrt(theta2)
    b = 0.5 * np.square(np.sinc(theta / (2.0 * np.pi)))
    # (t - sin t) / t^3 loses digits below 0.1 rad, where four terms of its series are exact.
    small = theta < 0.1
    t2 = np.where(small, 1.0, theta2)
    series = 1 / 6 - theta2 / 120 * (1 - theta2 / 42 * (1 - theta2 / 72 * (1 - theta2 / 110)))
    c = np.where(small, series, (1.0 - np.sinc(theta / np.pi)) / t2)
    W = so3.hat(w)
    V: Array = np.eye(3) + b[..., None, None] * W + c[..., None, None] * (W @ W)
    return V


def exp(twist: Array) -> Array:
    """The motion along a constant twist (v, w) for one unit of time; (6,) -> (4, 4)."""
    v, w = twist[..., :3], twist[..., 3:]
    return make(so3.exp(w), (_left_jacobian(w) @ v[..., None])[..., 0])


def log(T: Array) -> Array:
    """The twist (v, w) whose exponential is the pose, |w| at most pi; (4, 4) -> (6,)."""
    w = so3.log(T[..., :3, :3])
    # V is well conditioned up to pi (its determinant is 2 (1 - cos t) / t^2), so solving is safe.
    v = np.linalg.solve(_left_jacobian(w), T[..., :3, 3:])[..., 0]
    return np.concatenate([v, w], axis=-1)


def adjoint(T_a_b: Array) -> Array:
    """The matrix that re-expresses a twist (v, w) of frame b in frame a; (4, 4) -> (6, 6)."""
    R, p = T_a_b[..., :3, :3], T_a_b[..., :3, 3]
    A = np.zeros((*T_a_b.shape[:-2], 6, 6))
    A[..., :3, :3] = A[..., 3:, 3:] = R
    A[..., :3, 3:] = so3.hat(p) @ R
    return A


def pose_error(T_a: Array, T_b: Array) -> tuple[Array, Array]:
    """Distance (m) and angle (rad) between two poses; (4, 4), (4, 4) -> (), ()."""
    distance = np.linalg.norm(T_a[..., :3, 3] - T_b[..., :3, 3], axis=-1)
    return distance, so3.angle_between(T_a[..., :3, :3], T_b[..., :3, :3])


def check(T: ArrayLike, argument: str = "T", tolerance: float = so3.TOLERANCE) -> Array:
    """Reads poses and refuses any that is not a rigid transform.

    Args:
        T: Homogeneous matrices, shape (..., 4, 4); translation in metres.
        argument: Name of the argument, for the error.
        tolerance: Largest allowed entry of |R^T R - I| and of the last row's error.

    Returns:
        The float64 array.

    Raises:
        InvalidInput: Wrong shape, not finite, or not rigid; the reason reports how far off.
    """
    values = as_floats(T, argument)
    if values.shape[-2:] != (4, 4):
        raise InvalidInput(argument, f"needs shape (..., 4, 4), got {values.shape}")
    if not np.all(np.isfinite(values)):
        raise InvalidInput(argument, "holds NaN or infinity")
    last = float(np.max(np.abs(values[..., 3, :] - [0.0, 0.0, 0.0, 1.0]), initial=0.0))
    if last > tolerance:
        raise InvalidInput(argument, f"the last row is off (0, 0, 0, 1) by {last:.3g}")
    so3.check(values[..., :3, :3], argument, tolerance)
    return values

"""Rotations: SO(3) as 3x3 matrices, vectorised over leading axes.

Shapes below are written for one rotation; every function takes (..., 3) and (..., 3, 3).
"""

from __future__ import annotations

import numpy as np

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.geometry.arrays import Array, ArrayLike, as_floats

__all__ = [
    "TOLERANCE",
    "angle",
    "angle_between",
    "check",
    "deviation",
    "exp",
    "from_quaternion",
    "hat",
    "log",
    "nearest",
    "rot_x",
    "rot_y",
    "rot_z",
    "to_quaternion",
    "vee",
]

TOLERANCE = 1e-6
"""Largest entry of |R^T R - I| of a rotation: single precision passes, a typo does not."""


def hat(w: Array) -> Array:
    """The skew-symmetric matrix that takes x to w cross x; (3,) -> (3, 3)."""
    W = np.zeros((*w.shape[:-1], 3, 3))
    W[..., 0, 1], W[..., 0, 2], W[..., 1, 2] = -w[..., 2], w[..., 1], -w[..., 0]
    W[..., 1, 0], W[..., 2, 0], W[..., 2, 1] = w[..., 2], -w[..., 1], w[..., 0]
    return W


def vee(W: Array) -> Array:
    """The vector of a skew-symmetric matrix, inverse of hat; (3, 3) -> (3,)."""
    return np.stack([W[..., 2, 1], W[..., 0, 2], W[..., 1, 0]], axis=-1)


def exp(w: Array) -> Array:
    """The rotation by |w| radians about w (Rodrigues); (3,) -> (3, 3)."""
    theta = np.linalg.norm(w, axis=-1)
    # sin(t)/t and (1 - cos t)/t^2 = (sin(t/2)/(t/2))^2 / 2: np.sinc needs no series near zero.
    a = np.sinc(theta / np.pi)[..., None, None]
    b = 0.5 * np.square(np.sinc(theta / (2.0 * np.pi)))[..., None, None]
    W = hat(w)
    R: Array = np.eye(3) + a * W + b * (W @ W)
    return R


def log(R: Array) -> Array:
    """The rotation vector, of length at most pi; (3, 3) -> (3,).

    Goes through the quaternion, which is well conditioned at 0 and at pi alike.
    """
    q = to_quaternion(R)
    v, s = q[..., :3], q[..., 3]
    n = np.linalg.norm(v, axis=-1)
    # |w|/|v| -> 2 as the angle goes to 0.
    small = n < 1e-30
    factor = np.where(small, 2.0, 2.0 * np.arctan2(n, s) / np.where(small, 1.0, n))
    w: Array = factor[..., None] * v
    return w


def angle(R: Array) -> Array:
    """The angle of a rotation in [0, pi] (rad), exact near 0 and near pi; (3, 3) -> ()."""
    q = to_quaternion(R)
    result: Array = 2.0 * np.arctan2(np.linalg.norm(q[..., :3], axis=-1), q[..., 3])
    return result


def angle_between(R_a: Array, R_b: Array) -> Array:
    """The angle (rad) of the rotation that takes one orientation to the other."""
    return angle(np.swapaxes(R_a, -1, -2) @ R_b)


def _elementary(theta: ArrayLike, i: int, j: int) -> Array:
    t = np.asarray(theta, dtype=np.float64)
    R = np.zeros((*t.shape, 3, 3))
    c, s = np.cos(t), np.sin(t)
    R[..., 3 - i - j, 3 - i - j] = 1.0
    R[..., i, i] = R[..., j, j] = c
    R[..., j, i], R[..., i, j] = s, -s
    return R


def rot_x(theta: ArrayLike) -> Array:
    """Rotation about x by theta (rad); () -> (3, 3)."""
    return _elementary(theta, 1, 2)


def rot_y(theta: ArrayLike) -> Array:
    """Rotation about y by theta (rad); () -> (3, 3)."""
    return _elementary(theta, 2, 0)


def rot_z(theta: ArrayLike) -> Array:
    """Rotation about z by theta (rad); () -> (3, 3)."""
    return _elementary(theta, 0, 1)


def to_quaternion(R: Array) -> Array:
    """The unit quaternion (x, y, z, w) with w >= 0; (3, 3) -> (4,)."""
    r00, r11, r22 = R[..., 0, 0], R[..., 1, 1], R[..., 2, 2]
    # Four times the outer product q q^T; the row of its largest diagonal is best conditioned.
    K = np.empty((*R.shape[:-2], 4, 4))
    K[..., 0, 0] = 1.0 + r00 - r11 - r22
    K[..., 1, 1] = 1.0 - r00 + r11 - r22
    K[..., 2, 2] = 1.0 - r00 - r11 + r22
    K[..., 3, 3] = 1.0 + r00 + r11 + r22
    K[..., 0, 1] = K[..., 1, 0] = R[..., 0, 1] + R[..., 1, 0]
    K[..., 0, 2] = K[..., 2, 0] = R[..., 0, 2] + R[..., 2, 0]
    K[..., 1, 2] = K[..., 2, 1] = R[..., 1, 2] + R[..., 2, 1]
    K[..., 0, 3] = K[..., 3, 0] = R[..., 2, 1] - R[..., 1, 2]
    K[..., 1, 3] = K[..., 3, 1] = R[..., 0, 2] - R[..., 2, 0]
    K[..., 2, 3] = K[..., 3, 2] = R[..., 1, 0] - R[..., 0, 1]
    best = np.argmax(np.diagonal(K, axis1=-2, axis2=-1), axis=-1)
    q = np.take_along_axis(K, best[..., None, None], axis=-2)[..., 0, :]
    q = q / np.linalg.norm(q, axis=-1, keepdims=True)
    return np.where(q[..., 3:] < 0.0, -q, q)


def from_quaternion(q: ArrayLike) -> Array:
    """The rotation of a quaternion (x, y, z, w), which is normalised first; (4,) -> (3, 3).

    Raises:
        InvalidInput: If the last axis is not 4 long, or a quaternion is zero or not finite.
    """
    values = as_floats(q, "quaternion")
    if values.shape[-1:] != (4,):
        raise InvalidInput("quaternion", f"needs shape (..., 4), got {values.shape}")
    n = np.linalg.norm(values, axis=-1, keepdims=True)
    if not np.all(np.isfinite(n)) or np.any(n < 1e-12):
        raise InvalidInput("quaternion", "must be finite and not zero")
    x, y, z, w = np.moveaxis(values / n, -1, 0)
    # Entry by entry: for large batches several times faster than products of 3 x 3 matrices.
    R = np.empty((*values.shape[:-1], 3, 3))
    R[..., 0, 0] = 1.0 - 2.0 * (y * y + z * z)
    R[..., 1, 1] = 1.0 - 2.0 * (x * x + z * z)
    R[..., 2, 2] = 1.0 - 2.0 * (x * x + y * y)
    R[..., 0, 1], R[..., 1, 0] = 2.0 * (x * y - z * w), 2.0 * (x * y + z * w)
    R[..., 0, 2], R[..., 2, 0] = 2.0 * (x * z + y * w), 2.0 * (x * z - y * w)
    R[..., 1, 2], R[..., 2, 1] = 2.0 * (y * z - x * w), 2.0 * (y * z + x * w)
    return R


def deviation(R: Array) -> Array:
    """How far from a rotation: largest entry of |R^T R - I|, at least 2 if mirrored."""
    off = np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max(axis=(-1, -2))
    return np.where(np.linalg.det(R) < 0.0, np.maximum(off, 2.0), off)


def nearest(R: Array) -> Array:
    """The rotation nearest to a matrix in the Frobenius norm; (3, 3) -> (3, 3)."""
    U, _, Vt = np.linalg.svd(R)
    U = U.copy()
    U[..., :, 2] *= np.linalg.det(U @ Vt)[..., None]
    result: Array = U @ Vt
    return result


def check(R: ArrayLike, argument: str = "R", tolerance: float = TOLERANCE) -> Array:
    """Reads rotations and refuses any that is not one.

    Args:
        R: Rotation matrices, shape (..., 3, 3).
        argument: Name of the argument, for the error.
        tolerance: Largest allowed entry of |R^T R - I|.

    Returns:
        The float64 array.

    Raises:
        InvalidInput: Wrong shape, not finite, or not a rotation; the reason reports how far off.
    """
    values = as_floats(R, argument)
    if values.shape[-2:] != (3, 3):
        raise InvalidInput(argument, f"needs shape (..., 3, 3), got {values.shape}")
    if not np.all(np.isfinite(values)):
        raise InvalidInput(argument, "holds NaN or infinity")
    if np.any(np.linalg.det(values) < 0.0):
        raise InvalidInput(argument, "is no rotation: mirrored, its determinant is negative")
    worst = float(np.max(deviation(values), initial=0.0))
    if worst > tolerance:
        reason = f"|R^T R - I| is {worst:.3g}, allowed {tolerance:.3g}"
        raise InvalidInput(argument, f"is no rotation: {reason}")
    return values

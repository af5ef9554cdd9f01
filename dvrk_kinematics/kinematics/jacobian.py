"""The geometric Jacobian and its time derivative, for one joint vector or many.

Rows: linear velocity of the tip (m/s), then angular (rad/s), along the axes of the base.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.chain import SerialChain

__all__ = ["cross", "geometric_jacobian", "jacobian", "jacobian_rate"]

Mask = npt.NDArray[np.bool_]


def cross(a: Array, b: Array) -> Array:
    """The cross product along the last axis; a fraction of the cost of np.cross."""
    a0, a1, a2 = a[..., 0], a[..., 1], a[..., 2]
    b0, b1, b2 = b[..., 0], b[..., 1], b[..., 2]
    out = np.empty(np.broadcast_shapes(a.shape, b.shape))
    out[..., 0] = a1 * b2 - a2 * b1
    out[..., 1] = a2 * b0 - a0 * b2
    out[..., 2] = a0 * b1 - a1 * b0
    return out


def geometric_jacobian(z: Array, p: Array, p_tip: Array, revolute: Mask) -> Array:
    """The Jacobian from the joint axes.

    Args:
        z: Directions of the joint axes in the base frame, shape (..., n, 3).
        p: A point on each axis (m), shape (..., n, 3).
        p_tip: The tip (m), shape (..., 3).
        revolute: Which joints turn, shape (n,).

    Returns:
        Shape (..., 6, n).
    """
    turning = revolute[:, None]
    J = np.empty((*z.shape[:-2], 6, z.shape[-2]))
    linear = np.where(turning, cross(z, p_tip[..., None, :] - p), z)
    J[..., :3, :] = np.swapaxes(linear, -1, -2)
    J[..., 3:, :] = np.swapaxes(np.where(turning, z, 0.0), -1, -2)
    return J


def jacobian(chain: SerialChain, q: Array) -> Array:
    """The Jacobian at q (rad, m), shape (..., n) -> (..., 6, n)."""
    z, p, T = chain.axes(q)
    return geometric_jacobian(z, p, T[..., :3, 3], chain.revolute)


def jacobian_rate(chain: SerialChain, q: Array, qd: Array) -> Array:
    """The time derivative of the Jacobian while the joints move.

    Each axis is carried by the joints before it: its direction turns with their angular velocity,
    its point moves with their velocity there. Both are running sums over the chain.

    Args:
        chain: The arm.
        q: Joint positions (rad, m), shape (..., n).
        qd: Joint velocities (rad/s, m/s), same shape.

    Returns:
        Shape (..., 6, n).
    """
    z, p, T = chain.axes(q)
    p_tip = T[..., :3, 3]
    turning = chain.revolute[:, None]
    rate = qd[..., None]
    spin = np.where(turning, z, 0.0) * rate
    drift = np.where(turning, -cross(z, p), z) * rate
    omega, v_origin = _before(spin), _before(drift)
    z_dot = cross(omega, z)
    p_dot = cross(omega, p) + v_origin
    v_tip = cross(spin.sum(axis=-2), p_tip) + drift.sum(axis=-2)
    arm = p_tip[..., None, :] - p
    arm_dot = v_tip[..., None, :] - p_dot
    J = np.empty((*z.shape[:-2], 6, z.shape[-2]))
    linear = np.where(turning, cross(z_dot, arm) + cross(z, arm_dot), z_dot)
    J[..., :3, :] = np.swapaxes(linear, -1, -2)
    J[..., 3:, :] = np.swapaxes(np.where(turning, z_dot, 0.0), -1, -2)
    return J


def _before(parts: Array) -> Array:
    """Running sums over the joints before each joint, shape (..., n, 3)."""
    sums = np.zeros_like(parts)
    np.cumsum(parts[..., :-1, :], axis=-2, out=sums[..., 1:, :])
    return sums

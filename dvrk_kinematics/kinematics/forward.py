"""Forward kinematics of a serial chain, one joint vector or many."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, sin

import numpy as np

from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.models.rows import dh_constants
from dvrk_kinematics.models.schema import ArmModel, JointKind

__all__ = ["SerialChain"]

_Rows = tuple[tuple[float, float, float, float], ...]


class SerialChain:
    """The chain of an arm as constants between its joints: T = C_0 J_1 C_1 ... J_n C_n.

    Fixed rows, the base, the tip offset and both Denavit-Hartenberg conventions vanish into the
    constants, so that what is left is a turn about z or a slide along z for each joint.

    Args:
        model: The arm.
    """

    def __init__(self, model: ArmModel) -> None:
        constants: list[Array] = []
        current = model.T_base
        revolute = []
        for row in model.chain:
            T_pre, T_post = dh_constants(row, model.convention)
            current = current @ T_pre
            if row.kind is not JointKind.FIXED:
                constants.append(current)
                revolute.append(row.kind is JointKind.REVOLUTE)
                current = np.eye(4)
            current = current @ T_post
        constants.append(current @ model.T_tip_offset)
        self.revolute = np.array(revolute)
        self.revolute.setflags(write=False)
        self._constants = constants
        self._floats: list[_Rows] = [tuple(map(tuple, C[:3].tolist())) for C in constants]
        self._turns: list[bool] = revolute

    def __len__(self) -> int:
        return len(self._turns)

    def forward_floats(self, q: Sequence[float]) -> list[list[float]]:
        """The tip's pose for n plain floats, as four rows of a matrix.

        Plain floats beat numpy for one pose: a 4x4 product costs less than a numpy call.
        """
        (xx, yx, zx, px), (xy, yy, zy, py), (xz, yz, zz, pz) = self._floats[0]
        for value, turns, C in zip(q, self._turns, self._floats[1:], strict=True):
            if turns:
                c, s = cos(value), sin(value)
                xx, yx = c * xx + s * yx, c * yx - s * xx
                xy, yy = c * xy + s * yy, c * yy - s * xy
                xz, yz = c * xz + s * yz, c * yz - s * xz
            else:
                px, py, pz = px + value * zx, py + value * zy, pz + value * zz
            (a0, a1, a2, a3), (b0, b1, b2, b3), (c0, c1, c2, c3) = C
            px += xx * a3 + yx * b3 + zx * c3
            py += xy * a3 + yy * b3 + zy * c3
            pz += xz * a3 + yz * b3 + zz * c3
            xx, yx, zx = (
                xx * a0 + yx * b0 + zx * c0,
                xx * a1 + yx * b1 + zx * c1,
                xx * a2 + yx * b2 + zx * c2,
            )
            xy, yy, zy = (
                xy * a0 + yy * b0 + zy * c0,
                xy * a1 + yy * b1 + zy * c1,
                xy * a2 + yy * b2 + zy * c2,
            )
            xz, yz, zz = (
                xz * a0 + yz * b0 + zz * c0,
                xz * a1 + yz * b1 + zz * c1,
                xz * a2 + yz * b2 + zz * c2,
            )
        return [[xx, yx, zx, px], [xy, yy, zy, py], [xz, yz, zz, pz], [0.0, 0.0, 0.0, 1.0]]

    def forward(self, q: Array) -> Array:
        """The tip's pose, base to tip.

        Args:
            q: Joint positions (rad, m), shape (n,) or (N, n).

        Returns:
            Shape (4, 4) or (N, 4, 4).
        """
        if q.ndim == 1:
            return np.array(self.forward_floats(q.tolist()))
        return self._walk(q, None)

    def axes(self, q: Array) -> tuple[Array, Array, Array]:
        """Where every joint axis is.

        Args:
            q: Joint positions (rad, m), shape (..., n).

        Returns:
            Directions of the joint axes and a point on each (m), both of shape (..., n, 3),
            and the tip's pose, shape (..., 4, 4). All in the base frame.
        """
        frames = np.empty((*q.shape, 4, 4))
        T = self._walk(q, frames)
        return frames[..., :3, 2], frames[..., :3, 3], T

    def _walk(self, q: Array, frames: Array | None) -> Array:
        """Multiplies the chain up, noting the frame of each joint if asked to."""
        T = np.broadcast_to(self._constants[0], (*q.shape[:-1], 4, 4))
        for i, turns in enumerate(self._turns):
            if frames is not None:
                frames[..., i, :, :] = T
            T = T @ _joint_matrices(q[..., i], turns) @ self._constants[i + 1]
        return T


def _joint_matrices(value: Array, turns: bool) -> Array:
    """Turns about z by value (rad), or slides along z by value (m); (...) -> (..., 4, 4)."""
    J = np.zeros((*np.shape(value), 4, 4))
    J[..., 2, 2] = J[..., 3, 3] = 1.0
    if turns:
        J[..., 0, 0] = J[..., 1, 1] = np.cos(value)
        s = np.sin(value)
        J[..., 1, 0] = s
        J[..., 0, 1] = -s
    else:
        J[..., 0, 0] = J[..., 1, 1] = 1.0
        J[..., 2, 3] = value
    return J

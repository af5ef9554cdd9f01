"""Forward kinematics of a serial chain, one joint vector or many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import cos, sin
from typing import TypeAlias

import numpy as np

from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.tolerances import CHAIN_ANGLE_RAD
from dvrk_kinematics.models.dh_rows import dh_constants
from dvrk_kinematics.models.schema import ArmModel, Convention, JointKind

__all__ = ["RowsOf", "SerialChain", "chain_frame", "has_angles"]

_CHUNK = 8192
"""Rows processed at a time: their columns stay in the cache."""
RowsOf: TypeAlias = Callable[[Sequence[float]], list[list[float]]]
"""Computes the rows of a matrix from joint positions (rad, m), all in plain floats."""
_Rows = tuple[tuple[float, float, float, float], ...]


class SerialChain:
    """The chain of an arm as constants between its joints: T = C_0 J_1 C_1 ... J_n C_n.

    The constants absorb fixed rows, the base, the tip offset and both Denavit-Hartenberg
    conventions, so that each joint is only a turn about z or a slide along z.

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
        T = np.empty((len(q), 4, 4))
        for start in range(0, len(q), _CHUNK):
            self._walk(q[start : start + _CHUNK], T[start : start + _CHUNK], None, None)
        return T

    def axes(self, q: Array) -> tuple[Array, Array, Array]:
        """The position of every joint axis.

        Args:
            q: Joint positions (rad, m), shape (..., n).

        Returns:
            Directions of the joint axes and a point on each (m), both of shape (..., n, 3),
            and the tip's pose, shape (..., 4, 4). All in the base frame.
        """
        rows = q.reshape(-1, q.shape[-1])
        T = np.empty((len(rows), 4, 4))
        z, p = np.empty((*rows.shape, 3)), np.empty((*rows.shape, 3))
        self._walk(rows, T, z, p)
        lead = q.shape[:-1]
        return z.reshape(*q.shape, 3), p.reshape(*q.shape, 3), T.reshape(*lead, 4, 4)

    def _walk(self, q: Array, T: Array, z_out: Array | None, p_out: Array | None) -> None:
        """Multiplies the chain out, column by column, and records the joint axes if requested.

        A column is an array of shape (3, N), or (3, 1) while it does not depend on q. Nearly all
        constants are quarter turns, so most products only change a name or sign.
        """
        x, y, z, p = (self._constants[0][:3, k, None] for k in range(4))
        for i, (turns, C) in enumerate(zip(self._turns, self._constants[1:], strict=True)):
            if z_out is not None and p_out is not None:
                z_out[:, i] = z.T
                p_out[:, i] = p.T
            if turns:
                c, s = np.cos(q[:, i]), np.sin(q[:, i])
                x, y = c * x + s * y, c * y - s * x
            else:
                p = p + z * q[:, i]
            x, y, z, p = (
                _combine((x, y, z), C[:3, 0]),
                _combine((x, y, z), C[:3, 1]),
                _combine((x, y, z), C[:3, 2]),
                p + _combine((x, y, z), C[:3, 3]) if C[:3, 3].any() else p,
            )
        for k, column in enumerate((x, y, z, p)):
            T[:, :3, k] = column.T
        T[:, 3] = (0.0, 0.0, 0.0, 1.0)


def _combine(columns: tuple[Array, Array, Array], weights: Array) -> Array:
    """The weighted sum of columns, without the terms whose weight is 0."""
    total: Array | None = None
    for column, weight in zip(columns, weights.tolist(), strict=True):
        if weight != 0.0:
            term = column if weight == 1.0 else weight * column
            total = term if total is None else total + term
    return columns[0] * 0.0 if total is None else total


def chain_frame(model: ArmModel, q: Sequence[float]) -> Array:
    """Base to frame len(q) of a chain, without the tip's offset; shape (4, 4).

    Args:
        model: The arm.
        q: Positions of its first joints (rad, m), at most all of them.
    """
    T = model.T_base
    positions = iter(q)
    for row in model.chain:
        J = np.eye(4)
        if row.kind is not JointKind.FIXED:
            value = next(positions, None)
            if value is None:
                break
            if row.kind is JointKind.PRISMATIC:
                J[2, 3] = value
            else:
                J[:2, :2] = [[cos(value), -sin(value)], [sin(value), cos(value)]]
        T_pre, T_post = dh_constants(row, model.convention)
        T = T @ T_pre @ J @ T_post
    return np.array(T)


def has_angles(model: ArmModel, angles: Sequence[tuple[float, float]]) -> bool:
    """Whether a chain has the angles that a closed form requires.

    Args:
        model: The arm.
        angles: alpha and theta (rad) of each row, in the modified convention; each row belongs to
            a joint.
    """
    return (
        model.convention is Convention.MODIFIED
        and len(model.chain) == len(angles) == len(model.joints)
        and np.allclose(
            [(row.alpha, row.theta) for row in model.chain], angles, atol=CHAIN_ANGLE_RAD
        )
    )

"""Maps of where a tool is dexterous: the fraction of its orientations it can take at a position.

A tool that reaches a point cannot turn freely there. At every grid point, the map counts the
orientations that the joint limits and the cannula rule allow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.geometry.arrays import Array, ArrayLike, as_floats, frozen
from dvrk_kinematics.kinematics.arm import Arm
from dvrk_kinematics.motion.cannula import make_cannula_rule
from dvrk_kinematics.motion.figures.place_margin import plane_rotation

__all__ = ["Axes", "WorkspaceMap", "make_orientations", "workspace_map"]

_GOLDEN_TURN = np.pi * (3.0 - np.sqrt(5.0))
"""Angle (rad) from each point of a spiral on a sphere to the next, so that they lie evenly."""
_POSES_AT_ONCE = 65_536
"""Poses solved at a time, so that memory stays bounded."""


class Axes(NamedTuple):
    """The coordinates of a grid in the arm's base (m), each of shape (any,); one is a slice."""

    x: ArrayLike
    y: ArrayLike
    z: ArrayLike


@dataclass(frozen=True, slots=True, eq=False)
class WorkspaceMap:
    """How dexterous a tool is at the points of a grid.

    Attributes:
        x: Coordinates along x (m), shape (X,).
        y: Coordinates along y (m), shape (Y,).
        z: Coordinates along z (m), shape (Z,).
        fraction: Fraction of the orientations possible there, 0 to 1, shape (X, Y, Z).
    """

    x: Array
    y: Array
    z: Array
    fraction: Array


def make_orientations(
    directions: int = 48,
    spins: int = 8,
    cone: float = 0.5 * np.pi,
    axis: ArrayLike = (0.0, 0.0, -1.0),
) -> Array:
    """Orientations of a tool, spread evenly: where it points, and its turn about that.

    Args:
        directions: Directions of tool z.
        spins: Turns about tool z, for each direction.
        cone: Largest angle between tool z and the axis (rad); pi for all directions.
        axis: Middle of the directions in the base, shape (3,); straight down by default.

    Returns:
        Shape (directions spins, 3, 3).

    Raises:
        InvalidInput: A count below 1, a cone outside (0, pi], or an invalid axis.
    """
    if directions < 1 or spins < 1:
        raise InvalidInput("directions", f"and spins must be at least 1: {directions}, {spins}")
    if not 0.0 < cone <= np.pi:
        raise InvalidInput("cone", f"must be within (0, pi] rad, is {cone}")
    # A spiral with steps of one golden angle covers a cap evenly, whatever the count.
    k = np.arange(directions)
    height = 1.0 - (1.0 - np.cos(cone)) * (k + 0.5) / directions
    tilt, around = np.arccos(height), k * _GOLDEN_TURN
    R_axis_tool = so3.rot_z(around) @ so3.rot_y(tilt) @ so3.rot_z(-around)
    turns = so3.rot_z(np.arange(spins) * (2.0 * np.pi / spins))
    R = plane_rotation(axis) @ R_axis_tool[:, None] @ turns
    return np.asarray(R.reshape(-1, 3, 3))


def workspace_map(arm: Arm, axes: Axes, orientations: ArrayLike | None = None) -> WorkspaceMap:
    """Count the orientations that a tool can take at the points of a grid.

    Args:
        arm: The arm.
        axes: The grid's coordinates in the base (m).
        orientations: Rotations of the tool in the base, shape (K, 3, 3); by default those of
            :func:`make_orientations`.

    Raises:
        InvalidInput: A coordinate is not finite, or a rotation is invalid.
    """
    x, y, z = (_read_axis(value, name) for value, name in zip(axes, "xyz", strict=True))
    R = make_orientations() if orientations is None else so3.check(orientations, "orientations")
    if R.ndim != 3 or not len(R):
        raise InvalidInput("orientations", f"need shape (K, 3, 3), got {R.shape}")
    points = np.stack(np.meshgrid(x, y, z, indexing="ij"), axis=-1).reshape(-1, 3)
    fraction = np.empty(len(points))
    chunk = max(1, _POSES_AT_ONCE // len(R))
    for start in range(0, len(points), chunk):
        rows = slice(start, start + chunk)
        T = se3.make(R, points[rows, None])
        fraction[rows] = _allowed(arm, T.reshape(-1, 4, 4)).reshape(-1, len(R)).mean(axis=1)
    shape = (len(x), len(y), len(z))
    return WorkspaceMap(x, y, z, frozen(fraction.reshape(shape)))


def _allowed(arm: Arm, T_base_tip: Array) -> Array:
    """1 for poses inside the joint limits and beyond the cannula, 0 otherwise; (N, 4, 4)."""
    solved = arm.inverse_batch(T_base_tip)
    allowed = solved.ok
    rule = make_cannula_rule(arm)
    if rule is not None:
        allowed = allowed & (rule.depths(solved.q) >= rule.min_depth_m)
    return allowed.astype(np.float64)


def _read_axis(values: ArrayLike, name: str) -> Array:
    read = np.atleast_1d(as_floats(values, name))
    if read.ndim != 1 or not len(read) or not np.isfinite(read).all():
        raise InvalidInput(name, "must be one or more finite coordinates")
    return frozen(read)

"""Paths of the tip: geometry without time.

A path is a curve of poses over a fraction u in [0, 1]. Its derivative by u is a twist (linear
before angular, of the tip's origin, along the axes of the base), so that with du/dt the tip's
velocity is ``twist(u) * du/dt`` and its acceleration ``bend(u) * (du/dt)^2 + twist(u) * d2u/dt2``.
Arcs and blends have their own files.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Protocol

import numpy as np

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.geometry.arrays import Array, ArrayLike, as_floats, frozen
from dvrk_kinematics.kinematics.interruptible import check_in
from dvrk_kinematics.motion.tolerances import ROTATION_ROUNDING, SAME_POSE

__all__ = [
    "Line",
    "Path",
    "Polyline",
    "Turn",
    "check_pose",
    "geodesic",
    "turned",
]

_HALF_TURN = 1e-7
"""Within this angle (rad) of half a turn, both ways count as equally short."""


class Path(Protocol):
    """A curve of poses.

    Attributes:
        length: How far the tip travels (m).
        angle: How much it turns on its way (rad).
        breaks: Fractions strictly inside at which ``bend`` jumps, increasing, shape (B,).
        peak_twist: Largest linear and angular length of ``twist`` (m, rad).
        peak_bend: Largest linear and angular length of ``bend`` (m, rad).
    """

    @property
    def length(self) -> float: ...  # noqa: D102
    @property
    def angle(self) -> float: ...  # noqa: D102
    @property
    def breaks(self) -> Array: ...  # noqa: D102
    @property
    def peak_twist(self) -> tuple[float, float]: ...  # noqa: D102
    @property
    def peak_bend(self) -> tuple[float, float]: ...  # noqa: D102

    def pose(self, u: Array) -> Array:
        """Poses base to tip at fractions u, shape (N,) -> (N, 4, 4)."""
        ...

    def twist(self, u: Array) -> Array:
        """Derivatives of the pose by u (m, rad), shape (N,) -> (N, 6)."""
        ...

    def bend(self, u: Array) -> Array:
        """Derivatives of the twist by u (m, rad), shape (N,) -> (N, 6)."""
        ...


def check_pose(T: ArrayLike, argument: str) -> Array:
    """Read one pose, shape (4, 4), with its rotation made exact.

    Raises:
        InvalidInput: Wrong shape, not finite, or not rigid; the reason reports how far off.
    """
    check_in()
    values = se3.check(T, argument)
    if values.shape != (4, 4):
        raise InvalidInput(argument, f"needs shape (4, 4), got {values.shape}")
    if float(so3.deviation(values[:3, :3])) <= ROTATION_ROUNDING:
        # Making it exact again would change its last bits: a stored pose must come back unchanged.
        return frozen(values)
    return frozen(se3.make(so3.nearest(values[:3, :3]), values[:3, 3]))


def geodesic(R_start: Array, R_end: Array) -> Array:
    """The shortest turn from one orientation to another, as a rotation vector of the base (rad).

    At half a turn both ways are equally short. Then we take the axis whose largest component is
    positive, so that the choice does not depend on rounding.

    Args:
        R_start: Orientation at the start, shape (3, 3).
        R_end: Orientation at the end, shape (3, 3).
    """
    w = so3.log(R_end @ R_start.T)
    if float(np.linalg.norm(w)) > np.pi - _HALF_TURN and w[np.argmax(np.abs(w))] < 0.0:
        # The same orientation computed from the other end, so that the end is met exactly.
        w = w * (1.0 - 2.0 * np.pi / float(np.linalg.norm(w)))
    return np.asarray(w)


def turned(R_start: Array, turn: Array, u: Array) -> Array:
    """Orientations along a turn about a fixed axis; (3, 3), (3,), (N,) -> (N, 3, 3)."""
    return so3.exp(u[:, None] * turn) @ R_start


@dataclass(frozen=True, eq=False)
class _Even:
    """A path whose twist is the same everywhere.

    Attributes:
        T_start: Pose at the start, base to tip, shape (4, 4).
    """

    T_start: Array
    _twist: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "T_start", check_pose(self.T_start, "T_start"))

    @property
    def length(self) -> float:
        """How far the tip travels (m)."""
        return float(np.linalg.norm(self._twist[:3]))

    @property
    def angle(self) -> float:
        """How much it turns (rad)."""
        return float(np.linalg.norm(self._twist[3:]))

    @property
    def breaks(self) -> Array:
        """None."""
        return frozen([])

    @property
    def peak_twist(self) -> tuple[float, float]:
        """Length and angle: the same everywhere."""
        return self.length, self.angle

    @property
    def peak_bend(self) -> tuple[float, float]:
        """None."""
        return 0.0, 0.0

    def pose(self, u: Array) -> Array:
        """Poses base to tip at fractions u, shape (N,) -> (N, 4, 4)."""
        p = self.T_start[:3, 3] + u[:, None] * self._twist[:3]
        return se3.make(turned(self.T_start[:3, :3], self._twist[3:], u), p)

    def twist(self, u: Array) -> Array:
        """Derivatives of the pose by u (m, rad), shape (N,) -> (N, 6)."""
        return np.broadcast_to(self._twist, (len(u), 6))

    def bend(self, u: Array) -> Array:
        """None, shape (N,) -> (N, 6)."""
        return np.zeros((len(u), 6))


@dataclass(frozen=True, eq=False)
class Line(_Even):
    """A straight line, turning evenly about a fixed axis on the way (MoveL).

    Args:
        T_start: Pose at the start, base to tip, shape (4, 4).
        T_end: Pose at the end.

    Raises:
        InvalidInput: A pose is invalid.
    """

    T_end: Array

    def __post_init__(self) -> None:
        super().__post_init__()
        start, end = self.T_start, check_pose(self.T_end, "T_end")
        turn = geodesic(start[:3, :3], end[:3, :3])
        object.__setattr__(self, "T_end", end)
        object.__setattr__(self, "_twist", frozen([*(end[:3, 3] - start[:3, 3]), *turn]))


@dataclass(frozen=True, eq=False)
class Turn(_Even):
    """A pure rotation about a fixed axis through the tip's origin.

    Args:
        T_start: Pose at the start, base to tip, shape (4, 4).
        turn: Rotation vector along the axes of the base (rad), shape (3,); may be more than half a
            turn.

    Raises:
        InvalidInput: The pose is invalid, or the vector is not finite.
    """

    turn: Array

    def __post_init__(self) -> None:
        super().__post_init__()
        turn = as_floats(self.turn, "turn")
        if turn.shape != (3,) or not np.isfinite(turn).all():
            raise InvalidInput("turn", f"needs three finite numbers, got {turn.tolist()}")
        object.__setattr__(self, "turn", frozen(turn))
        object.__setattr__(self, "_twist", frozen([0.0, 0.0, 0.0, *turn]))


class Polyline:
    """Straight lines from pose to pose, and pure rotations where only the orientation differs.

    The tip rests at every pose, so a polyline is not one path but one per piece. Each piece is
    timed on its own (``segments.time_paths``).

    Args:
        poses: Base to tip, shape (K, 4, 4), K >= 2.

    Attributes:
        poses: The poses, read-only.
        pieces: Lines and turns; repeated poses have none between them.

    Raises:
        InvalidInput: Fewer than two poses, or an invalid one.
    """

    def __init__(self, poses: ArrayLike) -> None:
        values = se3.check(poses, "poses")
        if values.ndim != 3 or len(values) < 2:
            raise InvalidInput("poses", f"needs shape (K, 4, 4) with K >= 2, got {values.shape}")
        self.poses = frozen(values)
        steps = (Line(a, b) for a, b in pairwise(values))
        self.pieces: tuple[Line | Turn, ...] = tuple(
            line if line.length > SAME_POSE else Turn(line.T_start, line.twist(np.zeros(1))[0, 3:])
            for line in steps
            if line.length > SAME_POSE or line.angle > SAME_POSE
        )

    @property
    def length(self) -> float:
        """How far the tip travels (m)."""
        return sum(piece.length for piece in self.pieces)

    @property
    def angle(self) -> float:
        """How much it turns (rad)."""
        return sum(piece.angle for piece in self.pieces)

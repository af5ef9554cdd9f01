"""Moves as a user asks for them: MoveAbsJ, MoveJ, MoveL, MoveC.

A pose is relative to the base, to the tool as it is at the start of the move, or to any frame
whose pose in the base is given. With ``relative`` it is a step from the tip's current place, along
the axes of that frame. For example, 20 mm up, along the base's z, regardless of the tool's
orientation, is

    MoveL(se3.translation([0.0, 0.0, 0.02]), relative=True)

``make_path`` in planning/make_path.py turns moves into segments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.geometry import se3
from dvrk_kinematics.geometry.arrays import Array, as_floats, frozen
from dvrk_kinematics.motion.paths.path import check_pose
from dvrk_kinematics.motion.timing.logistic import Curve
from dvrk_kinematics.motion.timing.scalings import check_positive
from dvrk_kinematics.motion.timing.speeds import TipSpeeds

__all__ = [
    "Frame",
    "Move",
    "MoveAbsJ",
    "MoveC",
    "MoveJ",
    "MoveL",
    "find_target",
    "find_via",
    "repeat_moves",
]

Frame: TypeAlias = "str | Array"
""""base", "tool", or the pose of a frame in the base, shape (4, 4)."""

_FRACTION = 0.2
"""Default fraction of the joints' speeds and accelerations that joint moves use."""


@dataclass(frozen=True, eq=False)
class MoveAbsJ:
    """To joint positions, all joints arriving together.

    Attributes:
        jp: Target joint positions (rad, m), shape (n,).
        speed: Fraction of the joints' speeds that may be used, in (0, 1].
        acceleration: Fraction of their accelerations.
        curves: A separate shape for each joint, instead of the plan's scaling; or none.

    Raises:
        InvalidInput: A value is not finite, or a fraction is outside (0, 1].
    """

    jp: Array
    speed: float = _FRACTION
    acceleration: float = _FRACTION
    curves: tuple[Curve, ...] = ()

    def __post_init__(self) -> None:
        jp = as_floats(self.jp, "jp")
        if jp.ndim != 1 or not np.isfinite(jp).all():
            raise InvalidInput("jp", f"needs one finite number a joint, got {jp.tolist()}")
        object.__setattr__(self, "jp", frozen(jp))
        _check_fractions(self.speed, self.acceleration)


@dataclass(frozen=True, eq=False)
class MoveJ:
    """To a pose, all joints arriving together.

    Attributes:
        T: Target pose, in the frame, shape (4, 4).
        frame: What the pose is relative to.
        speed: Fraction of the joints' speeds that may be used, in (0, 1].
        acceleration: Fraction of their accelerations.
        relative: T is a step from the tip's current pose, along and about the axes of the frame.

    Raises:
        InvalidInput: The input is not a valid pose, or a fraction is outside (0, 1].
    """

    T: Array
    frame: Frame = "base"
    speed: float = _FRACTION
    acceleration: float = _FRACTION
    relative: bool = False

    def __post_init__(self) -> None:
        _read_target(self)
        _check_fractions(self.speed, self.acceleration)


@dataclass(frozen=True, eq=False)
class MoveL:
    """To a pose along a straight line, turning evenly.

    Attributes:
        T: Target pose, in the frame, shape (4, 4).
        frame: What the pose is relative to.
        speeds: How fast the tip may move.
        blend_radius: Radius within which the corner to the next MoveL is rounded (m); 0 to stop
            there. Moves joined in this way share the slowest of their speeds.
        relative: T is a step from the tip's current pose, along and about the axes of the frame.

    Raises:
        InvalidInput: The input is not a valid pose, or the radius is negative or not finite.
    """

    T: Array
    frame: Frame = "base"
    speeds: TipSpeeds = field(default_factory=TipSpeeds)
    blend_radius: float = 0.0
    relative: bool = False

    def __post_init__(self) -> None:
        _read_target(self)
        if self.blend_radius != 0.0:
            check_positive(blend_radius=self.blend_radius)


@dataclass(frozen=True, eq=False)
class MoveC:
    """To a pose along a circular arc through a point, turning evenly.

    Attributes:
        T: Target pose, in the frame, shape (4, 4).
        via: A point on the arc, in the frame (m), shape (3,).
        frame: What the pose and the point are relative to.
        speeds: How fast the tip may move.
        relative: T and via are steps from the tip's current pose, along and about the frame's
            axes.

    Raises:
        InvalidInput: The input is not a valid pose, or the point is not finite.
    """

    T: Array
    via: Array
    frame: Frame = "base"
    speeds: TipSpeeds = field(default_factory=TipSpeeds)
    relative: bool = False

    def __post_init__(self) -> None:
        _read_target(self)
        via = as_floats(self.via, "via")
        if via.shape != (3,) or not np.isfinite(via).all():
            raise InvalidInput("via", f"needs three finite numbers, got {via.tolist()}")
        object.__setattr__(self, "via", frozen(via))


Move: TypeAlias = MoveAbsJ | MoveJ | MoveL | MoveC


def _read_target(move: MoveJ | MoveL | MoveC) -> None:
    object.__setattr__(move, "T", check_pose(move.T, "T"))
    if not isinstance(move.frame, str):
        object.__setattr__(move, "frame", check_pose(move.frame, "frame"))
    elif move.frame not in ("base", "tool"):
        raise InvalidInput(
            "frame", f'must be "base", "tool" or a pose in the base, is {move.frame!r}'
        )


def _check_fractions(speed: float, acceleration: float) -> None:
    for name, value in (("speed", speed), ("acceleration", acceleration)):
        if not 0.0 < value <= 1.0:
            raise InvalidInput(name, f"is a part of what joints may do, in (0, 1], not {value}")


def repeat_moves(moves: Sequence[Move], times: int) -> tuple[Move, ...]:
    """The same moves several times.

    Raises:
        InvalidInput: The count is less than one.
    """
    if times < 1:
        raise InvalidInput("times", f"must be at least 1, is {times}")
    return tuple(moves) * times


def find_target(move: MoveJ | MoveL | MoveC, T_base_tool: Array) -> Array:
    """Where a move ends.

    Args:
        move: The move.
        T_base_tool: The tip at the start of the move, shape (4, 4).

    Returns:
        The tip's pose in the base, shape (4, 4).
    """
    T_base_frame = _find_frame(move, T_base_tool)
    if not move.relative:
        return T_base_frame @ move.T
    R = T_base_frame[:3, :3]
    return se3.make(
        R @ move.T[:3, :3] @ R.T @ T_base_tool[:3, :3], T_base_tool[:3, 3] + R @ move.T[:3, 3]
    )


def find_via(move: MoveC, T_base_tool: Array) -> Array:
    """The point that an arc goes through, in the base (m), shape (3,)."""
    T_base_frame = _find_frame(move, T_base_tool)
    origin = T_base_tool if move.relative else T_base_frame
    return np.asarray(origin[:3, 3] + T_base_frame[:3, :3] @ move.via)


def _find_frame(move: MoveJ | MoveL | MoveC, T_base_tool: Array) -> Array:
    """Pose of a move's frame in the base, shape (4, 4)."""
    if not isinstance(move.frame, str):
        return move.frame
    return T_base_tool if move.frame == "tool" else np.eye(4)

"""How far, how fast and with what acceleration the joints of an arm may move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.geometry.arrays import Array, frozen
from dvrk_kinematics.kinematics.limits import JointLimits
from dvrk_kinematics.kinematics.serial_arm import SerialArm

__all__ = ["Allowed", "MotionLimits", "make_allowed", "make_motion_limits"]


@dataclass(frozen=True, slots=True)
class MotionLimits:
    """Limits of position, velocity and acceleration.

    Attributes:
        position: Joint limits (rad, m).
        velocity: Largest speeds (rad/s, m/s), shape (n,).
        acceleration: Largest accelerations (rad/s^2, m/s^2), shape (n,).

    Raises:
        InvalidInput: A shape is wrong, or a limit is not positive and finite.
    """

    position: JointLimits
    velocity: Array
    acceleration: Array

    def __post_init__(self) -> None:
        for name in ("velocity", "acceleration"):
            values = frozen(getattr(self, name))
            if values.shape != (len(self.position),):
                raise InvalidInput(
                    name, f"has shape {values.shape}, must have ({len(self.position)},)"
                )
            if not (np.isfinite(values).all() and (values > 0.0).all()):
                raise InvalidInput(name, f"must be positive and finite, is {values.tolist()}")
            object.__setattr__(self, name, values)

    @property
    def names(self) -> tuple[str, ...]:
        """The joints, in order."""
        return self.position.names


def make_motion_limits(
    arm: SerialArm, velocity_scale: float = 1.0, acceleration_scale: float = 1.0
) -> MotionLimits:
    """Take an arm's limits from its model.

    Args:
        arm: The arm.
        velocity_scale: Fraction of the model's velocities that may be used, in (0, 1].
        acceleration_scale: The same for accelerations.

    Raises:
        InvalidInput: A scale is outside (0, 1], or the arm has unmotorised joints.
    """
    for name, scale in (
        ("velocity_scale", velocity_scale),
        ("acceleration_scale", acceleration_scale),
    ):
        if not 0.0 < scale <= 1.0:
            raise InvalidInput(name, f"must be within (0, 1], is {scale}")
    joints = arm.model.joints
    return MotionLimits(
        arm.limits,
        np.array([joint.velocity for joint in joints]) * velocity_scale,
        np.array([joint.acceleration for joint in joints]) * acceleration_scale,
    )


class Allowed(NamedTuple):
    """Joint positions that a motion may take (rad, m), shape (n,) each.

    Attributes:
        lower: The lower limits, or the start position if that is lower.
        upper: The upper limits, or the start position if that is higher.
    """

    lower: Array
    upper: Array


def make_allowed(limits: JointLimits, q: Array) -> Allowed:
    """What a motion from q (rad, m), shape (n,), may take: inside, or on the way back."""
    return Allowed(np.minimum(limits.lower, q), np.maximum(limits.upper, q))

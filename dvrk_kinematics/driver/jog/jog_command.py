"""The commands of a jog, and their bounds."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import Enum

import numpy as np

from dvrk_kinematics.driver.reasons import Finding, Reason
from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.geometry.arrays import Array, ArrayLike, frozen
from dvrk_kinematics.motion.limits import MotionLimits

__all__ = [
    "SMALLEST_SPEED",
    "JogCommand",
    "JogSettings",
    "JogSpace",
    "find_bad_command",
    "is_rest",
    "limit_speed",
]

SMALLEST_SPEED = 1e-9
"""Speed (m/s, rad/s) below which a velocity counts as zero: a nanometre a second. A filter that
decays after the stick is released asks for ever less, down to numbers whose squares are zero.
"""


class JogSpace(Enum):
    """The space of a jog's velocity."""

    BASE = "base"
    """The tip: linear and angular velocity along the axes of the base."""

    TOOL = "tool"
    """The tip: linear and angular velocity along its own axes, which turn with it."""

    JOINTS = "joints"
    """The joints, each on its own."""


@dataclass(frozen=True, slots=True)
class JogCommand:
    """A velocity to move with until the next command, or until commands stop.

    Attributes:
        space: What moves, and along which axes.
        velocity: For the tip linear (m/s) before angular (rad/s), shape (6,); for the joints
            rad/s or m/s, shape (n,). If all are below ``SMALLEST_SPEED``, the jog ends.
    """

    space: JogSpace
    velocity: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "velocity", frozen(self.velocity))

    @classmethod
    def tip(cls, linear: ArrayLike, angular: ArrayLike, space: JogSpace) -> JogCommand:
        """Make a command for the tip from linear (m/s) and angular (rad/s) velocity, (3,) each."""
        return cls(space, np.concatenate([np.atleast_1d(linear), np.atleast_1d(angular)]))

    @property
    def is_zero(self) -> bool:
        """Whether it asks for rest."""
        return is_rest(self.velocity)


@dataclass(frozen=True, slots=True)
class JogSettings:
    """Bounds on what a jog may be asked to do.

    Attributes:
        timeout_s: How long a command holds (s). Without another one the jog stops.
        max_linear: Largest linear speed that may be commanded for the tip (m/s).
        max_angular: Largest angular speed that may be commanded for the tip (rad/s).
        joint_fraction: Fraction of a joint's velocity limit that may be commanded.
        min_singular_value: Smallest singular value of the Jacobian (SI units) that a jog moves
            towards. For a PSM it is nearly the distance (m) of wrist and remote centre.
        reserve: Fraction of the acceleration limits kept for what lies between the places that a
            jog checks.
    """

    timeout_s: float = 0.2
    max_linear: float = 0.1
    max_angular: float = 1.0
    joint_fraction: float = 0.5
    min_singular_value: float = 2e-3
    reserve: float = 0.15

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not 0.0 < value < float("inf"):
                raise InvalidInput(field.name, f"must be positive and finite, is {value}")
        if self.joint_fraction > 1.0:
            raise InvalidInput(
                "joint_fraction", f"must be within (0, 1], is {self.joint_fraction}"
            )
        if self.reserve >= 1.0:
            raise InvalidInput("reserve", f"must be within (0, 1), is {self.reserve}")


def find_bad_command(command: JogCommand, limits: MotionLimits) -> Finding | None:
    """Find why a command is invalid, so that nothing may move for it."""
    count = len(limits.names) if command.space is JogSpace.JOINTS else 6
    shape = command.velocity.shape
    if shape != (count,):
        return Finding(
            Reason.WRONG_SHAPE,
            f"a jog of the {command.space.value} has {shape}, not ({count},) velocities",
        )
    finite = np.isfinite(command.velocity)
    if not finite.all():
        where = int(np.argmin(finite))
        return Finding(Reason.NOT_FINITE_JOG, f"velocity {where} is {command.velocity[where]}")
    return None


def limit_speed(
    command: JogCommand, settings: JogSettings, limits: MotionLimits
) -> tuple[Array, Finding | None]:
    """Scale down a command that asks for too much as a whole, so that its direction stays.

    Args:
        command: The command.
        settings: The speeds that may be commanded.
        limits: Limits of the joints.

    Returns:
        The velocity to move with, and what slowed it.
    """
    velocity = command.velocity
    if command.is_zero:
        return np.zeros_like(velocity), None
    # Scale by the largest component: a number's square may overflow where the number does not.
    largest = float(np.abs(velocity).max())
    share = velocity / largest
    if command.space is JogSpace.JOINTS:
        allowed = settings.joint_fraction * limits.velocity
        parts = np.abs(share) / allowed
        j = int(np.argmax(parts))
        found = (limits.names[j], "", float(abs(share[j])), float(allowed[j]))
    else:
        v, w = float(np.linalg.norm(share[:3])), float(np.linalg.norm(share[3:]))
        linear = ("", "m/s asked for", v, settings.max_linear)
        angular = ("", "rad/s asked for", w, settings.max_angular)
        found = max(linear, angular, key=lambda each: each[2] / each[3])
    joint, detail, part, limit = found
    if largest * part <= limit:
        return velocity, None
    return share * (limit / part), Finding(Reason.JOG_SPEED, detail, joint, largest * part, limit)


def is_rest(velocity: Array) -> bool:
    """Whether a velocity (m/s, rad/s) is small enough to count as zero; NaN is not."""
    return bool((np.abs(velocity) < SMALLEST_SPEED).all())

"""How the motors, the joints and the tip of an arm are connected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dvrk_kinematics.models.schema import JointModel
from dvrk_kinematics.simulation.control.manipulator import Manipulator

__all__ = ["Mechanism", "MotorLimits"]


class MotorLimits(NamedTuple):
    """Limits of the driven joints.

    Attributes:
        lower: Smallest positions (rad, m).
        upper: Largest positions.
        velocity: Largest speeds of moves at ratio 1.
        acceleration: Accelerations of moves at ratio 1.
    """

    lower: tuple[float, ...]
    upper: tuple[float, ...]
    velocity: tuple[float, ...]
    acceleration: tuple[float, ...]

    @classmethod
    def of(cls, joints: Sequence[JointModel]) -> MotorLimits:
        """Limits of a model whose joints each have a motor."""
        return cls(
            tuple(joint.lower for joint in joints),
            tuple(joint.upper for joint in joints),
            tuple(joint.velocity for joint in joints),
            tuple(joint.acceleration for joint in joints),
        )

    def clip(self, joints: Sequence[float]) -> list[float]:
        """The nearest positions inside the limits."""
        return [
            lo if q < lo else up if q > up else q
            for q, lo, up in zip(joints, self.lower, self.upper, strict=True)
        ]


class Mechanism:
    """The mechanism of an arm with a motor for each joint, without a tool and without a cannula.

    The controller drives the *driven* joints. Here they are the joints of the chain; with a tool
    they differ (``PsmMechanism``).

    Args:
        manipulator: Kinematics from base to tip.
        limits: Limits of the driven joints.

    Attributes:
        manipulator: Kinematics from base to tip, with the present tool or endoscope.
        published_names: Names of the published joints.
        limits: Limits of the driven joints, with the present tool or endoscope.
        is_engaged: Whether the motors move a tip, so that it has a pose.
        gravity_arm_m: Length of the insertion's row without the insertion (m), which gravity
            compensation needs.
    """

    def __init__(self, manipulator: Manipulator, limits: MotorLimits) -> None:
        self.manipulator = manipulator
        self.published_names = manipulator.joint_names
        self.limits = limits
        self.is_engaged = True
        self.gravity_arm_m = 0.0

    def driven_names(self) -> tuple[str, ...]:
        """Names of the driven joints."""
        return self.manipulator.joint_names

    def published(self, driven: list[float]) -> list[float]:
        """The published joints for driven ones."""
        return driven

    def driven(self, q: list[float]) -> list[float]:
        """The driven joints for the joints of the chain."""
        return q

    def filled(self, joints: list[float], rest: Sequence[float]) -> list[float]:
        """Driven joints for published ones; the unpublished ones come from ``rest``."""
        return [*joints, *rest[len(joints) :]]

    def to_actuators(self, joints: Sequence[float]) -> Sequence[float]:
        """Positions, velocities or errors of the actuators for those of the driven joints."""
        return joints

    def from_actuator_effort(self, effort: list[float]) -> list[float]:
        """Efforts of the driven joints for those of the actuators."""
        return effort

    def is_past_cannula(self, measured: list[float]) -> bool:
        """Whether the tip is far enough out of the cannula to turn.

        Args:
            measured: Where the driven joints are (rad, m).
        """
        return True

    def chain_error(self, count: int) -> str:
        """Why the first ``count`` joints of the chain cannot be computed; empty if they can."""
        return "too many joints" if count > len(self.manipulator.joint_names) else ""

"""The numbers set by driver parameters, checked once and immutable afterwards."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from dvrk_kinematics.driver.goal_tolerances import GoalTolerances
from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.geometry.arrays import Array, frozen
from dvrk_kinematics.motion.cannula import CannulaRule
from dvrk_kinematics.motion.limits import MotionLimits

__all__ = ["GuardSettings", "PlayerSettings"]


@dataclass(frozen=True, slots=True)
class GuardSettings:
    """What the guard allows.

    Attributes:
        limits: Positions, velocities and accelerations.
        pid_tolerance: Differences of setpoint and measured position (rad, m), shape (n,), at
            which the arm's PID faults.
        tool: Part number, or name, of the model's instrument; empty for an arm without one.
        cannula: The cannula rule, None to have none.
        jaw: Limits of the jaw, None for an arm without one.
        max_age_s: Largest allowed age of the arm's state (s). An older one slows a motion down to
            rest, and lets none begin.
        patience_s: How long everything may be late before a motion ends (s).
        ready_s: How long the arm must be ready without a break before a motion begins, or goes on
            (s). The real arm reports ready for a few ms before its homing motion.
        step_fraction: Fraction of the PID tolerance that one setpoint may step.
        tracking_fraction: Fraction of the PID tolerance that the tracking error may reach.
        echo_tolerance: Largest difference (rad, m) between a setpoint as sent and as reported.
        echo_s: Longest that the arm may take to report a setpoint (s).
        feed_forward: Whether to send velocities. The arm keeps the last one it received even when
            nobody sends any more, so by default we send zeros.
    """

    limits: MotionLimits
    pid_tolerance: Array
    tool: str = ""
    cannula: CannulaRule | None = None
    jaw: MotionLimits | None = None
    max_age_s: float = 0.05
    patience_s: float = 2.0
    ready_s: float = 0.1
    step_fraction: float = 0.5
    tracking_fraction: float = 0.5
    echo_tolerance: float = 1e-4
    echo_s: float = 0.5
    feed_forward: bool = False

    def __post_init__(self) -> None:
        tolerance = frozen(self.pid_tolerance)
        if tolerance.shape != self.limits.velocity.shape or not (tolerance > 0.0).all():
            raise InvalidInput("pid_tolerance", "needs one positive number a joint")
        object.__setattr__(self, "pid_tolerance", tolerance)
        _check_positive(self)
        for name in ("step_fraction", "tracking_fraction"):
            if getattr(self, name) >= 1.0:
                raise InvalidInput(name, "must be below 1: the arm faults at its PID tolerance")


@dataclass(frozen=True, slots=True)
class PlayerSettings:
    """How the player plays.

    Attributes:
        start_tolerance: How far a first point at t = 0 may be from the setpoint (rad, m), (n,).
        tolerances: Defaults for tolerances that a goal leaves open.
        stopped_velocity: Largest measured speed (rad/s, m/s) at the end of a goal, where a goal
            tolerance is set, shape (n,); 0 is unchecked.
        period_s: Period of the ticks (s).
        max_gap_s: Longest time between two ticks of a motion (s). A longer one slows it down to
            rest.
        max_points: Most points that a goal may have.
    """

    start_tolerance: Array
    tolerances: GoalTolerances
    stopped_velocity: Array
    period_s: float = 0.005
    max_gap_s: float = 0.05
    max_points: int = 10_000

    def __post_init__(self) -> None:
        for name in ("start_tolerance", "stopped_velocity"):
            tolerance = frozen(getattr(self, name))
            if not (np.isfinite(tolerance).all() and (tolerance >= 0.0).all()):
                raise InvalidInput(name, f"must not be negative: {tolerance.tolist()}")
            object.__setattr__(self, name, tolerance)
        if self.stopped_velocity.shape != self.start_tolerance.shape:
            raise InvalidInput("stopped_velocity", "needs one number a joint")
        _check_positive(self)


def _check_positive(settings: GuardSettings | PlayerSettings) -> None:
    for field in fields(settings):
        value = getattr(settings, field.name)
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if is_number and not 0.0 < value < float("inf"):
            raise InvalidInput(field.name, f"must be positive and finite, is {value}")

"""Tolerances with the words and meanings of joint_trajectory_controller.

A goal's tolerance of 0 means the default, -1 means unchecked. A default of 0 means unchecked. The
arms measure no accelerations, so there are no tolerances for them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dvrk_kinematics.driver.reasons import Finding, Reason
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.motion.spline import Sample

__all__ = ["GoalTolerances", "StateTolerance", "find_outside", "no_tolerance", "resolve"]

ERASED = -1.0
"""The value in a goal that switches a default off (control_msgs/JointTolerance)."""


@dataclass(frozen=True, slots=True)
class StateTolerance:
    """How far measured joints may be from wanted ones; 0 is unchecked.

    Attributes:
        position: rad or m, shape (n,).
        velocity: rad/s or m/s, shape (n,).
    """

    position: Array
    velocity: Array


@dataclass(frozen=True, slots=True)
class GoalTolerances:
    """All tolerances of a goal.

    Attributes:
        path: While the goal is being played.
        goal: At the end of the goal.
        goal_time_s: How long after its end the goal may be reached (s); 0 is unlimited.
    """

    path: StateTolerance
    goal: StateTolerance
    goal_time_s: float


def no_tolerance(joints: int) -> StateTolerance:
    """Make an empty tolerance: in a goal it means the defaults, as a default unchecked."""
    zeros = np.zeros(joints)
    zeros.setflags(write=False)
    return StateTolerance(zeros, zeros)


def resolve(asked: GoalTolerances, default: GoalTolerances) -> GoalTolerances | Finding:
    """Fill in the defaults of a goal's tolerances.

    Args:
        asked: The goal's tolerances: 0 for the default, -1 for unchecked.
        default: 0 for unchecked.

    Returns:
        What to check, or what makes no sense.
    """
    filled: list[Array] = []
    for field in ("path", "goal"):
        ours, theirs = getattr(default, field), getattr(asked, field)
        for quantity in ("position", "velocity"):
            values, fallback = getattr(theirs, quantity), getattr(ours, quantity)
            if values.shape != fallback.shape:
                return Finding(Reason.BAD_TOLERANCE, f"{field} {quantity}: shape {values.shape}")
            if not _is_sensible(values):
                return Finding(Reason.BAD_TOLERANCE, f"{field} {quantity}: {values.tolist()}")
            filled.append(
                np.where(values == ERASED, 0.0, np.where(values == 0.0, fallback, values))
            )
    wait = asked.goal_time_s
    if not _is_sensible(np.array([wait])):
        return Finding(Reason.BAD_TOLERANCE, "goal_time_tolerance", "", wait)
    if wait in (0.0, ERASED):
        wait = default.goal_time_s if wait == 0.0 else 0.0
    return GoalTolerances(StateTolerance(*filled[:2]), StateTolerance(*filled[2:]), wait)


def _is_sensible(values: Array) -> bool:
    return bool(np.all(np.isfinite(values) & ((values >= 0.0) | (values == ERASED))))


def find_outside(
    reason: Reason,
    tolerance: StateTolerance,
    wanted: Sample,
    measured_q: Array,
    measured_qd: Array | None,
    names: tuple[str, ...],
) -> Finding | None:
    """Find the joint that is farthest outside its tolerance.

    Args:
        reason: The reason to report.
        tolerance: The allowed differences.
        wanted: State that the joints should be in.
        measured_q: Measured positions (rad, m), shape (n,).
        measured_qd: Measured velocities; None, and unchecked, if the arm reports none.
        names: The joints.
    """
    pairs = [("position error", tolerance.position, measured_q - wanted.q)]
    if measured_qd is not None:
        pairs.append(("velocity error", tolerance.velocity, measured_qd - wanted.qd))
    for what, allowed, error in pairs:
        excess = np.where(allowed > 0.0, np.abs(error) - allowed, -1.0)
        j = int(np.argmax(excess))
        if excess[j] > 0.0:
            return Finding(reason, what, names[j], float(error[j]), float(allowed[j]))
    return None

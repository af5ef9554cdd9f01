"""Checks whether an arm keeps to the path of a goal, and whether it has arrived."""

from __future__ import annotations

import numpy as np

from dvrk_kinematics.driver.goal_tolerances import GoalTolerances, StateTolerance, find_outside
from dvrk_kinematics.driver.port import ArmState
from dvrk_kinematics.driver.reasons import Finding, Reason
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.motion.spline import Sample

__all__ = ["find_not_arrived", "find_off_path"]


def find_off_path(
    tolerances: GoalTolerances, wanted: Sample, state: ArmState, names: tuple[str, ...]
) -> Finding | None:
    """Find the joint that is outside the path tolerance.

    Args:
        tolerances: The goal's tolerances, with defaults filled in.
        wanted: The commanded state.
        state: The arm's measured state.
        names: The joints.
    """
    measured = (state.measured_q, state.measured_qd)
    return find_outside(Reason.PATH_TOLERANCE, tolerances.path, wanted, *measured, names)


def find_not_arrived(
    tolerances: GoalTolerances,
    stopped_velocity: Array,
    wanted: Sample,
    state: ArmState,
    names: tuple[str, ...],
) -> Finding | None:
    """Find the joint that keeps a goal from being reached.

    Args:
        tolerances: The goal's tolerances, with defaults filled in.
        stopped_velocity: Largest speeds (rad/s, m/s) of an arm that has arrived, where positions
            are checked at all, shape (n,); 0 is unchecked.
        wanted: The goal's last point.
        state: The arm's measured state.
        names: The joints.
    """
    measured = (state.measured_q, state.measured_qd)
    found = find_outside(Reason.GOAL_TOLERANCE, tolerances.goal, wanted, *measured, names)
    if found is not None or not tolerances.goal.position.any():
        return found
    stopped = StateTolerance(np.zeros_like(stopped_velocity), stopped_velocity)
    return find_outside(Reason.GOAL_TOLERANCE, stopped, wanted, *measured, names)

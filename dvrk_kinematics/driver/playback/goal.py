"""A goal, and its preparation: we check it and turn it into a motion before playing it.

``prepare_goal`` looks at every point and may take long, so call it in a different thread from the
ticks. ``make_path`` joins the outcome to the commanded state and is quick.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from dvrk_kinematics.driver.goal_tolerances import GoalTolerances, resolve
from dvrk_kinematics.driver.playback.corners import round_corners
from dvrk_kinematics.driver.playback.join import make_join
from dvrk_kinematics.driver.playback.knots import Knots, find_bad_knots
from dvrk_kinematics.driver.playback.path import JoinedPath
from dvrk_kinematics.driver.reasons import Finding, Reason, tell_shallow
from dvrk_kinematics.driver.settings import GuardSettings, PlayerSettings
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.motion.cannula import CannulaRule
from dvrk_kinematics.motion.extremes import (
    Excess,
    Extremes,
    SplineQuantity,
    find_excess,
    find_extremes,
    find_outside_limits,
)
from dvrk_kinematics.motion.limits import MotionLimits
from dvrk_kinematics.motion.spline import Sample, Spline

__all__ = ["Goal", "PreparedGoal", "find_wait_s", "make_path", "prepare_goal"]

_EXCESSES = {
    SplineQuantity.POSITION: Reason.GOAL_POSITION_LIMIT,
    SplineQuantity.VELOCITY: Reason.GOAL_VELOCITY_LIMIT,
    SplineQuantity.ACCELERATION: Reason.GOAL_ACCELERATION_LIMIT,
}

_FARTHEST = 1e3
"""Largest possible distance (rad, m) of a joint from zero."""


@dataclass(frozen=True, slots=True)
class Goal:
    """A client's request.

    Attributes:
        goal_id: Identifies its result.
        knots: Its points.
        tolerances: The goal's own values: 0 for the default, -1 for unchecked.
        stamp_ns: Header stamp: when to start, on the client's wall clock; 0 means now.
        is_cartesian: Whether it is part of a Cartesian motion, so that the cannula rule applies.
    """

    goal_id: Hashable
    knots: Knots
    tolerances: GoalTolerances
    stamp_ns: int = 0
    is_cartesian: bool = False


@dataclass(frozen=True, slots=True)
class PreparedGoal:
    """A goal that passed its checks.

    Attributes:
        goal: The goal as requested.
        motion: The motion through its points, on its own times.
        tolerances: Tolerances to check, with defaults filled in.
        duration_s: Time of its last point (s).
    """

    goal: Goal
    motion: Spline
    tolerances: GoalTolerances
    duration_s: float


def prepare_goal(
    goal: Goal, guard_settings: GuardSettings, settings: PlayerSettings
) -> PreparedGoal | Finding:
    """Check a goal and turn it into a motion.

    Args:
        goal: The goal.
        guard_settings: Limits and the cannula rule.
        settings: Default tolerances, and the largest number of points.

    Returns:
        The goal ready to be played, or why it is refused.
    """
    knots, limits = goal.knots, guard_settings.limits
    bad = find_bad_knots(knots, limits.names, settings.max_points)
    if bad is not None:
        return bad
    tolerances = resolve(goal.tolerances, settings.tolerances)
    if isinstance(tolerances, Finding):
        return tolerances
    # A first point at t = 0 is where the arm is; any other must be inside the limits.
    first = knots.position[0]
    is_here = knots.starts_at_zero
    start = np.clip(first, -_FARTHEST, _FARTHEST) if is_here else limits.position.clamp(first)
    # Check the points on their own first: absurdly large numbers would break the computation.
    found = _as_finding(find_excess(_find_extremes_of_knots(knots), limits, start))
    if found is not None:
        return found
    motion = _make_motion(knots, limits)
    if isinstance(motion, Finding):
        return motion
    extremes = find_extremes(motion)
    found = _as_finding(find_excess(extremes, limits, start))
    if found is None and goal.is_cartesian and guard_settings.cannula is not None:
        found = _find_shallow(extremes, start, guard_settings.cannula)
    if found is not None:
        return found
    return PreparedGoal(goal, motion, tolerances, float(knots.times_s[-1]))


def _find_extremes_of_knots(knots: Knots) -> Extremes:
    q, qd = knots.position, knots.velocity
    qdd = None if qd is None else knots.acceleration
    speed, acceleration = (
        np.zeros(q.shape[1]) if values is None else np.abs(values).max(axis=0)
        for values in (qd, qdd)
    )
    return Extremes(q.min(axis=0), q.max(axis=0), speed, acceleration)


def _make_motion(knots: Knots, limits: MotionLimits) -> Spline | Finding:
    if knots.velocity is None:
        return round_corners(knots, limits)
    return Spline(knots.times_s, knots.position, knots.velocity, knots.acceleration)


def _as_finding(excess: Excess | None) -> Finding | None:
    if excess is None:
        return None
    return Finding(_EXCESSES[excess.quantity], "", *excess.breach)


def _find_shallow(extremes: Extremes, start: Array, rule: CannulaRule) -> Finding | None:
    if not rule.forbids(extremes.lowest, start):
        return None
    return tell_shallow(Reason.GOAL_IN_CANNULA, rule, extremes.lowest)


def find_wait_s(stamp_ns: int, wall_now_ns: int) -> float | Finding:
    """Compute how long to wait before a goal starts (s), or find that its stamp is in the past.

    We refuse a late goal rather than squeeze it. The result is a duration, so a later clock jump
    does not matter.

    Args:
        stamp_ns: Header stamp; 0 means now.
        wall_now_ns: Current time on the clock of the stamps.
    """
    if stamp_ns == 0:
        return 0.0
    wait_s = (stamp_ns - wall_now_ns) * 1e-9
    if wait_s < 0.0:
        return Finding(Reason.STAMP_IN_PAST, "s late", value=-wait_s, limit=0.0)
    return wait_s


def make_path(
    prepared: PreparedGoal,
    commanded: Sample,
    guard_settings: GuardSettings,
    settings: PlayerSettings,
) -> JoinedPath | Finding:
    """Join a goal to the commanded state.

    Args:
        prepared: The goal.
        commanded: The last commanded state, or the setpoint at rest.
        guard_settings: Limits and the cannula rule.
        settings: The start tolerance.

    Returns:
        The path to play, or why the goal is refused.
    """
    motion, knots = prepared.motion, prepared.goal.knots
    if knots.starts_at_zero:
        found = _find_bad_start(motion, commanded, guard_settings, settings)
        if found is not None:
            return found
    first = Sample(motion.position[0], motion.velocity[0])
    asked_s = 0.0 if knots.starts_at_zero else motion.start
    join = make_join(commanded, first, asked_s, guard_settings.limits)
    if join is None:
        return JoinedPath(motion)
    # Its velocities and accelerations are inside the limits by construction.
    extremes = find_extremes(join)
    found = _as_finding(find_outside_limits(extremes, guard_settings.limits, commanded.q))
    rule = guard_settings.cannula
    if found is None and prepared.goal.is_cartesian and rule is not None:
        found = _find_shallow(extremes, commanded.q, rule)
    return JoinedPath(motion, join) if found is None else found


def _find_bad_start(
    motion: Spline, commanded: Sample, guard_settings: GuardSettings, settings: PlayerSettings
) -> Finding | None:
    limits = guard_settings.limits
    error = motion.position[0] - commanded.q
    excess = np.abs(error) - settings.start_tolerance
    j = int(np.argmax(excess))
    if excess[j] > 0.0:
        allowed = float(settings.start_tolerance[j])
        return Finding(Reason.START_TOO_FAR, "", limits.names[j], float(error[j]), allowed)
    if not commanded.qd.any():
        # Only a run-up, away from where the goal leads, could reach such a velocity.
        allowed_rate = limits.acceleration * settings.period_s
        excess = np.abs(motion.velocity[0]) - allowed_rate
        j = int(np.argmax(excess))
        if excess[j] > 0.0:
            rate = float(motion.velocity[0, j])
            return Finding(
                Reason.START_VELOCITY, "", limits.names[j], rate, float(allowed_rate[j])
            )
    return None

"""Looks at plans ten times denser than the planner does, with other code than the planner's."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import BPoly, CubicHermiteSpline

from dvrk_kinematics import Arm
from dvrk_kinematics.driver import (
    Finding,
    Goal,
    GoalTolerances,
    GuardSettings,
    Knots,
    PlayerSettings,
    no_tolerance,
    prepare_goal,
)
from dvrk_kinematics.geometry import se3
from dvrk_kinematics.motion.cannula import make_cannula_rule
from dvrk_kinematics.motion.limits import MotionLimits, make_motion_limits
from dvrk_kinematics.motion.planning.planner import Plan

DENSE_S = 0.0005
SLACK = 1.0 + 1.001e-3
ROUNDING = 2e-9
KNOT_OUT = 1e-6
"""How far (rad, m) a joint may go out again before the next knot sees that it is back."""


def interpolate(plan: Plan):
    """What lies between the knots, by scipy."""
    spline = plan.spline
    if spline.acceleration is None:
        return CubicHermiteSpline(spline.times, spline.position, spline.velocity)
    return BPoly.from_derivatives(
        spline.times, np.stack([spline.position, spline.velocity, spline.acceleration], axis=1)
    )


def check_plan(arm: Arm, plan: Plan, q_start: np.ndarray, policy: str = "exact") -> None:
    """Everything that a plan promises."""
    limits, spline, flight = make_motion_limits(arm), plan.spline, plan.flight_plan
    assert flight.ok and not flight.reason
    assert flight.knots == len(spline.times) and flight.duration == spline.end
    np.testing.assert_array_equal(spline.position[0], q_start)
    assert not spline.velocity[[0, -1]].any()
    assert (np.diff(plan.times_ns) > 0).all()
    check_goal(plan, limits, make_cannula_rule(arm))
    if len(spline.times) < 2:
        return
    curve = interpolate(plan)
    t = np.linspace(0.0, spline.end, int(np.ceil(spline.end / DENSE_S)) + 2)
    q, qd, qdd = curve(t), curve.derivative(1)(t), curve.derivative(2)(t)
    _check_positions(limits, q)
    assert (np.abs(qd) <= limits.velocity * SLACK).all()
    assert (np.abs(qdd) <= limits.acceleration * SLACK).all()
    _check_numbers(plan, limits, q, qd, qdd)
    position, rotation = se3.pose_error(arm.forward(q), plan.path.poses_at(t))
    assert position.max() <= 1e-6
    given_up = flight.orientation_given_up if policy != "exact" else 0.0
    assert rotation.max() <= 1e-6 + given_up * (1.0 + 1e-4)


def _check_positions(limits: MotionLimits, q: np.ndarray) -> None:
    """A joint that starts outside its limits may come back; once inside it stays there."""
    lower, upper = limits.position.lower - ROUNDING, limits.position.upper + ROUNDING
    assert (q >= np.minimum(lower, q[0] - ROUNDING)).all()
    assert (q <= np.maximum(upper, q[0] + ROUNDING)).all()
    was_inside = np.logical_or.accumulate((q >= lower) & (q <= upper), axis=0)
    assert ((q >= lower - KNOT_OUT) & (q <= upper + KNOT_OUT))[was_inside].all()


def _check_numbers(plan: Plan, limits: MotionLimits, q, qd, qdd) -> None:
    """The flight plan says what is there."""
    flight = plan.flight_plan
    assert np.isclose((np.abs(qd) / limits.velocity).max(), flight.peak_velocity, rtol=2e-2)
    most = (np.abs(qdd) / limits.acceleration).max()
    assert most <= flight.peak_acceleration * (1.0 + 1e-6) + 1e-9
    assert most >= flight.peak_acceleration * 0.95
    assert np.isclose(limits.position.margin(q).min(), flight.limit_margin, atol=1e-5)
    for where in (flight.limit_margin_where, flight.peak_velocity_where):
        assert 0.0 <= where <= 1.0


def check_goal(plan: Plan, limits: MotionLimits, cannula: object) -> None:
    """The driver takes the plan as a goal."""
    count = len(plan.joint_names)
    goal = Goal(
        goal_id="plan",
        knots=Knots(
            plan.times_ns, plan.spline.position, plan.spline.velocity, plan.spline.acceleration
        ),
        tolerances=GoalTolerances(no_tolerance(count), no_tolerance(count), 0.0),
        is_cartesian=plan.is_cartesian,
    )
    guard = GuardSettings(limits=limits, pid_tolerance=np.full(count, 0.5), cannula=cannula)
    player = PlayerSettings(
        start_tolerance=np.full(count, 0.01),
        tolerances=goal.tolerances,
        stopped_velocity=np.full(count, 0.01),
    )
    prepared = prepare_goal(goal, guard, player)
    assert not isinstance(prepared, Finding), prepared

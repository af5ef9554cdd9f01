"""Profiles of moves: they arrive, never too fast, and without a jump, from any state."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dvrk_kinematics.simulation.control import JointTrajectory
from dvrk_kinematics.simulation.control.axis_profile import least_time, plan_axis

positions = st.floats(-3.0, 3.0)
speeds = st.floats(-2.0, 2.0)
limits = st.floats(0.05, 3.0)


@given(positions, positions, speeds, limits, limits, st.floats(1.0, 3.0))
def test_a_profile_arrives_at_rest_when_it_should(start, goal, speed, v, a, longer):
    duration = longer * least_time(goal - start, speed, v, a)
    profile = plan_axis(start, goal, speed, a, duration)
    assert profile.at(duration) == (goal, 0.0)
    before = profile.at(duration * (1.0 - 1e-9))
    assert abs(before[0] - goal) < 1e-6
    assert abs(before[1]) < 1e-6 + 2e-9 * a * duration


@given(positions, positions, speeds, limits, limits, st.floats(1.0, 3.0))
def test_position_is_the_integral_of_velocity(start, goal, speed, v, a, longer):
    duration = longer * least_time(goal - start, speed, v, a)
    profile = plan_axis(start, goal, speed, a, duration)
    times = np.linspace(0.0, duration, 2001)
    q, rate = np.array([profile.at(float(t)) for t in times]).T
    integral = start + np.concatenate([[0.0], np.cumsum(0.5 * (rate[1:] + rate[:-1]))]) * (
        duration / 2000
    )
    assert np.abs(q - integral).max() < 1e-4 + 1e-5 * a * duration * duration


@given(positions, positions, speeds, limits, limits, st.floats(1.0, 3.0))
def test_acceleration_keeps_its_limit_and_speed_does_not_grow_beyond(
    start, goal, speed, v, a, longer
):
    duration = longer * least_time(goal - start, speed, v, a)
    profile = plan_axis(start, goal, speed, a, duration)
    times = np.linspace(0.0, duration, 501)
    rate = np.array([profile.at(float(t))[1] for t in times])
    assert np.abs(rate).max() <= max(v, abs(speed)) * (1.0 + 1e-6) + 1e-9
    if duration > 0.0:
        steps = np.abs(np.diff(rate)) / (duration / 500)
        assert steps.max() <= a * (1.0 + 1e-6) + 1e-6


@given(st.lists(st.tuples(positions, positions, speeds, limits, limits), min_size=1, max_size=7))
def test_all_joints_arrive_together_within_their_limits(joints):
    start, goal, speed, v, a = (list(column) for column in zip(*joints, strict=True))
    move = JointTrajectory(start, speed, goal, v, a)
    assert move.at(move.duration)[0] == goal
    assert move.at(move.duration)[1] == [0.0] * len(goal)
    rates = np.array([move.at(float(t))[1] for t in np.linspace(0.0, move.duration, 200)])
    top = [max(limit, abs(now)) for limit, now in zip(v, speed, strict=True)]
    assert (np.abs(rates).max(axis=0) <= np.array(top) * (1.0 + 1e-6) + 1e-9).all()


def test_nothing_to_do_takes_no_time():
    move = JointTrajectory([0.1, 0.2], [0.0, 0.0], [0.1, 0.2], [1.0, 1.0], [1.0, 1.0])
    assert move.duration == 0.0
    assert move.at(0.0) == ([0.1, 0.2], [0.0, 0.0])


def test_a_joint_that_is_too_fast_brakes_to_its_limit():
    """A lower ratio in flight: first down to the new speed, as recorded."""
    move = JointTrajectory([0.0], [1.0], [2.0], [0.3], [0.5])
    times = np.linspace(0.0, move.duration, 2000)
    rates = np.array([move.at(float(t))[1][0] for t in times])
    assert rates[0] == 1.0
    assert np.median(rates) == 0.3 or abs(np.median(rates) - 0.3) < 1e-9
    assert (np.diff(rates) <= 1e-12).all()


def test_joints_in_one_direction_that_cannot_move_in_phase_only_arrive_together():
    """The first is slow because of its speed, the second would need too much acceleration."""
    move = JointTrajectory([0.0, 0.0], [0.0, 0.0], [2.0, 2.0], [0.5, 5.0], [5.0, 1.0])
    rates = np.array([move.at(float(t))[1] for t in np.linspace(0.0, move.duration, 4001)])
    steps = np.abs(np.diff(rates, axis=0)) / (move.duration / 4000)
    assert steps.max(axis=0)[1] <= 1.0 + 1e-6
    assert move.at(move.duration)[0] == [2.0, 2.0]

"""Contour error and lag are told apart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dvrk_kinematics import load_arm
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.motion.joint_path import JointPath
from dvrk_kinematics.motion.planning.tip_follower import (
    Following,
    TipFollower,
    summarise_following,
)
from dvrk_kinematics.motion.spline import Spline

PSM = load_arm("PSM", instrument="400006")
HOME = np.array([0.0, 0.0, 0.12, 0.0, 0.0, 0.0])
TIMES = np.arange(0.0, 4.0, 0.005)


def eight(times: Array) -> Array:
    """Joints along a figure eight, which crosses itself; (N,) -> (N, 6)."""
    phase = 0.5 * np.pi * np.asarray(times)
    q = np.tile(HOME, (len(phase), 1))
    q[:, 0] += 0.1 * np.sin(phase)
    q[:, 1] += 0.1 * np.sin(2.0 * phase)
    return q


def eight_velocity(times: Array) -> Array:
    phase, rate = 0.5 * np.pi * np.asarray(times), 0.5 * np.pi
    qd = np.zeros((len(phase), 6))
    qd[:, 0] = 0.1 * rate * np.cos(phase)
    qd[:, 1] = 0.2 * rate * np.cos(2.0 * phase)
    return qd


def dense_plan() -> JointPath:
    knots = np.linspace(0.0, 4.0, 401)
    return JointPath(knots, eight(knots), eight_velocity(knots))


def follow(q: Array, path: JointPath | None = None, times: Array = TIMES) -> Following:
    return TipFollower(PSM, path or dense_plan()).follow(times, q)


@settings(max_examples=15, deadline=None)
@given(st.floats(0.0, 0.3))
def test_a_motion_that_is_late_is_on_its_path(lag: float) -> None:
    contour = follow(eight(np.maximum(TIMES - lag, 0.0)))
    assert contour.position_error.max() < 1e-8
    assert contour.rotation_error.max() < 1e-6
    told = contour.lag[TIMES - lag > 0.1]
    assert np.nanmax(np.abs(told - lag)) < 1e-4


@pytest.mark.parametrize("ahead", [0.08, 0.3, 0.9])
def test_a_motion_that_began_earlier_than_heard_is_on_its_path(ahead: float) -> None:
    """Its player said late, while it was slowed, how far it was."""
    contour = follow(eight(TIMES + ahead), times=TIMES)
    on_path = TIMES + ahead < 4.0
    assert contour.position_error[on_path].max() < 1e-8
    assert contour.rotation_error[on_path].max() < 1e-6
    assert np.nanmax(np.abs(contour.lag[on_path] + ahead)) < 1e-3


def test_a_tip_aside_is_in_time() -> None:
    q = eight(TIMES)
    q[:, 2] += 1e-4
    contour = follow(q)
    np.testing.assert_allclose(contour.position_error, 1e-4, rtol=0.02)
    assert np.nanmax(np.abs(contour.lag)) < 2e-3


def test_a_turned_tool_has_an_error_of_orientation_alone() -> None:
    q = eight(TIMES)
    at_rest = PSM.forward(q)
    turned = at_rest.copy()
    turned[:, :3, :3] = at_rest[:, :3, :3] @ np.array(
        [[np.cos(0.01), -np.sin(0.01), 0], [np.sin(0.01), np.cos(0.01), 0], [0, 0, 1]]
    )
    solved = PSM.inverse_batch(turned, seed=q)
    assert solved.ok.all()
    contour = follow(solved.q)
    # The path turns a little too, so that going along it by 30 um makes up for part of the angle.
    np.testing.assert_allclose(contour.rotation_error, 0.01, rtol=2e-3)
    assert contour.position_error.max() < 5e-5


def test_a_hold_on_the_way_is_lag_and_no_contour_error() -> None:
    held = np.where(TIMES < 1.0, TIMES, np.maximum(TIMES - 0.5, 1.0))
    contour = follow(eight(held))
    assert contour.position_error.max() < 1e-8
    late = contour.lag[TIMES > 1.6]
    assert np.nanmax(np.abs(late - 0.5)) < 1e-3


def test_a_state_that_jumps_ahead_to_where_the_plan_is_stays_on_the_path() -> None:
    """A robot's process that stalls reports the old state for a while, and then the right one."""
    seen = np.where((TIMES > 1.0) & (TIMES < 1.4), 1.0, TIMES)
    contour = follow(eight(seen))
    assert contour.position_error.max() < 1e-8
    assert np.nanmax(np.abs(contour.lag[TIMES >= 1.4])) < 1e-4


def test_a_stop_while_the_tip_turns_in_place_is_lag_and_no_error() -> None:
    knots = np.linspace(0.0, 2.0, 201)
    q = np.tile(HOME, (201, 1))
    # About the shaft, with the wrist straight: the tip stays where it is.
    q[:, 3] = 0.5 * knots
    times = np.arange(0.0, 3.0, 0.005)
    stopped = np.tile(HOME, (len(times), 1))
    stopped[:, 3] = 0.5 * np.minimum(times, 1.0)
    contour = follow(stopped, JointPath(knots, q), times)
    assert contour.position_error.max() < 1e-9
    assert contour.rotation_error.max() < 1e-6
    np.testing.assert_allclose(contour.lag[times > 1.1], times[times > 1.1] - 1.0, atol=1e-4)


def test_a_rest_within_the_plan_does_not_lose_the_place() -> None:
    knots = np.linspace(0.0, 6.0, 601)
    slow = np.where(knots < 2.0, knots, np.maximum(knots - 2.0, 2.0))
    path = JointPath(knots, eight(slow))
    times = np.arange(0.0, 6.0, 0.005)
    moved = np.where(times < 2.0, times, np.maximum(times - 2.0, 2.0))
    contour = follow(eight(moved), path, times)
    assert contour.position_error.max() < 1e-5
    assert np.nanmax(np.abs(contour.lag)) < 0.01


@pytest.mark.parametrize("with_acceleration", [False, True])
def test_many_times_at_once_are_those_of_the_spline(with_acceleration: bool) -> None:
    rng = np.random.default_rng(7)
    knots = np.sort(rng.uniform(0.0, 4.0, 20))
    q, qd, qdd = (rng.normal(size=(20, 6)) for _ in range(3))
    spline = Spline(knots, q, qd, qdd if with_acceleration else None)
    path = JointPath(knots, q, qd, qdd if with_acceleration else None)
    times = np.r_[rng.uniform(knots[0], knots[-1], 50), knots]
    wanted = np.array([spline.sample(t).q for t in times])
    np.testing.assert_allclose(path.position(times), wanted, atol=1e-12)


def test_without_velocities_lines_are_straight() -> None:
    path = JointPath(np.array([0.0, 1.0]), np.array([HOME, HOME + 0.1]))
    np.testing.assert_allclose(path.position(np.array([0.25]))[0], HOME + 0.025)


def test_on_its_path_a_tip_has_no_error_but_rounding() -> None:
    path = dense_plan()
    late = np.maximum(TIMES - 0.0123, 0.0)
    figures = summarise_following([follow(path.position(late), path)])
    assert figures.position_max < 1e-11 and figures.rotation_max < 1e-10
    assert figures.lag_mean == pytest.approx(0.0123, abs=1e-6)


def test_a_pause_and_the_rest_after_the_end_have_no_part_in_the_figures() -> None:
    """However many states tell of them."""
    path = dense_plan()
    states = path.position(np.maximum(TIMES - 0.02, 0.0))
    whole = summarise_following([follow(states, path)])
    paused = np.r_[TIMES[:400], TIMES[399] + np.arange(1, 2001) * 0.005]
    there = np.r_[states[:400], np.tile(states[399], (2000, 1))]
    times = np.r_[paused, paused[-1] + TIMES[400:] - TIMES[399], paused[-1] + 3.0]
    kept = np.r_[:400, 2399 : len(times)]
    rows = np.r_[there, states[400:], states[-1:]]
    by_all = summarise_following([follow(rows, path, times)])
    by_few = summarise_following([follow(rows[kept], path, times[kept])])
    for name in ("position_max", "lag_mean", "lag_max"):
        assert getattr(by_all, name) == pytest.approx(getattr(by_few, name), abs=1e-9), name
    assert abs(by_all.samples - whole.samples) <= 3
    # It was late by 10 s over a half of its path.
    assert by_all.lag_mean == pytest.approx(5.02, abs=0.1)
    assert by_all.lag_max == pytest.approx(10.02, abs=1e-3)


def test_what_was_measured_before_the_start_or_stamped_twice_is_left_out() -> None:
    path, times = dense_plan(), TIMES - 0.5
    q = path.position(np.maximum(times, 0.0))
    following = follow(np.r_[q, q[-3:]], path, np.r_[times, times[-3:] - 0.001])
    assert len(following.times) == (times >= 0.0).sum()


def test_where_nothing_was_measured_there_are_no_numbers() -> None:
    figures = summarise_following([follow(eight(TIMES[:5]), times=TIMES[:5] - 1.0)])
    assert figures.samples == 0
    assert np.isnan([figures.position_max, figures.rotation_rms, figures.lag_mean]).all()
    assert summarise_following([]).samples == 0
    one = summarise_following([follow(eight(TIMES[:1]), times=TIMES[:1])])
    assert one.samples == 1 and one.position_max < 1e-9


def test_a_path_of_no_duration_is_followed() -> None:
    still = JointPath(np.array([0.0]), HOME[None], np.zeros((1, 6)))
    figures = summarise_following([follow(np.tile(HOME, (3, 1)), still, np.arange(3.0))])
    assert figures.samples == 1 and figures.position_max == 0.0 and np.isnan(figures.lag_mean)


def test_one_state_is_compared_near_where_it_is_said_to_be() -> None:
    path = dense_plan()
    follower = TipFollower(PSM, path)
    (q,) = path.position(np.array([1.2345]))
    for said in (1.0, 1.2345, 1.5):
        position, rotation = follower.find_errors(said, q)
        assert position < 1e-11 and rotation < 1e-10
    aside, _ = follower.find_errors(1.2, q + 1e-4 * np.eye(6)[2])
    assert aside == pytest.approx(1e-4, rel=0.05)
    # Farther off than it is looked for.
    assert follower.find_errors(2.4, q)[0] > 1e-3

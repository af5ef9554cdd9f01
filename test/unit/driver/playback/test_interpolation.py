"""What lies between the knots, against scipy and against finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import BPoly, CubicHermiteSpline

from dvrk_kinematics.driver.playback.corners import round_corners
from dvrk_kinematics.driver.playback.goal import Goal, PreparedGoal, prepare_goal
from dvrk_kinematics.driver.playback.knots import Knots
from dvrk_kinematics.driver.reasons import Finding, Reason
from dvrk_kinematics.motion.extremes import find_extremes
from dvrk_kinematics.motion.spline import Spline

HOME = np.array([0.0, 0.0, 0.12, 0.0, 0.0, 0.0])


def _random_spline(seed: int, has_acceleration: bool) -> Spline:
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.uniform(0.02, 0.5, 7))
    values = [rng.normal(size=(7, 3)) for _ in range(3)]
    return Spline(times, *(values if has_acceleration else values[:2]))


@given(seed=st.integers(0, 10_000))
@settings(max_examples=20)
def test_cubics_equal_scipys_hermite_spline(seed) -> None:
    spline = _random_spline(seed, has_acceleration=False)
    truth = CubicHermiteSpline(spline.times, spline.position, spline.velocity)
    for t in np.linspace(spline.start, spline.end, 40):
        q, qd = spline.sample(t)
        np.testing.assert_allclose(q, truth(t), atol=1e-12)
        np.testing.assert_allclose(qd, truth(t, 1), atol=1e-10)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=20)
def test_quintics_equal_scipys_bernstein_polynomials(seed) -> None:
    spline = _random_spline(seed, has_acceleration=True)
    values = np.stack([spline.position, spline.velocity, spline.acceleration], axis=1)
    truth = BPoly.from_derivatives(spline.times, values)
    for t in np.linspace(spline.start, spline.end, 25):
        q, qd = spline.sample(t)
        np.testing.assert_allclose(q, truth(t), atol=1e-11)
        np.testing.assert_allclose(qd, truth(t, 1), atol=1e-9)


@pytest.mark.parametrize("has_acceleration", [False, True])
def test_outside_the_knots_a_spline_stands_still(has_acceleration) -> None:
    spline = _random_spline(1, has_acceleration)
    np.testing.assert_array_equal(spline.sample(-5.0).q, spline.position[0])
    np.testing.assert_array_equal(spline.sample(99.0).q, spline.position[-1])


@given(seed=st.integers(0, 10_000), has_acceleration=st.booleans())
@settings(max_examples=20)
def test_extremes_are_those_of_dense_samples(seed, has_acceleration) -> None:
    spline = _random_spline(seed, has_acceleration)
    found = find_extremes(spline)
    t = np.unique(np.concatenate([np.linspace(spline.start, spline.end, 20_001), spline.times]))
    if has_acceleration:
        values = np.stack([spline.position, spline.velocity, spline.acceleration], axis=1)
        truth = BPoly.from_derivatives(spline.times, values)
    else:
        truth = CubicHermiteSpline(spline.times, spline.position, spline.velocity)
    # Quintics are sampled at 33 places a segment; cubics are exact.
    slack = 5e-3 if has_acceleration else 1e-4
    for ours, theirs in (
        (found.lowest, truth(t).min(axis=0)),
        (found.highest, truth(t).max(axis=0)),
        (found.speed, np.abs(truth(t, 1)).max(axis=0)),
    ):
        np.testing.assert_allclose(ours, theirs, rtol=slack, atol=slack)
    assert (found.acceleration >= np.abs(truth(t, 2)).max(axis=0) * (1.0 - 2e-2)).all()


def test_an_overshoot_between_inner_knots_is_seen(rig) -> None:
    """Both knots are inside the limits, the cubic between them is not."""
    edge = HOME + np.array([0, 0.92, 0, 0, 0, 0])
    qd = [[0, 0.1, 0, 0, 0, 0], [0, -0.1, 0, 0, 0, 0], np.zeros(6)]
    refused = rig.play(2.0, 3.0, 5.0, q=[edge, edge, HOME], qd=qd)
    assert refused is not None and refused.reason is Reason.GOAL_POSITION_LIMIT
    assert refused.value == pytest.approx(0.92 + 0.1 / 4)


def test_straight_segments_are_exact_outside_their_corners(rig) -> None:
    q = np.array([HOME, HOME + 0.05, HOME + np.array([0.1, 0, 0.02, 0.3, 0.0, 0.2])])
    knots = Knots(np.array([0, 10**9, 2 * 10**9]), q)
    motion = round_corners(knots, rig.limits)
    assert isinstance(motion, Spline)
    half = np.diff(motion.times)[::2] / 2
    assert motion.start == pytest.approx(-half[0])
    assert motion.end == pytest.approx(2.0 + half[-1])
    t = np.linspace(0.0, 2.0, 401)
    inside = np.min(np.abs(t[:, None] - [0.0, 1.0, 2.0]) - half, axis=1) > 0.0
    for time_s in t[inside]:
        expected = [np.interp(time_s, [0.0, 1.0, 2.0], q[:, j]) for j in range(6)]
        np.testing.assert_allclose(motion.sample(time_s).q, expected, atol=1e-12)
    assert (find_extremes(motion).acceleration <= rig.limits.acceleration * (1 + 1e-9)).all()
    assert not motion.velocity[0].any() and not motion.velocity[-1].any()


def test_dense_straight_points_on_one_line_have_no_corners(rig) -> None:
    times = np.arange(1, 101) * 10**8
    q = HOME + np.linspace(0.01, 0.1, 100)[:, None]
    motion = round_corners(Knots(times, q), rig.limits)
    assert isinstance(motion, Spline)
    speeds = np.abs(motion.velocity[:-1] - motion.velocity[0]).max()
    assert speeds < 1e-12


def test_a_goal_of_a_million_points_is_prepared_and_played(make_rig) -> None:
    rig = make_rig(max_points=1_000_000)
    count = 1_000_000
    times_ns = np.arange(count, dtype=np.int64) * 5_000_000
    phase = np.linspace(0.0, 200 * np.pi, count)
    rate = 200 * np.pi / (times_ns[-1] * 1e-9)
    q = HOME + 0.02 * (1.0 - np.cos(phase))[:, None]
    qd = np.repeat(0.02 * rate * np.sin(phase)[:, None], 6, axis=1)
    qd[-1] = 0.0
    goal = Goal("big", Knots(times_ns, q, qd), rig.settings.tolerances)
    prepared = prepare_goal(goal, rig.guard_settings, rig.settings)
    assert isinstance(prepared, PreparedGoal), str(prepared)
    assert rig.player.accept(prepared, rig.wall_ns) is None
    rig.ticks(200)
    assert rig.player.cancel("big")
    rig.run()
    rig.check_commands()


def test_bad_values_of_a_big_goal_are_found_wherever_they_are(make_rig) -> None:
    rig = make_rig(max_points=100_000)
    q = np.tile(HOME, (100_000, 1))
    q[77_777, 4] = np.nan
    goal = Goal("big", Knots(np.arange(1, 100_001) * 10**6, q), rig.settings.tolerances)
    found = prepare_goal(goal, rig.guard_settings, rig.settings)
    assert isinstance(found, Finding)
    assert found.reason is Reason.NOT_FINITE_GOAL and found.joint == "wrist_pitch"
    assert "77777" in str(found)


def test_knots_do_not_change_with_the_arrays_they_came_from() -> None:
    q = np.zeros((1, 6))
    knots = Knots(np.array([10**9]), q)
    q += 1.0
    assert not knots.position.any()
    with pytest.raises(ValueError, match="read-only"):
        knots.position[0] = 1.0

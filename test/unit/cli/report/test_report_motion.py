"""Rates, missed ticks, and when an arm moved."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dvrk_kinematics.cli.report.motion import (
    acceleration_of,
    find_motion,
    measure_periods,
    velocity_of,
)
from dvrk_kinematics.cli.report.recording import ArmRecording, RecordedJoints
from dvrk_kinematics.geometry.arrays import Array

TICKS = np.arange(400) * 0.005


def stream(times: Array, position: Array | None = None) -> RecordedJoints:
    rows = np.zeros((len(times), 1)) if position is None else position
    return RecordedJoints(times, ("yaw",), rows, None, is_stamped=True)


def arm(measured: RecordedJoints, setpoint: RecordedJoints | None = None) -> ArmRecording:
    return ArmRecording("PSM1", "", "", measured, setpoint, None, None, ())


@given(st.sets(st.integers(1, 398), max_size=40))
def test_every_tick_that_is_left_out_is_missed(gone: set[int]) -> None:
    kept = np.delete(TICKS, sorted(gone))
    periods = measure_periods(stream(kept[np.r_[True, np.diff(kept) < 0.25]]))
    assert periods is not None and periods.missed == len(gone)


@given(st.integers(0, 2**32 - 1))
def test_jitter_of_a_fifth_of_the_period_misses_nothing(seed: int) -> None:
    jitter = np.random.default_rng(seed).uniform(-0.001, 0.001, len(TICKS))
    periods = measure_periods(stream(TICKS + jitter))
    assert periods is not None and periods.missed == 0


def test_a_late_tick_that_the_next_makes_up_for_is_not_missed() -> None:
    times = TICKS.copy()
    times[100] += 0.004
    periods = measure_periods(stream(times))
    assert periods is not None
    assert (periods.missed, periods.pauses) == (0, 0)
    assert periods.longest == pytest.approx(0.009)
    assert periods.rate == pytest.approx(200.0)


def test_a_pause_is_no_missed_tick() -> None:
    periods = measure_periods(stream(np.r_[TICKS, 5.0 + TICKS]))
    assert periods is not None
    assert (periods.missed, periods.pauses) == (0, 1)
    assert periods.messages == 800
    assert periods.rate == pytest.approx(200.0)


def test_two_messages_have_no_rate() -> None:
    assert measure_periods(stream(TICKS[:2])) is None


def test_a_motion_is_where_the_setpoint_moves() -> None:
    ramp = np.clip(TICKS - 0.5, 0.0, 1.0)[:, None]
    noise = np.random.default_rng(7).normal(scale=1e-4, size=ramp.shape)
    found = find_motion(arm(stream(TICKS, ramp + noise), stream(TICKS, ramp)))
    assert found == pytest.approx((0.3, 1.7), abs=0.006)


def test_without_setpoints_speed_tells() -> None:
    ramp = np.clip(TICKS - 0.5, 0.0, 1.0)[:, None]
    assert find_motion(arm(stream(TICKS, ramp))) == pytest.approx((0.3, 1.7), abs=0.011)


def test_an_arm_at_rest_has_no_motion() -> None:
    assert find_motion(arm(stream(TICKS), stream(TICKS))) is None
    assert find_motion(arm(stream(TICKS))) is None
    assert find_motion(arm(stream(TICKS[:1]))) is None


def test_velocity_and_acceleration_of_a_parabola() -> None:
    parabola = stream(TICKS, 0.5 * TICKS[:, None] ** 2)
    np.testing.assert_allclose(velocity_of(parabola)[1:-1, 0], TICKS[1:-1], atol=1e-9)
    np.testing.assert_allclose(acceleration_of(parabola)[:, 0], 1.0, atol=1e-6)


def test_acceleration_of_very_few_samples_is_not_made_up() -> None:
    np.testing.assert_array_equal(acceleration_of(stream(TICKS[:3])), np.zeros((3, 1)))

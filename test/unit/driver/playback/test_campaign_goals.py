"""A campaign against goals: whatever they hold, they are played inside the limits or refused."""

from __future__ import annotations

import warnings
from collections import Counter

import numpy as np
import pytest
from campaign import Track, seeds

from dvrk_kinematics import load_arm
from dvrk_kinematics.driver import (
    Finding,
    Goal,
    GoalTolerances,
    Knots,
    Reason,
    Sample,
    StateTolerance,
    make_motion_limits,
    no_tolerance,
)
from dvrk_kinematics.driver.playback.join import make_join
from dvrk_kinematics.motion.extremes import find_extremes

HOME = np.array([0.0, 0.0, 0.12, 0.0, 0.0, 0.0])
_ODD = (0.0, -0.0, 5e-324, 2.3e-308, 1e-170, 1e-12, 1.0, -3.0, 1e9, 1e154, 1e308, -1.79e308)
_NOT_NUMBERS = (np.nan, np.inf, -np.inf)
_LATEST_NS = (2**31 - 1) * 10**9 + 2**32 - 1
"""The largest Duration of a message."""


def _times(rng: np.random.Generator, count: int) -> np.ndarray:
    """Times from start (ns): sensible, at the far end, nearly equal, or in no order."""
    kind = rng.choice(["plain", "plain", "late", "close", "last", "disorder"])
    steps = rng.integers(50_000_000, 2_000_000_000, count)
    if kind == "close":
        steps = np.where(rng.random(count) < 0.5, steps, rng.integers(0, 5, count))
    times = np.cumsum(steps)
    times = times - times[0] * int(rng.random() < 0.4)
    if kind in ("late", "close") and rng.random() < 0.5:
        times = times + int(10.0 ** rng.uniform(9.0, 18.3))
    if kind == "last":
        times = _LATEST_NS - times[::-1]
    if kind == "disorder":
        times = rng.permutation(times) * int(rng.choice([-1, 1]))
    return times


def _spoil(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Put odd numbers into some places, or give it another shape."""
    chance = rng.random()
    if chance < 0.15:
        shape = [(0, 6), (len(values), 5), (len(values) + 1, 6), (6,), (1, 1, 6), ()]
        return rng.normal(size=shape[rng.integers(len(shape))])
    if chance < 0.5:
        values = values.copy()
        numbers = _ODD if rng.random() < 0.7 else _NOT_NUMBERS
        where = rng.random(values.shape) < rng.choice([0.05, 0.5])
        values[where] = rng.choice(numbers, size=int(where.sum()))
    return values


def _goal(rng: np.random.Generator) -> Goal:
    count = int(rng.integers(1, 8))
    position = HOME + rng.normal(size=(count, 6)) * [0.1, 0.1, 0.01, 0.3, 0.2, 0.2]
    if rng.random() < 0.3:
        position[0] = HOME
    if rng.random() < 0.3:
        position[:] = position[0]
    values: list[np.ndarray | None] = [position, None, None]
    for k, size in ((1, 0.02), (2, 0.02)):
        if rng.random() < 0.4:
            values[k] = rng.normal(size=(count, 6)) * size
            values[k][-1] = 0.0
    if rng.random() < 0.5:
        values = [None if v is None else _spoil(v, rng) for v in values]
    numbers = rng.choice([0.0, 0.0, -1.0, 0.1, 1e308, 5e-324, np.nan, -2.0], size=(4, 6))
    numbers[:, rng.random(6) < 0.7] = 0.0
    if rng.random() < 0.7:
        numbers[:] = 0.0
    path, end = StateTolerance(*numbers[:2]), StateTolerance(*numbers[2:])
    time_s = float(rng.choice([0.0, 0.0, -1.0, 1e9, -3.0]))
    return Goal(
        goal_id=int(rng.integers(10**9)),
        knots=Knots(_times(rng, count), *values),
        tolerances=GoalTolerances(path, end, time_s),
        stamp_ns=int(rng.choice([0, 0, 0, 1, _LATEST_NS])),
        is_cartesian=bool(rng.random() < 0.3),
    )


def test_campaign_of_goals(make_rig) -> None:
    found: Counter[Reason | None] = Counter()
    with warnings.catch_warnings():
        # What overflows or divides by zero on the way is not what was looked at.
        warnings.simplefilter("error")
        for seed in seeds(600):
            rng = np.random.default_rng(seed)
            goal = _goal(rng)
            rig = make_rig()
            track = Track(HOME)
            track.begin(rig.arm.now_ns)
            refused = rig.accept(goal)
            assert refused is None or isinstance(refused, Finding)
            if refused is not None and refused.reason is not Reason.BAD_TOLERANCE:
                assert refused.value is None or np.isfinite(refused.value), str(refused)
            found[None if refused is None else refused.reason] += 1
            rig.ticks(20)
            for sent in rig.arm.sent:
                track.add(sent.now_ns, sent.q)
            track.check(rig.limits)
            assert not rig.arm.holds, rig.player.last_stop
    assert found[None] > 0.1 * len(seeds(600))
    assert len(found) > 10, found


def test_points_a_nanosecond_apart_in_the_far_future_end_no_bridge(rig) -> None:
    """Their difference in seconds was zero, and was divided by."""
    knots = Knots(np.array([10**18, 10**18 + 1]), np.array([HOME, HOME + 0.01]))
    tolerances = GoalTolerances(no_tolerance(6), no_tolerance(6), 0.0)
    refused = rig.accept(Goal("goal", knots, tolerances))
    assert refused.reason is Reason.TIMES_TOO_CLOSE
    assert "points 0 and 1 are 1 ns apart, 1e+09 s from start" in str(refused)


def test_a_nanosecond_is_enough_at_the_start(rig) -> None:
    steps = np.array([1_000_000_000, 1_000_000_001, 2_000_000_000])
    tolerances = GoalTolerances(no_tolerance(6), no_tolerance(6), 0.0)
    still = Knots(steps, np.array([HOME, HOME, HOME]))
    assert rig.accept(Goal("goal", still, tolerances)) is None
    jump = Knots(steps, np.array([HOME, HOME + 0.01, HOME]))
    refused = rig.accept(Goal("goal", jump, tolerances))
    assert refused.reason is Reason.GOAL_ACCELERATION_LIMIT


@pytest.mark.parametrize("value", [1e308, -1.79e308, 1e154])
@pytest.mark.parametrize("time_s", [0.0, 1.0])
def test_a_number_beyond_all_measure_is_told_as_it_is(rig, value, time_s) -> None:
    q = np.array([HOME, HOME])
    q[0, 0] = value
    refused = rig.play(time_s, 2.0, q=q)
    assert refused.reason is Reason.GOAL_POSITION_LIMIT
    assert refused.joint == "yaw" and refused.value == value
    qd = np.zeros((2, 6))
    qd[0, 3] = value
    refused = rig.play(time_s, 2.0, q=[HOME, HOME], qd=qd)
    assert refused.reason is Reason.GOAL_VELOCITY_LIMIT
    assert refused.joint == "roll" and refused.value == abs(value)


@pytest.mark.parametrize("seconds", [10.0, 1e3, 1e5, 1e6, 1e8, 2e9])
def test_joining_may_take_as_long_as_a_message_can_say(seconds) -> None:
    """A difference of nearly equal numbers once was its speed, and the rest a kink at its end."""
    limits = make_motion_limits(load_arm("PSM", instrument="400006"))
    rest = np.zeros(6)
    join = make_join(Sample(HOME, rest), Sample(HOME + 0.5, rest), seconds, limits)
    found = find_extremes(join)
    assert (found.speed <= 2.0 * 0.5 / seconds).all()
    assert np.allclose(join.sample(0.5 * seconds).q, HOME + 0.25, atol=0.1)
    near_end = np.array([join.sample(seconds - 0.005 * k).q for k in range(4)])
    assert (np.abs(np.diff(near_end, axis=0)) <= 0.005 * 1.1 / seconds + 1e-12).all()

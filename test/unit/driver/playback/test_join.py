"""Joining: from any commanded state to any first point, inside the limits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dvrk_kinematics.driver.playback.join import make_join
from dvrk_kinematics.motion.extremes import find_extremes
from dvrk_kinematics.motion.spline import Sample

HOME = np.array([0.0, 0.0, 0.12, 0.0, 0.0, 0.0])


def _state(rng: np.random.Generator, limits, at_rest: bool) -> Sample:
    span = limits.position.upper - limits.position.lower
    q = limits.position.lower + span * rng.uniform(0.2, 0.8, 6)
    return Sample(q, np.zeros(6) if at_rest else limits.velocity * rng.uniform(-1.0, 1.0, 6))


@given(
    seed=st.integers(0, 100_000),
    asked_s=st.sampled_from([0.0, 0.001, 0.1, 1.0, 5.0]),
    rests=st.tuples(st.booleans(), st.booleans()),
    is_near=st.booleans(),
)
@settings(max_examples=50)
def test_any_state_is_joined_inside_the_limits(make_rig, seed, asked_s, rests, is_near) -> None:
    limits = make_rig(is_ready=False).limits
    rng = np.random.default_rng(seed)
    start, end = _state(rng, limits, rests[0]), _state(rng, limits, rests[1])
    if is_near:
        end = Sample(start.q + rng.uniform(-1e-3, 1e-3, 6), end.qd)
    join = make_join(start, end, asked_s, limits)
    assert join is not None
    assert join.start == 0.0
    assert join.end >= asked_s - 1e-12
    for time_s, state in ((0.0, start), (join.end, end)):
        np.testing.assert_allclose(join.sample(time_s).q, state.q, atol=1e-12)
        np.testing.assert_allclose(join.sample(time_s).qd, state.qd, atol=1e-12)
    found = find_extremes(join)
    assert (found.speed <= limits.velocity * (1.0 + 1e-6)).all()
    # Over tenths of a period: a ramp of microseconds drowns in rounding, and nobody sees it.
    steps = np.arange(0.0, join.end + 5e-4, 5e-4)
    change = np.diff([join.sample(t).qd for t in steps[:400]], axis=0)
    assert (np.abs(change) <= limits.acceleration * 5e-4 * (1.0 + 1e-6) + 1e-8).all()
    # No farther out than braking and a run-up need.
    reach = (start.qd**2 + end.qd**2) / (2.0 * limits.acceleration) + 1e-9
    assert (found.lowest >= np.minimum(start.q, end.q) - reach).all()
    assert (found.highest <= np.maximum(start.q, end.q) + reach).all()


def test_from_rest_to_rest_a_join_is_as_quick_as_the_limits_allow(make_rig) -> None:
    limits = make_rig(is_ready=False).limits
    rest = np.zeros(6)
    far = Sample(HOME + np.array([1.0, 0.2, 0.05, 0, 0, 0]), rest)
    join = make_join(Sample(HOME, rest), far, 0.0, limits)
    assert join is not None
    # 1 rad with pi/2 rad/s^2 is a triangle: 2 sqrt(d / a).
    assert join.end == pytest.approx(2.0 * np.sqrt(1.0 / (np.pi / 2.0)), rel=1e-3)


def test_a_state_that_is_there_already_needs_no_joining(make_rig) -> None:
    limits = make_rig(is_ready=False).limits
    state = Sample(HOME, np.full(6, 0.1))
    assert make_join(state, state, 0.0, limits) is None

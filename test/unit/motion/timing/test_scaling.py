"""Time scalings keep their limits, start and end at rest, and are their own derivatives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dvrk_kinematics.errors import InvalidInput, UnknownName
from dvrk_kinematics.motion.timing.logistic import Curve, hyperbolic, hyperbolic_within
from dvrk_kinematics.motion.timing.scalings import normalised, quintic, stretch, trapezoid
from dvrk_kinematics.motion.timing.speeds import SCALINGS, TipSpeeds, combined, find_scaling

TRUE = ("trapezoid", "quintic", "hyperbolic")
lengths = st.floats(1e-4, 1.0)
rates = st.floats(1e-3, 2.0)


def _check_curve(scaling, count: int = 4001) -> tuple[float, float]:
    """Rest at both ends, derivatives that fit, no way back; gives the peaks."""
    t = np.linspace(0.0, scaling.duration_s, count)
    s, sd, sdd = scaling.sample(t)
    assert s[0] == 0.0 and s[-1] == scaling.length
    assert sd[0] == 0.0 and abs(sd[-1]) < 1e-12
    assert (np.diff(s) >= -1e-15).all()
    h = t[1]
    far = np.abs(t[1:-1, None] - np.append(scaling.breaks, [-1.0])).min(axis=1) > 2.0 * h
    np.testing.assert_allclose(
        ((s[2:] - s[:-2]) / (2.0 * h))[far], sd[1:-1][far], atol=1e-4 * sd.max()
    )
    np.testing.assert_allclose(
        ((sd[2:] - sd[:-2]) / (2.0 * h))[far], sdd[1:-1][far], atol=1e-3 * np.abs(sdd).max()
    )
    return float(sd.max()), float(np.abs(sdd).max())


@pytest.mark.parametrize("name", TRUE)
@given(length=lengths, speed=rates, acceleration=rates)
def test_limits_are_kept_and_one_of_them_is_used(
    name: str, length: float, speed: float, acceleration: float
) -> None:
    scaling = SCALINGS[name](length, speed, acceleration)
    peak_speed, peak_acceleration = _check_curve(scaling)
    assert peak_speed <= speed * (1.0 + 1e-9)
    assert peak_acceleration <= acceleration * (1.0 + 1e-9)
    assert max(peak_speed / speed, peak_acceleration / acceleration) > 0.999


def test_a_trapezoid_takes_length_by_speed_plus_speed_by_acceleration() -> None:
    long = trapezoid(0.08, 0.005, 0.01)
    assert long.duration_s == pytest.approx(0.08 / 0.005 + 0.5)
    np.testing.assert_allclose(long.breaks, [0.5, 16.0])
    short = trapezoid(0.001, 0.02, 0.04)
    assert short.duration_s == pytest.approx(2.0 * np.sqrt(0.001 / 0.04))
    np.testing.assert_allclose(short.breaks, [0.5 * short.duration_s])


def test_the_normalised_rule_knows_no_length() -> None:
    v, a = 0.005, 0.01
    assert normalised(v, a).duration_s == pytest.approx((a + v * v) / (v * a))
    assert SCALINGS["normalised"](0.03, v, a).length == 1.0


@given(
    centre=st.floats(0.2, 0.8),
    width=st.floats(0.05, 0.5),
    delta=st.floats(1e-4, 0.1),
)
def test_a_hyperbolic_curve_is_half_at_its_centre_and_all_but_delta_a_half_width_away(
    centre: float, width: float, delta: float
) -> None:
    width = min(width, 0.95 * max(centre, 1.0 - centre))
    scaling = hyperbolic(2.0, centre, width, delta)
    _check_curve(scaling, 40_001)
    inward = -1.0 if centre >= 0.5 else 1.0
    s = scaling.sample(2.0 * np.array([centre, centre + inward * width])).s
    assert s[0] == pytest.approx(0.5)
    assert s[1] == pytest.approx(delta if inward < 0 else 1.0 - delta)


@pytest.mark.parametrize("curve", [(0.5, 0.2, 0.005), (0.7, 0.3, 0.005), (0.8, 0.2, 0.005)])
def test_a_hyperbolic_curve_is_safe_at_its_very_ends(curve: tuple[float, float, float]) -> None:
    scaling = hyperbolic(1.0, *curve)
    t = np.concatenate([[-1.0, 0.0, 5e-324, 1e-300, 1e-30, 1e-12], 1.0 - np.logspace(-16, -6, 30)])
    s, sd, sdd = scaling.sample(np.append(t, [1.0, 2.0]))
    assert np.isfinite([s, sd, sdd]).all()
    assert (s[:6] == 0.0).all() and (s[-2:] == 1.0).all()
    assert (sd[:6] == 0.0).all() and (sdd[:6] == 0.0).all() and sdd[-1] == sd[-1] == 0.0


@given(length=lengths, angle=st.floats(1e-3, 3.0), name=st.sampled_from(TRUE))
def test_the_slower_of_translation_and_rotation_governs(
    length: float, angle: float, name: str
) -> None:
    speeds = TipSpeeds(0.01, 0.02, 0.3, 0.5)
    scaling = combined(name, length, angle, speeds)
    _, sd, sdd = scaling.sample(np.linspace(0.0, scaling.duration_s, 4001))
    ratios = [
        float(sd.max()) * length / 0.01,
        float(np.abs(sdd).max()) * length / 0.02,
        float(sd.max()) * angle / 0.3,
        float(np.abs(sdd).max()) * angle / 0.5,
    ]
    assert 0.999 < max(ratios) <= 1.0 + 1e-9


def test_pure_translations_and_pure_turns_are_timed_by_their_own_limits() -> None:
    speeds = TipSpeeds(0.01, 0.02, 0.3, 0.5)
    assert combined("trapezoid", 0.05, 0.0, speeds).duration_s == pytest.approx(5.5)
    assert combined("trapezoid", 0.0, 0.6, speeds).duration_s == pytest.approx(2.6)
    assert combined("normalised", 0.05, 0.0, speeds).duration_s == pytest.approx(100.5)


@given(factor=st.floats(1.0, 20.0), name=st.sampled_from(TRUE))
def test_stretching_divides_speed_and_acceleration(factor: float, name: str) -> None:
    scaling = SCALINGS[name](0.1, 0.5, 1.0)
    slow = stretch(stretch(scaling, factor), 2.0)
    assert slow.duration_s == pytest.approx(2.0 * factor * scaling.duration_s)
    speed, acceleration = _check_curve(scaling)
    slow_speed, slow_acceleration = _check_curve(slow)
    assert slow_speed == pytest.approx(speed / (2.0 * factor))
    assert slow_acceleration == pytest.approx(acceleration / (4.0 * factor * factor))
    assert slow.is_smooth == scaling.is_smooth


@pytest.mark.parametrize("make", [trapezoid, quintic, hyperbolic_within])
@pytest.mark.parametrize("bad", [0.0, -1.0, float("nan"), float("inf")])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_numbers_that_are_not_positive_are_refused_by_name(make, bad: float, place: int) -> None:
    numbers = [0.1, 0.2, 0.3]
    numbers[place] = bad
    name = ("length", "speed", "acceleration")[place]
    with pytest.raises(InvalidInput, match=f"{name}: must be positive and finite"):
        make(*numbers)


def test_bad_speeds_curves_and_names_are_refused() -> None:
    with pytest.raises(InvalidInput, match="angular_speed: must be positive"):
        TipSpeeds(angular_speed=-0.1)
    for field in ({"centre": 1.0}, {"delta": 0.5}, {"half_width": 0.5}):
        with pytest.raises(InvalidInput, match=next(iter(field))):
            Curve(**field)
    with pytest.raises(InvalidInput, match="duration"):
        hyperbolic(0.0, 0.5, 0.2, 0.01)
    with pytest.raises(UnknownName, match="valid: trapezoid, quintic, hyperbolic, normalised"):
        find_scaling("cubic")
    with pytest.raises(InvalidInput, match="neither translates nor turns"):
        combined("trapezoid", 0.0, 0.0, TipSpeeds())
    with pytest.raises(InvalidInput, match="not negative"):
        combined("trapezoid", float("nan"), 0.0, TipSpeeds())

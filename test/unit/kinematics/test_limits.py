"""Joint limits: names, masks, margins, and limits that make no sense."""

from __future__ import annotations

import numpy as np
import pytest

from dvrk_kinematics.errors import InvalidInput, LimitViolation
from dvrk_kinematics.kinematics.limits import JointLimits
from dvrk_kinematics.kinematics.tolerances import LIMIT_TOLERANCE


@pytest.fixture
def limits() -> JointLimits:
    return JointLimits(("yaw", "insertion", "roll"), (-1.0, 0.0, -4.0), (1.0, 0.2, 4.0))


def test_every_violated_joint_is_named_with_value_and_bounds(limits: JointLimits) -> None:
    found = limits.violations([1.5, 0.1, -5.0])
    assert [tuple(item) for item in found] == [
        ("yaw", 1.5, -1.0, 1.0),
        ("roll", -5.0, -4.0, 4.0),
    ]
    assert [violation.breach for violation in found] == [
        ("yaw", 1.5, 1.0),
        ("roll", -5.0, -4.0),
    ]


def test_rounding_at_a_limit_is_no_violation(limits: JointLimits) -> None:
    q = [1.0 + 0.5 * LIMIT_TOLERANCE, 0.2 + 0.5 * LIMIT_TOLERANCE, 0.0]
    assert limits.violations(q) == ()
    assert limits.mask_batch(np.array([q])).tolist() == [0]
    assert limits.contains(np.array(q))


def test_nan_is_outside(limits: JointLimits) -> None:
    assert [v.joint for v in limits.violations([0.0, float("nan"), 0.0])] == ["insertion"]
    assert not limits.contains(np.array([0.0, np.nan, 0.0]))


def test_masks_agree_with_names(limits: JointLimits, rng_rows: np.ndarray) -> None:
    for mask, q in zip(limits.mask_batch(rng_rows), rng_rows, strict=True):
        names = {v.joint for v in limits.violations(q)}
        assert {name for i, name in enumerate(limits.names) if mask >> i & 1} == names


@pytest.fixture
def rng_rows() -> np.ndarray:
    return np.random.default_rng(1).uniform(-6.0, 6.0, (200, 3)) * [1.0, 0.05, 1.0]


def test_clamp_and_excess_add_up(limits: JointLimits, rng_rows: np.ndarray) -> None:
    clamped = limits.clamp(rng_rows)
    assert limits.contains(clamped).all()
    np.testing.assert_allclose(np.abs(rng_rows - clamped), limits.excess(rng_rows), atol=1e-15)


def test_check_raises_with_the_data(limits: JointLimits) -> None:
    limits.check([0.0, 0.1, 0.0])
    with pytest.raises(LimitViolation, match="insertion") as caught:
        limits.check([0.0, 0.3, 0.0])
    assert (caught.value.value, caught.value.lower, caught.value.upper) == (0.3, 0.0, 0.2)


def test_margins_say_which_joint_is_nearest_to_a_limit(limits: JointLimits) -> None:
    margins = limits.margins(np.array([0.9, 0.1, 0.0]))
    assert margins.shape == (3,) and int(np.argmin(margins)) == 0
    assert margins[0] == pytest.approx(0.05)


def test_margin_is_a_fraction_of_the_range(limits: JointLimits) -> None:
    assert limits.margin(np.array([0.0, 0.1, 0.0])) == pytest.approx(0.5)
    assert limits.margin(np.array([0.9, 0.1, 0.0])) == pytest.approx(0.05)
    assert limits.margin(np.array([0.0, -0.02, 0.0])) == pytest.approx(-0.1)
    assert limits.margin(np.tile([0.0, 0.1, 2.0], (2, 1))).tolist() == pytest.approx([0.25] * 2)


def test_margin_leaves_out_joints_without_a_range() -> None:
    limits = JointLimits(("a", "b", "c"), (0.0, -np.inf, -1.0), (0.0, np.inf, 1.0))
    assert limits.margin(np.array([0.0, 7.0, 0.5])) == pytest.approx(0.25)
    fixed = JointLimits(("a",), (0.0,), (0.0,))
    assert fixed.margin(np.zeros(1)) == 0.5


def test_limits_cannot_be_changed(limits: JointLimits) -> None:
    with pytest.raises(ValueError, match="read-only"):
        limits.lower[0] = 0.0


@pytest.mark.parametrize(
    ("lower", "upper", "match"),
    [
        ((0.0,), (1.0, 1.0), "shapes"),
        ((2.0, 0.0), (1.0, 1.0), "yaw: lower 2.0"),
        ((float("nan"), 0.0), (1.0, 1.0), "yaw"),
    ],
)
def test_limits_that_make_no_sense_are_refused(
    lower: tuple[float, ...], upper: tuple[float, ...], match: str
) -> None:
    with pytest.raises(InvalidInput, match=match):
        JointLimits(("yaw", "pitch"), lower, upper)

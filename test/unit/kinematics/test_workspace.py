"""Reach, margins and manipulability of whole arms."""

from __future__ import annotations

import numpy as np
import pytest

from dvrk_kinematics import load_arm

ARMS = [("PSM", "400006"), ("PSM", "400117"), ("ECM", None)]


@pytest.mark.parametrize(("name", "instrument"), ARMS)
def test_what_the_arm_can_do_is_reachable_and_what_it_cannot_is_not(
    name: str, instrument: str | None
) -> None:
    arm = load_arm(name, instrument=instrument)
    q = arm.random_q(np.random.default_rng(1), 20)
    if len(arm.joint_names) == 8:
        q[:, 6], q[:, 7] = q[:, 5], q[:, 4]
    T = arm.forward(q)
    assert arm.reachable(T).all()
    far = T.copy()
    far[:, :3, 3] *= 10.0
    far[0, 0, 0] = np.nan
    assert not arm.reachable(far).any()


def test_margin_is_half_in_the_middle_and_zero_on_a_limit() -> None:
    arm = load_arm("PSM")
    middle = 0.5 * (arm.limits.lower + arm.limits.upper)
    assert arm.margin(middle) == pytest.approx(0.5)
    assert arm.margin(arm.limits.upper) == pytest.approx(0.0)
    assert arm.margin(arm.limits.upper + 0.1) < 0.0
    assert arm.margin(np.stack([middle, arm.limits.lower])).shape == (2,)


def test_manipulability_vanishes_with_the_wrist_on_the_remote_centre() -> None:
    arm = load_arm("PSM", instrument="400006")
    q = np.array([0.2, 0.1, 0.4318 - 0.4162, 0.5, 0.3, 0.2])
    assert arm.manipulability(q) == pytest.approx(0.0, abs=1e-12)
    q[2] = 0.12
    single = float(arm.manipulability(q))
    assert single == pytest.approx(abs(np.linalg.det(arm.jacobian(q))))
    assert single > 1e-4
    np.testing.assert_allclose(arm.manipulability(np.stack([q, q])), [single] * 2)

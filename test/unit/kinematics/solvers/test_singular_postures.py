"""Singular postures of the teaching arms: named, solved, and damped where rates are asked for."""

from __future__ import annotations

import numpy as np
import pytest

from dvrk_kinematics import load_arm
from dvrk_kinematics.kinematics.rates import EPSILON
from dvrk_kinematics.kinematics.solvers.five_axis import FiveAxisSolver
from dvrk_kinematics.kinematics.solvers.spherical_wrist import SphericalWristSolver

RVM1, CYBER = load_arm("RVM1"), load_arm("CYBER310")
SOLVERS = {
    RVM1: FiveAxisSolver(RVM1.model, RVM1.limits),
    CYBER: SphericalWristSolver(CYBER.model, CYBER.limits),
}
PI, HALF = np.pi, np.pi / 2

# The fore arm of the CYBER 310 folded back so that the wrist is above the waist.
BACK = PI - np.arcsin(0.275 * np.cos(-1.2) / 0.152) + 1.2
POSTURES = {
    "RV-M1, elbow straight": (RVM1, [0.3, 0.8, 0.0, 1.9, 0.4], ("elbow straight",)),
    "RV-M1, elbow folded": (RVM1, [0.3, 0.8, PI, 1.9, 0.4], ("elbow folded",)),
    "RV-M1, upright": (
        RVM1,
        [0.3, HALF, 0.0, HALF, 0.4],
        ("elbow straight", "hand along the waist's axis"),
    ),
    "CYBER 310, wrist straight": (CYBER, [0.4, -1.2, 0.6, 0.7, 0.0, -0.3], ("wrist straight",)),
    "CYBER 310, wrist folded": (CYBER, [0.4, -1.2, 0.6, 0.7, PI, -0.3], ("wrist folded",)),
    "CYBER 310, elbow straight": (CYBER, [0.4, -1.2, -HALF, 0.3, 0.9, -0.5], ("elbow straight",)),
    "CYBER 310, elbow folded": (CYBER, [0.4, -1.2, HALF, 0.3, 0.9, -0.5], ("elbow folded",)),
    "CYBER 310, wrist above the waist": (
        CYBER,
        [0.4, -1.2, BACK, 0.3, 0.9, -0.5],
        ("wrist on the waist's axis",),
    ),
    "CYBER 310, upright": (
        CYBER,
        [0.4, -HALF, -HALF, 0.3, 0.0, -0.5],
        ("elbow straight", "wrist straight", "wrist on the waist's axis"),
    ),
}


@pytest.mark.parametrize("name", POSTURES)
def test_a_singular_posture_is_named_and_its_rates_are_damped(name: str) -> None:
    arm, q, names = POSTURES[name]
    assert SOLVERS[arm].singularities(np.array(q)) == names
    assert arm.solve_velocity(q, np.ones(6)).damping == pytest.approx(EPSILON)


@pytest.mark.parametrize("name", POSTURES)
def test_it_comes_back_from_its_own_pose_with_the_same_name(name: str) -> None:
    arm, q, names = POSTURES[name]
    T = arm.forward(q)
    found = arm.inverse(T, seed=q)
    np.testing.assert_allclose(arm.forward(found.q), T, atol=1e-9)
    assert found.ok or "would be" in found.reason
    # A wrist folded with one elbow need not be so with the other.
    assert names in [SOLVERS[arm].singularities(each.q) for each in arm.inverse_all(T)]


@pytest.mark.parametrize("arm", SOLVERS, ids=lambda arm: arm.model.name)
def test_a_regular_posture_has_no_name_and_no_damping(arm, rng: np.random.Generator) -> None:
    regular = 0
    for q in arm.random_q(rng, 300):
        if np.linalg.svd(arm.jacobian(q), compute_uv=False)[-1] > EPSILON:
            regular += 1
            assert SOLVERS[arm].singularities(q) == ()
            assert arm.solve_velocity(q, np.ones(6)).damping == 0.0
    assert regular > 250


def test_a_tip_on_the_waists_axis_with_a_tilted_hand_is_regular() -> None:
    q = np.array([0.4, 1.7, -1.9, 0.0, 0.0])
    x = 0.25 * np.cos(q[1]) + 0.16 * np.cos(q[1] + q[2])
    q[3] = np.arcsin(-x / 0.179) - q[1] - q[2]
    assert np.hypot(*RVM1.forward(q)[:2, 3]) < 1e-12
    assert SOLVERS[RVM1].singularities(q) == ()
    assert RVM1.solve_velocity(q, np.ones(6)).damping == 0.0

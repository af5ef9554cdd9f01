from __future__ import annotations

import numpy as np
import pytest

from dvrk_kinematics import Arm, load_arm
from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.geometry import so3
from dvrk_kinematics.kinematics.chain import SerialChain
from dvrk_kinematics.kinematics.jacobian import jacobian
from dvrk_kinematics.kinematics.rates import EPSILON

H = 1e-6
TOL_JAC = 1e-8


def _twist_by_differences(arm: Arm, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    before, after = arm.forward(q - H * qd), arm.forward(q + H * qd)
    v = (after[:3, 3] - before[:3, 3]) / (2 * H)
    w = so3.log(after[:3, :3] @ before[:3, :3].T) / (2 * H)
    return np.concatenate([v, w])


def test_the_jacobian_is_the_derivative_of_forward(
    every_arm: Arm, rng: np.random.Generator
) -> None:
    for q in every_arm.random_q(rng, 10):
        J = every_arm.jacobian(q)
        for i, unit in enumerate(np.eye(len(q))):
            assert np.abs(J[:, i] - _twist_by_differences(every_arm, q, unit)).max() < TOL_JAC


def test_the_rate_is_the_derivative_of_the_jacobian(
    every_arm: Arm, rng: np.random.Generator
) -> None:
    for q in every_arm.random_q(rng, 10):
        qd = rng.uniform(-1, 1, len(q))
        slope = (every_arm.jacobian(q + H * qd) - every_arm.jacobian(q - H * qd)) / (2 * H)
        assert np.abs(every_arm.jacobian_rate(q, qd) - slope).max() < TOL_JAC


def test_scalar_and_generic_jacobians_agree(every_arm: Arm, rng: np.random.Generator) -> None:
    chain = SerialChain(every_arm.model)
    for q in every_arm.random_q(rng, 10):
        assert np.abs(every_arm.jacobian(q) - jacobian(chain, q)).max() < 1e-14


def test_batches_equal_single_calls(every_arm: Arm, rng: np.random.Generator) -> None:
    q, qd, qdd = (every_arm.random_q(rng, 6) for _ in range(3))
    V = rng.uniform(-0.1, 0.1, (6, 6))
    many = (
        every_arm.jacobian(q),
        every_arm.jacobian_rate(q, qd),
        every_arm.twist(q, qd),
        every_arm.acceleration(q, qd, qdd),
        every_arm.joint_velocity(q, V),
        every_arm.joint_acceleration(q, qd, V),
        every_arm.manipulability(q),
        every_arm.margin(q),
    )
    for i in range(6):
        one = (
            every_arm.jacobian(q[i]),
            every_arm.jacobian_rate(q[i], qd[i]),
            every_arm.twist(q[i], qd[i]),
            every_arm.acceleration(q[i], qd[i], qdd[i]),
            every_arm.joint_velocity(q[i], V[i]),
            every_arm.joint_acceleration(q[i], qd[i], V[i]),
            every_arm.manipulability(q[i]),
            every_arm.margin(q[i]),
        )
        for a, b in zip(many, one, strict=True):
            assert np.allclose(a[i], b, rtol=1e-9, atol=1e-12)


def test_acceleration_is_the_derivative_of_the_twist(
    every_arm: Arm, rng: np.random.Generator
) -> None:
    q, qd, qdd = every_arm.random_q(rng), *rng.uniform(-1, 1, (2, len(every_arm.joint_names)))
    later = every_arm.twist(q + H * qd, qd + H * qdd)
    sooner = every_arm.twist(q - H * qd, qd - H * qdd)
    slope = (later - sooner) / (2 * H)
    assert np.abs(every_arm.acceleration(q, qd, qdd) - slope).max() < 1e-7


def test_what_the_joints_can_do_is_found_again(every_arm: Arm, rng: np.random.Generator) -> None:
    """A twist that comes from the joints is met exactly, with the least joint speed there is."""
    for q in every_arm.random_q(rng, 20):
        qd, qdd = rng.uniform(-1, 1, (2, len(q)))
        V, A = every_arm.twist(q, qd), every_arm.acceleration(q, qd, qdd)
        found = every_arm.solve_velocity(q, V)
        if found.damping > 0.0:
            continue
        assert np.abs(found.residual).max() < 1e-11
        assert np.linalg.norm(found.rate) <= np.linalg.norm(qd) + 1e-9
        second = every_arm.joint_acceleration(q, qd, A)
        assert np.allclose(every_arm.acceleration(q, qd, second), A, atol=1e-9)
        if len(q) <= 6:
            assert np.allclose(found.rate, qd, atol=1e-8)
            assert np.allclose(second, qdd, atol=1e-7)


def test_fewer_joints_than_six_give_the_least_squares_answer(rng: np.random.Generator) -> None:
    arm = load_arm("ECM")
    q, V = np.array([0.2, 0.3, 0.1, 0.4]), rng.uniform(-0.1, 0.1, 6)
    J = arm.jacobian(q)
    found = arm.solve_velocity(q, V)
    assert np.allclose(found.rate, np.linalg.inv(J.T @ J) @ J.T @ V, atol=1e-12)
    assert np.allclose(J.T @ found.residual, 0.0, atol=1e-13)
    assert found.damping == 0.0


def test_damping_starts_softly_near_the_remote_centre_and_is_reported() -> None:
    """The wrist sweeps through the remote centre: rates stay bounded, far away they are exact."""
    arm = load_arm("PSM")
    V = np.array([0.01, 0.01, 0.0, 0.0, 0.0, 0.0])
    insertion = 0.0156 + np.linspace(0.0, 0.05, 2001)
    q = np.zeros((len(insertion), 6))
    q[:, 2] = insertion
    found = arm.solve_velocity(q, V[None].repeat(len(q), axis=0))
    assert np.isfinite(found.rate).all()
    assert np.abs(found.rate).max() <= np.linalg.norm(V) / (2 * EPSILON) * 2.1
    assert found.damping[0] == pytest.approx(EPSILON, rel=1e-3)
    assert found.damping[-1] == 0.0
    assert np.abs(np.diff(found.rate, axis=0)).max() < 1.0
    undamped = found.damping == 0.0
    assert np.abs(found.residual[undamped]).max() < 1e-14
    assert np.linalg.norm(found.residual[0]) > 0.0


def test_the_tip_of_a_psm_moves_as_fast_as_its_insertion() -> None:
    arm = load_arm("PSM")
    qd = np.array([0.0, 0.0, 0.05, 0.0, 0.0, 0.0])
    V = arm.twist(np.array([0.3, 0.2, 0.1, 0.0, 0.0, 0.0]), qd)
    assert np.linalg.norm(V[:3]) == pytest.approx(0.05)
    assert np.allclose(V[3:], 0.0)


@pytest.mark.parametrize("bad", [np.zeros(5), np.full(6, np.nan), np.zeros((2, 6))])
def test_bad_rates_are_refused(bad: np.ndarray) -> None:
    arm = load_arm("PSM")
    with pytest.raises(InvalidInput, match="V"):
        arm.joint_velocity(np.zeros(6), bad)
    with pytest.raises(InvalidInput, match="qd"):
        arm.jacobian_rate(np.zeros(6), bad)
    with pytest.raises(InvalidInput, match="qdd"):
        arm.acceleration(np.zeros(6), np.zeros(6), bad)
    with pytest.raises(InvalidInput, match="A"):
        arm.joint_acceleration(np.zeros(6), np.zeros(6), bad)

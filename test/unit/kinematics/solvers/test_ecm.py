"""The ECM's closed form: position and roll exact, the rest of the orientation measured."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dvrk_kinematics import load_arm
from dvrk_kinematics.errors import InvalidInput, ModelError
from dvrk_kinematics.kinematics.result import IkPolicy, IkStatus
from dvrk_kinematics.kinematics.solvers.ecm import EcmSolver

DATA = Path(__file__).parents[3] / "data"
ECM = load_arm("ECM")


def about(axis: int, angle: float) -> np.ndarray:
    T = np.eye(4)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    T[i, i] = T[j, j] = np.cos(angle)
    T[j, i] = np.sin(angle)
    T[i, j] = -np.sin(angle)
    return T


def test_golden_rows_of_the_controller() -> None:
    rows = np.loadtxt(DATA / "golden_ecm.csv", delimiter=",", skiprows=1)
    q, T = rows[:, :4], rows[:, 4:].reshape(-1, 4, 4)
    for expected, pose in zip(q, T, strict=True):
        result = ECM.inverse(pose, seed=expected)
        assert result.ok
        np.testing.assert_allclose(result.q, expected, atol=1e-9)
    np.testing.assert_allclose(ECM.inverse_batch(T).q, q, atol=1e-9)


@pytest.mark.parametrize("generation", ["Classic", "Si"])
@given(fraction=st.lists(st.floats(0.0, 1.0), min_size=4, max_size=4))
def test_round_trip(generation: str, fraction: list[float]) -> None:
    arm = load_arm("ECM", generation=generation)
    q = arm.limits.lower + np.array(fraction) * (arm.limits.upper - arm.limits.lower)
    result = arm.inverse(arm.forward(q), seed=q)
    assert result.ok
    assert result.rotation_error < 1e-9
    np.testing.assert_allclose(result.q, q, atol=1e-9)


@given(st.floats(-1.2, 1.2), st.sampled_from([0, 1]))
def test_a_tilt_that_the_arm_cannot_have_is_measured(tilt: float, axis: int) -> None:
    q = np.array([0.3, 0.2, 0.1, 0.4])
    T = ECM.forward(q) @ about(axis, tilt)
    result = ECM.inverse(T, seed=q)
    np.testing.assert_allclose(result.q, q, atol=1e-9)
    assert result.rotation_error == pytest.approx(abs(tilt), abs=1e-9)
    assert result.position_error == 0.0
    assert result.status is (IkStatus.OK if abs(tilt) <= 1e-6 else IkStatus.UNREACHABLE)
    first = ECM.inverse(T, seed=q, policy="position_first")
    assert first.ok
    np.testing.assert_allclose(first.q, q, atol=1e-9)


def test_position_first_clamps_the_roll_and_says_what_it_misses() -> None:
    q = np.array([0.3, 0.2, 0.1, 1.9])
    T = ECM.forward(q)
    assert [v.joint for v in ECM.inverse(T).violations] == ["roll"]
    result = ECM.inverse(T, policy="position_first")
    assert result.ok
    np.testing.assert_allclose(result.q, [0.3, 0.2, 0.1, 1.552], atol=1e-9)
    assert result.rotation_error == pytest.approx(1.9 - 1.552)
    np.testing.assert_allclose(ECM.forward(result.q)[:3, 3], T[:3, 3], atol=1e-12)


def test_position_out_of_reach_has_a_status_of_its_own() -> None:
    T = ECM.forward(np.array([0.3, 0.2, 0.3, 0.0]))
    result = ECM.inverse(T, policy="position_first")
    assert result.status is IkStatus.POSITION_UNREACHABLE
    assert [v.joint for v in result.violations] == ["insertion"]


def test_single_and_batch_agree_on_any_pose() -> None:
    rng = np.random.default_rng(1)
    q = ECM.random_q(rng, 600)
    T = ECM.forward(q)
    for i in range(300):
        T[i] = T[i] @ about(i % 3, rng.uniform(-3.0, 3.0))
    T[300:400, :3, 3] *= -1.3
    T[7] = np.eye(4)
    T[8, :3, 3] = [0.0, 0.1, 0.0]
    T[9, 0, 0] = np.nan
    for policy in IkPolicy:
        batch = ECM.inverse_batch(T, seed=q, policy=policy)
        assert batch.status[9] == IkStatus.INVALID_INPUT
        for i in np.flatnonzero(np.arange(600) != 9):
            one = ECM.inverse(T[i], seed=q[i], policy=policy)
            np.testing.assert_allclose(one.q, batch.q[i], atol=1e-12)
            assert one.status == batch.status[i]
            assert one.rotation_error == pytest.approx(batch.rotation_error[i], abs=1e-12)


def test_all_four_ways_reach_the_position() -> None:
    T = ECM.forward(np.array([0.3, 0.2, 0.1, 0.4]))
    found = ECM.inverse_all(T)
    assert len(found) == 4
    for result in found:
        np.testing.assert_allclose(ECM.forward(result.q)[:3, 3], T[:3, 3], atol=1e-12)
    assert sum(result.rotation_error < 1e-9 for result in found) == 2


def test_at_the_remote_centre_the_orientation_gives_the_shaft() -> None:
    q = np.array([0.3, 0.2, -0.0007, 0.4])
    T = ECM.forward(q)
    T[:3, 3] = 0.0
    result = ECM.inverse(T, seed=q)
    assert [v.joint for v in result.violations] == ["insertion"]
    np.testing.assert_allclose(result.q, q, atol=1e-9)


def test_with_the_shaft_along_the_yaw_axis_the_seed_decides_the_yaw() -> None:
    q = np.array([0.4, np.pi / 2, 0.1, 0.3])
    result = ECM.inverse(ECM.forward(q), seed=q)
    np.testing.assert_allclose(result.q, q, atol=1e-7)


def test_a_seed_of_the_wrong_length_and_another_chain_are_refused() -> None:
    with pytest.raises(InvalidInput, match="seed"):
        ECM.solver.solve(np.eye(4), [0.0] * 6, IkPolicy.EXACT)
    psm = load_arm("PSM")
    with pytest.raises(ModelError, match="ECM's chain"):
        EcmSolver(psm.model, psm.limits)

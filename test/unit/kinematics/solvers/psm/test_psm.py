"""The PSM's closed form: golden rows, all branches, limits, turns, bad rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dvrk_kinematics import Arm, load_arm
from dvrk_kinematics.errors import InvalidInput, ModelError
from dvrk_kinematics.kinematics.result import IkPolicy, IkResult, IkStatus
from dvrk_kinematics.kinematics.solvers.psm.geometry import PsmGeometry
from dvrk_kinematics.kinematics.solvers.psm.solver import PsmSolver
from dvrk_kinematics.models.load_model import instrument_names

DATA = Path(__file__).parents[4] / "data"
TURN = 2.0 * np.pi
PSM = load_arm("PSM", instrument="400006")
WRIST_ON_RCM = 0.4318 - 0.4162

STANDARD = [
    (generation, name)
    for generation in ("Classic", "Si")
    for name in instrument_names(generation)
    if load_arm("PSM", instrument=name, generation=generation).model.ik == "psm"
]


def fractions(count: int) -> st.SearchStrategy[list[float]]:
    return st.lists(st.floats(0.0, 1.0), min_size=count, max_size=count)


def inside(arm: Arm, fraction: list[float]) -> np.ndarray:
    return arm.limits.lower + np.array(fraction) * (arm.limits.upper - arm.limits.lower)


def random_poses(count: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    T = np.tile(np.eye(4), (count, 1, 1))
    Q, R = np.linalg.qr(rng.normal(size=(count, 3, 3)))
    Q *= np.sign(np.diagonal(R, axis1=1, axis2=2))[:, None, :]
    Q[:, :, 0] *= np.linalg.det(Q)[:, None]
    T[:, :3, :3] = Q
    T[:, :3, 3] = rng.uniform(-0.2, 0.2, (count, 3))
    return T


@pytest.mark.parametrize(
    ("file", "instrument"),
    [("golden_psm_lnd400006.csv", "400006"), ("golden_psm_prograsp400093.csv", "400093")],
)
def test_golden_rows_of_the_controller(file: str, instrument: str) -> None:
    arm = load_arm("PSM", instrument=instrument)
    rows = np.loadtxt(DATA / file, delimiter=",", skiprows=1)
    q, T = rows[:, :6], rows[:, 22:38].reshape(-1, 4, 4)
    for expected, pose in zip(q, T, strict=True):
        result = arm.inverse(pose, seed=expected)
        assert result.ok
        np.testing.assert_allclose(result.q, expected, atol=1e-9)
        np.testing.assert_allclose(arm.forward(expected), pose, atol=1e-12)
    batch = arm.inverse_batch(T, seed=q)
    assert batch.ok.all()
    np.testing.assert_allclose(batch.q, q, atol=1e-9)


@given(fractions(6), fractions(6))
def test_forward_of_inverse_is_the_pose(fraction: list[float], seed: list[float]) -> None:
    T = PSM.forward(inside(PSM, fraction))
    result = PSM.inverse(T, seed=inside(PSM, seed))
    assert result.ok
    assert PSM.limits.contains(result.q)
    assert (result.position_error, result.rotation_error, result.violations) == (0.0, 0.0, ())
    np.testing.assert_allclose(PSM.forward(result.q), T, atol=1e-9)


@given(fractions(6))
def test_inverse_of_forward_is_q_up_to_turns(fraction: list[float]) -> None:
    q = inside(PSM, fraction)
    result = PSM.inverse(PSM.forward(q), seed=q)
    d = q[2] - WRIST_ON_RCM
    if abs(d) > 1e-4 and abs(0.0091 + d * np.cos(q[4])) > 1e-4:
        np.testing.assert_allclose(result.q, q, atol=1e-9)
        free = PSM.inverse(PSM.forward(q)).q - q
        assert free[3] / TURN == pytest.approx(round(free[3] / TURN), abs=1e-9)
        np.testing.assert_allclose(np.delete(free, 3), 0.0, atol=1e-9)


def test_all_eight_branches_give_the_same_pose() -> None:
    for T in random_poses(100, seed=2):
        found = PSM.inverse_all(T)
        assert len(found) == 8
        for result in found:
            np.testing.assert_allclose(PSM.forward(result.q), T, atol=1e-12)
            assert result.ok == (not result.violations)
        distinct = {tuple(np.round(np.mod(result.q + 1e-7, TURN), 6)) for result in found}
        assert len(distinct) == 8


@pytest.mark.parametrize(("generation", "name"), STANDARD)
def test_every_standard_instrument(generation: str, name: str) -> None:
    arm = load_arm("PSM", instrument=name, generation=generation)
    q = arm.random_q(np.random.default_rng(3), 200)
    T = arm.forward(q)
    batch = arm.inverse_batch(T, seed=q)
    assert batch.ok.all()
    np.testing.assert_allclose(arm.forward(batch.q), T, atol=1e-9)
    np.testing.assert_allclose(batch.q, q, atol=1e-7)


def test_there_are_fifty_two_standard_instruments() -> None:
    assert len({name for _, name in STANDARD}) == 52


def test_single_and_batch_agree_on_any_pose() -> None:
    T = random_poses(1500, seed=4)
    rng = np.random.default_rng(5)
    seed = PSM.random_q(rng, len(T))
    T[:500] = PSM.forward(PSM.random_q(rng, 500))
    for near in (None, seed[0], seed):
        batch = PSM.inverse_batch(T, seed=near)
        for i, pose in enumerate(T):
            one = PSM.inverse(pose, seed=near if near is None or near.ndim == 1 else near[i])
            np.testing.assert_allclose(one.q, batch.q[i], atol=1e-12)
            assert one.status == batch.status[i]
            names = {PSM.joint_names.index(v.joint) for v in one.violations}
            assert sum(1 << k for k in names) == batch.violations[i]
    assert 300 < batch.ok.sum() < 1000


def test_outside_limits_the_least_violation_is_returned_and_every_joint_named() -> None:
    q = np.array([0.1, 0.2, 0.26, 0.3, 1.6, -0.2])
    T = PSM.forward(q)
    result = PSM.inverse(T, seed=q)
    assert result.status is IkStatus.OUTSIDE_LIMITS
    assert not result.ok
    np.testing.assert_allclose(result.q, q, atol=1e-9)
    assert [v.joint for v in result.violations] == ["insertion", "wrist_pitch"]
    assert result.violations[0].value == pytest.approx(0.26)
    assert (result.violations[0].lower, result.violations[0].upper) == (0.0, 0.24)
    span = PSM.limits.upper - PSM.limits.lower
    least = min((PSM.limits.excess(r.q) / span).sum() for r in PSM.inverse_all(T))
    assert (PSM.limits.excess(result.q) / span).sum() == pytest.approx(least)


def test_the_roll_turn_nearest_the_seed_inside_limits() -> None:
    q = np.array([0.1, 0.2, 0.12, 2.5, 0.3, -0.2])
    T = PSM.forward(q)
    for roll, expected in (
        (2.5, 2.5),
        (-4.0, 2.5 - TURN),
        (4.5, 2.5),
        (30.0, 2.5),
        (-30.0, -3.78),
    ):
        seed = q.copy()
        seed[3] = roll
        assert PSM.inverse(T, seed=seed).q[3] == pytest.approx(expected, abs=1e-2)
        assert PSM.inverse_batch(T[None], seed=seed).q[0, 3] == pytest.approx(expected, abs=1e-2)
    # Its other turn would be outside: then the seed cannot have it.
    q[3] = 0.5
    seed = q.copy()
    seed[3] = -4.5
    assert PSM.inverse(PSM.forward(q), seed=seed).q[3] == pytest.approx(0.5)


def test_values_at_a_limit_stay_on_it() -> None:
    for corner in (PSM.limits.lower, PSM.limits.upper):
        result = PSM.inverse(PSM.forward(corner), seed=corner)
        assert result.ok
        assert (result.q >= PSM.limits.lower).all()
        assert (result.q <= PSM.limits.upper).all()


def test_bad_rows_are_marked_and_no_row_is_lost() -> None:
    q = PSM.random_q(np.random.default_rng(6), 9)
    T = PSM.forward(q)
    T[1, 0, 0] = np.nan
    T[4, 2, 3] = np.inf
    T[7, :3, :3] *= 1.01
    batch = PSM.inverse_batch(T, seed=q)
    bad = [1, 4, 7]
    good = [0, 2, 3, 5, 6, 8]
    assert len(batch) == 9
    assert (batch.status[bad] == IkStatus.INVALID_INPUT).all()
    assert np.isnan(batch.q[bad]).all()
    assert np.isnan(batch.position_error[bad]).all()
    assert batch.ok[good].all()
    np.testing.assert_allclose(batch.q[good], q[good], atol=1e-9)


def test_an_empty_batch_gives_an_empty_answer() -> None:
    batch = PSM.inverse_batch(np.empty((0, 4, 4)))
    assert batch.q.shape == (0, 6)
    assert len(batch) == 0


def test_a_seed_of_the_wrong_length_is_refused() -> None:
    T = PSM.forward(np.zeros(6))
    solver = PSM.solver
    for call in (
        lambda: PSM.inverse(T, seed=[0.0] * 5),
        lambda: solver.solve(T, [0.0] * 7, IkPolicy.EXACT),
    ):
        with pytest.raises(InvalidInput, match="seed"):
            call()


def test_results_are_read_only() -> None:
    result = PSM.inverse(PSM.forward(np.full(6, 0.1)))
    with pytest.raises(ValueError, match="read-only"):
        result.q[0] = 1.0


def test_another_chain_is_refused() -> None:
    ecm = load_arm("ECM")
    with pytest.raises(ModelError, match="PSM's chain"):
        PsmSolver(ecm.model, ecm.limits)


def test_any_tip_offset_is_undone() -> None:
    rng = np.random.default_rng(7)
    T_off = random_poses(1, seed=8)[0]
    T_off[:3, 3] = [0.004, -0.003, 0.01]
    solver = PsmSolver.from_geometry(PsmGeometry(0.0091, 0.0156, T_off.tolist()), PSM.limits)
    T6 = PSM.forward(PSM.random_q(rng, 50)) @ np.linalg.inv(PSM.model.T_tip_offset)
    batch = solver.solve_batch(T6 @ T_off)
    assert batch.ok.all()
    for pose, q in zip(T6 @ T_off, batch.q, strict=True):
        np.testing.assert_allclose(solver.forward_floats(q.tolist()), pose, atol=1e-12)
        one = solver.solve(pose)
        np.testing.assert_allclose(one.q, q, atol=1e-12)
        for branch in solver.solve_all(pose):
            np.testing.assert_allclose(solver.forward_floats(branch.q), pose, atol=1e-12)
    with pytest.raises(InvalidInput, match="yaw axis"):
        solver.solve(np.eye(4), policy=IkPolicy.POSITION_FIRST)


def test_jacobian_of_any_tip_offset() -> None:
    T_off = random_poses(1, seed=9)[0]
    T_off[:3, 3] = [0.004, -0.003, 0.01]
    solver = PsmSolver.from_geometry(PsmGeometry(0.0091, 0.0156, T_off.tolist()), PSM.limits)
    q, h = np.array([0.1, -0.2, 0.12, 0.4, 0.5, -0.6]), 1e-6
    J = np.array(solver.jacobian_floats(q.tolist()))
    for i in range(6):
        ends = [np.array(solver.forward_floats((q + s * np.eye(6)[i]).tolist())) for s in (h, -h)]
        np.testing.assert_allclose(J[:3, i], (ends[0] - ends[1])[:3, 3] / (2.0 * h), atol=1e-8)


@given(fractions(6))
def test_jacobian_against_finite_differences(fraction: list[float]) -> None:
    q, h = inside(PSM, fraction), 1e-6
    T, J = PSM.forward(q), PSM.jacobian(q)
    for i in range(6):
        step = np.eye(6)[i] * h
        rate = (PSM.forward(q + step) - PSM.forward(q - step)) / (2.0 * h)
        spin = rate[:3, :3] @ T[:3, :3].T
        column = [*rate[:3, 3], spin[2, 1], spin[0, 2], spin[1, 0]]
        np.testing.assert_allclose(J[:, i], column, atol=1e-8)


def test_the_answer_of_the_quick_way_has_every_field() -> None:
    found = PSM.inverse(PSM.forward(np.array([0.1, -0.2, 0.12, 0.4, 0.5, -0.6])))
    assert len(found) == len(IkResult._fields)
    assert found.reason == "" and "detail=''" in repr(found)

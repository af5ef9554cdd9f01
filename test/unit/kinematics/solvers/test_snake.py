"""The snake wrist with equal halves: to rounding, every solution, limits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dvrk_kinematics import load_arm
from dvrk_kinematics.errors import InvalidInput, ModelError
from dvrk_kinematics.kinematics.result import IkPolicy, IkStatus
from dvrk_kinematics.kinematics.solvers import snake

SNAKE = load_arm("PSM", instrument="400117")
LOWER, UPPER = SNAKE.limits.lower, SNAKE.limits.upper


def bent(fraction: list[float]) -> np.ndarray:
    q = LOWER[:6] + np.array(fraction) * (UPPER - LOWER)[:6]
    return np.array([*q, q[5], q[4]])


six = st.lists(st.floats(0.0, 1.0), min_size=6, max_size=6)


@given(six)
def test_round_trip_with_the_seed_near(fraction: list[float]) -> None:
    q = bent(fraction)
    result = SNAKE.inverse(SNAKE.forward(q), seed=q)
    assert result.ok
    np.testing.assert_allclose(SNAKE.forward(result.q), SNAKE.forward(q), atol=1e-9)
    if abs(q[2] - 0.0294) > 0.001:
        np.testing.assert_allclose(result.q, q, atol=1e-9)


@given(six, six)
def test_any_seed_leads_to_an_exact_solution_with_equal_halves(
    fraction: list[float], seed: list[float]
) -> None:
    T = SNAKE.forward(bent(fraction))
    result = SNAKE.inverse(T, seed=bent(seed))
    assert result.ok
    np.testing.assert_allclose(SNAKE.forward(result.q), T, atol=1e-9)
    assert result.q[4] == result.q[7]
    assert result.q[5] == result.q[6]


@pytest.mark.parametrize("name", ["400117", "400143", "420117"])
def test_every_snake_instrument(name: str) -> None:
    arm = load_arm("PSM", instrument=name, generation="Si" if name[0:2] == "42" else "Classic")
    rng = np.random.default_rng(2)
    q = arm.random_q(rng, 40)
    q[:, 6], q[:, 7] = q[:, 5], q[:, 4]
    batch = arm.inverse_batch(arm.forward(q), seed=q)
    assert batch.ok.all()
    np.testing.assert_allclose(arm.forward(batch.q), arm.forward(q), atol=1e-9)


def test_all_solutions_give_the_same_pose_and_the_given_one_is_among_them() -> None:
    rng = np.random.default_rng(3)
    for _ in range(30):
        q = bent(rng.uniform(0.0, 1.0, 6).tolist())
        T = SNAKE.forward(q)
        found = SNAKE.inverse_all(T)
        for result in found:
            np.testing.assert_allclose(SNAKE.forward(result.q), T, atol=1e-9)
        wrists = [np.abs(result.q[4:] - q[4:]).max() for result in found]
        assert min(wrists) < 1e-8


def test_outside_limits_every_joint_is_named() -> None:
    q = np.array([0.1, 0.2, 0.25, 0.3, 0.5, -0.1, -0.1, 0.5])
    result = SNAKE.inverse(SNAKE.forward(q), seed=q)
    assert result.status is IkStatus.OUTSIDE_LIMITS
    names = [v.joint for v in result.violations]
    assert names == ["insertion", "wrist_pitch1", "wrist_pitch2"]
    np.testing.assert_allclose(result.q, q, atol=1e-9)


def test_a_path_through_the_remote_centre_is_followed() -> None:
    q = np.repeat(np.array([[0.3, -0.2, 0.0, 1.0, 0.2, -0.15, -0.15, 0.2]]), 61, axis=0)
    q[:, 2] = 0.0294 + np.linspace(0.015, -0.015, 61)
    seed = q[0]
    for expected, T in zip(q, SNAKE.forward(q), strict=True):
        result = SNAKE.inverse(T, seed=seed)
        np.testing.assert_allclose(result.q, expected, atol=1e-9)
        seed = result.q


def test_bad_rows_are_marked_and_the_rest_solved() -> None:
    q = np.array([bent([0.5] * 6), bent([0.6] * 6), bent([0.7] * 6)])
    T = SNAKE.forward(q)
    T[1, 1, 1] = np.inf
    batch = SNAKE.inverse_batch(T, seed=q)
    assert batch.status.tolist() == [IkStatus.OK, IkStatus.INVALID_INPUT, IkStatus.OK]
    assert np.isnan(batch.q[1]).all()
    np.testing.assert_allclose(batch.q[[0, 2]], q[[0, 2]], atol=1e-9)


def test_without_a_solution_the_answer_says_how_far_the_seed_misses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(snake, "all_bends", lambda *_: [])
    monkeypatch.setattr(snake, "refine_bend", lambda *_: None)
    q = bent([0.5] * 6)
    seed = q.copy()
    seed[2] += 0.01
    result = SNAKE.inverse(SNAKE.forward(q), seed=seed)
    assert result.status is IkStatus.UNREACHABLE
    assert result.position_error == pytest.approx(0.01)
    assert result.rotation_error == pytest.approx(0.0, abs=1e-9)


def test_what_it_cannot_do_is_refused() -> None:
    T = SNAKE.forward(np.zeros(8))
    with pytest.raises(InvalidInput, match="seed"):
        SNAKE.solver.solve(T, [0.0] * 6, IkPolicy.EXACT)
    with pytest.raises(InvalidInput, match="policy"):
        SNAKE.inverse(T, policy="position_first")
    psm = load_arm("PSM", instrument="400006")
    with pytest.raises(ModelError, match="snake wrist"):
        snake.SnakeSolver(psm.model, psm.limits)

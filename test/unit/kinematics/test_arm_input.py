"""Whatever no arm could make sense of is refused by type, and says what is wrong with it."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from dvrk_kinematics import load_arm
from dvrk_kinematics.errors import InvalidInput, UnknownName
from dvrk_kinematics.kinematics.result import IkStatus
from dvrk_kinematics.kinematics.validation import pose_rows, poses_and_mask

PSM = load_arm("PSM")
Q = np.array([0.2, -0.1, 0.12, 0.3, 0.2, -0.3])
T = PSM.forward(Q)


def _changed(row: int, column: int, value: float) -> np.ndarray:
    changed = T.copy()
    changed[row, column] = value
    return changed


MIRRORED = T @ np.diag([1.0, 1.0, -1.0, 1.0])


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (_changed(0, 0, np.nan), "NaN or infinity"),
        (_changed(1, 3, np.inf), "NaN or infinity"),
        (_changed(0, 3, -np.inf), "NaN or infinity"),
        (_changed(2, 2, T[2, 2] + 0.5), r"no rotation: \|R\^T R - I\| is \d"),
        (MIRRORED, "mirrored"),
        (_changed(0, 3, 1e160), r"1e\+160 m away"),
        (_changed(2, 3, -1e51), r"1e\+51 m away"),
        (_changed(3, 3, 2.0), "last row"),
        (_changed(3, 0, 1e-3), r"off \(0, 0, 0, 1\) by 0.001"),
        (np.eye(3), r"\(3, 3\)"),
        (np.stack([T, T]), r"\(2, 4, 4\)"),
        (np.zeros(16), r"\(16,\)"),
        ("pose", "real numbers"),
        ([[1, 2], [3]], "different length|real numbers"),
        (None, "real numbers"),
        (T.astype(complex), "real numbers"),
    ],
)
def test_a_bad_pose_is_refused(bad: Any, reason: str) -> None:
    for ask in (PSM.inverse, PSM.inverse_all):
        with pytest.raises(InvalidInput, match=reason) as caught:
            ask(bad)
        assert caught.value.argument == "T"


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (np.zeros(5), r"needs shape \(6,\) or \(N, 6\) for yaw, pitch"),
        (np.zeros((2, 3, 6)), r"got \(2, 3, 6\)"),
        (np.array([0, 0, np.nan, 0, 0, 0]), "insertion is nan"),
        (np.array([[0.0] * 6, [0, 0, 0, 0, np.inf, 0]]), "row 1, wrist_pitch is inf"),
        (0.5, r"got \(\)"),
        (["a"] * 6, "real numbers"),
        ([True] * 6, "real numbers"),
    ],
)
def test_bad_joint_values_are_refused(bad: Any, reason: str) -> None:
    for ask in (PSM.forward, PSM.frames, PSM.jacobian, PSM.margin, PSM.manipulability):
        with pytest.raises(InvalidInput, match=reason) as caught:
            ask(bad)
        assert caught.value.argument == "q"


@pytest.mark.parametrize("bad", [np.zeros(5), np.full(6, np.nan), np.zeros((1, 6)), "seed"])
def test_a_bad_seed_is_refused(bad: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        PSM.inverse(T, seed=bad)
    assert caught.value.argument == "seed"


@pytest.mark.parametrize("bad", [np.zeros(5), np.full(6, np.nan), np.zeros((3, 6)), "seed"])
def test_a_bad_seed_of_a_batch_is_refused(bad: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        PSM.inverse_batch(np.stack([T, T]), seed=bad)
    assert caught.value.argument == "seed"


@pytest.mark.parametrize("name", ["PSM", "ECM"])
def test_a_pose_at_the_end_of_the_universe_is_answered(name: str) -> None:
    arm = load_arm(name)
    far = np.stack([_changed(0, 3, distance) for distance in (1e3, 1e49, 1e160)])
    status = arm.inverse_batch(far).status
    assert IkStatus.OK not in status.tolist()
    assert status[2] == IkStatus.INVALID_INPUT
    for pose in far[:2]:
        assert not arm.inverse(pose).ok


def test_a_bad_row_of_a_batch_spoils_no_other() -> None:
    poses = np.stack([T, _changed(0, 0, np.nan), MIRRORED, T, T * 1.01, T])
    seeds = np.repeat(Q[None], 6, axis=0)
    seeds[5, 2] = np.nan
    found = PSM.inverse_batch(poses, seed=seeds)
    invalid = IkStatus.INVALID_INPUT
    assert found.status.tolist() == [0, invalid, invalid, 0, invalid, invalid]
    assert np.isnan(found.q[[1, 2, 4, 5]]).all()
    assert np.allclose(found.q[[0, 3]], Q)
    assert len(PSM.inverse_batch(np.empty((0, 4, 4)))) == 0


@pytest.mark.parametrize("bad", [T, np.zeros((2, 3, 3)), "poses"])
def test_a_batch_of_the_wrong_shape_is_refused(bad: Any) -> None:
    with pytest.raises(InvalidInput):
        PSM.inverse_batch(bad)


def test_an_unknown_policy_or_solver_answers_with_the_valid_ones() -> None:
    with pytest.raises(InvalidInput, match="exact, position_first"):
        PSM.inverse(T, policy="quick")
    with pytest.raises(InvalidInput, match="exact, position_first"):
        PSM.inverse_batch(T[None], policy="quick")
    with pytest.raises(UnknownName, match="psm, ecm, snake, numeric"):
        load_arm("PSM", solver="magic")


def test_single_and_batch_checks_agree(rng: np.random.Generator) -> None:
    """The quick scalar test, the slow one that explains and the batch test draw one line."""
    for _ in range(300):
        noisy = T.copy()
        noisy += rng.standard_normal((4, 4)) * 10.0 ** rng.uniform(-12, -2)
        noisy[3] = (0.0, 0.0, 0.0, 1.0)
        good = bool(poses_and_mask(noisy[None])[1][0])
        try:
            pose_rows(noisy)
        except InvalidInput:
            assert not good
        else:
            assert good or np.abs(noisy - T).max() < 1e-5


def test_other_kinds_of_arrays_are_understood() -> None:
    exact = PSM.inverse(T, seed=Q)
    assert np.array_equal(PSM.inverse(T.tolist(), seed=Q.tolist()).q, exact.q)
    assert np.array_equal(PSM.inverse(np.asfortranarray(T), seed=tuple(Q)).q, exact.q)
    assert np.allclose(PSM.inverse(T.astype(np.float32)).q, Q, atol=1e-5)
    assert np.allclose(PSM.forward(np.zeros(6, dtype=int)), PSM.forward(np.zeros(6)))


def test_input_is_never_changed() -> None:
    pose, seed, q = T.copy(), Q.copy(), Q.copy()
    PSM.inverse(pose, seed=seed)
    PSM.inverse_batch(pose[None], seed=seed)
    PSM.frames(q, jaw=0.2)
    PSM.jacobian_rate(q, seed)
    assert np.array_equal(pose, T) and np.array_equal(seed, Q) and np.array_equal(q, Q)


def test_importing_the_package_is_cheap() -> None:
    script = "import sys, dvrk_kinematics; print('numpy' in sys.modules)"
    answer = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    assert answer.stdout.strip() == "False"


def test_an_unknown_name_of_the_package_is_an_attribute_error() -> None:
    import dvrk_kinematics

    with pytest.raises(AttributeError, match="no attribute 'load_leg'"):
        _ = dvrk_kinematics.load_leg

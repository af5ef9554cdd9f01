from __future__ import annotations

import numpy as np
import pytest
import transforms3d
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.geometry import so3

TOL = 1e-12
vectors = arrays(np.float64, 3, elements=st.floats(-3.0, 3.0))
small = arrays(np.float64, 3, elements=st.floats(-1e-6, 1e-6))


@given(vectors, vectors, vectors)
def test_rotations_are_a_group(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    A, B, C = so3.exp(a), so3.exp(b), so3.exp(c)
    assert so3.deviation(A @ B) < TOL
    assert np.allclose((A @ B) @ C, A @ (B @ C), atol=TOL)
    assert np.allclose(A @ A.T, np.eye(3), atol=TOL)
    assert np.allclose(A.T, so3.exp(-a), atol=TOL)
    assert np.allclose(so3.exp(np.zeros(3)), np.eye(3))


@given(vectors)
def test_log_undoes_exp_up_to_whole_turns(w: np.ndarray) -> None:
    R = so3.exp(w)
    assert np.allclose(so3.exp(so3.log(R)), R, atol=TOL)
    assert np.linalg.norm(so3.log(R)) <= np.pi + TOL


@given(small)
def test_log_keeps_all_digits_of_small_rotations(w: np.ndarray) -> None:
    assert np.allclose(so3.log(so3.exp(w)), w, rtol=1e-9, atol=1e-16)


@given(vectors, st.floats(0.0, 1e-9))
def test_log_holds_at_half_a_turn(w: np.ndarray, short: float) -> None:
    n = np.linalg.norm(w)
    axis = w / n if n > 1e-3 else np.array([0.0, 0.0, 1.0])
    R = so3.exp(axis * (np.pi - short))
    assert so3.angle(R) == pytest.approx(np.pi - short, abs=1e-9)
    assert np.allclose(so3.exp(so3.log(R)), R, atol=1e-9)


@given(vectors)
def test_exp_agrees_with_transforms3d(w: np.ndarray) -> None:
    n = float(np.linalg.norm(w))
    if n > 1e-9:
        assert np.allclose(so3.exp(w), transforms3d.axangles.axangle2mat(w / n, n), atol=1e-12)


@given(vectors)
def test_quaternions_agree_with_transforms3d(w: np.ndarray) -> None:
    R = so3.exp(w)
    x, y, z, s = so3.to_quaternion(R)
    theirs = transforms3d.quaternions.mat2quat(R)
    assert (
        min(
            np.abs(np.array([s, x, y, z]) - theirs).max(),
            np.abs(np.array([s, x, y, z]) + theirs).max(),
        )
        < 1e-7
    )
    assert np.allclose(transforms3d.quaternions.quat2mat([s, x, y, z]), R, atol=1e-12)
    assert np.allclose(so3.from_quaternion([x, y, z, s]), R, atol=1e-12)
    assert s >= 0.0


def test_elementary_rotations_agree_with_exp() -> None:
    for make, axis in ((so3.rot_x, [1, 0, 0]), (so3.rot_y, [0, 1, 0]), (so3.rot_z, [0, 0, 1])):
        assert np.allclose(make(0.7), so3.exp(0.7 * np.array(axis, dtype=float)))


def test_many_rotations_at_once_equal_one_by_one(rng: np.random.Generator) -> None:
    w = rng.uniform(-3, 3, (5, 4, 3))
    R = so3.exp(w)
    for i in np.ndindex(5, 4):
        assert np.array_equal(R[i], so3.exp(w[i]))
        assert np.allclose(so3.log(R)[i], so3.log(R[i]), atol=1e-15)
        assert so3.angle(R)[i] == pytest.approx(float(so3.angle(R[i])), abs=1e-15)


def test_the_nearest_rotation_of_a_noisy_one_is_close(rng: np.random.Generator) -> None:
    R = so3.exp(rng.uniform(-2, 2, (10, 3)))
    found = so3.nearest(R + 1e-3 * rng.standard_normal(R.shape))
    assert so3.deviation(found).max() < 1e-14
    assert so3.angle_between(R, found).max() < 5e-3


def test_hat_and_vee_are_inverse(rng: np.random.Generator) -> None:
    w, x = rng.standard_normal((2, 3))
    assert np.array_equal(so3.vee(so3.hat(w)), w)
    assert np.allclose(so3.hat(w) @ x, np.cross(w, x))


def test_what_is_no_rotation_is_told_how_far_off_it_is() -> None:
    with pytest.raises(InvalidInput, match=r"is 3\b") as caught:
        so3.check(2.0 * np.eye(3), "R_cam")
    assert caught.value.argument == "R_cam"
    with pytest.raises(InvalidInput, match="mirrored"):
        so3.check(np.diag([1.0, 1.0, -1.0]))
    with pytest.raises(InvalidInput, match="NaN"):
        so3.check(np.full((3, 3), np.nan))
    with pytest.raises(InvalidInput, match=r"\(2, 2\)"):
        so3.check(np.eye(2))
    with pytest.raises(InvalidInput, match="real numbers"):
        so3.check([["a"] * 3] * 3)


@pytest.mark.parametrize("bad", [[0, 0, 0, 0], [np.nan, 0, 0, 1], [1, 0, 0]])
def test_a_bad_quaternion_is_refused(bad: list[float]) -> None:
    with pytest.raises(InvalidInput):
        so3.from_quaternion(bad)

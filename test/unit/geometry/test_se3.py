from __future__ import annotations

import numpy as np
import pytest
import screws
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.linalg import expm

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.geometry import se3, so3

TOL = 1e-11
twists = arrays(np.float64, 6, elements=st.floats(-1.7, 1.7))


@given(twists, twists, twists)
def test_poses_are_a_group(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    A, B, C = se3.exp(a), se3.exp(b), se3.exp(c)
    assert np.allclose((A @ B) @ C, A @ (B @ C), atol=TOL)
    assert np.allclose(A @ se3.inverse(A), np.eye(4), atol=TOL)
    assert np.allclose(se3.inverse(A), se3.exp(-a), atol=TOL)
    assert np.allclose(se3.inverse(A @ B), se3.inverse(B) @ se3.inverse(A), atol=TOL)
    se3.check(A @ B)


@given(twists)
def test_exp_is_the_matrix_exponential(twist: np.ndarray) -> None:
    M = np.zeros((4, 4))
    M[:3, :3] = so3.hat(twist[3:])
    M[:3, 3] = twist[:3]
    assert np.allclose(se3.exp(twist), expm(M), atol=1e-11)


@given(twists)
def test_log_undoes_exp(twist: np.ndarray) -> None:
    assert np.linalg.norm(twist[3:]) < np.pi
    assert np.allclose(se3.log(se3.exp(twist)), twist, atol=1e-9)


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-7, 1e-3, 0.0999, 0.1001, 1.0, 3.1])
def test_exp_and_log_hold_where_their_series_take_over(angle: float) -> None:
    twist = np.array([0.1, -0.2, 0.3, 0.6 * angle, 0.0, 0.8 * angle])
    M = np.zeros((4, 4))
    M[:3, :3], M[:3, 3] = so3.hat(twist[3:]), twist[:3]
    assert np.allclose(se3.exp(twist), expm(M), atol=1e-14)
    assert np.allclose(se3.log(se3.exp(twist)), twist, atol=1e-13)


@given(twists, twists)
def test_the_adjoint_carries_twists_between_frames(a: np.ndarray, b: np.ndarray) -> None:
    T = se3.exp(a)
    assert np.allclose(se3.exp(se3.adjoint(T) @ b), T @ se3.exp(b) @ se3.inverse(T), atol=1e-9)


def test_the_bracket_is_the_derivative_of_the_adjoint(rng: np.random.Generator) -> None:
    a, b = rng.standard_normal((2, 6))
    h = 1e-6
    slope = (se3.adjoint(se3.exp(h * a)) @ b - se3.adjoint(se3.exp(-h * a)) @ b) / (2 * h)
    assert np.allclose(screws.bracket(a, b), slope, atol=1e-8)


def test_points_move_with_the_frame(rng: np.random.Generator) -> None:
    T = se3.exp(rng.standard_normal(6))
    points = rng.standard_normal((5, 3))
    moved = se3.apply(T, points)
    assert np.allclose(moved[2], (T @ [*points[2], 1.0])[:3])
    assert np.allclose(se3.apply(se3.inverse(T), moved), points)


def test_many_poses_at_once_equal_one_by_one(rng: np.random.Generator) -> None:
    t = rng.uniform(-1, 1, (6, 6))
    T = se3.exp(t)
    distance, angle = se3.pose_error(T, T[::-1])
    for i in range(6):
        assert np.allclose(T[i], se3.exp(t[i]), atol=1e-15)
        assert np.allclose(se3.log(T)[i], se3.log(T[i]), atol=1e-14)
        assert np.allclose(se3.inverse(T)[i], se3.inverse(T[i]))
        assert np.allclose(se3.adjoint(T)[i], se3.adjoint(T[i]))
        assert distance[i] == pytest.approx(np.linalg.norm(T[i, :3, 3] - T[5 - i, :3, 3]))
        assert angle[i] == pytest.approx(float(so3.angle(T[i, :3, :3].T @ T[5 - i, :3, :3])))


def test_a_screw_turns_about_its_axis() -> None:
    T = screws.screw_exp(screws.revolute([0, 0, 2.0], [1.0, 0, 0]), np.pi / 2)
    assert np.allclose(se3.apply(T, np.array([1.0, 0.0, 5.0])), [1.0, 0.0, 5.0])
    assert np.allclose(se3.apply(T, np.array([2.0, 0.0, 0.0])), [1.0, 1.0, 0.0])
    slid = screws.screw_exp(screws.prismatic([0, 3.0, 0]), 0.2)
    assert np.allclose(slid, se3.translation([0, 0.2, 0]))


def test_what_is_no_pose_is_told_why() -> None:
    skew = np.eye(4)
    skew[0, 1] = 0.01
    with pytest.raises(InvalidInput, match=r"R\^T R - I\| is 0.01"):
        se3.check(skew)
    wrong_row = np.eye(4)
    wrong_row[3, 0] = 0.5
    with pytest.raises(InvalidInput, match=r"last row is off .* by 0.5"):
        se3.check(wrong_row)
    with pytest.raises(InvalidInput, match=r"\(3, 3\)"):
        se3.check(np.eye(3))
    with pytest.raises(InvalidInput, match="NaN or infinity"):
        se3.check(np.full((4, 4), np.inf))

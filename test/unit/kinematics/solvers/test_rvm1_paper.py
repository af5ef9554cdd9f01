"""The RV-M1 paper's formulas, corrected, beside the generic ones; and those that it misprints.

Written out from the paper: equations (9) to (12) for the pose, (54) to (72) for the Jacobian, (77)
to (93) for its rate, (16) and (96) for the inverse velocities and accelerations.
"""

from __future__ import annotations

import numpy as np
import pytest

from dvrk_kinematics import load_arm
from dvrk_kinematics.geometry.arrays import Array

RVM1 = load_arm("RVM1")
A23, A34, S1, HAND = 0.25, 0.16, 0.3, 0.072 + 0.107
"""Lengths (m); the hand is P_z + S_5, which only occur together."""


class Paper:
    """The paper's symbols at joint positions and velocities."""

    def __init__(self, q: Array, qd: Array | None = None) -> None:
        phi, t2, t3, t4, t5 = q
        self.s, self.c = np.sin(phi), np.cos(phi)
        self.s2, self.c2 = np.sin(t2), np.cos(t2)
        self.s23, self.c23 = np.sin(t2 + t3), np.cos(t2 + t3)
        self.s234, self.c234 = np.sin(t2 + t3 + t4), np.cos(t2 + t3 + t4)
        self.s5, self.c5 = np.sin(t5), np.cos(t5)
        if qd is not None:
            self.w1, self.w2, w3, w4, _ = qd
            self.w23, self.w234 = self.w2 + w3, self.w2 + w3 + w4

    def pose(self, sign_11: float = 1.0) -> Array:
        """Equation (9); sign_11 is that of the first term of (11), printed as -1."""
        s, c, s234, c234, s5, c5 = self.s, self.c, self.s234, self.c234, self.s5, self.c5
        reach = self.c23 * A34 + self.c2 * A23
        hand_z, wrist_z = 0.107, 0.072
        d1 = c * (s234 * (hand_z + wrist_z) + reach)
        d2 = s * (sign_11 * s234 * hand_z + s234 * wrist_z + reach)
        d3 = -c234 * HAND + self.s23 * A34 + self.s2 * A23 + S1
        return np.array(
            [
                [c * c234 * c5 + s * s5, -c * c234 * s5 + s * c5, c * s234, d1],
                [s * c234 * c5 - c * s5, -s * c234 * s5 - c * c5, s * s234, d2],
                [s234 * c5, -s234 * s5, -c234, d3],
                [0.0, 0.0, 0.0, 1.0],
            ]
        )

    def jacobian(self) -> Array:
        """Equations (55) to (72), term by term."""
        s, c, s234, c234 = self.s, self.c, self.s234, self.c234
        out = s234 * HAND + self.c23 * A34 + self.c2 * A23
        up = c234 * HAND - self.s23 * A34 - self.s2 * A23
        up3 = c234 * HAND - self.s23 * A34
        out3 = s234 * HAND + self.c23 * A34
        return np.array(
            [
                [-s * out, c * up, c * up3, c * c234 * HAND, 0.0],
                [c * out, s * up, s * up3, s * c234 * HAND, 0.0],
                [0.0, out, out3, s234 * HAND, 0.0],
                [0.0, s, s, s, c * s234],
                [0.0, -c, -c, -c, s * s234],
                [1.0, 0.0, 0.0, 0.0, -c234],
            ]
        )

    def jacobian_rate(self, misprint_78: bool = False) -> Array:
        """Equations (77) to (93), term by term; (78) is printed with s_2 where c_2 belongs."""
        s, c, s234, c234, w1, w234 = self.s, self.c, self.s234, self.c234, self.w1, self.w234
        delta4 = -s234 * HAND * w234 - self.c23 * A34 * self.w23
        out = s234 * HAND + self.c23 * A34 + self.c2 * A23
        up = c234 * HAND - self.s23 * A34 - self.s2 * A23
        up3 = c234 * HAND - self.s23 * A34
        j33 = c234 * HAND * w234 - self.s23 * A34 * self.w23
        j32 = j33 - self.s2 * A23 * self.w2
        bend = delta4 - self.c2 * A23 * self.w2
        bend_78 = delta4 - self.s2 * A23 * self.w2 if misprint_78 else bend
        return np.array(
            [
                [
                    -s * j32 - c * out * w1,
                    c * bend_78 - s * up * w1,
                    c * delta4 - s * up3 * w1,
                    -s * c234 * HAND * w1 - c * s234 * HAND * w234,
                    0.0,
                ],
                [
                    c * j32 - s * out * w1,
                    s * bend + c * up * w1,
                    s * delta4 + c * up3 * w1,
                    c * c234 * HAND * w1 - s * s234 * HAND * w234,
                    0.0,
                ],
                [0.0, j32, j33, c234 * HAND * w234, 0.0],
                [0.0, c * w1, c * w1, c * w1, -s * s234 * w1 + c * c234 * w234],
                [0.0, s * w1, s * w1, s * w1, c * s234 * w1 + s * c234 * w234],
                [0.0, 0.0, 0.0, 0.0, s234 * w234],
            ]
        )


@pytest.fixture
def states(rng: np.random.Generator) -> list[tuple[Array, Array]]:
    return list(zip(RVM1.random_q(rng, 50), rng.normal(size=(50, 5)), strict=True))


def test_equation_9_is_the_pose_with_the_sign_of_11_put_right(states) -> None:
    for q, _ in states:
        np.testing.assert_allclose(Paper(q).pose(), RVM1.forward(q), atol=1e-15)
    q = states[0][0]
    off = np.abs(Paper(q).pose(sign_11=-1.0) - RVM1.forward(q)).max()
    assert off == pytest.approx(abs(2 * 0.107 * Paper(q).s * Paper(q).s234)), "as printed"


def test_the_jacobian_is_that_of_equations_54_to_72_term_by_term(states) -> None:
    for q, _ in states:
        np.testing.assert_allclose(Paper(q).jacobian(), RVM1.jacobian(q), atol=1e-15)


def test_its_rate_is_that_of_equations_77_to_93_with_78_put_right(states) -> None:
    for q, qd in states:
        paper = Paper(q, qd)
        np.testing.assert_allclose(paper.jacobian_rate(), RVM1.jacobian_rate(q, qd), atol=1e-14)
        printed = paper.jacobian_rate(misprint_78=True) - RVM1.jacobian_rate(q, qd)
        wrong = np.zeros((6, 5))
        wrong[0, 1] = paper.c * (paper.c2 - paper.s2) * A23 * paper.w2
        np.testing.assert_allclose(printed, wrong, atol=1e-14)


def test_velocities_and_accelerations_go_both_ways_by_equations_16_and_96(
    states, rng: np.random.Generator
) -> None:
    for q, qd in states:
        J, Jd = Paper(q).jacobian(), Paper(q, qd).jacobian_rate()
        if np.linalg.svd(J, compute_uv=False)[-1] < 1e-2:
            continue
        qdd = rng.normal(size=5)
        V, A = RVM1.twist(q, qd), RVM1.acceleration(q, qd, qdd)
        np.testing.assert_allclose(V, J @ qd, atol=1e-13)
        np.testing.assert_allclose(A, J @ qdd + Jd @ qd, atol=1e-12)
        left_inverse = np.linalg.inv(J.T @ J) @ J.T
        np.testing.assert_allclose(RVM1.joint_velocity(q, V), left_inverse @ V, atol=1e-9)
        np.testing.assert_allclose(RVM1.joint_velocity(q, V), qd, atol=1e-9)
        back = RVM1.joint_acceleration(q, qd, A)
        np.testing.assert_allclose(back, left_inverse @ (A - Jd @ qd), atol=1e-9)
        np.testing.assert_allclose(back, qdd, atol=1e-9)


def test_a_motion_that_five_joints_cannot_make_leaves_a_residual() -> None:
    q = np.array([0.0, 0.8, -1.2, 1.9, 0.4])
    # A turn of a level hand about the vertical, at a tip that stays where it is.
    solved = RVM1.solve_velocity(q, [0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    assert np.abs(solved.residual).max() > 0.1
    np.testing.assert_allclose(RVM1.jacobian(q).T @ solved.residual, 0.0, atol=1e-12)

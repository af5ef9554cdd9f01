"""Position-first from a seed alone: the position is exact, and nothing far away is found."""

from __future__ import annotations

import numpy as np
import pytest

from dvrk_kinematics import load_arm
from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.geometry import se3, so3

PSM = load_arm("PSM", instrument="400006")


def test_the_position_is_exact_and_the_answer_is_near_the_seed() -> None:
    rng = np.random.default_rng(4)
    for _ in range(10):
        q = PSM.random_q(rng) * [0.5, 0.5, 0.4, 0.5, 0.9, 0.9] + [0, 0, 0.1, 0, 0, 0]
        steps = [se3.make(so3.exp(rng.normal(size=3) * 0.02), rng.normal(size=3) * 1e-3)]
        T = PSM.forward(q) @ np.array(steps * 5)
        near = PSM.inverse_near(T, q)
        assert near.ok.all()
        assert np.abs(near.q - q).max() < 0.2
        away = np.linalg.norm(PSM.forward(near.q)[:, :3, 3] - T[:, :3, 3], axis=1)
        assert away.max() < 1e-9


def test_it_stays_at_a_limit_while_the_goal_goes_on() -> None:
    q = np.array([0.1, 0.2, 0.15, 0.3, PSM.limits.upper[4] - 0.01, 0.0])
    beyond = q + np.outer(np.linspace(0.0, 0.2, 11), np.eye(6)[4])
    near = PSM.inverse_near(PSM.forward(beyond), q)
    assert near.ok.all()
    assert near.rotation_error[0] < 1e-5
    assert (np.diff(near.rotation_error[2:]) > 0.0).all()
    assert np.abs(np.diff(near.q, axis=0)).max() < 0.1


def test_a_position_out_of_reach_is_not_ok() -> None:
    q = np.array([0.0, 0.0, 0.2, 0.0, 0.0, 0.0])
    near = PSM.inverse_near((PSM.forward(q) @ se3.translation([0.0, 0.0, 0.2]))[None], q)
    assert not near.ok[0]


def test_arms_without_a_search_of_their_own_solve_as_usual() -> None:
    ecm = load_arm("ECM")
    q = np.array([0.1, 0.2, 0.1, 0.3])
    assert ecm.inverse_near(ecm.forward(q)[None], q).ok[0]
    with pytest.raises(InvalidInput, match="policy"):
        load_arm("MTML").inverse_near(np.eye(4)[None], np.zeros(7))


def test_what_is_no_pose_is_refused() -> None:
    with pytest.raises(InvalidInput, match="NaN"):
        PSM.inverse_near(np.full((1, 4, 4), np.nan), np.zeros(6))
    with pytest.raises(InvalidInput, match="seed"):
        PSM.inverse_near(np.eye(4)[None], np.zeros(5))

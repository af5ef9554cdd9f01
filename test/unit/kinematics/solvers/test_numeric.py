from __future__ import annotations

import numpy as np
import pytest

from dvrk_kinematics import Arm, load_arm
from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.kinematics.result import IkStatus
from dvrk_kinematics.kinematics.solvers.numeric import NumericSolver

ARMS = {
    "suj_psm1": lambda: load_arm("SUJ_PSM1"),
    "suj_psm3": lambda: load_arm("SUJ_PSM3"),
    "suj_ecm": lambda: load_arm("SUJ_ECM"),
    "mtml": lambda: load_arm("MTML"),
    "mtmr": lambda: load_arm("MTMR"),
    "snake": lambda: load_arm("PSM", instrument="400117", solver="numeric"),
    "psm": lambda: load_arm("PSM", instrument="400006", solver="numeric"),
}


@pytest.fixture(params=list(ARMS))
def arm(request: pytest.FixtureRequest) -> Arm:
    return ARMS[request.param]()


def test_every_pose_inside_limits_is_reached_without_a_seed(
    arm: Arm, rng: np.random.Generator
) -> None:
    T = arm.forward(arm.random_q(rng, 60))
    found = arm.inverse_batch(T)
    assert found.ok.all()
    assert not found.violations.any()
    distance, angle = se3.pose_error(arm.forward(found.q), T)
    assert distance.max() < 1e-9
    assert angle.max() < 1e-9
    assert found.position_error.max() < 1e-9
    assert found.rotation_error.max() < 1e-9
    assert arm.reachable(T).all()


def test_a_near_seed_gives_the_solution_beside_it(arm: Arm, rng: np.random.Generator) -> None:
    """Close enough that no other solution is nearer; redundant arms stay as near as they can."""
    q = 0.8 * arm.random_q(rng, 10) + 0.2 * 0.5 * (arm.limits.lower + arm.limits.upper)
    for q_true in q:
        seed = q_true + 1e-3 * rng.standard_normal(len(q_true))
        found = arm.inverse(arm.forward(q_true), seed=seed)
        assert found.ok
        assert np.abs(found.q - seed).max() < 0.2


def test_batch_and_single_answers_agree(rng: np.random.Generator) -> None:
    arm = load_arm("SUJ_PSM2")
    q = arm.random_q(rng, 8)
    T, seed = arm.forward(q), q + 0.05
    many = arm.inverse_batch(T, seed=seed)
    for i in range(8):
        one = arm.inverse(T[i], seed=seed[i])
        assert one.status == many.status[i]
        assert np.allclose(one.q, many.q[i], atol=1e-9)


def test_a_free_snake_beats_the_published_residual(rng: np.random.Generator) -> None:
    """Two alternating optimisations stop at squared errors of 1e-5; here it is 1e-18."""
    arm = load_arm("PSM", instrument="400117", solver="numeric")
    T = arm.forward(arm.random_q(rng, 40))
    found = arm.inverse_batch(T)
    assert found.ok.all()
    assert (found.position_error**2 + found.rotation_error**2).max() < 1e-18


def test_snake_and_caudier_reach_the_same_pose(rng: np.random.Generator) -> None:
    """Two arms with their remote centres 10 cm apart meet in one pose in the torso."""
    snake = load_arm("PSM", instrument="400117", solver="numeric")
    caudier = load_arm("PSM", instrument="caudier")
    T_snake_caudier = se3.translation([0.1, 0.0, 0.0])
    T_goal = snake.forward([0.4, 0.1, 0.13, 0.3, 0.1, -0.05, 0.02, 0.05])
    # The caudier's jaws close about another axis; it comes from its own side.
    q = snake.inverse(T_goal)
    assert q.ok
    T_caudier = se3.inverse(T_snake_caudier) @ T_goal
    found = caudier.inverse(T_caudier, policy="position_first")
    assert found.position_error < 1e-9
    assert np.allclose(
        (T_snake_caudier @ caudier.forward(found.q))[:3, 3], T_goal[:3, 3], atol=1e-9
    )


def test_a_pose_outside_limits_names_the_joints() -> None:
    arm = load_arm("SUJ_PSM1")
    q = np.array([1.2, 0.2, 0.4, 0.1, 0.3, 0.2])
    found = arm.inverse(arm.forward(q), seed=q)
    assert found.status is IkStatus.OUTSIDE_LIMITS
    violated = {v.joint: v for v in found.violations}
    column = violated["SUJ_PSM1_J0"]
    assert column.value == pytest.approx(1.2)
    assert (column.lower, column.upper) == (-0.3798, 0.8425)
    assert np.allclose(arm.forward(found.q), arm.forward(q), atol=1e-9)


def test_a_pose_out_of_reach_is_never_called_reached() -> None:
    for name in ("SUJ_PSM1", "MTML", "SUJ_ECM"):
        arm = load_arm(name)
        T = arm.forward(np.zeros(len(arm.joint_names)))
        T[0, 3] += 5.0
        found = arm.inverse(T)
        assert found.status in (IkStatus.UNREACHABLE, IkStatus.NOT_CONVERGED)
        assert found.position_error > 1.0
        reached = arm.forward(found.q)
        assert found.position_error == pytest.approx(np.linalg.norm(reached[:3, 3] - T[:3, 3]))
        assert not arm.limits.violations(found.q)


def test_an_arm_of_four_joints_says_how_far_a_pose_is_from_it() -> None:
    arm = load_arm("SUJ_ECM")
    T = arm.forward(np.array([0.2, 0.3, -0.4, 1.0]))
    T[:3, :3] = so3.rot_x(0.2) @ T[:3, :3]
    found = arm.inverse(T, seed=np.array([0.2, 0.3, -0.4, 1.0]))
    assert found.status is IkStatus.UNREACHABLE
    assert found.rotation_error > 0.05


def test_all_solutions_give_the_pose(rng: np.random.Generator) -> None:
    arm = load_arm("SUJ_PSM1")
    T = arm.forward(np.array([0.1, 0.3, -0.7, 0.2, 0.4, -0.3]))
    found = arm.inverse_all(T)
    assert len(found) >= 2
    for one in found:
        assert np.abs(arm.forward(one.q) - T).max() < 1e-9
    assert found[0].ok


def test_rows_that_are_no_poses_keep_their_place() -> None:
    arm = load_arm("SUJ_ECM")
    T = np.repeat(arm.forward(np.full(4, 0.3))[None], 4, axis=0)
    T[1, 0, 0] = np.nan
    T[3, :3, :3] *= 1.1
    found = arm.inverse_batch(T)
    assert found.status.tolist() == [0, IkStatus.INVALID_INPUT, 0, IkStatus.INVALID_INPUT]
    assert np.isnan(found.q[[1, 3]]).all()
    assert np.allclose(arm.forward(found.q[2]), T[2])


def test_answers_repeat_and_starts_can_be_chosen() -> None:
    arm = load_arm("MTMR")
    T = arm.forward(np.array([0.3, 0.2, -0.1, 1.0, 1.2, 0.3, 2.0]))
    assert np.array_equal(arm.inverse(T).q, load_arm("MTMR").inverse(T).q)
    other = NumericSolver(arm.model, arm.limits, rng=np.random.default_rng(3))
    assert other.solve(T).ok


def test_position_first_needs_a_closed_form() -> None:
    arm = load_arm("MTMR")
    T = arm.forward(np.zeros(7))
    with pytest.raises(InvalidInput, match="closed form"):
        arm.inverse(T, policy="position_first")

"""Joints follow a path: past other branches, and with less orientation where they must."""

from __future__ import annotations

import numpy as np
import pytest
from plan_checks import check_plan

from dvrk_kinematics import Arm, load_arm
from dvrk_kinematics.errors import InvalidInput, PlanReason, PlanRefused
from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.motion.cannula import make_cannula_rule
from dvrk_kinematics.motion.limits import make_motion_limits
from dvrk_kinematics.motion.moves import MoveAbsJ, MoveL
from dvrk_kinematics.motion.planning.planner import Plan, PlanOptions, plan_motion
from dvrk_kinematics.motion.timing.speeds import TipSpeeds

SLOW = TipSpeeds(0.02, 0.04, 0.3, 0.6)


def _plan(arm: Arm, moves, q_start, cannula: bool = True, **options: object) -> Plan:
    rule = make_cannula_rule(arm) if cannula else None
    limits = make_motion_limits(arm)
    return plan_motion(arm, moves, q_start, limits, rule, PlanOptions(**options))


def _leaving(psm: Arm, count: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Starts and goals whose straight line leaves the limits of the wrist."""
    rng, found = np.random.default_rng(3), []
    while len(found) < count:
        q = psm.random_q(rng) * [0.5, 0.5, 0.4, 0.6, 1.0, 1.0] + [0, 0, 0.1, 0, 0, 0]
        step = se3.make(so3.exp(rng.normal(size=3) * 0.6), rng.normal(size=3) * 0.02)
        T = psm.forward(q) @ step
        try:
            _plan(psm, [MoveL(T, "base", SLOW)], q)
        except PlanRefused as refused:
            if refused.joint.startswith("wrist"):
                found.append((q, T))
    return found


def test_position_first_keeps_the_position_where_the_wrist_is_at_its_limit(psm: Arm) -> None:
    for q, T in _leaving(psm, 3):
        plan = _plan(psm, [MoveL(T, "base", SLOW)], q, policy="position_first", slow_down=True)
        check_plan(psm, plan, q, "position_first")
        flight = plan.flight_plan
        assert 0.0 < flight.orientation_given_up < 1.0
        assert flight.limit_margin > 0.0
        reached = psm.forward(plan.spline.position[-1])
        assert np.linalg.norm(reached[:3, 3] - T[:3, 3]) < 1e-9
        best = psm.inverse_near(T[None], plan.spline.position[-1])
        angle = float(so3.angle_between(reached[:3, :3], T[:3, :3]))
        assert angle == pytest.approx(float(best.rotation_error[0]), abs=0.01)


def test_position_first_goes_on_from_where_orientation_was_given_up(psm: Arm) -> None:
    (q, T), *_ = _leaving(psm, 1)
    back = [MoveL(T, "base", SLOW), MoveL(psm.forward(q), "base", SLOW), MoveAbsJ(q)]
    plan = _plan(psm, back, q, policy="position_first", slow_down=True)
    check_plan(psm, plan, q, "position_first")
    np.testing.assert_allclose(plan.spline.position[-1], q, atol=1e-12)


def test_a_joint_move_goes_on_from_there_even_if_the_path_was_slowed_down(psm: Arm) -> None:
    (q, T), *_ = _leaving(psm, 1)
    fast = TipSpeeds(0.2, 2.0, 8.0, 30.0)
    moves = [MoveL(T, "base", fast), MoveAbsJ(q)]
    plan = _plan(psm, moves, q, policy="position_first", slow_down=True)
    check_plan(psm, plan, q, "position_first")
    assert plan.flight_plan.slowed_by > 1.0


def test_position_first_is_exact_where_nothing_has_to_be_given_up(psm: Arm) -> None:
    q = np.array([0.1, -0.2, 0.14, 0.3, 0.2, -0.1])
    moves = [MoveL(se3.translation([0.01, 0.0, 0.01]), "tool", SLOW)]
    plan = _plan(psm, moves, q, policy="position_first")
    check_plan(psm, plan, q)
    assert plan.flight_plan.orientation_given_up == 0.0


def test_position_first_says_where_not_even_the_position_is_reached(psm: Arm) -> None:
    q = np.array([0.0, 0.0, 0.2, 0.0, 0.0, 0.0])
    with pytest.raises(PlanRefused, match="not even the position") as out:
        _plan(psm, [MoveL(se3.translation([0, 0, 0.1]), "tool", SLOW)], q, policy="position_first")
    assert out.value.reason is PlanReason.UNREACHABLE
    assert out.value.distance_m == pytest.approx(0.04, abs=1e-3)


@pytest.mark.parametrize("arm", [load_arm("MTML"), load_arm("PSM", instrument="400117")])
def test_arms_that_cannot_give_up_orientation_alone_say_so(arm: Arm) -> None:
    q = 0.5 * (arm.limits.lower + arm.limits.upper)
    moves = [MoveL(se3.translation([0.01, 0.0, 0.0]), "tool", SLOW)]
    with pytest.raises(InvalidInput, match="policy"):
        _plan(arm, moves, q, policy="position_first")


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_wrist_whose_yaw_reaches_a_right_angle_does_not_flip_there(sign: float) -> None:
    arm = load_arm("PSM", instrument="400205")
    assert arm.limits.upper[5] == 1.5708
    q = np.array([0.1, 0.2, 0.15, 0.3, 0.4, sign * 1.2])
    T = arm.forward(q + np.array([0.02, 0.01, 0.0, 0.1, -0.1, sign * 0.3705]))
    plan = _plan(arm, [MoveL(T, "base", SLOW)], q)
    check_plan(arm, plan, q)
    assert sign * plan.spline.position[-1, 5] == pytest.approx(1.5705, abs=1e-6)


def test_near_the_remote_centre_a_path_is_planned_slowly_or_refused(psm: Arm) -> None:
    """Through the singular place itself no joint velocity is enough."""
    q = np.array([0.0, 0.3, 0.05, 0.2, 0.0, 0.1])
    moves = [MoveL(se3.translation([0.001, 0.0, -0.06]), "tool", SLOW)]
    with pytest.raises(PlanRefused) as out:
        _plan(psm, moves, q, cannula=False)
    assert out.value.distance_m > 0.01
    assert out.value.flight_plan is not None


def test_a_start_outside_its_limits_may_come_back(psm: Arm) -> None:
    q = np.array([0.1, 0.2, 0.15, 0.3, 0.1, 0.2])
    outside = q.copy()
    outside[4] = psm.limits.upper[4] + 0.01
    plan = _plan(psm, [MoveAbsJ(q)], outside)
    check_plan(psm, plan, outside)
    assert plan.flight_plan.limit_margin < 0.0
    farther = outside.copy()
    farther[4] += 0.01
    with pytest.raises(PlanRefused) as out:
        _plan(psm, [MoveAbsJ(farther)], outside)
    assert (out.value.reason, out.value.joint) == (PlanReason.POSITION_LIMIT, "wrist_pitch")


def test_following_does_not_change_its_input(psm: Arm) -> None:
    q = np.array([0.1, -0.2, 0.14, 0.3, 0.2, -0.1])
    kept = q.copy()
    _plan(psm, [MoveL(se3.translation([0.01, 0.0, 0.01]), "tool", SLOW)], q)
    np.testing.assert_array_equal(q, kept)

"""What no plan may do: jump, take for ever, or leave limits again that it has come back into."""

from __future__ import annotations

import numpy as np
import pytest
from plan_checks import check_plan

from dvrk_kinematics import Arm
from dvrk_kinematics.errors import InvalidInput, PlanReason, PlanRefused
from dvrk_kinematics.geometry import se3
from dvrk_kinematics.motion.limits import make_motion_limits
from dvrk_kinematics.motion.moves import Move, MoveAbsJ, MoveL, repeat_moves
from dvrk_kinematics.motion.paths.arc import Arc
from dvrk_kinematics.motion.paths.path import Turn
from dvrk_kinematics.motion.planning.knots import LONGEST_S
from dvrk_kinematics.motion.planning.planner import Plan, PlanOptions, plan_motion
from dvrk_kinematics.motion.segments import JointSegment, Segment, make_segments
from dvrk_kinematics.motion.timing.logistic import Curve, Logistic
from dvrk_kinematics.motion.timing.scalings import PathProgress
from dvrk_kinematics.motion.timing.speeds import TipSpeeds

Q = np.array([0.1, -0.2, 0.14, 0.3, 0.2, -0.1])
FORTH = se3.translation(np.array([0.01, 0.0, 0.0]))


def _plan(
    arm: Arm, motion: list[Move] | list[Segment], q_start: np.ndarray = Q, **options: object
) -> Plan:
    return plan_motion(arm, motion, q_start, make_motion_limits(arm), None, PlanOptions(**options))


class Jumping(Logistic):
    """A curve that has most of its way behind it when it begins."""

    def sample(self, t: np.ndarray) -> PathProgress:
        return PathProgress(np.where(t < 1.0, 0.995, 1.0), 0.0 * t, 0.0 * t)


def test_a_curve_that_begins_with_a_jump_is_refused() -> None:
    for flat in ((1e-20, 0.5, 0.005), (1.0 - 1e-16, 0.5, 0.005), (0.5, 0.5 - 1e-12, 0.4999)):
        with pytest.raises(InvalidInput, match=r"half_width: .* without rest at its ends"):
            Curve(*flat)


def test_a_joint_move_that_begins_with_a_jump_is_refused(psm: Arm) -> None:
    jump = JointSegment(psm, Q, Q + 0.05, (Jumping(1.0, 1.0, Curve()),))
    with pytest.raises(PlanRefused, match="begins elsewhere than where the joints are") as out:
        _plan(psm, [jump])
    assert out.value.reason is PlanReason.START


@pytest.mark.parametrize("centre", [1e-2, 1e-6])
@pytest.mark.parametrize("slow_down", [False, True])
def test_curves_that_are_done_in_a_moment_are_slow_or_refused(
    psm: Arm, centre: float, slow_down: bool
) -> None:
    step = MoveAbsJ(Q + 0.01, 1.0, 1.0, (Curve(centre, 0.3, 0.005),) * 6)
    try:
        plan = _plan(psm, [step], slow_down=slow_down)
    except (PlanRefused, InvalidInput):
        return
    check_plan(psm, plan, Q)


def test_a_motion_that_takes_for_ever_is_refused_at_once(psm: Arm) -> None:
    crawl = MoveL(FORTH, "tool", TipSpeeds(1e-12, 0.1))
    with pytest.raises(InvalidInput, match=r"motion: takes 1e\+10 s, more than the 3600 s"):
        _plan(psm, [crawl])
    with pytest.raises(InvalidInput, match="motion: takes"):
        _plan(psm, [crawl, MoveAbsJ(Q)])
    with pytest.raises(InvalidInput, match="motion: takes"):
        _plan(psm, make_segments([Turn(psm.forward(Q), [0.0, 0.0, 0.1])], TipSpeeds(1, 1, 1e-9)))


def test_repetitions_that_take_for_ever_are_refused(psm: Arm) -> None:
    ten_s = TipSpeeds(0.001, 0.1)
    back = se3.inverse(FORTH)
    there = [MoveL(FORTH, "tool", ten_s), MoveL(back, "tool", ten_s), MoveAbsJ(Q)]
    with pytest.raises(InvalidInput, match="or repeat it less"):
        _plan(psm, list(repeat_moves(there, 2500)))


def test_what_would_be_slowed_down_for_ever_is_refused(psm: Arm) -> None:
    # Ten steps that take some minutes each, and each too fast for a joint at one moment.
    curve = Curve(0.5, 0.0005, 0.005)
    steps = []
    for k in range(10):
        q = Q + 0.3 * np.eye(6)[0] * (k % 2), Q + 0.3 * np.eye(6)[0] * ((k + 1) % 2)
        steps.append(JointSegment(psm, *q, (Logistic(1.0, 300.0, curve),), k))
    with pytest.raises((InvalidInput, PlanRefused)):
        _plan(psm, steps)
    with pytest.raises(InvalidInput, match=f"more than the {LONGEST_S:g} s"):
        _plan(psm, steps, slow_down=True)


def test_a_target_far_beyond_the_limits_is_refused_at_once(psm: Arm) -> None:
    for far in (1e200, 1e9, -1e9):
        with pytest.raises(PlanRefused, match="the target") as out:
            _plan(psm, [MoveAbsJ(np.where(np.arange(6) == 2, far, Q))])
        assert (out.value.reason, out.value.joint) == (PlanReason.POSITION_LIMIT, "insertion")
        assert out.value.value == far and out.value.limit in (0.0, 0.24)


def _outside(arm: Arm, by: float) -> np.ndarray:
    """Where yaw is outside its limit by an angle (rad)."""
    return np.where(np.arange(6) == 0, arm.limits.upper[0] + by, Q)


def test_a_joint_that_came_back_inside_stays_there(psm: Arm) -> None:
    out, half = _outside(psm, 0.3), _outside(psm, 0.1)
    check_plan(psm, _plan(psm, [MoveAbsJ(half), MoveAbsJ(Q)], out), out)
    for moves in ([Q, half], [half, out], [Q, out]):
        with pytest.raises(PlanRefused) as refusal:
            _plan(psm, [MoveAbsJ(q) for q in moves], out)
        assert (refusal.value.reason, refusal.value.joint) == (PlanReason.POSITION_LIMIT, "yaw")
        assert refusal.value.step == 1


def test_a_tip_that_takes_a_joint_in_and_out_again_on_one_path_is_refused(psm: Arm) -> None:
    out = _outside(psm, 0.01)
    T, up = psm.forward(out), np.eye(6)[2]
    via = psm.forward(_outside(psm, -0.02) - 0.005 * up)[:3, 3]
    end = psm.forward(_outside(psm, 0.005) - 0.01 * up)[:3, 3]
    arc = Arc(T, via, se3.make(T[:3, :3], end))
    with pytest.raises(PlanRefused) as refusal:
        _plan(psm, list(make_segments([arc], TipSpeeds(0.01, 0.02))), out)
    assert (refusal.value.reason, refusal.value.joint) == (PlanReason.POSITION_LIMIT, "yaw")
    assert refusal.value.limit == pytest.approx(psm.limits.upper[0])
    straight = MoveL(se3.make(T[:3, :3], via), "base", TipSpeeds(0.01, 0.02))
    check_plan(psm, _plan(psm, [straight], out), out)

"""What is said of a tip: where on its path it can be, and no number if nothing was measured."""

from __future__ import annotations

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory
from dvrk_kinematics_interfaces.action import TraceBlockO

from dvrk_kinematics import Arm, load_arm
from dvrk_kinematics.driver.result import GoalStatus as Ended
from dvrk_kinematics.geometry import se3
from dvrk_kinematics.motion.motion_limits import make_motion_limits
from dvrk_kinematics.motion.moves import MoveL
from dvrk_kinematics.motion.plan import Plan, plan_motion
from dvrk_kinematics.motion.speeds import TipSpeeds
from dvrk_kinematics.ros.demo_report import describe_result, is_traced
from dvrk_kinematics.ros.plan_player import CANCELLED, _read_result
from dvrk_kinematics.ros.tip_error import PathClock, measure_tip, not_measured

Q = np.array([0.1, -0.1, 0.12, 0.0, 0.2, 0.1])
ERRORS = ("contour_position", "contour_rotation", "lag")


@pytest.fixture(scope="module")
def psm() -> Arm:
    return load_arm("PSM", "400006")


@pytest.fixture(scope="module")
def plan(psm: Arm) -> Plan:
    ahead = MoveL(se3.translation(np.array([0.02, 0.0, 0.0])), "tool", TipSpeeds(0.01, 0.05))
    return plan_motion(psm, [ahead], Q, make_motion_limits(psm))


def _heard(*notes: tuple[float, float]) -> PathClock:
    clock = PathClock()
    for stamp_s, time_s in notes:
        clock.note(stamp_s, time_s)
    return clock


def test_a_stall_of_the_player_is_no_error_of_the_tip(psm: Arm, plan: Plan) -> None:
    clock = _heard((100.0, 0.0), (101.0, 1.0))
    at = clock.read_now(101.1)
    assert at == pytest.approx(1.1)
    # The bridge stands still for 0.8 s, and the arm waits where it was told to be.
    waiting = psm.forward(plan.spline.sample(1.0).q)
    stalled = clock.read_now(101.8)
    errors = plan.path.contour_errors([stalled], waiting[None])
    assert errors.position[0] < 1e-6 and errors.rotation[0] < 1e-6
    assert plan.path.contour_errors([1.8], waiting[None]).position[0] > 1e-3


def test_a_stall_after_the_last_feedback_is_no_error_of_the_tip(psm: Arm, plan: Plan) -> None:
    """It was told as a millimetre."""
    clock = _heard((100.0, 0.0), (100.5, 0.5), (101.0, 1.0))
    stamps = np.array([100.2, 100.7, 101.0, 101.4, 101.8])
    q = np.array([plan.spline.sample(t).q for t in (0.2, 0.7, 1.0, 1.0, 1.0)])
    error = measure_tip(psm, plan, clock, stamps, q)
    assert error.samples == len(stamps)
    assert error.contour_position_max < 1e-6 and error.contour_rotation_max < 1e-6
    assert error.lag_max == pytest.approx(0.8, abs=0.01)


def test_what_was_not_measured_is_no_number(psm: Arm, plan: Plan) -> None:
    begun, never = _heard((100.0, 0.0)), PathClock()
    states = np.array([50.0, 51.0]), np.stack([Q, Q])
    for clock in (begun, never):
        error = measure_tip(psm, plan, clock, *states)
        assert error.samples == 0
        assert np.isnan([getattr(error, f"{name}_max") for name in ERRORS]).all()
    during = measure_tip(psm, plan, begun, np.array([100.0]), Q[None])
    assert during.samples == 1 and during.contour_position_max < 1e-9


def test_what_was_not_measured_was_not_traced() -> None:
    result = TraceBlockO.Result(success=True, message="goal reached", error=not_measured())
    assert not is_traced(result)
    assert "nan nm" in describe_result(result, None)


def _response(status: int, text: str) -> FollowJointTrajectory.Impl.GetResultService.Response:
    result = FollowJointTrajectory.Result(error_string=text)
    return FollowJointTrajectory.Impl.GetResultService.Response(status=status, result=result)


def test_a_motion_that_arrived_while_its_end_was_asked_for_has_arrived() -> None:
    for why in ("", CANCELLED, "replaced by a new goal"):
        outcome = _read_result(_response(GoalStatus.STATUS_SUCCEEDED, "goal reached"), why)
        assert outcome.status is Ended.SUCCEEDED and outcome.message == "goal reached"
    stopped = _response(GoalStatus.STATUS_CANCELED, "cancelled")
    assert _read_result(stopped, CANCELLED).status is Ended.CANCELED
    assert _read_result(stopped, "the server ends").status is Ended.ABORTED
    assert _read_result(stopped, "").status is Ended.ABORTED


def test_a_pause_of_hours_is_remembered_as_its_begin_and_its_end() -> None:
    notes = [(100.0, 0.0), (100.5, 0.5), *((101.0 + 0.05 * k, 0.7) for k in range(5000))]
    clock = _heard(*notes, (352.0, 1.7))
    assert len(clock._heard) == 5
    at = clock.read(np.array([100.25, 101.0, 200.0, 350.95, 351.475]))
    assert at == pytest.approx([0.25, 0.7, 0.7, 0.7, 1.2])
    assert clock.newest_s == 1.7

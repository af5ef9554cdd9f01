"""What is said of a tip: where on its path it can be, and no number if nothing was measured."""

from __future__ import annotations

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory
from dvrk_kinematics_interfaces.action import TraceBlockO

from dvrk_kinematics import Arm, load_arm
from dvrk_kinematics.driver.playback.goal_result import GoalStatus as Ended
from dvrk_kinematics.geometry import se3
from dvrk_kinematics.motion.joint_path import JointPath
from dvrk_kinematics.motion.limits import make_motion_limits
from dvrk_kinematics.motion.moves import MoveL
from dvrk_kinematics.motion.planning.planner import Plan, plan_motion
from dvrk_kinematics.motion.planning.tip_follower import FollowingFigures, TipFollower
from dvrk_kinematics.motion.timing.speeds import TipSpeeds
from dvrk_kinematics.ros.demo.demo_report import describe_result, is_traced
from dvrk_kinematics.ros.servers.plan_player import (
    CANCELLED,
    PlayOutcome,
    _add_error,
    _read_result,
)
from dvrk_kinematics.ros.servers.tip_error import HeardPathClock, make_tip_error, read_tip_error

Q = np.array([0.1, -0.1, 0.12, 0.0, 0.2, 0.1])
ERRORS = ("contour_position", "contour_rotation", "lag")


@pytest.fixture(scope="module")
def psm() -> Arm:
    return load_arm("PSM", "400006")


@pytest.fixture(scope="module")
def plan(psm: Arm) -> Plan:
    ahead = MoveL(se3.translation(np.array([0.02, 0.0, 0.0])), "tool", TipSpeeds(0.01, 0.05))
    return plan_motion(psm, [ahead], Q, make_motion_limits(psm))


def _heard(*notes: tuple[float, float]) -> HeardPathClock:
    clock = HeardPathClock()
    for stamp_s, time_s in notes:
        clock.note(round(stamp_s * 1e9), round(time_s * 1e9))
    return clock


def test_a_path_began_when_what_was_heard_first_says() -> None:
    assert HeardPathClock().begin_ns is None
    # It stalls for a while, and is late from then on.
    clock = _heard((100.05, 0.04), (100.5, 0.49), (101.0, 0.6))
    assert clock.begin_ns == 100_010_000_000
    assert clock.newest_s == pytest.approx(0.6)


def test_a_stall_of_the_player_is_no_error_of_the_tip(psm: Arm, plan: Plan) -> None:
    clock = _heard((100.0, 0.0), (101.0, 1.0))
    assert clock.read(101_100_000_000) == pytest.approx(1.1)
    assert clock.read(100_900_000_000) == pytest.approx(0.9)
    # The bridge stands still for 0.8 s, and the arm waits where it was told to be.
    spline = plan.spline
    path = JointPath(spline.times, spline.position, spline.velocity, spline.acceleration)
    follower, waiting = TipFollower(psm, path), spline.sample(1.0).q
    position, rotation = follower.find_errors(clock.read(101_800_000_000), waiting)
    assert position < 1e-9 and rotation < 1e-9
    assert follower.find_errors(1.8, waiting)[0] > 1e-3


def test_figures_and_messages_hold_the_same() -> None:
    figures = FollowingFigures(1e-6, 2e-7, 3e-6, 4e-7, 0.02, 0.01, 7)
    message = make_tip_error(figures)
    assert read_tip_error(message) == figures
    assert (message.contour_position_max, message.lag_mean) == (1e-6, 0.01)


def test_what_was_not_measured_is_no_number_and_was_not_traced() -> None:
    error = make_tip_error()
    assert error.samples == 0
    assert np.isnan([getattr(error, f"{name}_max") for name in ERRORS]).all()
    result = TraceBlockO.Result(success=True, message="goal reached", error=error)
    assert not is_traced(result)
    assert "not known, not known" in describe_result(result, None)


def test_the_planned_path_counts_in_how_far_a_tip_is_off_the_exact_figure() -> None:
    error = make_tip_error(FollowingFigures(1.5e-6, 1e-6, 1e-7, 1e-7, 0.01, 0.01, 100))
    result = TraceBlockO.Result(success=True, message="goal reached", error=error)
    assert is_traced(result)
    result.plan.position_deviation = 0.6e-6
    assert not is_traced(result)


def test_a_tip_without_an_error_is_told_to_be_that_of_a_simulated_arm() -> None:
    exact = FollowingFigures(1e-13, 1e-14, 1e-13, 1e-14, 0.012, 0.0091, 6800)
    text = describe_result(TraceBlockO.Result(error=make_tip_error(exact)), None)
    assert "under 0.001 um, under 0.001 urad: a simulated arm follows its setpoints" in text
    assert "9.1 / 12.0 ms" in text


def test_a_motion_of_which_no_state_came_says_that_it_is_not_known_how_it_was_followed() -> None:
    unknown = "how well the tip followed is not known: no state of the arm came meanwhile"
    arrived = PlayOutcome(Ended.SUCCEEDED, "goal reached")
    told = _add_error(arrived, FollowingFigures())
    assert told.message == f"goal reached; {unknown}" and told.status is Ended.SUCCEEDED
    assert told.error.samples == 0 and np.isnan(told.error.contour_position_max)
    seen = FollowingFigures(1e-6, 2e-7, 3e-6, 4e-7, 0.02, 0.01, 7)
    told = _add_error(arrived, seen)
    assert told.message == "goal reached" and read_tip_error(told.error) == seen
    # Of one that did not arrive, its end is what matters.
    stopped = PlayOutcome(Ended.ABORTED, "bridge: hold was asked for")
    assert _add_error(stopped, FollowingFigures()).message == stopped.message


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

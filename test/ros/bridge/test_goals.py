"""Goals that make no sense, come at the wrong time or carry too much: each is told why."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from bridge_client import BridgeClient
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance
from joint_goals import HOME, PSM_JOINTS, SUCCEEDED, TIMEOUT_S, at, check_ended, make_goal

from dvrk_kinematics.driver import Reason, ResultCode

NAN, INF = float("nan"), float("inf")
AHEAD = at(yaw=0.05)
INVALID_GOAL, INVALID_JOINTS = ResultCode.INVALID_GOAL, ResultCode.INVALID_JOINTS


def goal(times_s: Any = (0.5,), q: Any = (AHEAD,), joints: Any = PSM_JOINTS, **more: Any) -> Any:
    return make_goal(joints, times_s, q, **more)


def with_tolerance(**fields: Any) -> Any:
    made = goal()
    made.path_tolerance = [JointTolerance(**fields)]
    return made


def with_multi_dof() -> Any:
    made = goal()
    made.multi_dof_trajectory.joint_names = ["world"]
    return made


def with_short_velocity() -> Any:
    made = goal((0.5, 1.0), (AHEAD, HOME), qd=(np.zeros(6), np.zeros(6)))
    made.trajectory.points[0].velocities = [0.0]
    return made


def with_close_times() -> Any:
    """A nanosecond apart, a billion seconds from now."""
    made = goal((1e9, 1e9), (AHEAD, HOME))
    made.trajectory.points[1].time_from_start.nanosec = 1
    return made


REFUSED: dict[str, tuple[Any, Reason, ResultCode]] = {
    "no points": (FollowJointTrajectory.Goal(), Reason.EMPTY_GOAL, INVALID_GOAL),
    "no joints": (goal(joints=()), Reason.WRONG_SHAPE, INVALID_JOINTS),
    "other joints": (goal(joints="abcdef"), Reason.WRONG_SHAPE, INVALID_JOINTS),
    "a joint twice": (goal(joints=("yaw",) * 6), Reason.WRONG_SHAPE, INVALID_JOINTS),
    "some joints": (
        goal(q=(AHEAD[:3],), joints=PSM_JOINTS[:3]),
        Reason.WRONG_SHAPE,
        INVALID_JOINTS,
    ),
    "too few positions": (goal(q=(AHEAD[:5],)), Reason.WRONG_SHAPE, INVALID_JOINTS),
    "too few velocities": (with_short_velocity(), Reason.WRONG_SHAPE, INVALID_JOINTS),
    "other bodies": (with_multi_dof(), Reason.WRONG_SHAPE, INVALID_JOINTS),
    "times go back": (
        goal((0.5, 0.4), (AHEAD, HOME)),
        Reason.TIMES_NOT_INCREASING,
        INVALID_GOAL,
    ),
    "a time twice": (goal((0.5, 0.5), (AHEAD, HOME)), Reason.TIMES_NOT_INCREASING, INVALID_GOAL),
    "times too close": (with_close_times(), Reason.TIMES_TOO_CLOSE, INVALID_GOAL),
    "a time before the start": (goal((-0.5,)), Reason.TIMES_NOT_INCREASING, INVALID_GOAL),
    "a start too far away": (
        goal((0.0, 1.0), (at(yaw=0.2), AHEAD)),
        Reason.START_TOO_FAR,
        INVALID_GOAL,
    ),
    "NaN": (goal(q=(at(yaw=NAN),)), Reason.NOT_FINITE_GOAL, INVALID_GOAL),
    "infinity": (goal(q=(at(pitch=INF),)), Reason.NOT_FINITE_GOAL, INVALID_GOAL),
    "NaN velocity": (goal(qd=(np.full(6, NAN),)), Reason.NOT_FINITE_GOAL, INVALID_GOAL),
    "beyond all measure": (goal(q=(at(yaw=1e308),)), Reason.GOAL_POSITION_LIMIT, INVALID_GOAL),
    "out of reach": (goal(q=(at(yaw=1.7),)), Reason.GOAL_POSITION_LIMIT, INVALID_GOAL),
    "too fast": (
        goal((0.5, 0.6, 1.5), (HOME, at(yaw=0.5), at(yaw=0.5)), qd=np.zeros((3, 6))),
        Reason.GOAL_VELOCITY_LIMIT,
        INVALID_GOAL,
    ),
    "still moving at its end": (goal(qd=(np.full(6, 0.01),)), Reason.END_VELOCITY, INVALID_GOAL),
    "a tolerance of NaN": (
        with_tolerance(name="yaw", position=NAN),
        Reason.BAD_TOLERANCE,
        INVALID_GOAL,
    ),
    "a tolerance of another joint": (
        with_tolerance(name="elbow", position=1.0),
        Reason.WRONG_SHAPE,
        INVALID_JOINTS,
    ),
    "a stamp of long ago": (
        goal(stamp_ns=1_000_000_000),
        Reason.STAMP_IN_PAST,
        ResultCode.OLD_HEADER_TIMESTAMP,
    ),
}


@pytest.fixture(scope="module")
def client(make_rig: Any) -> Any:
    client = make_rig("goals").client
    client.get_ready()
    yield client
    client.commands.check()


@pytest.mark.parametrize("name", REFUSED)
def test_a_goal_that_cannot_be_played_is_refused_and_says_why(
    client: BridgeClient, name: str
) -> None:
    message, reason, code = REFUSED[name]
    with client.commands.silence():
        check_ended(client.follow(message).result(TIMEOUT_S), reason, code)


def test_a_refused_goal_does_not_disturb_the_one_that_is_played(client: BridgeClient) -> None:
    client.reach(HOME)
    before = client.commands.mark()
    playing = client.go(at(yaw=0.6), 1.5)
    client.wait_moving(before=before)
    for name in ("NaN", "other joints", "a start too far away", "out of reach"):
        message, reason, code = REFUSED[name]
        check_ended(client.follow(message).result(TIMEOUT_S), reason, code)
    response = playing.result(TIMEOUT_S)
    check_ended(response, Reason.REACHED, ResultCode.SUCCESSFUL, SUCCEEDED)
    client.wait_diagnosed("last stop", stop="REACHED", refusal="GOAL_POSITION_LIMIT")


def test_joints_may_come_in_any_order(client: BridgeClient) -> None:
    wanted = at(yaw=0.1, pitch=-0.1, insertion=0.1, roll=0.3, wrist_pitch=0.2, wrist_yaw=-0.2)
    order = [3, 0, 5, 2, 4, 1]
    message = goal(q=(wanted[order],), joints=[PSM_JOINTS[j] for j in order])
    response = client.follow(message).result(TIMEOUT_S)
    check_ended(response, Reason.REACHED, ResultCode.SUCCESSFUL, SUCCEEDED)
    client.wait_at("measured_js", wanted, 1e-9)


def test_a_goal_with_a_stamp_in_the_future_waits(client: BridgeClient) -> None:
    client.reach(HOME)
    sent, start_ns = client.commands.mark(), time.time_ns() + 5_000_000_000
    waiting = client.follow(goal(q=(at(yaw=0.1),), stamp_ns=start_ns))
    client.until(lambda: client.commands.count() > sent, "the motion")
    assert time.time_ns() >= start_ns
    response = waiting.result(TIMEOUT_S)
    check_ended(response, Reason.REACHED, ResultCode.SUCCESSFUL, SUCCEEDED)


def test_a_waiting_goal_can_be_cancelled_and_is_dropped_by_hold(client: BridgeClient) -> None:
    for is_held in (False, True):
        with client.commands.silence("servo_jp"):
            waiting = client.follow(goal(stamp_ns=time.time_ns() + 3_600_000_000_000))
            if is_held:
                client.do("hold")
            else:
                assert waiting.cancel(TIMEOUT_S)
            ended = waiting.result(TIMEOUT_S).result
        reason = Reason.HOLD_REQUESTED if is_held else Reason.CANCELLED
        assert ended.error_string.startswith(reason.value)


def test_a_hold_right_after_a_goal_means_that_goal(client: BridgeClient) -> None:
    """It may overtake the goal, which is looked at before the control loop sees it."""
    for _ in range(20):
        following = client.go(at(yaw=0.5), 10.0)
        client.do("hold")
        text = following.result(TIMEOUT_S).result.error_string
        assert text.startswith(Reason.HOLD_REQUESTED.value), text
    client.reach(HOME)


def test_a_new_goal_takes_the_place_of_one_that_waits(client: BridgeClient) -> None:
    waiting = client.follow(goal(stamp_ns=time.time_ns() + 3_600_000_000_000))
    client.reach(HOME)
    check_ended(waiting.result(TIMEOUT_S), Reason.REPLACED, INVALID_GOAL)


def test_twenty_thousand_points_are_refused_while_the_loop_ticks_on(client: BridgeClient) -> None:
    client.reach(HOME)
    count = 20_000
    q = np.tile(HOME, (count, 1))
    huge = goal(np.arange(1, count + 1) * 0.005, q, qd=np.zeros_like(q))
    before = client.commands.mark()
    playing = client.go(at(yaw=1.0), 4.0)
    # First alone, so that it is known what the machine can do now.
    client.wait_moving(1.0, before=before)
    start_ns = time.time_ns()
    for _ in range(3):
        refused = client.follow(huge).result(TIMEOUT_S)
        text = check_ended(refused, Reason.TOO_MANY_POINTS, INVALID_GOAL)
        assert "20000 (allowed 10000)" in text
    end_ns = time.time_ns()
    sent, shown = client.commands.stamps_ns(before), np.array(client.joint_states)
    end_ns = min(end_ns, sent[-1])
    for stamps in (sent, shown):
        assert _rate(stamps, start_ns, end_ns) > 0.3 * _rate(stamps, sent[0], start_ns)
    # The arrival itself may hold the loop up for longer than a motion may wait.
    assert playing.result(TIMEOUT_S).result.error_string.startswith(
        (Reason.REACHED.value, Reason.GAP.value)
    )
    client.reach(HOME)


def _rate(stamps_ns: np.ndarray, begin_ns: int, end_ns: int) -> float:
    """How many stamps there are in a second of an interval."""
    inside = (stamps_ns >= begin_ns) & (stamps_ns < end_ns)
    return np.count_nonzero(inside) / ((end_ns - begin_ns) * 1e-9)

"""Playing: times, tolerances, replacing, and the path clock."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline

from dvrk_kinematics.driver import GoalStatus, Reason, ResultCode

HOME = np.array([0.0, 0.0, 0.12, 0.0, 0.0, 0.0])
FAR = np.array([0.4, 0.3, 0.2, 1.0, 0.3, -0.3])
STILL = np.zeros((2, 6))
BLOCK_LIKE_S = np.arange(0.0, 2.0001, 0.05)


def _wave(times: np.ndarray, amplitude: float = 0.1) -> tuple[np.ndarray, np.ndarray]:
    """A smooth motion from rest to rest within two seconds, away and back."""
    w = np.pi
    q = HOME + amplitude * (1 - np.cos(w * times))[:, None] * [1, 0.5, 0.2, 1, 1, 1] / 2
    qd = amplitude * w * np.sin(w * times)[:, None] * [1, 0.5, 0.2, 1, 1, 1] / 2
    qd[[0, -1]] = 0.0
    return q, qd


def test_cubic_playback_equals_scipys_hermite_spline(rig) -> None:
    q, qd = _wave(BLOCK_LIKE_S)
    truth = CubicHermiteSpline(BLOCK_LIKE_S, q, qd)
    begin_ns = rig.arm.now_ns
    assert rig.play(*BLOCK_LIKE_S, q=q, qd=qd) is None
    rig.run()
    for command in rig.arm.sent:
        t = min((command.now_ns - begin_ns) * 1e-9, 2.0)
        np.testing.assert_allclose(command.q, truth(t), atol=1e-12)
        np.testing.assert_allclose(command.qd, truth(t, 1), atol=1e-10)
    (result,) = rig.results
    assert result.status is GoalStatus.SUCCEEDED
    assert result.error_code is ResultCode.SUCCESSFUL
    assert result.lateness_s == pytest.approx(0.0, abs=0.006)


def test_quintic_playback_is_smooth(rig) -> None:
    qdd = np.zeros((2, 6))
    assert rig.play(0.0, 2.0, q=[HOME, FAR], qd=STILL, qdd=qdd) is None
    rig.run()
    middle = rig.arm.sent[len(rig.arm.sent) // 2 - 1]
    np.testing.assert_allclose(middle.q, (HOME + FAR) / 2, atol=0.02)
    np.testing.assert_allclose(rig.arm.sent[-1].q, FAR)
    rig.check_commands()


def test_without_feed_forward_explicit_zeros_are_sent(make_rig) -> None:
    """The real arm keeps the last velocity it got, also for messages without one."""
    rig = make_rig(feed_forward=False)
    assert rig.play(1.5, q=FAR) is None
    rig.run()
    assert len(rig.arm.sent) > 100
    assert all(command.qd.shape == (6,) and not command.qd.any() for command in rig.arm.sent)


def test_nothing_is_sent_at_rest(rig) -> None:
    rig.ticks(100)
    assert not rig.arm.order


@pytest.mark.parametrize("asked_s", [0.001, 0.2, 1.0, 3.0])
def test_a_single_point_is_joined_and_never_squeezed(rig, asked_s) -> None:
    """A first segment that was squeezed once asked a joint for 41 rad/s."""
    assert rig.play(asked_s, q=FAR) is None
    rig.run()
    (result,) = rig.results
    assert result.finding.reason is Reason.REACHED
    np.testing.assert_allclose(rig.arm.sent[-1].q, FAR)
    rig.check_commands()
    assert (result.lateness_s > 0.3) == (asked_s < 0.5)


def test_a_stamp_in_the_past_is_refused(rig) -> None:
    refused = rig.play(0.0, 1.0, q=[HOME, HOME], stamp_ns=rig.wall_ns - 1)
    assert refused.reason is Reason.STAMP_IN_PAST
    assert refused.code is ResultCode.OLD_HEADER_TIMESTAMP
    rig.ticks(10)
    assert not rig.arm.order


def test_a_stamp_in_the_future_waits(rig) -> None:
    assert rig.play(1.5, q=FAR, stamp_ns=rig.wall_ns + 200_000_000) is None
    rig.ticks(39)
    assert not rig.arm.order and not rig.player.is_idle
    rig.wall_ns += 3_600_000_000_000
    rig.ticks(3)
    assert rig.arm.order, "a wall clock that jumps must not change the wait"
    rig.run()
    assert rig.results[0].finding.reason is Reason.REACHED
    rig.check_commands()


def test_a_goal_that_waits_can_be_cancelled_or_replaced(rig) -> None:
    later = rig.wall_ns + 10**9
    assert rig.play(1.5, q=FAR, stamp_ns=later, goal_id="a") is None
    assert rig.play(1.5, q=FAR, stamp_ns=later, goal_id="b") is None
    assert rig.player.cancel("b")
    assert not rig.player.cancel("b")
    rig.ticks(400)
    assert [(r.goal_id, r.finding.reason) for r in rig.results] == [
        ("a", Reason.REPLACED),
        ("b", Reason.CANCELLED),
    ]
    assert not rig.arm.order


def test_a_goal_that_waits_takes_over_from_the_one_that_is_played(rig) -> None:
    assert rig.play(1.5, q=FAR, goal_id="a") is None
    assert rig.play(1.0, q=HOME, goal_id="b", stamp_ns=rig.wall_ns + 400_000_000) is None
    rig.run()
    assert [r.finding.reason for r in rig.results] == [Reason.REPLACED, Reason.REACHED]
    rig.check_commands()


def test_an_arm_that_is_no_longer_ready_refuses_a_goal_that_waited(rig) -> None:
    assert rig.play(1.5, q=FAR, stamp_ns=rig.wall_ns + 200_000_000) is None
    rig.ticks(20)
    rig.arm.say(is_busy=True)
    rig.ticks(100)
    assert rig.results[0].finding.reason is Reason.BUSY
    assert not rig.arm.order


@pytest.mark.parametrize("is_single", [True, False])
def test_a_replacement_neither_jumps_nor_stops_in_between(rig, is_single) -> None:
    assert rig.play(1.5, q=FAR, goal_id="a") is None
    rig.ticks(100)
    moving = rig.arm.sent[-1].qd[0]
    beyond = FAR + np.array([0.3, 0, 0, 0, 0, 0])
    times, q = ((1.5,), beyond) if is_single else ((1.5, 2.5), [beyond, beyond + 0.01])
    assert rig.play(*times, q=q, goal_id="b") is None
    count = len(rig.arm.sent)
    rig.run()
    speeds = np.array([command.qd[0] for command in rig.arm.sent[count : count + 100]])
    assert moving > 0.2 and speeds.min() > 0.1
    rig.check_commands()
    assert [r.finding.reason for r in rig.results] == [Reason.REPLACED, Reason.REACHED]


def test_a_goal_right_after_another_begins_where_that_one_ended(rig) -> None:
    """The arm still reports an older setpoint then."""
    rig.arm.echo_delay = 6
    assert rig.play(1.5, q=FAR) is None
    rig.run()
    assert rig.play(0.0, 2.0, q=[FAR, FAR - 0.05], qd=STILL) is None
    rig.run()
    assert [r.finding.reason for r in rig.results] == [Reason.REACHED, Reason.REACHED]
    rig.check_commands()


def test_a_stall_makes_a_motion_late_and_not_fast(rig) -> None:
    q, qd = _wave(BLOCK_LIKE_S)
    assert rig.play(*BLOCK_LIKE_S, q=q, qd=qd) is None
    for _ in range(5):
        rig.ticks(30)
        rig.tick(dt_ns=45_000_000)
    rig.run()
    (result,) = rig.results
    assert result.finding.reason is Reason.REACHED
    # In a stall the path advances by less than the time, as far as the accelerations allow.
    assert 0.0 < result.lateness_s < 5 * 0.035
    assert "ms late" in result.error_string
    rig.check_commands()


def test_path_tolerance_compares_with_what_is_measured(rig, tolerance) -> None:
    rig.arm.follows[0] = False
    assert rig.play(1.5, q=FAR, tolerances=tolerance(path=0.05)) is None
    rig.run()
    (result,) = rig.results
    assert result.error_code is ResultCode.PATH_TOLERANCE_VIOLATED
    assert result.finding.joint == "yaw" and result.finding.limit == 0.05


def test_minus_one_erases_a_default_tolerance(make_rig, tolerance) -> None:
    rig = make_rig(tolerances=tolerance(path=0.05, goal_time_s=0.2))
    rig.arm.follows[0] = False
    target = HOME + np.array([0.15, 0, 0, 0, 0, 0])
    assert rig.play(1.5, q=target, tolerances=tolerance(path=-1.0)) is None
    rig.run()
    assert rig.results[0].finding.reason is Reason.REACHED
    assert rig.play(1.5, q=HOME, goal_id="default") is None
    rig.run()
    assert rig.results[1].finding.reason is Reason.PATH_TOLERANCE


def test_goal_tolerance_waits_for_goal_time_and_no_longer(rig, tolerance) -> None:
    rig.arm.follows[0] = False
    asked = tolerance(goal=0.01, goal_time_s=0.3)
    assert rig.play(1.0, q=HOME + np.array([0.1, 0, 0, 0, 0, 0]), tolerances=asked) is None
    ticks = rig.run()
    assert ticks == pytest.approx((1.0 + 0.3) / 0.005, abs=3)
    assert rig.results[0].error_code is ResultCode.GOAL_TOLERANCE_VIOLATED


def test_a_goal_reached_within_goal_time_succeeds(rig, tolerance) -> None:
    asked = tolerance(goal=0.01, goal_time_s=0.5)
    rig.arm.follows[0] = False
    assert rig.play(1.0, q=HOME + np.array([0.1, 0, 0, 0, 0, 0]), tolerances=asked) is None
    rig.ticks(240)
    assert not rig.player.is_idle
    rig.arm.follows[0] = True
    rig.run()
    assert rig.results[0].finding.reason is Reason.REACHED


def test_a_goal_is_reached_only_at_rest(rig, tolerance) -> None:
    asked = tolerance(goal=0.01, goal_time_s=0.3)
    rig.arm.say(measured_qd=np.array([0.1, 0, 0, 0, 0, 0]))
    assert rig.play(1.0, q=HOME + 0.01, tolerances=asked) is None
    rig.run()
    assert rig.results[0].error_code is ResultCode.GOAL_TOLERANCE_VIOLATED
    assert "velocity" in rig.results[0].error_string


@pytest.mark.parametrize(("joint", "speed"), [(2, 0.009), (2, 0.0011), (0, 0.011)])
def test_an_insertion_that_still_moves_has_not_arrived(rig, tolerance, joint, speed) -> None:
    """At 9 mm/s it counted as arrived: what is slow for a joint that turns is fast for a slide."""
    asked = tolerance(goal=0.01, goal_time_s=0.3)
    rig.arm.say(measured_qd=speed * np.eye(6)[joint])
    assert rig.play(1.0, q=HOME, tolerances=asked) is None
    rig.run()
    assert rig.results[0].error_code is ResultCode.GOAL_TOLERANCE_VIOLATED
    found = rig.results[0].finding
    assert (found.detail, found.joint) == ("velocity error", rig.arm.state.joint_names[joint])
    rig.arm.say(measured_qd=np.where(np.arange(6) == 2, 0.0009, 0.009))
    assert rig.play(1.0, q=HOME, tolerances=asked, goal_id="slow") is None
    rig.run()
    assert rig.results[1].finding.reason is Reason.REACHED


def test_cancel_of_an_unknown_goal_changes_nothing(rig) -> None:
    assert rig.play(1.5, q=FAR) is None
    rig.ticks(10)
    assert not rig.player.cancel("another")
    rig.run()
    assert rig.results[0].finding.reason is Reason.REACHED


def test_feedback_tells_where_the_goal_is(rig) -> None:
    assert rig.player.feedback() is None
    assert rig.play(1.5, q=FAR) is None
    rig.ticks(40)
    feedback = rig.player.feedback()
    assert feedback is not None and feedback.goal_id == "goal"
    assert feedback.time_s == pytest.approx(0.2)
    np.testing.assert_array_equal(feedback.desired.q, rig.arm.sent[-1].q)

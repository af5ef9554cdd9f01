"""Late is slow, not stopped; and a user who sets the speed while it moves."""

from __future__ import annotations

import numpy as np
import pytest

from dvrk_kinematics.driver import Finding, OperatingState, Reason

FAR = np.array([0.4, 0.3, 0.2, 1.0, 0.3, -0.3])
PERIOD_NS = 5_000_000


def _begin(rig, seconds: float = 2.0, **fields: object) -> object:
    """Start a goal; gives its path, against which the commands are compared."""
    assert rig.play(seconds, q=FAR, **fields) is None
    path = rig.player._active.clock.path
    rig.ticks(60)
    assert np.abs(rig.arm.sent[-1].qd).max() > 0.1
    return path


def _check_path(rig, path) -> None:
    """Every command is a point of the path, in its order, and inside all limits."""
    rig.check_commands()
    times = np.linspace(0.0, path.duration_s, 8_001)
    dense = np.array([path.sample(t).q for t in times])
    before = 0
    for command in rig.arm.sent:
        off = np.abs(dense[before:] - command.q).max(axis=1)
        near = int(np.argmin(off[:800]))
        assert off[near] < 5e-4, "left the path"
        before += max(near - 1, 0)


@pytest.mark.parametrize("factor", [0.1, 0.5, 0.9])
def test_a_slower_motion_keeps_to_its_path_and_is_reached(rig, factor: float) -> None:
    path = _begin(rig)
    rig.player.scaling.wish = factor
    rig.ticks(100)
    assert rig.player.speed == pytest.approx(factor)
    ticks = rig.run(at_most=8000)
    (result,) = rig.results
    assert result.finding.reason is Reason.REACHED and result.slow_downs == 0
    left_s = path.duration_s - 0.3
    assert ticks * 0.005 + 0.5 == pytest.approx(left_s / factor, rel=0.5)
    _check_path(rig, path)


def test_a_factor_of_zero_pauses_on_the_path_for_as_long_as_it_is_wished(rig) -> None:
    path = _begin(rig)
    rig.player.scaling.wish = 0.0
    rig.ticks(400)
    assert rig.player.speed == 0.0 and not rig.player.is_idle
    where = rig.arm.sent[-1].q
    rig.ticks(1000)
    np.testing.assert_array_equal(rig.arm.sent[-1].q, where)
    assert not rig.arm.sent[-1].qd.any()
    rig.player.scaling.wish = 1.0
    rig.run()
    assert rig.results[0].finding.reason is Reason.REACHED
    _check_path(rig, path)


def test_a_goal_that_is_paused_can_be_cancelled_and_replaced(rig) -> None:
    _begin(rig)
    rig.player.scaling.wish = 0.0
    rig.ticks(400)
    assert rig.play(1.0, q=FAR, goal_id="second") is None
    rig.ticks(100)
    assert rig.player.cancel("second")
    rig.ticks(2)
    assert [r.finding.reason for r in rig.results] == [Reason.REPLACED, Reason.CANCELLED]
    rig.check_commands()


def test_a_goal_that_replaces_a_slow_one_goes_on_as_slowly_and_without_a_jump(rig) -> None:
    _begin(rig)
    rig.player.scaling.wish = 0.3
    rig.ticks(60)
    assert rig.play(1.0, q=np.array([0.1, 0.1, 0.15, 0.2, 0.1, 0.1]), goal_id="second") is None
    assert rig.player.speed == pytest.approx(0.3)
    rig.run(at_most=8000)
    assert rig.results[-1].finding.reason is Reason.REACHED
    rig.check_commands()


@pytest.mark.parametrize("silent_ms", [30, 60, 120, 500, 1500])
def test_a_late_arm_makes_a_motion_slow_and_it_goes_on_by_itself(rig, silent_ms: int) -> None:
    path = _begin(rig)
    rig.arm.is_reporting = False
    rig.ticks(silent_ms // 5)
    assert rig.player.speed < 1.0 and not rig.player.is_idle
    rig.arm.is_reporting = True
    rig.run()
    (result,) = rig.results
    assert result.finding.reason is Reason.REACHED
    assert result.slow_downs == 1 == rig.player.scaling.slow_downs
    assert "slowed down once" in result.error_string
    _check_path(rig, path)


def test_it_goes_on_only_after_the_arm_has_been_fresh_for_a_while(rig) -> None:
    _begin(rig)
    rig.arm.is_reporting = False
    rig.ticks(300)
    assert rig.player.speed == 0.0
    sent = len(rig.arm.sent)
    rig.arm.is_reporting = True
    rig.ticks(20)
    assert len(rig.arm.sent) == sent, "moved before the arm was fresh for 100 ms"
    rig.ticks(3)
    assert len(rig.arm.sent) > sent


def test_nothing_is_sent_to_a_silent_arm_once_the_motion_rests(rig) -> None:
    _begin(rig)
    rig.arm.is_reporting = False
    rig.ticks(250)
    assert rig.player.speed == 0.0
    sent = len(rig.arm.sent)
    rig.ticks(100)
    assert len(rig.arm.sent) == sent and not rig.arm.holds


def test_patience_ends_a_goal_as_a_stale_state_does(rig) -> None:
    _begin(rig)
    rig.arm.is_reporting = False
    rig.ticks(400)
    assert not rig.results
    rig.ticks(20)
    (result,) = rig.results
    assert result.finding.reason is Reason.STALE_STATE and result.finding.limit == 0.05
    assert rig.arm.order[-2:] == ["servo_jp", "hold"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"operating_state": OperatingState.DISABLED}, Reason.LEFT_ENABLED),
        ({"interruptions": 1}, Reason.BUSY),
        ({"is_homed": False}, Reason.NOT_HOMED),
        ({"tool": "PROGRASP_FORCEPS:400093[..]"}, Reason.WRONG_TOOL),
        ({"errors": 1}, Reason.ARM_ERROR),
    ],
)
def test_what_happened_while_the_arm_was_silent_ends_the_motion(rig, change, reason) -> None:
    _begin(rig)
    rig.arm.is_reporting = False
    rig.ticks(250)
    sent = len(rig.arm.sent)
    rig.arm.say(**change)
    rig.arm.is_reporting = True
    rig.tick()
    assert rig.results[0].finding.reason is reason
    assert all((s.q == rig.arm.sent[sent - 1].q).all() for s in rig.arm.sent[sent:])


def test_somebody_who_moves_the_arm_while_it_is_silent_makes_us_silent(rig) -> None:
    _begin(rig)
    rig.arm.is_reporting = False
    rig.ticks(250)
    sent = len(rig.arm.sent)
    rig.arm._setpoints = [q + 0.02 for q in rig.arm._setpoints]
    rig.arm.is_reporting = True
    rig.ticks(5)
    assert rig.results[0].finding.reason is Reason.FOREIGN_SETPOINT
    assert len(rig.arm.sent) == sent and not rig.arm.holds


@pytest.mark.parametrize("gap_ms", [8, 15, 30, 49, 60, 120, 400])
def test_a_late_tick_makes_a_motion_slow_without_a_kink(rig, gap_ms: int) -> None:
    path = _begin(rig)
    for _ in range(4):
        rig.tick(dt_ns=gap_ms * 1_000_000)
        rig.ticks(25)
    rig.run()
    (result,) = rig.results
    assert result.finding.reason is Reason.REACHED
    assert (result.slow_downs > 0) == (gap_ms > 25)
    _check_path(rig, path)


def test_a_late_tick_of_a_fast_wrist_is_no_step_near_the_tolerance_of_the_pid(rig) -> None:
    assert rig.play(0.5, q=np.array([0.0, 0.0, 0.12, 4.0, 0.0, 0.0])) is None
    rig.ticks(90)
    assert rig.arm.sent[-1].qd[3] > 5.0
    rig.tick(dt_ns=120_000_000)
    step = np.abs(rig.arm.sent[-1].q - rig.arm.sent[-2].q)
    assert 0.2 < step[3] <= 0.45, "as far as the guard lets it go"
    rig.run()
    assert rig.results[0].finding.reason is Reason.REACHED


def test_a_loop_that_stood_still_for_longer_than_the_patience_ends_the_goal(rig) -> None:
    _begin(rig)
    rig.tick(dt_ns=2_100_000_000)
    rig.run(at_most=200)
    assert rig.results[0].finding.reason is Reason.GAP
    rig.check_commands()


def test_a_machine_that_is_in_time_now_and_then_is_waited_for(rig) -> None:
    path = _begin(rig)
    for _ in range(200):
        rig.tick(dt_ns=60_000_000)
        rig.ticks(4)
    assert not rig.results and rig.player.speed == 0.0
    rig.run()
    (result,) = rig.results
    assert result.finding.reason is Reason.REACHED and result.slow_downs == 1
    _check_path(rig, path)


def test_a_cancel_while_the_arm_is_silent_comes_to_rest_and_is_answered(rig) -> None:
    path = _begin(rig)
    rig.arm.is_reporting = False
    rig.ticks(8)
    assert rig.player.cancel("goal")
    rig.run(at_most=250)
    assert rig.results[0].finding.reason is Reason.CANCELLED
    _check_path(rig, path)


def test_hold_while_paused_ends_the_goal(rig) -> None:
    _begin(rig)
    rig.player.scaling.wish = 0.0
    rig.ticks(400)
    rig.player.stop(Finding(Reason.HOLD_REQUESTED))
    rig.ticks(2)
    assert rig.results[0].finding.reason is Reason.HOLD_REQUESTED


def test_the_recorded_stamps_never_stop_a_motion(make_rig, recorded_stamps) -> None:
    """The whole recording of the real software, with one motion after the other."""
    recorded = {topic: recorded_stamps[topic] for topic in ("measured_js", "setpoint_js")}
    rig = make_rig()
    begin_ns = rig.arm.now_ns
    end_ns = min(int(rows[-1, 0]) for rows in recorded.values())

    def publish() -> None:
        rig.arm._setpoints = [*rig.arm._setpoints[-199:], rig.arm._setpoints[-1]]
        told: dict[str, object] = {}
        for topic, rows in recorded.items():
            at = rig.arm.now_ns - begin_ns
            k = int(np.searchsorted(rows[:, 0], at, side="right")) - 1
            name = topic.removesuffix("_js")
            if k < 0 or getattr(rig.arm.state, f"{name}_arrival_ns") == begin_ns + rows[k, 0]:
                continue
            told[f"{name}_arrival_ns"] = begin_ns + int(rows[k, 0])
            told[f"{name}_stamp_ns"] = 10**18 + int(rows[k, 1])
            told[f"{name}_q"] = rig.arm._setpoints[-1 - rig.arm.echo_delay]
        rig.arm.say(**told)

    rig.arm.publish = publish
    rig.ticks(40)
    goals = 0
    while rig.arm.now_ns < begin_ns + end_ns - 5_000_000_000:
        goals += 1
        target = FAR if goals % 2 else np.array([0.0, 0.0, 0.12, 0.0, 0.0, 0.0])
        assert rig.play(1.5, q=target, goal_id=goals) is None
        rig.run()
    assert goals >= 10
    assert {r.finding.reason for r in rig.results} == {Reason.REACHED}
    rig.check_commands()


def test_an_arm_that_repeats_its_datum_while_it_is_starved_is_late_and_not_behind(rig) -> None:
    """The publisher of a dVRK goes on while its arm does not run: longer than an echo may take."""
    path = _begin(rig, 4.0)
    rig.arm.stamp_step_ns = 1_000
    frozen_q = rig.arm.state.setpoint_q
    rig.arm.echo_delay = 190
    for _ in range(150):
        rig.arm.now_ns += PERIOD_NS
        rig.arm.publish()
        rig.arm.say(setpoint_q=frozen_q, measured_q=frozen_q)
        rig.player.tick(rig.arm.now_ns)
    assert rig.player.last_stop is None
    rig.arm.stamp_step_ns, rig.arm.echo_delay = PERIOD_NS, 3
    rig.run()
    assert rig.results[0].finding.reason is Reason.REACHED
    _check_path(rig, path)


def test_a_goal_that_comes_while_the_arm_is_late_waits_for_it(rig) -> None:
    rig.arm.is_reporting = False
    rig.ticks(30)
    assert rig.play(1.0, q=FAR) is None
    rig.ticks(30)
    assert not rig.arm.sent
    rig.arm.is_reporting = True
    rig.ticks(15)
    assert not rig.arm.sent, "moved before the arm was fresh for 100 ms"
    rig.run()
    assert rig.results[0].finding.reason is Reason.REACHED
    rig.check_commands()


def test_a_goal_right_after_a_late_state_waits_too(rig) -> None:
    rig.arm.is_reporting = False
    rig.ticks(30)
    rig.arm.is_reporting = True
    rig.ticks(2)
    assert rig.play(1.0, q=FAR) is None
    rig.ticks(10)
    assert not rig.arm.sent
    rig.run()
    assert rig.results[0].finding.reason is Reason.REACHED


def test_a_goal_for_an_arm_that_is_late_and_off_its_setpoint_is_refused(rig) -> None:
    """It was taken, and ended at once as a motion that had failed."""
    off = rig.arm._setpoints[-1].copy()
    off[0] += 0.3
    rig.arm.say(measured_q=off)
    rig.arm.is_reporting = False
    rig.ticks(30)
    refused = rig.play(1.0, q=FAR)
    assert refused is not None and refused.reason is Reason.STALE_STATE
    assert not rig.results and not rig.arm.sent


def test_a_goal_for_an_arm_that_has_been_silent_for_long_is_refused(rig) -> None:
    rig.arm.is_reporting = False
    rig.ticks(500)
    refused = rig.play(1.0, q=FAR)
    assert refused is not None and refused.reason is Reason.STALE_STATE


def test_a_goal_that_waits_for_who_is_there_sends_nothing_and_goes_on_from_rest(rig) -> None:
    path = _begin(rig)
    rig.arm.is_reporting = False
    rig.tick(dt_ns=1_500_000_000)
    rig.arm.is_reporting = True
    sent = len(rig.arm.sent)
    for _ in range(50):
        assert rig.player.wait(rig.arm.now_ns)
        rig.tick()
    assert len(rig.arm.sent) == sent and rig.player.speed == 0.0
    rig.run()
    assert rig.results[0].finding.reason is Reason.REACHED
    _check_path(rig, path)


def test_setpoints_that_are_late_on_their_way_slow_a_motion_down(rig) -> None:
    """An arm whose states are fresh, and that takes no setpoint for 0.4 s, as if starved."""
    path = _begin(rig, 1.5)
    rig.arm.is_deaf = True
    rig.ticks(80)
    assert not rig.results, [str(result.finding) for result in rig.results]
    rig.arm.is_deaf = False
    rig.run()
    (result,) = rig.results
    assert result.finding.reason is Reason.REACHED and result.slow_downs > 0
    _check_path(rig, path)

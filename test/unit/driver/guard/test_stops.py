"""Stopping: every cause, in the way that the table says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dvrk_kinematics.driver import (
    HOLD_ALONE,
    STOPS,
    Finding,
    OperatingState,
    Reason,
    Sample,
    StopKind,
)

SAFETY = Path(__file__).resolve().parents[4] / "docs" / "safety.md"
FAR = np.array([0.4, 0.3, 0.2, 1.0, 0.3, -0.3])


def _foreign(rig) -> None:
    rig.arm._setpoints = [q + 0.02 for q in rig.arm._setpoints]


def _stalled(rig) -> None:
    rig.arm.follows[0] = False
    rig.arm.say(measured_q=rig.arm.state.measured_q + np.array([0.3, 0, 0, 0, 0, 0]))


def _pulse(rig) -> None:
    rig.arm.say(interruptions=rig.arm.state.interruptions + 1)


def _nan(rig) -> None:
    rig.arm.follows[3] = False
    rig.arm.say(measured_q=rig.arm.state.measured_q + np.array([0, 0, 0, np.nan, 0, 0]))


def _silent_arm(rig) -> None:
    rig.arm.is_reporting = False
    rig.run()


def _no_stamp(rig) -> None:
    rig.arm.say(measured_stamp_ns=0)
    rig.arm.stamp_step_ns = 0


def _clock_set_back(rig) -> None:
    rig.arm.stamp_step_ns = -2_000_000


def _gap(rig) -> None:
    """Ticks that are late for longer than the patience lasts."""
    while rig.player.last_stop is None and not rig.player.is_idle:
        rig.tick(dt_ns=60_000_000)


def _send(rig, q, qd) -> None:
    """What a player with a fault might do; the guard must not let it through."""
    rig.arm.now_ns += 5_000_000
    rig.arm.publish()
    rig.guard.observe(rig.arm.now_ns)
    found = rig.guard.send(Sample(np.asarray(q, float), np.asarray(qd, float)))
    assert found is not None
    rig.player.stop(found)


def _offset(joint: int, by: float) -> Callable:
    def cause(rig) -> None:
        q = rig.arm.sent[-1].q.copy()
        q[joint] += by
        _send(rig, q, np.zeros(6))

    return cause


def _lose_setpoints(rig) -> None:
    """The arm reports as ever, but hears nothing any more."""
    rig.arm.is_deaf = True
    for _ in range(200):
        if rig.player.is_idle:
            return
        rig.tick()


def _outside(rig) -> None:
    q = rig.arm.sent[-1].q.copy()
    q[0] = 1.6
    _send(rig, q, np.zeros(6))


def _shallow(rig) -> None:
    rig.guard.begin(is_cartesian=True)
    q = rig.arm.sent[-1].q.copy()
    q[2] -= 5e-4
    _send(rig, q, np.zeros(6))


CAUSES: dict[Reason, Callable] = {
    Reason.CANCELLED: lambda rig: rig.player.cancel("goal"),
    Reason.HOLD_REQUESTED: lambda rig: rig.player.stop(Finding(Reason.HOLD_REQUESTED)),
    Reason.PATH_TOLERANCE: lambda rig: rig.arm.follows.__setitem__(1, False),
    Reason.GAP: _gap,
    Reason.JOG_TIMEOUT: lambda rig: rig.player.stop(Finding(Reason.JOG_TIMEOUT)),
    Reason.LIMIT_AHEAD: lambda rig: rig.player.stop(Finding(Reason.LIMIT_AHEAD)),
    Reason.CANNULA_AHEAD: lambda rig: rig.player.stop(Finding(Reason.CANNULA_AHEAD)),
    Reason.SINGULARITY_AHEAD: lambda rig: rig.player.stop(Finding(Reason.SINGULARITY_AHEAD)),
    Reason.STALE_STATE: _silent_arm,
    Reason.STAMP_ZERO: _no_stamp,
    Reason.STAMP_WENT_BACK: _clock_set_back,
    Reason.NOT_FINITE_STATE: _nan,
    Reason.WRONG_JOINTS: lambda rig: rig.arm.say(joint_names=("disc_1", "disc_2")),
    Reason.WRONG_TOOL: lambda rig: rig.arm.say(tool="PROGRASP_FORCEPS:400093[..]"),
    Reason.TRACKING_ERROR: _stalled,
    Reason.ARM_BEHIND: _lose_setpoints,
    Reason.ARM_ERROR: lambda rig: rig.arm.say(errors=1, last_error="PSM1: no luck"),
    Reason.NOT_FINITE_SETPOINT: _offset(4, np.nan),
    Reason.SETPOINT_LIMIT: _outside,
    Reason.SETPOINT_VELOCITY: _offset(0, 0.05),
    Reason.SETPOINT_STEP: _offset(3, 0.03),
    Reason.SETPOINT_IN_CANNULA: _shallow,
    Reason.LOOP_FAILED: lambda rig: rig.player.stop(Finding(Reason.LOOP_FAILED)),
    Reason.JOG_FAILED: lambda rig: rig.player.stop(Finding(Reason.JOG_FAILED)),
    Reason.LEFT_ENABLED: lambda rig: rig.arm.say(operating_state=OperatingState.PAUSED),
    Reason.FAULT: lambda rig: rig.arm.say(operating_state=OperatingState.FAULT),
    Reason.NOT_HOMED: lambda rig: rig.arm.say(is_homed=False),
    Reason.BUSY: lambda rig: rig.arm.say(is_busy=True),
    Reason.FOREIGN_SETPOINT: _foreign,
    Reason.FOREIGN_COMMAND: lambda rig: rig.guard.hear_command(Finding(Reason.FOREIGN_COMMAND)),
    Reason.NOT_SIMULATED: lambda rig: rig.player.stop(Finding(Reason.NOT_SIMULATED)),
}


def _moving_rig(make_rig, tolerance, reason: Reason):
    changes = {}
    if reason is Reason.SETPOINT_STEP:
        # The wrist may be so fast that its step counts before its velocity does.
        changes["pid_tolerance"] = np.array([0.5, 0.5, 0.05, 0.02, 0.6, 0.4])
        changes["step_fraction"] = 0.9
    if reason is Reason.ARM_BEHIND:
        # So that the distance counts before the time does.
        changes["pid_tolerance"] = np.array([0.5, 0.5, 0.05, 0.2, 0.6, 0.4])
    rig = make_rig(**changes)
    start = rig.arm.state.setpoint_q.copy()
    goal = FAR
    if reason is Reason.SETPOINT_IN_CANNULA:
        start = np.array([0.0, 0.0, 0.06, 0.0, 0.0, 0.0])
        rig.arm.rest_at(start)
        rig.ticks(30)
        goal = start + np.array([0.3, 0.2, 0.0, 0.0, 0.0, 0.0])
    assert rig.play(1.5, q=goal, tolerances=tolerance(path=0.06)) is None
    rig.ticks(60)
    assert np.abs(rig.arm.sent[-1].qd).max() > 0.1
    return rig


def test_every_cause_of_the_table_is_tested_here() -> None:
    assert set(CAUSES) == set(STOPS)


@pytest.mark.parametrize("reason", CAUSES, ids=lambda r: r.name)
def test_each_cause_stops_the_motion_as_the_table_says(make_rig, tolerance, reason) -> None:
    rig = _moving_rig(make_rig, tolerance, reason)
    kind = STOPS[reason]
    before = len(rig.arm.sent)
    CAUSES[reason](rig)
    if kind is not StopKind.PATH_STOP:
        before = len(rig.arm.sent)
    if not rig.player.is_idle and kind is not StopKind.PATH_STOP:
        rig.tick()
    elif kind is StopKind.PATH_STOP:
        rig.run(at_most=200)
    rig.results += rig.player.take_results()
    (result,) = rig.results
    assert result.finding.reason is reason, result.error_string
    assert reason.value in result.error_string
    assert rig.player.last_stop is result.finding
    sent = rig.arm.sent
    if kind is StopKind.PATH_STOP:
        assert len(sent) > before
        assert not sent[-1].qd.any()
        assert not rig.arm.holds
        rig.check_commands()
    elif reason in HOLD_ALONE:
        assert rig.arm.order[-2:] == ["servo_jp", "hold"]
        assert len(rig.arm.holds) == 1 and sent[-1].qd.any(), "the last setpoint was repeated"
    elif kind is StopKind.FREEZE:
        assert rig.arm.order[-3:] == ["servo_jp", "servo_jp", "hold"]
        np.testing.assert_array_equal(sent[-1].q, sent[-2].q)
        assert not sent[-1].qd.any()
    else:
        assert len(sent) == before
        assert not rig.arm.holds
    count = len(rig.arm.order)
    rig.ticks(20)
    assert len(rig.arm.order) == count, "a motion that was stopped went on"


def test_an_arm_that_is_not_ours_gets_nothing_whatever_else_is_wrong(rig) -> None:
    """The real arm answers NaN with an error, DISABLED, no stamp and a setpoint of NaN."""
    assert rig.play(1.5, q=FAR) is None
    rig.ticks(40)
    rig.arm.publish = lambda: None
    nan = np.full(6, np.nan)
    rig.arm.say(
        operating_state=OperatingState.DISABLED,
        measured_q=nan,
        setpoint_q=nan,
        measured_stamp_ns=0,
        tool="",
        errors=1,
    )
    count = len(rig.arm.order)
    rig.ticks(20)
    assert rig.results[0].finding.reason is Reason.LEFT_ENABLED
    assert len(rig.arm.order) == count


def test_a_second_client_makes_us_silent_though_the_arm_lags_too(rig) -> None:
    assert rig.play(1.5, q=FAR) is None
    rig.ticks(40)
    _foreign(rig)
    _stalled(rig)
    count = len(rig.arm.order)
    rig.ticks(20)
    assert rig.results[0].finding.reason is Reason.FOREIGN_SETPOINT
    assert len(rig.arm.order) == count


def test_nothing_passes_the_guard_before_a_motion_was_begun(rig) -> None:
    assert rig.guard.send(Sample(rig.arm.state.setpoint_q, np.zeros(6))) is not None
    rig.guard.stop(Finding(Reason.STALE_STATE))
    assert not rig.arm.order


def test_setpoints_of_a_wrong_shape_do_not_pass_the_guard(rig) -> None:
    rig.guard.begin(is_cartesian=False)
    rig.tick()
    for q, qd in ((np.zeros(5), np.zeros(6)), (np.zeros(6), np.zeros(1))):
        found = rig.guard.send(Sample(q, qd))
        assert found is not None and found.reason is Reason.NOT_FINITE_SETPOINT
    assert not rig.arm.order


def test_a_busy_pulse_between_two_ticks_is_not_missed(rig) -> None:
    assert rig.play(1.5, q=FAR) is None
    rig.ticks(40)
    _pulse(rig)
    before = len(rig.arm.sent)
    rig.tick()
    assert rig.results[0].finding.reason is Reason.BUSY
    assert len(rig.arm.sent) == before


@pytest.mark.parametrize("when", [0.1, 0.45, 0.75, 1.4], ids=str)
def test_cancel_stops_along_the_path(rig, when) -> None:
    """In acceleration, in cruise, in deceleration, and near the end."""
    assert rig.play(1.5, q=FAR) is None
    path = rig.player._active.clock.path
    rig.ticks(round(when / 0.005))
    moving = rig.arm.sent[-1].qd
    assert rig.player.cancel("goal")
    stopping = rig.run(at_most=200)
    assert stopping * 0.005 <= (np.abs(moving) / rig.limits.acceleration).max() + 0.02
    rig.check_commands()
    dense = np.array([path.sample(t).q for t in np.linspace(0.0, path.duration_s, 3001)])
    for command in rig.arm.sent:
        assert np.abs(dense - command.q).max(axis=1).min() < 1e-3, "left the path"


def test_freeze_and_silence_need_a_new_time_of_readiness(rig) -> None:
    assert rig.play(1.5, q=FAR) is None
    rig.ticks(40)
    rig.arm.say(errors=1)
    rig.tick()
    refused = rig.play(1.0, q=FAR)
    assert refused is not None and refused.reason is Reason.ARM_ERROR
    rig.ticks(3)
    refused = rig.play(1.0, q=FAR)
    assert refused is not None and refused.reason is Reason.NOT_READY_LONG_ENOUGH
    rig.ticks(25)
    assert rig.play(1.0, q=FAR) is None
    rig.run()
    assert rig.results[-1].finding.reason is Reason.REACHED


def test_the_documented_table_is_the_table_of_the_code() -> None:
    rows, kinds = {}, {kind.value for kind in StopKind}
    for line in SAFETY.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `") and len(cells) == 3 and cells[1] in kinds:
            rows[cells[0].strip("`")] = cells[1]
    assert rows == {reason.name: kind.value for reason, kind in STOPS.items()}


def test_an_arm_that_hears_nothing_is_not_said_to_be_moved_by_somebody(rig) -> None:
    assert rig.play(3.0, q=rig.arm.state.setpoint_q + 0.01) is None
    rig.arm.is_deaf = True
    rig.run()
    (result,) = rig.results
    assert result.finding.reason is Reason.ARM_BEHIND
    assert rig.arm.order[-2:] == ["servo_jp", "hold"] and len(rig.arm.holds) == 1

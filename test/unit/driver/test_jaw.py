"""The jaw's player: inside its limits, through the guard, and honest about what it closed on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jaw_rig import LIMITS, JawRig

from dvrk_kinematics.driver import OperatingState, Reason
from dvrk_kinematics.driver.jaw import JawSettings

LOWER, UPPER = LIMITS.position.pairs[0]


@pytest.fixture
def jaw(make_rig: Callable[..., Any]) -> JawRig:
    return JawRig(make_rig)


@settings(max_examples=20, deadline=None)
@given(goals=st.lists(st.floats(LOWER, UPPER), min_size=1, max_size=4), ticks=st.integers(1, 60))
def test_any_openings_one_after_the_other_keep_to_the_limits(
    make_rig: Callable[..., Any], goals: list[float], ticks: int
) -> None:
    jaw = JawRig(make_rig)
    for number, goal in enumerate(goals):
        assert jaw.accept(number, goal) is None
        jaw.ticks(ticks)
    while jaw.player.feedback() is not None:
        jaw.tick()
    jaw.check()
    assert abs(jaw.measured - goals[-1]) <= JawSettings().tolerance
    results = sorted(jaw.results)
    assert [result.goal_id for result in results] == list(range(len(goals)))
    assert results[-1].is_reached and not results[-1].is_stalled
    assert all(r.finding.reason in (Reason.REPLACED, Reason.REACHED) for r in results)


@pytest.mark.parametrize(
    ("position", "reason"),
    [
        (UPPER + 0.01, Reason.GOAL_POSITION_LIMIT),
        (LOWER - 0.01, Reason.GOAL_POSITION_LIMIT),
        (float("nan"), Reason.NOT_FINITE_GOAL),
        (float("inf"), Reason.NOT_FINITE_GOAL),
    ],
)
def test_an_opening_outside_the_limits_is_refused(
    jaw: JawRig, position: float, reason: Reason
) -> None:
    refused = jaw.accept("goal", position)
    assert refused is not None and refused.reason is reason
    assert jaw.player.feedback() is None


def test_nothing_starts_while_the_arm_is_not_ready_or_the_jaw_unknown(jaw: JawRig) -> None:
    jaw.is_valid = False
    refused = jaw.accept("goal", 0.5)
    assert refused is not None and refused.reason is Reason.STALE_STATE
    jaw.is_valid = True
    jaw.rig.arm.say(is_busy=True)
    jaw.tick()
    refused = jaw.accept("goal", 0.5)
    assert refused is not None and refused.reason is Reason.BUSY
    assert jaw.sent == []


def test_a_jaw_that_stands_on_something_is_stalled_not_reached(jaw: JawRig) -> None:
    jaw.measured = 0.6
    jaw.setpoint = 0.6
    jaw.follows = False
    assert jaw.accept("goal", 0.0) is None
    result = jaw.run()
    assert result.is_stalled and not result.is_reached
    assert result.finding.reason is Reason.REACHED and result.reading.position == 0.6


def test_a_jaw_that_still_moves_is_waited_for(jaw: JawRig) -> None:
    jaw.follows, jaw.velocity = False, 0.5
    assert jaw.accept("goal", 0.5) is None
    jaw.ticks(400)
    assert jaw.results == []
    jaw.measured = 0.5
    assert jaw.run().is_reached


def test_a_cancelled_jaw_slows_down_and_stays(jaw: JawRig) -> None:
    assert jaw.accept("goal", 1.0) is None
    jaw.ticks(40)
    assert not jaw.player.cancel("another")
    assert jaw.player.cancel("goal")
    result = jaw.run()
    assert result.finding.reason is Reason.CANCELLED
    assert 0.0 < jaw.sent[-1] < 1.0
    jaw.check()


@pytest.mark.parametrize("end", ["cancel", "one tick"])
def test_a_jaw_does_not_jump_back_to_an_old_echo(make_rig: Callable[..., Any], end: str) -> None:
    """With an echo of 100 ms the jaw went back by 0.09 to 0.19 rad in one tick."""
    jaw = JawRig(make_rig, echo_ns=150_000_000)
    assert jaw.accept("first", 1.3) is None
    jaw.ticks(50)
    if end == "cancel":
        assert jaw.player.cancel("first")
    else:
        jaw.rig.arm.say(is_busy=True)
        jaw.tick()
        jaw.rig.arm.say(is_busy=False)
    assert jaw.run().finding.reason in (Reason.CANCELLED, Reason.BUSY)
    last = jaw.sent[-1]
    # From the first tick on at which it may move again.
    while jaw.accept("second", 1.0) is not None:
        jaw.tick()
    assert abs(jaw.player.feedback().reading.setpoint - last) > 0.02, "the echo is still old"
    jaw.tick()
    assert abs(jaw.sent[-1] - last) < 1e-3
    assert jaw.run().is_reached
    jaw.check()


def test_the_guard_compares_the_jaw_with_what_it_sent_itself(
    make_rig: Callable[..., Any],
) -> None:
    jaw = JawRig(make_rig, echo_ns=100_000_000)
    guard = jaw.rig.guard
    assert guard.send_jaw(0.0).reason is Reason.NOT_READY_LONG_ENOUGH
    jaw.setpoint = 0.3
    assert guard.begin_jaw() == 0.3
    jaw.rig.tick()
    assert guard.send_jaw(0.5).reason is Reason.SETPOINT_VELOCITY
    assert guard.send_jaw(0.35) is None
    jaw.rig.tick()
    assert guard.begin_jaw() == 0.35, "the arm still reports 0.3"
    jaw.rig.tick()
    assert guard.send_jaw(0.25).reason is Reason.SETPOINT_VELOCITY
    jaw.rig.ticks(110)
    assert guard.begin_jaw() == 0.35
    jaw.setpoint = 0.6
    assert guard.begin_jaw() == 0.6, "somebody else has moved it since"
    jaw.rig.tick()
    assert guard.send_jaw(0.35).reason is Reason.SETPOINT_VELOCITY
    assert jaw.sent == [0.35]


def test_a_late_tick_moves_the_jaw_on_without_a_kink(jaw: JawRig) -> None:
    assert jaw.accept("goal", 1.3) is None
    jaw.ticks(30)
    jaw.tick(45_000_000)
    assert jaw.run().is_reached
    jaw.check()


def test_after_a_long_gap_the_jaw_is_slower_and_moves_on(jaw: JawRig) -> None:
    assert jaw.accept("goal", 1.3) is None
    jaw.ticks(30)
    before, last = jaw.sent[-2:]
    jaw.tick(200_000_000)
    assert jaw.sent[-1] - last < 20 * (last - before), "as slow as its acceleration allows"
    assert jaw.player.scaling.is_overdue and jaw.player.scaling.slow_downs == 1
    assert jaw.run().is_reached and jaw.sent[-1] == 1.3
    jaw.check()


def test_a_cancelled_jaw_that_is_sent_elsewhere_was_cancelled(jaw: JawRig) -> None:
    assert jaw.accept("goal", 1.0) is None
    jaw.ticks(40)
    assert jaw.player.cancel("goal")
    jaw.tick()
    assert jaw.accept("next", 0.0) is None
    assert jaw.player.take_results()[0].finding.reason is Reason.CANCELLED
    assert jaw.run().is_reached
    jaw.check()


def test_an_arm_that_is_taken_away_silences_the_jaw(jaw: JawRig) -> None:
    assert jaw.accept("goal", 1.0) is None
    jaw.ticks(10)
    sent = len(jaw.sent)
    jaw.rig.arm.say(operating_state=OperatingState.DISABLED)
    result = jaw.run()
    assert result.finding.reason is Reason.LEFT_ENABLED and not result.is_reached
    assert len(jaw.sent) == sent


def test_a_jaw_that_becomes_invalid_at_its_end_is_not_reached(jaw: JawRig) -> None:
    assert jaw.accept("goal", 0.2) is None
    jaw.is_valid = False
    result = jaw.run()
    assert result.finding.reason is Reason.STAMP_ZERO and not result.is_reached


def test_an_arm_without_a_jaw_is_sent_none(make_rig: Callable[..., Any]) -> None:
    jaw = JawRig(make_rig)
    jaw.rig.guard.settings = replace(jaw.rig.guard.settings, jaw=None)
    assert jaw.accept("goal", 0.2) is None
    assert jaw.run().finding.reason is Reason.WRONG_JOINTS
    assert jaw.sent == []

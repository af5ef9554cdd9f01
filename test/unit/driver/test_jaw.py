"""The jaw's player: inside its limits, through the guard, and honest about what it closed on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dvrk_kinematics import load_arm
from dvrk_kinematics.driver import MotionLimits, OperatingState, Reason
from dvrk_kinematics.driver.jaw import JawPlayer, JawReading, JawSettings
from dvrk_kinematics.kinematics.limits import JointLimits

JAW = load_arm("PSM", instrument="400006").jaw
assert JAW is not None
LOWER, UPPER, SPEED, ACCELERATION = JAW.lower, JAW.upper, JAW.velocity, JAW.acceleration
LIMITS = MotionLimits(
    JointLimits(["jaw"], [LOWER], [UPPER]), np.array([SPEED]), np.array([ACCELERATION])
)
PERIOD_NS = 5_000_000


class JawRig:
    """A jaw beside an arm that answers in the test itself."""

    def __init__(self, make_rig: Callable[..., Any]) -> None:
        self.rig = make_rig(jaw=LIMITS)
        self.sent: list[float] = []
        self.setpoint = self.measured = 0.0
        self.follows = self.is_valid = True
        self.velocity: float | None = 0.0
        # The port of the guard's arm gets the jaw's setpoints.
        self.rig.arm.servo_jaw = self.servo_jaw
        self.player = JawPlayer(self.rig.guard, self, LIMITS, JawSettings())
        self.results: list[Any] = []

    def servo_jaw(self, position: float) -> None:
        self.sent.append(position)
        self.setpoint = position
        if self.follows:
            self.measured = position

    def read_jaw(self) -> JawReading:
        return JawReading(self.measured if self.is_valid else None, self.velocity, self.setpoint)

    def tick(self) -> None:
        self.rig.tick()
        self.player.tick(self.rig.arm.now_ns)
        self.results += self.player.take_results()

    def run(self, at_most: int = 1000) -> Any:
        """Tick until the goal has ended; gives its result."""
        for _ in range(at_most):
            if self.results:
                return self.results.pop()
            self.tick()
        raise AssertionError("the goal did not end")

    def check(self) -> None:
        sent = np.array([0.0, *self.sent])
        assert (sent >= LOWER).all() and (sent <= UPPER).all()
        speed = np.diff(sent) / (PERIOD_NS * 1e-9)
        assert (np.abs(speed) <= SPEED * 1.001).all()
        change = np.diff(speed, prepend=0.0) / (PERIOD_NS * 1e-9)
        assert (np.abs(change) <= ACCELERATION * 1.01 + 1e-6).all()


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
        assert jaw.player.accept(number, goal) is None
        for _ in range(ticks):
            jaw.tick()
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
    refused = jaw.player.accept("goal", position)
    assert refused is not None and refused.reason is reason
    assert jaw.player.feedback() is None


def test_nothing_starts_while_the_arm_is_not_ready_or_the_jaw_unknown(jaw: JawRig) -> None:
    jaw.is_valid = False
    refused = jaw.player.accept("goal", 0.5)
    assert refused is not None and refused.reason is Reason.STALE_STATE
    jaw.is_valid = True
    jaw.rig.arm.say(is_busy=True)
    jaw.tick()
    refused = jaw.player.accept("goal", 0.5)
    assert refused is not None and refused.reason is Reason.BUSY
    assert jaw.sent == []


def test_a_jaw_that_stands_on_something_is_stalled_not_reached(jaw: JawRig) -> None:
    jaw.measured = 0.6
    jaw.setpoint = 0.6
    jaw.follows = False
    assert jaw.player.accept("goal", 0.0) is None
    result = jaw.run()
    assert result.is_stalled and not result.is_reached
    assert result.finding.reason is Reason.REACHED and result.reading.position == 0.6


def test_a_jaw_that_still_moves_is_waited_for(jaw: JawRig) -> None:
    jaw.follows, jaw.velocity = False, 0.5
    assert jaw.player.accept("goal", 0.5) is None
    for _ in range(400):
        jaw.tick()
    assert jaw.results == []
    jaw.measured = 0.5
    assert jaw.run().is_reached


def test_a_cancelled_jaw_slows_down_and_stays(jaw: JawRig) -> None:
    assert jaw.player.accept("goal", 1.0) is None
    for _ in range(40):
        jaw.tick()
    assert not jaw.player.cancel("another")
    assert jaw.player.cancel("goal")
    result = jaw.run()
    assert result.finding.reason is Reason.CANCELLED
    assert 0.0 < jaw.sent[-1] < 1.0
    jaw.check()


def test_an_arm_that_is_taken_away_silences_the_jaw(jaw: JawRig) -> None:
    assert jaw.player.accept("goal", 1.0) is None
    for _ in range(10):
        jaw.tick()
    sent = len(jaw.sent)
    jaw.rig.arm.say(operating_state=OperatingState.DISABLED)
    result = jaw.run()
    assert result.finding.reason is Reason.LEFT_ENABLED and not result.is_reached
    assert len(jaw.sent) == sent


def test_a_jaw_that_becomes_invalid_at_its_end_is_not_reached(jaw: JawRig) -> None:
    assert jaw.player.accept("goal", 0.2) is None
    jaw.is_valid = False
    result = jaw.run()
    assert result.finding.reason is Reason.STAMP_ZERO and not result.is_reached


def test_an_arm_without_a_jaw_is_sent_none(make_rig: Callable[..., Any]) -> None:
    jaw = JawRig(make_rig)
    jaw.rig.guard.settings = replace(jaw.rig.guard.settings, jaw=None)
    assert jaw.player.accept("goal", 0.2) is None
    assert jaw.run().finding.reason is Reason.WRONG_JOINTS
    assert jaw.sent == []

"""The jaw of an instrument: one joint beside the arm's own, played through the same guard."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import NamedTuple, cast

import numpy as np

from dvrk_kinematics.driver.guard.guard import Guard
from dvrk_kinematics.driver.playback.join import make_join
from dvrk_kinematics.driver.playback.path import JoinedPath, Momentum, PathClock
from dvrk_kinematics.driver.playback.speed_scaling import SpeedScaling
from dvrk_kinematics.driver.port import ArmPort, JawReading
from dvrk_kinematics.driver.reasons import Finding, Reason, StopKind
from dvrk_kinematics.motion.limits import MotionLimits
from dvrk_kinematics.motion.spline import Sample, Spline

__all__ = ["JawFeedback", "JawPlayer", "JawResult", "JawSettings"]


@dataclass(frozen=True, slots=True)
class JawSettings:
    """How the jaw is played.

    Attributes:
        tolerance: Distance from the goal that counts as reached (rad).
        stalled_velocity: Below this speed the jaw counts as standing still (rad/s).
        stall_s: How long it must stand still away from its goal to count as stalled (s).
        period_s: Period of the ticks (s).
        max_gap_s: Longest time between two ticks of a motion (s). A longer one slows it down to
            rest.
    """

    tolerance: float = 0.02
    stalled_velocity: float = 0.01
    stall_s: float = 0.5
    period_s: float = 0.005
    max_gap_s: float = 0.05


class JawResult(NamedTuple):
    """The end of a jaw's goal.

    Attributes:
        goal_id: Which goal.
        finding: Why it ended.
        reading: State of the jaw at the end.
        is_reached: Whether the jaw is where it should be.
        is_stalled: Whether something between the jaws stopped it, such as a needle.
    """

    goal_id: Hashable
    finding: Finding
    reading: JawReading
    is_reached: bool = False
    is_stalled: bool = False


class JawFeedback(NamedTuple):
    """The goal being played, and the current state of the jaw."""

    goal_id: Hashable
    reading: JawReading


@dataclass(slots=True)
class _Active:
    goal_id: Hashable
    goal: float
    clock: PathClock
    standing_since_ns: int | None = None
    why_stopping: Finding | None = None


class JawPlayer:
    """Plays one goal of the jaw at a time, in the thread of the ticks.

    Args:
        guard: The exit to the arm; its settings hold the jaw's limits.
        port: Where the jaw's state comes from.
        limits: Limits of the one joint.
        settings: How to play.

    Attributes:
        scaling: How fast to play.
    """

    def __init__(
        self, guard: Guard, port: ArmPort, limits: MotionLimits, settings: JawSettings
    ) -> None:
        self._guard = guard
        self._port = port
        self.limits = limits
        self._settings = settings
        self._active: _Active | None = None
        self._results: list[JawResult] = []
        self._ticked_ns = 0
        self.scaling = SpeedScaling(guard.settings, settings.max_gap_s)

    def accept(self, goal_id: Hashable, position: float) -> Finding | None:
        """Accept a goal; it replaces the one being played, without a jump.

        Args:
            goal_id: Identifies its result.
            position: Opening to go to (rad).

        Returns:
            Why it is refused, None if it is accepted.
        """
        guard, active = self._guard, self._active
        refused = self._find_bad_goal(position)
        if refused is None and not guard.is_late:
            refused = guard.find_start_obstacle()
        if refused is not None:
            return refused
        if self._port.read_jaw().position is None:
            return Finding(Reason.STALE_STATE, "the arm reports no valid jaw")
        rest = guard.begin_jaw()
        if rest is None:
            return Finding(Reason.STALE_STATE, "the arm reports no setpoint of the jaw")
        if active is None:
            momentum = Momentum(Sample(np.array([rest]), np.zeros(1)))
            self._ticked_ns = guard.now_ns
            if guard.is_late:
                self.scaling.wait(guard.now_ns)
        else:
            momentum = active.clock.momentum
            self._finish(active.why_stopping or Finding(Reason.REPLACED))
        self._active = _Active(goal_id, position, self._make_clock(momentum, position))
        return None

    def _make_clock(self, momentum: Momentum, goal: float) -> PathClock:
        limits, period_s = self.limits, self._settings.period_s
        end = Sample(np.array([goal]), np.zeros(1))
        # There is always a motion of at least one period, even for a jaw that stays in place.
        path = JoinedPath(cast(Spline, make_join(momentum.sample, end, period_s, limits)))
        return PathClock(path, limits.acceleration, 2.0 * period_s, momentum)

    def cancel(self, goal_id: Hashable) -> bool:
        """Cancel a goal: slow down and stay; return whether there was such a goal."""
        active = self._active
        if active is None or active.goal_id != goal_id:
            return False
        self.stop(Finding(Reason.CANCELLED))
        return True

    def stop(self, finding: Finding) -> None:
        """Stop along the motion if the reason allows it, else by sending nothing more."""
        active = self._active
        if active is None:
            return
        if finding.stop_kind is not StopKind.PATH_STOP:
            self._finish(finding)
        elif active.why_stopping is None:
            active.why_stopping = finding

    def tick(self, now_ns: int) -> None:
        """Send the next setpoint if a goal is being played; call after reading the arm."""
        guard, scaling = self._guard, self.scaling
        is_moving = self._active is not None
        impatient = scaling.observe(guard.age_s, guard.is_ready, now_ns, is_moving)
        found = guard.find_stop() or impatient
        if found is not None:
            self.stop(found)
        active = self._active
        if active is None:
            return
        elapsed_s = (now_ns - self._ticked_ns) * 1e-9
        self._ticked_ns = now_ns
        was_at_rest = active.clock.rate == 0.0
        scale = scaling.factor if active.why_stopping is None else 0.0
        setpoint = active.clock.advance(elapsed_s, scale)
        if not (was_at_rest and active.clock.is_at_rest and scaling.is_overdue):
            found = guard.send_jaw(float(setpoint.q[0]))
        if found is not None and found.stop_kind is not StopKind.PATH_STOP:
            self._finish(found)
        elif active.clock.is_at_rest:
            self._judge(active, now_ns)

    def feedback(self) -> JawFeedback | None:
        """The goal being played; None if there is none. Safe to call from any thread."""
        active = self._active
        return None if active is None else JawFeedback(active.goal_id, self._port.read_jaw())

    def take_results(self) -> list[JawResult]:
        """Return the results of the goals that ended since the last call."""
        taken, self._results = self._results, []
        return taken

    def _find_bad_goal(self, position: float) -> Finding | None:
        limits, name = self.limits.position, self.limits.names[0]
        if not np.isfinite(position):
            return Finding(Reason.NOT_FINITE_GOAL, "position", name)
        lower, upper = limits.pairs[0]
        if not lower <= position <= upper:
            bound = lower if position < lower else upper
            return Finding(Reason.GOAL_POSITION_LIMIT, "rad", name, position, bound)
        return None

    def _judge(self, active: _Active, now_ns: int) -> None:
        """Decide at the end of the motion: reached, stalled, or still on its way."""
        if active.why_stopping is not None:
            self._finish(active.why_stopping)
            return
        if not active.clock.is_at_end or self.scaling.is_overdue:
            return
        reading = self._port.read_jaw()
        if reading.position is None:
            self._finish(Finding(Reason.STAMP_ZERO, "jaw/measured_js"))
            return
        if abs(reading.position - active.goal) <= self._settings.tolerance:
            self._finish(Finding(Reason.REACHED), is_reached=True)
            return
        if abs(reading.velocity or 0.0) > self._settings.stalled_velocity:
            active.standing_since_ns = None
        elif active.standing_since_ns is None:
            active.standing_since_ns = now_ns
        elif (now_ns - active.standing_since_ns) * 1e-9 > self._settings.stall_s:
            self._finish(Finding(Reason.REACHED, "stalled on the way"), is_stalled=True)

    def _finish(
        self, finding: Finding, is_reached: bool = False, is_stalled: bool = False
    ) -> None:
        if self._active is not None:
            reading = self._port.read_jaw()
            goal_id = self._active.goal_id
            self._results.append(JawResult(goal_id, finding, reading, is_reached, is_stalled))
            self._active = None

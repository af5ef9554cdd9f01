"""The jaw of an instrument: one joint beside the arm's own, played through the same guard."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dvrk_kinematics.driver.guard import Guard
from dvrk_kinematics.driver.jaw_motion import JawMotion
from dvrk_kinematics.driver.late_ticks import made_up_s
from dvrk_kinematics.driver.port import ArmPort, JawReading
from dvrk_kinematics.driver.reasons import Finding, Reason, StopKind
from dvrk_kinematics.motion.motion_limits import MotionLimits

__all__ = ["JawFeedback", "JawPlayer", "JawResult", "JawSettings"]


@dataclass(frozen=True, slots=True)
class JawSettings:
    """How the jaw is played.

    Attributes:
        tolerance: How near the goal counts as reached (rad).
        stalled_velocity: Below this speed the jaw counts as standing (rad/s).
        stall_s: How long it must stand away from its goal to count as stalled (s).
        period_s: Period of the ticks (s).
    """

    tolerance: float = 0.02
    stalled_velocity: float = 0.01
    stall_s: float = 0.5
    period_s: float = 0.005


class JawResult(NamedTuple):
    """The end of a jaw's goal.

    Attributes:
        goal_id: Which goal.
        finding: Why it ended.
        reading: The jaw then.
        is_reached: Whether it is where it should be.
        is_stalled: Whether it stands on something in between, such as a needle.
    """

    goal_id: Hashable
    finding: Finding
    reading: JawReading
    is_reached: bool = False
    is_stalled: bool = False


class JawFeedback(NamedTuple):
    """Which goal is being played, and the jaw now."""

    goal_id: Hashable
    reading: JawReading


@dataclass(slots=True)
class _Active:
    goal_id: Hashable
    goal: float
    motion: JawMotion
    standing_since_ns: int | None = None
    why_stopping: Finding | None = None


class JawPlayer:
    """Plays one goal of the jaw at a time, in the thread of the ticks.

    Args:
        guard: The exit to the arm; its settings hold the jaw's limits.
        port: Where the jaw's state comes from.
        limits: Limits of the one joint.
        settings: How to play.
    """

    def __init__(
        self, guard: Guard, port: ArmPort, limits: MotionLimits, settings: JawSettings
    ) -> None:
        self._guard = guard
        self._port = port
        self._limits = limits
        self._settings = settings
        self._active: _Active | None = None
        self._results: list[JawResult] = []
        self._ticked_ns = 0

    def accept(self, goal_id: Hashable, position: float) -> Finding | None:
        """Accept a goal; it replaces the one that is being played, without a jump.

        Args:
            goal_id: By which its result is told apart.
            position: Opening to go to (rad).

        Returns:
            Why it is refused, None if it is accepted.
        """
        refused = self._find_bad_goal(position) or self._guard.find_start_obstacle()
        if refused is not None:
            return refused
        if self._port.read_jaw().position is None:
            return Finding(Reason.STALE_STATE, "the arm reports no valid jaw")
        position_now = self._guard.begin_jaw()
        if position_now is None:
            return Finding(Reason.STALE_STATE, "the arm reports no setpoint of the jaw")
        active = self._active
        if active is None:
            motion = JawMotion(position_now, self._limits, self._settings.period_s)
            self._ticked_ns = self._guard.now_ns
        else:
            motion = active.motion
            self._finish(active.why_stopping or Finding(Reason.REPLACED))
        motion.go_to(position)
        self._active = _Active(goal_id, position, motion)
        return None

    def cancel(self, goal_id: Hashable) -> bool:
        """Cancel a goal: slow down and stay; tells whether there was such a goal."""
        active = self._active
        if active is None or active.goal_id != goal_id:
            return False
        self.stop(Finding(Reason.CANCELLED))
        return True

    def stop(self, finding: Finding) -> None:
        """Stop: along the motion if the reason allows it, else by sending nothing more."""
        active = self._active
        if active is None:
            return
        if finding.stop_kind is not StopKind.PATH_STOP:
            self._finish(finding)
        elif active.why_stopping is None:
            active.why_stopping = finding
            active.motion.brake()

    def tick(self, now_ns: int) -> None:
        """Send the next setpoint if a goal is being played; after the arm was read."""
        active = self._active
        if active is None:
            return
        elapsed_s = (now_ns - self._ticked_ns) * 1e-9
        self._ticked_ns = now_ns
        found = self._guard.find_stop()
        if found is None:
            found = self._guard.send_jaw(self._advance(active, elapsed_s))
        if found is not None:
            self._finish(found)
        elif active.motion.is_at_rest:
            self._judge(active, now_ns)

    def _advance(self, active: _Active, elapsed_s: float) -> float:
        """Move on by the time that went by (s), and give what to command (rad)."""
        motion = active.motion
        if elapsed_s <= made_up_s(self._settings.period_s):
            return motion.advance(elapsed_s)
        # The jaw has come to rest where it was told to be, and moves on from there.
        motion.rest()
        if active.why_stopping is None:
            motion.go_to(active.goal)
        return motion.advance(0.0)

    def feedback(self) -> JawFeedback | None:
        """The goal that is being played; None if there is none. From any thread."""
        active = self._active
        return None if active is None else JawFeedback(active.goal_id, self._port.read_jaw())

    def take_results(self) -> list[JawResult]:
        """Give the goals that ended since the last call."""
        taken, self._results = self._results, []
        return taken

    def _find_bad_goal(self, position: float) -> Finding | None:
        limits, name = self._limits.position, self._limits.names[0]
        if not np.isfinite(position):
            return Finding(Reason.NOT_FINITE_GOAL, "position", name)
        lower, upper = limits.pairs[0]
        if not lower <= position <= upper:
            bound = lower if position < lower else upper
            return Finding(Reason.GOAL_POSITION_LIMIT, "rad", name, position, bound)
        return None

    def _judge(self, active: _Active, now_ns: int) -> None:
        """At the end of the motion: reached, stalled on something, or still on its way."""
        if active.why_stopping is not None:
            self._finish(active.why_stopping)
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

"""The player: plays goals through the guard, tick by tick.

::

    prepared = prepare_goal(goal, guard.settings, settings)       # in any thread
    refused = player.accept(prepared, wall_now_ns)                # in the thread of the ticks
    player.tick(now_ns)                                           # every period, moving or not
    for result in player.take_results(): ...
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from dvrk_kinematics.driver.goal import PreparedGoal, find_wait_s, make_path
from dvrk_kinematics.driver.goal_checks import find_not_arrived, find_off_path
from dvrk_kinematics.driver.guard import Guard
from dvrk_kinematics.driver.path import PathClock
from dvrk_kinematics.driver.port import ArmState
from dvrk_kinematics.driver.reasons import Finding, Reason, StopKind
from dvrk_kinematics.driver.result import Feedback, GoalResult, make_result
from dvrk_kinematics.driver.settings import PlayerSettings
from dvrk_kinematics.driver.spline import Sample

__all__ = ["Player"]


@dataclass(slots=True)
class _Active:
    """A goal that is being played.

    Attributes:
        prepared: The goal.
        clock: Where on its path it is.
        started_ns: When it started (monotonic).
        ended_ns: When its path came to an end; None before that.
        why_stopping: Why it is being stopped; None if it is not.
    """

    prepared: PreparedGoal
    clock: PathClock
    started_ns: int
    ended_ns: int | None = None
    why_stopping: Finding | None = None


class Player:
    """Plays one goal at a time. All methods are called from the thread of the ticks.

    Args:
        guard: The exit to the arm.
        settings: How to play.
    """

    def __init__(self, guard: Guard, settings: PlayerSettings) -> None:
        self._guard = guard
        self._settings = settings
        self._active: _Active | None = None
        self._waiting: tuple[PreparedGoal, int] | None = None
        self._results: list[GoalResult] = []
        self._advanced_ns = 0
        self.last_stop: Finding | None = None

    @property
    def is_idle(self) -> bool:
        """Whether there is no goal, neither playing nor waiting."""
        return self._active is None and self._waiting is None

    @property
    def commanded(self) -> Sample:
        """What was commanded last; the setpoint at rest if nothing is."""
        if self._active is not None:
            return self._active.clock.sample()
        q = self._guard.setpoint
        return Sample(q, np.zeros_like(q))

    def feedback(self) -> Feedback | None:
        """Where the goal that is being played is; None if there is none."""
        active, state = self._active, self._guard.state
        if active is None or state is None:
            return None
        clock = active.clock
        goal_id = active.prepared.goal.goal_id
        return Feedback(goal_id, clock.time_s, clock.sample(), state.measured_q)

    def take_results(self) -> list[GoalResult]:
        """Give the goals that ended since the last call."""
        taken, self._results = self._results, []
        return taken

    def accept(self, prepared: PreparedGoal, wall_now_ns: int) -> Finding | None:
        """Accept a goal: now, or to start when its stamp says.

        A goal that starts replaces the one that is being played, without a jump. A goal that is
        refused changes nothing.

        Args:
            prepared: The goal.
            wall_now_ns: Time now on the clock of the goal's stamp (ns).

        Returns:
            Why it is refused, None if it is accepted.
        """
        wait_s = find_wait_s(prepared.goal.stamp_ns, wall_now_ns)
        if isinstance(wait_s, Finding):
            return wait_s
        obstacle = self._guard.find_start_obstacle()
        if obstacle is not None:
            return obstacle
        if wait_s == 0.0:
            refused = self._start(prepared)
            if refused is None:
                self._drop_waiting(Finding(Reason.REPLACED))
            return refused
        self._drop_waiting(Finding(Reason.REPLACED))
        self._waiting = (prepared, self._guard.now_ns + round(wait_s * 1e9))
        return None

    def cancel(self, goal_id: Hashable) -> bool:
        """Cancel a goal: stop along its path, or forget it if it waits.

        Returns:
            Whether there was such a goal.
        """
        finding = Finding(Reason.CANCELLED)
        if self._waiting is not None and self._waiting[0].goal.goal_id == goal_id:
            self._drop_waiting(finding)
            return True
        if self._active is None or self._active.prepared.goal.goal_id != goal_id:
            return False
        self._stop_active(finding)
        return True

    def stop(self, finding: Finding) -> None:
        """Stop whatever moves or waits, in the way that the reason asks for."""
        self._drop_waiting(finding)
        self._stop_active(finding)

    def _stop_active(self, finding: Finding) -> None:
        active = self._active
        if active is None:
            return
        if finding.stop_kind is not StopKind.PATH_STOP:
            self._guard.stop(finding)
            self._finish(finding)
        elif active.why_stopping is None:
            # The first reason is the one to tell; a goal at its end has nothing left to stop.
            active.why_stopping = finding
            active.clock.is_stopping = True

    def tick(self, now_ns: int) -> None:
        """Read the arm, and command the next setpoint if a goal is being played.

        Args:
            now_ns: Time now (ns), on the monotonic clock of the arm's arrivals.
        """
        state = self._guard.observe(now_ns)
        self._start_waiting(now_ns)
        active = self._active
        if active is None:
            return
        found = self._guard.find_stop()
        if found is not None:
            self.stop(found)
            return
        elapsed_s = (now_ns - self._advanced_ns) * 1e-9
        if elapsed_s > self._settings.max_gap_s and not active.clock.is_at_rest:
            limit = self._settings.max_gap_s
            self.stop(Finding(Reason.GAP, "s between ticks", value=elapsed_s, limit=limit))
        self._advanced_ns = now_ns
        setpoint = active.clock.advance(elapsed_s)
        found = self._guard.send(setpoint)
        if found is not None:
            self.stop(found)
            return
        self._judge(active, setpoint, state)

    def _start_waiting(self, now_ns: int) -> None:
        if self._waiting is None or now_ns < self._waiting[1]:
            return
        prepared = self._waiting[0]
        self._waiting = None
        refused = self._guard.find_start_obstacle() or self._start(prepared)
        if refused is not None:
            self._results.append(make_result(prepared.goal.goal_id, refused, 0.0))

    def _start(self, prepared: PreparedGoal) -> Finding | None:
        guard = self._guard
        path = make_path(prepared, self.commanded, guard.settings, self._settings)
        if isinstance(path, Finding):
            return path
        if self._active is None:
            self._advanced_ns = guard.now_ns
        else:
            self._finish(self._active.why_stopping or Finding(Reason.REPLACED), is_at_rest=False)
        guard.begin(prepared.goal.is_cartesian)
        max_step_s = 2.0 * self._settings.period_s
        clock = PathClock(path, guard.settings.limits.acceleration, max_step_s)
        self._active = _Active(prepared, clock, self._advanced_ns)
        return None

    def _drop_waiting(self, finding: Finding) -> None:
        if self._waiting is not None:
            goal_id = self._waiting[0].goal.goal_id
            self._waiting = None
            self._results.append(make_result(goal_id, finding, 0.0))

    def _judge(self, active: _Active, setpoint: Sample, state: ArmState) -> None:
        """Compare with the tolerances, and end what has come to its end."""
        tolerances, names = active.prepared.tolerances, self._guard.settings.limits.names
        if not active.clock.is_at_rest:
            if active.why_stopping is None:
                found = find_off_path(tolerances, setpoint, state, names)
                if found is not None:
                    self.stop(found)
            return
        if active.why_stopping is not None:
            self._finish(active.why_stopping)
            return
        if active.ended_ns is None:
            active.ended_ns = self._advanced_ns
        slow = self._settings.stopped_velocity
        found = find_not_arrived(tolerances, slow, setpoint, state, names)
        if found is None:
            self._finish(Finding(Reason.REACHED))
            return
        waited_s = (self._advanced_ns - active.ended_ns) * 1e-9
        if tolerances.goal_time_s > 0.0 and waited_s > tolerances.goal_time_s:
            self._finish(found)

    def _finish(self, finding: Finding, is_at_rest: bool = True) -> None:
        active = self._active
        if active is None:
            return
        end_ns = self._advanced_ns if active.ended_ns is None else active.ended_ns
        clock, prepared = active.clock, active.prepared
        # What of the goal's own time was played: all but the part that only joined.
        planned_s = prepared.duration_s - max(clock.path.duration_s - clock.time_s, 0.0)
        lateness_s = (end_ns - active.started_ns) * 1e-9 - planned_s
        self._results.append(make_result(prepared.goal.goal_id, finding, max(lateness_s, 0.0)))
        self.last_stop = finding
        self._active = None
        if is_at_rest:
            self._guard.end()

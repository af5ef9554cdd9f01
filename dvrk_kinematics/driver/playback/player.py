"""The player: plays goals through the guard, tick by tick, or lets a jog do so.

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

from dvrk_kinematics.driver.guard.guard import Guard
from dvrk_kinematics.driver.jog.jog import Jog
from dvrk_kinematics.driver.jog.jog_command import JogCommand
from dvrk_kinematics.driver.playback.goal import PreparedGoal, find_wait_s, make_path
from dvrk_kinematics.driver.playback.goal_checks import find_not_arrived, find_off_path
from dvrk_kinematics.driver.playback.goal_result import Feedback, GoalResult, make_result
from dvrk_kinematics.driver.playback.path import Momentum, PathClock
from dvrk_kinematics.driver.playback.speed_scaling import SpeedScaling
from dvrk_kinematics.driver.port import ArmState
from dvrk_kinematics.driver.reasons import Finding, Reason, StopKind
from dvrk_kinematics.driver.settings import PlayerSettings
from dvrk_kinematics.motion.spline import Sample

__all__ = ["Player", "PlayingGoal"]


@dataclass(slots=True)
class PlayingGoal:
    """A goal being played.

    Attributes:
        prepared: The goal.
        clock: Its place on its path.
        started_ns: When it started (monotonic).
        ended_ns: When its path ended; None before that.
        why_stopping: Why it is being stopped; None if it is not.
        slow_downs: How many times lateness had slowed motions before this one.
    """

    prepared: PreparedGoal
    clock: PathClock
    started_ns: int
    ended_ns: int | None = None
    why_stopping: Finding | None = None
    slow_downs: int = 0

    def make_result(self, finding: Finding, now_ns: int, slow_downs: int) -> GoalResult:
        """Make the result of a goal that ends here.

        Args:
            finding: Why it ends.
            now_ns: Time of the last tick (monotonic).
            slow_downs: How many times lateness has slowed motions until now.
        """
        end_ns = now_ns if self.ended_ns is None else self.ended_ns
        clock, prepared = self.clock, self.prepared
        # The part of the goal's own time that was played, without the joining motion.
        planned_s = prepared.duration_s - max(clock.path.duration_s - clock.time_s, 0.0)
        lateness_s = max((end_ns - self.started_ns) * 1e-9 - planned_s, 0.0)
        slowed = slow_downs - self.slow_downs
        return make_result(prepared.goal.goal_id, finding, lateness_s, slowed)


class Player:
    """Plays one goal at a time. Call all methods from the thread of the ticks.

    Args:
        guard: The exit to the arm.
        settings: How to play.
        jog: Jogs the arm while no goal is played; None to have none.

    Attributes:
        scaling: How fast to play.
        last_stop: Why the last motion ended; None before that.
    """

    def __init__(self, guard: Guard, settings: PlayerSettings, jog: Jog | None = None) -> None:
        self._guard = guard
        self._settings = settings
        self._jog = jog
        self._active: PlayingGoal | None = None
        self._waiting: tuple[PreparedGoal, int] | None = None
        self._results: list[GoalResult] = []
        self._advanced_ns = 0
        self.scaling = SpeedScaling(guard.settings, settings.max_gap_s)
        self.last_stop: Finding | None = None

    def adopt(self, settings: PlayerSettings) -> None:
        """Replace the settings; call only while nothing moves."""
        self._settings = settings

    @property
    def is_idle(self) -> bool:
        """Whether there is no goal, neither playing nor waiting, and no jog."""
        is_jogging = self._jog is not None and self._jog.is_active
        return self._active is None and self._waiting is None and not is_jogging

    @property
    def commanded(self) -> Sample:
        """The last commanded state; the setpoint at rest if nothing moves."""
        if self._active is not None:
            return self._active.clock.sample()
        if self._jog is not None:
            return self._jog.commanded
        q = self._guard.setpoint
        return Sample(q, np.zeros_like(q))

    @property
    def speed(self) -> float:
        """Fraction of the planned speed of the current motion; at rest, the allowed fraction."""
        return self.scaling.factor if self._active is None else self._active.clock.rate

    def feedback(self) -> Feedback | None:
        """Progress of the goal being played; None if there is none."""
        active, state = self._active, self._guard.state
        if active is None or state is None:
            return None
        clock, qd = active.clock, state.measured_qd
        return Feedback(
            active.prepared.goal.goal_id,
            clock.time_s,
            clock.sample(),
            state.measured_q,
            qd if qd is not None and qd.shape == state.measured_q.shape else None,
            clock.rate,
        )

    def take_results(self) -> list[GoalResult]:
        """Return the results of the goals that ended since the last call."""
        taken, self._results = self._results, []
        return taken

    def accept(self, prepared: PreparedGoal, wall_now_ns: int) -> Finding | None:
        """Accept a goal to start now, or at the time of its stamp.

        A goal that starts replaces the one being played, or a jog, without a jump. A refused goal
        changes nothing. While the arm is late, a goal waits on its first point.

        Args:
            prepared: The goal.
            wall_now_ns: Current time on the clock of the goal's stamp (ns).

        Returns:
            Why it is refused, None if it is accepted.
        """
        wait_s = find_wait_s(prepared.goal.stamp_ns, wall_now_ns)
        if isinstance(wait_s, Finding):
            return wait_s
        obstacle = self._guard.find_start_obstacle()
        if obstacle is not None and not self._guard.is_late:
            return obstacle
        if wait_s == 0.0:
            refused = self._start(prepared)
            if refused is None:
                self._drop_waiting(Finding(Reason.REPLACED))
            return refused
        self._drop_waiting(Finding(Reason.REPLACED))
        self._waiting = (prepared, self._guard.now_ns + round(wait_s * 1e9))
        return None

    def jog(self, command: JogCommand, now_ns: int) -> Finding | None:
        """Take a jog command, as ``Jog.command`` does; a goal being played has priority."""
        if self._jog is None:
            return Finding(Reason.JOG_NOT_OFFERED)
        if self._active is not None and not command.is_zero:
            return self._jog.refuse(Finding(Reason.GOAL_PLAYING), now_ns)
        return self._jog.command(command, now_ns)

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
        """Stop whatever moves or waits, in the way that the reason requires."""
        self._drop_waiting(finding)
        self._stop_active(finding)
        if self._jog is not None:
            self.last_stop = self._jog.stop(finding) or self.last_stop

    def wait(self, now_ns: int) -> bool:
        """Let a goal being played rest where it is, and send nothing until all is in time again.

        For an arm that was silent for so long that it rests, and that may no longer be ours.

        Args:
            now_ns: Time now (monotonic).

        Returns:
            Whether there was such a goal, and nothing else moves.
        """
        active = self._active
        if active is None or active.why_stopping is not None:
            return False
        active.clock.rest()
        self._advanced_ns = now_ns
        self.scaling.wait(now_ns)
        return True

    def _stop_active(self, finding: Finding) -> None:
        active = self._active
        if active is None:
            return
        if finding.stop_kind is not StopKind.PATH_STOP:
            self._guard.stop(finding)
            self._finish(finding)
        elif active.why_stopping is None:
            # Report the first reason; a goal at its end has nothing left to stop.
            active.why_stopping = finding

    def tick(self, now_ns: int) -> None:
        """Read the arm, and command the next setpoint of a goal or a jog.

        Args:
            now_ns: Time now (ns), on the monotonic clock of the arm's arrivals.
        """
        state = self._guard.observe(now_ns)
        self._watch_waiting()
        self._start_waiting(now_ns)
        jog = self._jog
        is_moving = self._active is not None or (jog is not None and jog.is_active)
        impatient = self.scaling.observe(
            self._guard.age_s, self._guard.is_ready, now_ns, is_moving, self._guard.ahead
        )
        found = self._guard.find_stop() or impatient
        if is_moving and found is not None:
            self.stop(found)
        if self._active is not None:
            self._play(self._active, state, now_ns)
        elif jog is not None:
            self.last_stop = jog.tick(now_ns, self.scaling.factor) or self.last_stop

    def _play(self, active: PlayingGoal, state: ArmState, now_ns: int) -> None:
        """Command the next setpoint of a goal."""
        elapsed_s = (now_ns - self._advanced_ns) * 1e-9
        self._advanced_ns = now_ns
        was_at_rest = active.clock.rate == 0.0
        scale = self.scaling.factor if active.why_stopping is None else 0.0
        setpoint = active.clock.advance(elapsed_s, scale)
        if not (was_at_rest and active.clock.is_at_rest and self.scaling.is_overdue):
            found = self._guard.send(setpoint)
            if found is not None:
                self.stop(found)
                return
        self._judge(active, setpoint, state)

    def _watch_waiting(self) -> None:
        """Forget a waiting goal if the arm was taken away: it must not move on its return."""
        found = None if self._waiting is None else self._guard.find_stop()
        if found is not None and found.stop_kind is StopKind.SILENCE:
            self._drop_waiting(found)
            self.last_stop = found

    def _start_waiting(self, now_ns: int) -> None:
        if self._waiting is None or now_ns < self._waiting[1]:
            return
        prepared = self._waiting[0]
        self._waiting = None
        refused = None if self._guard.is_late else self._guard.find_start_obstacle()
        refused = refused or self._start(prepared)
        if refused is not None:
            self._results.append(make_result(prepared.goal.goal_id, refused, 0.0))
            self.last_stop = refused

    def _start(self, prepared: PreparedGoal) -> Finding | None:
        guard, jog, active = self._guard, self._jog, self._active
        momentum = Momentum(self.commanded) if active is None else active.clock.momentum
        if active is None and jog is not None and jog.is_active:
            momentum = momentum._replace(rate=1.0, before=jog.last_step)
        path = make_path(prepared, momentum.sample, guard.settings, self._settings)
        if isinstance(path, Finding):
            return path
        if active is not None:
            self._finish(active.why_stopping or Finding(Reason.REPLACED), is_at_rest=False)
        elif jog is not None and jog.is_active:
            self._advanced_ns = jog.advanced_ns
            self.last_stop = jog.hand_over()
        else:
            self._advanced_ns = guard.now_ns
        if guard.is_late and active is None:
            self.scaling.wait(guard.now_ns)
        guard.begin(prepared.goal.is_cartesian)
        clock = PathClock(
            path,
            guard.settings.limits.acceleration,
            2.0 * self._settings.period_s,
            momentum,
            # Slightly less than the guard allows.
            0.9 * guard.settings.step_fraction * guard.settings.pid_tolerance,
        )
        slow_downs = self.scaling.slow_downs
        self._active = PlayingGoal(prepared, clock, self._advanced_ns, slow_downs=slow_downs)
        return None

    def _drop_waiting(self, finding: Finding) -> None:
        if self._waiting is not None:
            goal_id = self._waiting[0].goal.goal_id
            self._waiting = None
            self._results.append(make_result(goal_id, finding, 0.0))

    def _judge(self, active: PlayingGoal, setpoint: Sample, state: ArmState) -> None:
        """Compare with the tolerances, and end a goal that is finished."""
        tolerances, names = active.prepared.tolerances, self._guard.settings.limits.names
        if active.why_stopping is not None:
            if active.clock.is_at_rest:
                self._finish(active.why_stopping)
            return
        if self.scaling.is_overdue:
            # The arm's last report does not show where it is now.
            return
        if not active.clock.is_at_end:
            found = find_off_path(tolerances, setpoint, state, names)
            if found is not None:
                self.stop(found)
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
        slow_downs = self.scaling.slow_downs
        self._results.append(active.make_result(finding, self._advanced_ns, slow_downs))
        self.last_stop = finding
        self._active = None
        if is_at_rest:
            self._guard.end()

"""A jog: moves while commands keep coming, and stops when they do not.

::

    jog = Jog(guard, arm, jog_settings, player_settings)
    player = Player(guard, player_settings, jog)
    refused = player.jog(JogCommand(JogSpace.TOOL, velocity), now_ns)      # with each message
    player.tick(now_ns)                                                    # every period
    jog.slowed_by, jog.factor                                              # for diagnostics
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dvrk_kinematics.driver.guard.guard import Guard
from dvrk_kinematics.driver.jog.jog_command import (
    JogCommand,
    JogSettings,
    JogSpace,
    find_bad_command,
    limit_speed,
)
from dvrk_kinematics.driver.jog.jog_motion import JogMotion
from dvrk_kinematics.driver.jog.tip_walk import TipWalk, find_unwalkable
from dvrk_kinematics.driver.jog.walk import JointWalk, Walk
from dvrk_kinematics.driver.playback.path import Step
from dvrk_kinematics.driver.reasons import Finding, Reason, StopKind
from dvrk_kinematics.driver.settings import PlayerSettings
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.arm import Arm
from dvrk_kinematics.motion.spline import Sample

__all__ = ["OWN_ENDS", "Jog", "JogSession"]

OWN_ENDS = (Reason.JOG_ENDED, Reason.JOG_TIMEOUT)
"""Ends that the client itself caused: it may go on at once."""


@dataclass(slots=True)
class JogSession:
    """A jog from its first command to its end.

    Attributes:
        space: What it moves; constant until its end.
        walk: Where it is.
        motion: How it moves.
        wanted: Velocity to reach, in the walk's own terms.
        reduced_by: Why that is less than the command; None if it is not.
        why_stopping: Why it is being stopped; None if it is not.
    """

    space: JogSpace
    walk: Walk
    motion: JogMotion
    wanted: Array
    reduced_by: Finding | None = None
    why_stopping: Finding | None = None

    @property
    def is_ours_to_end(self) -> bool:
        """Whether only the client stops it."""
        return self.why_stopping is None or self.why_stopping.reason in OWN_ENDS


_LATE_STEPS = 20
"""Largest number of steps that make up for the time of a late tick."""

_TURNING = 1e-6
"""Negligible turning speed (rad/s)."""


class Jog:
    """Jogs an arm through its guard. Call all methods from the thread of the ticks.

    Args:
        guard: The exit to the arm.
        arm: The arm's kinematics.
        settings: Bounds on what a jog may be asked to do.
        player_settings: Period of the ticks.

    Attributes:
        error: Last exception raised while computing a jog, for the log; None if there was none.
            It ends the jog, and nothing else.
    """

    def __init__(
        self, guard: Guard, arm: Arm, settings: JogSettings, player_settings: PlayerSettings
    ) -> None:
        self._guard = guard
        self._arm = arm
        self._settings = settings
        self._max_step_s = 2.0 * player_settings.period_s
        self.error: Exception | None = None
        self._session: JogSession | None = None
        self._must_release = False
        self._heard_ns: int | None = None
        self._advanced_ns = 0
        self._last_step: Step | None = None

    def adopt(self, settings: JogSettings) -> None:
        """Replace the settings; call only while nothing moves."""
        self._settings = settings

    @property
    def is_active(self) -> bool:
        """Whether a jog is under way, even if it rests at an obstacle."""
        return self._session is not None

    @property
    def advanced_ns(self) -> int:
        """When it commanded its last setpoint (monotonic)."""
        return self._advanced_ns

    @property
    def commanded(self) -> Sample:
        """The last commanded state; the setpoint at rest if nothing moves."""
        if self._session is not None:
            return self._session.motion.sample
        q = self._guard.setpoint
        return Sample(q, np.zeros_like(q))

    @property
    def last_step(self) -> Step | None:
        """Its last step, up to its last setpoint; None if it has sent none."""
        return self._last_step

    @property
    def slowed_by(self) -> Finding | None:
        """Why the jog is slower than commanded, or does less; None if it is not."""
        session = self._session
        if session is None or session.why_stopping is not None:
            return None
        return session.motion.slowed_by or session.reduced_by

    @property
    def factor(self) -> float:
        """Fraction of the allowed velocity that the way ahead permits, 0 to 1."""
        session = self._session
        return 1.0 if session is None else session.motion.factor

    def command(self, command: JogCommand, now_ns: int) -> Finding | None:
        """Take a command; the first one starts the jog.

        After a refusal, or a stop that its own client did not cause, the client must first let
        go: with a zero command, or by sending none for the time that a command holds.

        Args:
            command: What to do.
            now_ns: When it arrived (ns), on the clock of the ticks.

        Returns:
            Why it is refused, None if it is accepted.
        """
        bad = find_bad_command(command, self._guard.settings.limits)
        if bad is not None:
            return bad
        was_silent = self._is_silent(now_ns)
        self._heard_ns = now_ns
        if command.is_zero:
            self._must_release = False
            if self._session is not None:
                self.stop(Finding(Reason.JOG_ENDED))
            return None
        if self._must_release and not was_silent:
            return Finding(Reason.JOG_NOT_RELEASED)
        try:
            refused = self._find_refusal(command)
            if refused is None:
                self._follow(command)
        except Exception as error:
            refused = self._fail(error)
        is_soon = refused is None or refused.reason is Reason.JOG_CHANGES or self._guard.is_late
        self._must_release = not is_soon
        return refused

    def refuse(self, finding: Finding, now_ns: int) -> Finding:
        """Refuse a command for a reason that lies outside the jog."""
        self._must_release, self._heard_ns = True, now_ns
        return finding

    def stop(self, finding: Finding) -> Finding | None:
        """Stop in the way that the reason requires.

        Returns:
            The reason if this has ended the jog, None if it is still slowing down.
        """
        session = self._session
        if session is None:
            return None
        if finding.reason not in OWN_ENDS:
            self._must_release = True
            if finding.stop_kind is not StopKind.PATH_STOP:
                self._guard.stop(finding)
                return self._end(finding)
        if session.is_ours_to_end:
            session.why_stopping = finding
        return None

    def hand_over(self) -> Finding | None:
        """End the jog because another motion continues from its commanded state."""
        if self._session is None:
            return None
        self._must_release = True
        return self._end(self._session.why_stopping or Finding(Reason.REPLACED))

    def tick(self, now_ns: int, scale: float = 1.0) -> Finding | None:
        """Command the next setpoint; the guard has read the arm.

        Args:
            now_ns: Time now (ns), on the clock of the commands.
            scale: Fraction of the commanded speed to move with, 0 to 1. The jog reaches it within
                its accelerations and along its line; at 0 it rests, and goes on when the scale
                rises while commands still come.

        Returns:
            Why the jog ended, None if it has not.
        """
        session = self._session
        if session is None:
            return None
        found = self._guard.find_stop()
        if found is not None:
            return self.stop(found)
        elapsed_s = (now_ns - self._advanced_ns) * 1e-9
        self._advanced_ns = now_ns
        self._watch(session, now_ns)
        part = min(max(0.0, scale), 1.0) if session.why_stopping is None else 0.0
        before = session.motion.sample
        try:
            sample = self._advance(session.motion, part * session.wanted, elapsed_s)
        except Exception as error:
            return self._fail(error)
        found = self._guard.send(sample)
        if found is not None:
            return self.stop(found)
        self._last_step = Step((sample.q - before.q) / elapsed_s, sample.qd, elapsed_s)
        if session.why_stopping is None or not session.motion.is_at_rest:
            return None
        self._guard.end()
        return self._end(session.why_stopping)

    def _advance(self, motion: JogMotion, wanted: Array, elapsed_s: float) -> Sample:
        """Move on by the elapsed time, and return what to command.

        The jog spends the time by which a tick is late slowing down, step by step: standing still
        meanwhile would be a kink, and going on would be blind.
        """
        late_s = max(elapsed_s - self._max_step_s, 0.0)
        step_s = max(self._max_step_s, late_s / _LATE_STEPS)
        while late_s > 0.0 and not motion.is_at_rest:
            motion.step(np.zeros_like(wanted), min(step_s, late_s))
            late_s -= step_s
        return motion.step(wanted, min(elapsed_s, self._max_step_s))

    def _fail(self, error: Exception) -> Finding:
        """End the jog: whatever the command was, we keep watching the arm."""
        self.error = error
        finding = Finding(Reason.JOG_FAILED, repr(error))
        self.stop(finding)
        return finding

    def _is_silent(self, now_ns: int) -> bool:
        heard_ns = self._heard_ns
        return heard_ns is None or now_ns - heard_ns > round(self._settings.timeout_s * 1e9)

    def _find_refusal(self, command: JogCommand) -> Finding | None:
        session = self._session
        if session is None:
            obstacle = self._guard.find_start_obstacle()
            if obstacle is not None or command.space is JogSpace.JOINTS:
                return obstacle
            return find_unwalkable(self._arm, self._guard.setpoint)
        if not session.is_ours_to_end:
            return session.why_stopping
        if command.space is not session.space:
            self.stop(Finding(Reason.JOG_ENDED, f"asked to jog the {command.space.value}"))
            return Finding(Reason.JOG_CHANGES, f"the {session.space.value}")
        return None

    def _follow(self, command: JogCommand) -> None:
        session = self._session or self._begin(command.space)
        limits = self._guard.settings.limits
        velocity, session.reduced_by = limit_speed(command, self._settings, limits)
        session.wanted, left_out = session.walk.understand(velocity)
        if left_out > _TURNING:
            text = "rad/s of turning that are left out"
            session.reduced_by = Finding(Reason.JOG_PARTLY, text, value=left_out)
        session.why_stopping = None

    def _begin(self, space: JogSpace) -> JogSession:
        guard = self._guard
        q = guard.setpoint
        walk: Walk = JointWalk(q) if space is JogSpace.JOINTS else TipWalk(self._arm, q, space)
        motion = JogMotion(walk, guard.settings, self._settings, self._max_step_s)
        # In every space: an operator who jogs cannot see how deep the wrist is.
        guard.begin(is_cartesian=True)
        self._advanced_ns = guard.now_ns
        self._session = JogSession(space, walk, motion, np.zeros_like(q))
        return self._session

    def _watch(self, session: JogSession, now_ns: int) -> None:
        if session.why_stopping is None and self._is_silent(now_ns):
            timeout_s = self._settings.timeout_s
            self.stop(Finding(Reason.JOG_TIMEOUT, f"none came for {timeout_s:g} s"))

    def _end(self, finding: Finding) -> Finding:
        self._session = None
        return finding

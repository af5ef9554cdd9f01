"""The guard: the one exit to an arm.

::

    guard.observe(now_ns)                          # once a tick, moving or not
    if guard.find_start_obstacle() is None:
        guard.begin(is_cartesian=False)
    ...
    stopped = guard.find_stop() or guard.send(setpoint)       # an old state slows, see age_s
    guard.stop(stopped)                            # freeze or silence, by its reason
"""

from __future__ import annotations

import numpy as np

from dvrk_kinematics.driver.guard.arm_checks import (
    find_not_ours,
    find_tracking_error,
    find_untrustworthy,
)
from dvrk_kinematics.driver.guard.bad_setpoint import find_arm_behind, find_bad_setpoint
from dvrk_kinematics.driver.guard.freshness import Freshness
from dvrk_kinematics.driver.guard.jaw_setpoint import JawSetpoint
from dvrk_kinematics.driver.guard.setpoint_watch import SetpointWatch
from dvrk_kinematics.driver.port import ArmPort, ArmState
from dvrk_kinematics.driver.reasons import HOLD_ALONE, Finding, Reason, StopKind
from dvrk_kinematics.driver.settings import GuardSettings
from dvrk_kinematics.geometry.arrays import Array, frozen
from dvrk_kinematics.motion.spline import Sample

__all__ = ["Guard"]


class Guard:
    """Watches an arm, and lets only safe setpoints through to it.

    It sends nothing on its own, except the messages of a freeze. Call all methods from one
    thread.

    Args:
        port: The arm.
        settings: What is allowed.
    """

    def __init__(self, port: ArmPort, settings: GuardSettings) -> None:
        self.settings = settings
        self.state: ArmState | None = None
        self._port = port
        self._names = settings.limits.names
        self._freshness = Freshness(round(settings.max_age_s * 1e9))
        self._setpoints = SetpointWatch(
            self._names, settings.echo_tolerance, round(settings.echo_s * 1e9)
        )
        self._now_ns = self._observed_ns = 0
        self._obstacle: Finding | None = Finding(Reason.STALE_STATE, "nothing was read yet")
        self._last_obstacle = Finding(Reason.NOT_READY_LONG_ENOUGH, "nothing was read yet")
        self._ready_since_ns: int | None = None
        self._last: Array | None = None
        self._last_ns = 0
        self._has_sent = False
        self._told: Finding | None = None
        self._is_cartesian = False
        self._jaw = JawSetpoint(round(settings.echo_s * 1e9))

    @property
    def is_moving(self) -> bool:
        """Whether a motion of ours is under way."""
        return self._last is not None

    @property
    def setpoint(self) -> Array:
        """Where the arm was told to be (rad, m), shape (n,): by us, or at rest as it reports."""
        if self._last is not None:
            return self._last
        if self.state is None:
            return np.full(len(self._names), np.nan)
        rest = self._setpoints.rest
        if rest is not None and self._now_ns - self._last_ns <= round(self.settings.echo_s * 1e9):
            # Shortly after a motion the arm still reports where it was told to be before.
            return frozen(rest)
        return self.state.setpoint_q

    @property
    def age_s(self) -> float:
        """Time since the arm's last new data (s); infinite before the first."""
        return self._freshness.age_s(self._now_ns)

    @property
    def ahead(self) -> float:
        """How far our setpoint is ahead of the reported one, as a fraction of what is allowed.

        Setpoints delayed on their way leave the arm where it was, however new its state is.
        """
        if self._last is None or self.state is None or not self._has_sent:
            return 0.0
        reported = self.state.setpoint_q
        if reported.shape != self._last.shape:
            return 0.0
        allowed = self.settings.step_fraction * self.settings.pid_tolerance
        return float(np.max(np.abs(self._last - reported) / allowed))

    @property
    def now_ns(self) -> int:
        """When the arm was read last (ns, monotonic)."""
        return self._now_ns

    def observe(self, now_ns: int) -> ArmState:
        """Read the arm; call once a tick, moving or not.

        Args:
            now_ns: Time now (ns), on the monotonic clock of the arrivals.
        """
        before, state = self.state, self._port.read()
        self.state, self._now_ns, self._observed_ns = state, now_ns, self._now_ns
        self._obstacle = self._find_obstacle(before, state)
        obstacle = self._obstacle or self._freshness.find_stale(now_ns)
        if obstacle is not None:
            self._ready_since_ns, self._last_obstacle = None, obstacle
        elif self._ready_since_ns is None:
            self._ready_since_ns = now_ns
        return state

    def _find_obstacle(self, before: ArmState | None, state: ArmState) -> Finding | None:
        # The checks that must see every message run first. Their results rank differently:
        # an arm that is not ours gets no message at all, so that finding counts most.
        stamps = self._freshness.observe(state)
        strange = find_untrustworthy(state, self._names, self.settings.tool)
        foreign = None
        if strange is None or strange.reason is Reason.WRONG_TOOL:
            # A republished datum says nothing about what was sent since.
            news_ns = self._freshness.setpoint_news_ns
            foreign = self._setpoints.observe(state.setpoint_q, news_ns, self._now_ns)
        found = find_not_ours(state) or self._told
        self._told = None
        if found is None and before is not None and state.interruptions != before.interruptions:
            found = Finding(Reason.BUSY, "for a moment, between two ticks")
        found = found or foreign or stamps or strange
        if found is None and before is not None and state.errors != before.errors:
            found = Finding(Reason.ARM_ERROR, state.last_error)
        return found

    @property
    def is_late(self) -> bool:
        """Whether only recent lateness of the arm keeps a motion from starting."""
        if self._obstacle is not None or self.age_s > self.settings.patience_s:
            return False
        if self._find_lag() is not None:
            # New data will not help an arm that is not where it was told to be.
            return False
        return not self.is_ready and self._last_obstacle.reason is Reason.STALE_STATE

    @property
    def is_ready(self) -> bool:
        """Whether the arm has reported for long enough, and until now, that it is ready."""
        return self._ready_ns() * 1e-9 >= self.settings.ready_s

    def find_start_obstacle(self) -> Finding | None:
        """Find why no motion may start now; None if one may."""
        found = self._obstacle or self._freshness.find_stale(self._now_ns)
        if found is not None:
            return found
        ready_s = self._ready_ns() * 1e-9
        if ready_s < self.settings.ready_s:
            detail = f"seconds since: {self._last_obstacle}"
            limit = self.settings.ready_s
            return Finding(Reason.NOT_READY_LONG_ENOUGH, detail, value=ready_s, limit=limit)
        return self._find_lag()

    def _ready_ns(self) -> int:
        """How long the arm has reported that it is ready; silence does not count."""
        state, since = self.state, self._ready_since_ns
        if state is None or since is None:
            return 0
        heard = min(state.measured_arrival_ns or since, state.setpoint_arrival_ns or since)
        return max(heard - since, 0)

    def _find_lag(self) -> Finding | None:
        if self.state is None:
            return self._obstacle
        allowed = self.settings.tracking_fraction * self.settings.pid_tolerance
        return find_tracking_error(self.state, allowed, self._names)

    def begin(self, is_cartesian: bool) -> None:
        """Begin a motion, or go on with another one; the caller found no obstacle.

        Args:
            is_cartesian: Whether the cannula rule applies to it.
        """
        self._is_cartesian = is_cartesian
        if self._last is None:
            self._has_sent = False
            self._last, self._last_ns = frozen(self.setpoint), self._now_ns
            self._setpoints.begin(self._last, self._now_ns)

    def find_stop(self) -> Finding | None:
        """Find why the motion must stop at once, in what the arm last reported.

        This does not check the age of that report: the player slows down for that.
        """
        return self._obstacle or self._find_lag()

    def send(self, setpoint: Sample) -> Finding | None:
        """Send a setpoint if it is safe.

        Args:
            setpoint: Positions and velocities.

        Returns:
            Why it was not sent, None if it was.
        """
        if self._last is None or self.state is None:
            return Finding(Reason.NOT_READY_LONG_ENOUGH, "no motion was begun")
        # A pause without setpoints does not allow a larger step.
        elapsed_s = (self._now_ns - max(self._last_ns, self._observed_ns)) * 1e-9
        found = (
            self._obstacle
            or find_bad_setpoint(
                setpoint, self._last, elapsed_s, self.settings, self._is_cartesian
            )
            or find_arm_behind(setpoint, self.state.setpoint_q, self.settings)
        )
        if found is not None:
            return found
        q = frozen(setpoint.q)
        self._port.servo_jp(q, frozen(setpoint.qd if self.settings.feed_forward else 0.0 * q))
        self._setpoints.sent(q, self._now_ns)
        self._last, self._last_ns, self._has_sent = q, self._now_ns, True
        return None

    def begin_jaw(self) -> float | None:
        """Begin a motion of the jaw, or go on with another one; the caller found no obstacle.

        Returns:
            Where the jaw was told to be (rad): by us, or at rest as it reports. None if unknown.
        """
        return self._jaw.begin(self._port.read_jaw().setpoint, self._now_ns)

    def send_jaw(self, setpoint: float) -> Finding | None:
        """Send a setpoint of the jaw if it is safe; the arm itself may move or rest.

        Args:
            setpoint: Opening (rad).

        Returns:
            Why it was not sent, None if it was.
        """
        found = self._obstacle or self._jaw.find_bad(setpoint, self._now_ns, self.settings.jaw)
        if found is None:
            self._port.servo_jaw(setpoint)
            self._jaw.sent(setpoint, self._now_ns)
        return found

    def hold(self) -> None:
        """Tell an arm that is at rest, or that another client moves, to stay where it is."""
        self._port.hold()
        self._setpoints.held(self._now_ns)

    def hear_command(self, finding: Finding) -> None:
        """Take into account that another client commands the arm: it is theirs for this tick."""
        self._told = finding

    def hear_hold(self) -> None:
        """Take into account that another client has told the arm to hold."""
        self._setpoints.held(self._now_ns)

    def stop(self, finding: Finding) -> None:
        """Stop at once, in the way that the reason requires: freeze or silence.

        The player performs path stops. If one is requested here, there is no path left, so we
        freeze instead.
        """
        is_silent = finding.stop_kind is StopKind.SILENCE
        # Leave alone what we never set in motion.
        if self._last is not None and self._has_sent and not is_silent:
            if finding.reason not in HOLD_ALONE:
                self._port.servo_jp(self._last, frozen(np.zeros_like(self._last)))
            self.hold()
        self._ready_since_ns, self._last_obstacle = None, finding
        # An arm that is not ours drops what is on its way to it.
        self._end(may_have_dropped=is_silent)

    def end(self) -> None:
        """End a motion that has come to rest."""
        self._end(may_have_dropped=False)

    def _end(self, may_have_dropped: bool) -> None:
        self._setpoints.end(may_have_dropped)
        self._last = None

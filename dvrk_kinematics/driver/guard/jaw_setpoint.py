"""The setpoint that the guard last sent to the jaw, and which one it may send next."""

from __future__ import annotations

from math import isfinite

from dvrk_kinematics.driver.reasons import Finding, Reason
from dvrk_kinematics.driver.tolerances import STEP_ROUNDING
from dvrk_kinematics.kinematics.tolerances import LIMIT_TOLERANCE
from dvrk_kinematics.motion.limits import MotionLimits
from dvrk_kinematics.motion.tolerances import RELATIVE_SLACK

__all__ = ["JawSetpoint"]


class JawSetpoint:
    """Remembers the setpoint sent to the jaw, and compares new ones with it.

    Args:
        echo_ns: How long the arm may take to report a setpoint (ns). For that long after a motion
            it may still report where the jaw was told to be before.
    """

    def __init__(self, echo_ns: int) -> None:
        self._echo_ns = echo_ns
        self._last: float | None = None
        self._last_ns = 0
        self._sent_ns: int | None = None

    def begin(self, reported: float | None, now_ns: int) -> float | None:
        """Begin a motion.

        Args:
            reported: Setpoint that the arm reports (rad); None if unknown.
            now_ns: Time now (monotonic).

        Returns:
            Where the jaw was told to be (rad): by us if that was recent, else as reported.
        """
        if self._sent_ns is None or now_ns - self._sent_ns > self._echo_ns:
            self._last = reported
        self._last_ns = now_ns
        return self._last

    def find_bad(
        self, setpoint: float, now_ns: int, limits: MotionLimits | None
    ) -> Finding | None:
        """Find why a setpoint of the jaw must not be sent.

        Args:
            setpoint: Opening to send (rad).
            now_ns: Time now (monotonic).
            limits: Limits of the jaw, None for an arm without one.
        """
        if limits is None:
            return Finding(Reason.WRONG_JOINTS, "the arm has no jaw")
        last = self._last
        if last is None:
            return Finding(Reason.NOT_READY_LONG_ENOUGH, "no motion of the jaw was begun")
        name, (lower, upper) = limits.names[0], limits.position.pairs[0]
        if not isfinite(setpoint):
            return Finding(Reason.NOT_FINITE_SETPOINT, "", name)
        # A jaw outside its limits may come back, but not go farther out.
        least, most = min(lower, last) - LIMIT_TOLERANCE, max(upper, last) + LIMIT_TOLERANCE
        if not least <= setpoint <= most:
            bound = lower if setpoint < lower else upper
            return Finding(Reason.SETPOINT_LIMIT, "", name, setpoint, bound)
        elapsed_s = (now_ns - self._last_ns) * 1e-9
        allowed = float(limits.velocity[0]) * (1.0 + RELATIVE_SLACK) * elapsed_s + STEP_ROUNDING
        if abs(setpoint - last) > allowed:
            return Finding(Reason.SETPOINT_VELOCITY, "step", name, abs(setpoint - last), allowed)
        return None

    def sent(self, setpoint: float, now_ns: int) -> None:
        """Remember a setpoint (rad) that was sent."""
        self._last, self._last_ns, self._sent_ns = setpoint, now_ns, now_ns

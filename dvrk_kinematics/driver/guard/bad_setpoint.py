"""Checks that a setpoint must pass before it is sent to the arm."""

from __future__ import annotations

import numpy as np

from dvrk_kinematics.driver.reasons import Finding, Reason, tell_shallow
from dvrk_kinematics.driver.settings import GuardSettings
from dvrk_kinematics.driver.tolerances import STEP_ROUNDING
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.tolerances import LIMIT_TOLERANCE
from dvrk_kinematics.motion.spline import Sample
from dvrk_kinematics.motion.tolerances import RELATIVE_SLACK

__all__ = ["find_arm_behind", "find_bad_setpoint"]


def find_bad_setpoint(
    setpoint: Sample,
    last: Array,
    elapsed_s: float,
    settings: GuardSettings,
    is_cartesian: bool,
) -> Finding | None:
    """Find why a setpoint must not be sent.

    Args:
        setpoint: Positions and velocities to send.
        last: Positions sent before it (rad, m), shape (n,).
        elapsed_s: Time since then (s).
        settings: What is allowed.
        is_cartesian: Whether the cannula rule applies.
    """
    limits, names = settings.limits, settings.limits.names
    if setpoint.q.shape != last.shape or setpoint.qd.shape != last.shape:
        return Finding(Reason.NOT_FINITE_SETPOINT, f"{setpoint.q.shape} values, not {last.shape}")
    finite = np.isfinite(setpoint.q) & np.isfinite(setpoint.qd)
    if not finite.all():
        return Finding(Reason.NOT_FINITE_SETPOINT, "", names[int(np.argmin(finite))])
    # A joint outside its limits may come back, but not go farther out.
    below = np.minimum(limits.position.lower, last) - setpoint.q
    above = setpoint.q - np.maximum(limits.position.upper, last)
    out = np.maximum(below, above)
    j = int(np.argmax(out))
    if out[j] > LIMIT_TOLERANCE:
        bound = (limits.position.lower if below[j] > 0.0 else limits.position.upper)[j]
        return Finding(Reason.SETPOINT_LIMIT, "", names[j], float(setpoint.q[j]), float(bound))
    step = np.abs(setpoint.q - last)
    fast = limits.velocity * (1.0 + RELATIVE_SLACK)
    for what, values, allowed, reason in (
        ("velocity", np.abs(setpoint.qd), fast, Reason.SETPOINT_VELOCITY),
        ("step", step, fast * elapsed_s + STEP_ROUNDING, Reason.SETPOINT_VELOCITY),
        ("step", step, settings.step_fraction * settings.pid_tolerance, Reason.SETPOINT_STEP),
    ):
        j = int(np.argmax(values - allowed))
        if values[j] > allowed[j]:
            return Finding(reason, what, names[j], float(values[j]), float(allowed[j]))
    rule = settings.cannula if is_cartesian else None
    if rule is not None and rule.forbids(setpoint.q, last):
        return tell_shallow(Reason.SETPOINT_IN_CANNULA, rule, setpoint.q)
    return None


def find_arm_behind(setpoint: Sample, reported: Array, settings: GuardSettings) -> Finding | None:
    """Find whether a setpoint is so far from the arm's own that the arm would jump.

    Setpoints lost on their way leave the arm where it was. The next one to arrive is a step from
    there, however small the steps between successive setpoints are.

    Args:
        setpoint: Positions to send.
        reported: Setpoint that the arm reports (rad, m), shape (n,).
        settings: What is allowed.
    """
    ahead = np.abs(setpoint.q - reported)
    allowed = settings.step_fraction * settings.pid_tolerance
    j = int(np.argmax(ahead - allowed))
    if ahead[j] <= allowed[j]:
        return None
    name, text = settings.limits.names[j], "ahead of the setpoint that it reports"
    return Finding(Reason.ARM_BEHIND, text, name, float(ahead[j]), float(allowed[j]))

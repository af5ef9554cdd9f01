"""Checks of an arm's state before and during a motion."""

from __future__ import annotations

import numpy as np

from dvrk_kinematics.driver.port import ArmState, OperatingState
from dvrk_kinematics.driver.reasons import Finding, Reason
from dvrk_kinematics.geometry.arrays import Array

__all__ = ["find_not_ours", "find_tracking_error", "find_untrustworthy", "is_same_tool"]


def find_not_ours(state: ArmState) -> Finding | None:
    """Find why the arm is not ours to command, so that nothing may be sent."""
    if state.operating_state is OperatingState.FAULT:
        return Finding(Reason.FAULT, state.last_error)
    if state.operating_state is not OperatingState.ENABLED:
        return Finding(Reason.LEFT_ENABLED, f"the arm is {state.operating_state.value}")
    if not state.is_homed:
        return Finding(Reason.NOT_HOMED, "call home first")
    if state.is_busy:
        return Finding(Reason.BUSY)
    return None


def find_untrustworthy(state: ArmState, names: tuple[str, ...], tool: str) -> Finding | None:
    """Find why the arm's data cannot be interpreted as expected.

    Args:
        state: The arm's reported state.
        names: The model's joints.
        tool: Part number or name of the model's instrument; empty for an arm without one.
    """
    shape = (len(names),)
    if state.joint_names != names:
        return Finding(Reason.WRONG_JOINTS, f"{list(state.joint_names)}, not {list(names)}")
    velocity = state.measured_qd
    for what, given in (
        ("positions in measured_js", state.measured_q),
        ("positions in setpoint_js", state.setpoint_q),
        ("velocities in measured_js", velocity),
    ):
        if given is not None and given.shape != shape:
            text = f"{len(given)} {what} for {len(names)} joints"
            return Finding(Reason.WRONG_JOINTS, text)
    for field, values in (("measured_js", state.measured_q), ("setpoint_js", state.setpoint_q)):
        if not np.isfinite(values).all():
            return Finding(
                Reason.NOT_FINITE_STATE, field, names[int(np.argmin(np.isfinite(values)))]
            )
    if velocity is not None and not np.isfinite(velocity).all():
        return Finding(Reason.NOT_FINITE_STATE, "velocity of measured_js")
    if tool and not is_same_tool(state.tool, tool):
        return Finding(Reason.WRONG_TOOL, f"{state.tool or 'none'!r}, the model has {tool!r}")
    return None


def is_same_tool(reported: str, expected: str) -> bool:
    """Whether tool_type names an instrument.

    Args:
        reported: As the arm reports it: "LARGE_NEEDLE_DRIVER:400006[..]".
        expected: Part number ("400006") or name without number.
    """
    name, _, number = reported.partition("[")[0].partition(":")
    return bool(expected) and expected.upper() in (name.upper(), number.upper())


def find_tracking_error(state: ArmState, allowed: Array, names: tuple[str, ...]) -> Finding | None:
    """Find a joint that does not follow.

    We compare with the arm's own setpoint, since the last one sent has not reached it yet.

    Args:
        state: The arm's reported state.
        allowed: Largest differences (rad, m), shape (n,).
        names: The joints.
    """
    error = state.measured_q - state.setpoint_q
    j = int(np.argmax(np.abs(error) / allowed))
    if abs(error[j]) <= allowed[j]:
        return None
    return Finding(Reason.TRACKING_ERROR, "", names[j], float(error[j]), float(allowed[j]))

"""The driver's interface to an arm: its state, and the commands to send."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, Protocol

from dvrk_kinematics.geometry.arrays import Array

__all__ = ["ArmPort", "ArmState", "JawReading", "OperatingState"]


class OperatingState(Enum):
    """The states that an arm publishes (CRTK)."""

    UNDEFINED = "UNDEFINED"
    DISABLED = "DISABLED"
    ENABLED = "ENABLED"
    PAUSED = "PAUSED"
    FAULT = "FAULT"


@dataclass(frozen=True, slots=True)
class ArmState:
    """The newest state that an arm has reported.

    Arrivals are on our monotonic clock; stamps are on the arm's own and are only compared with
    each other.

    Attributes:
        joint_names: The joints of measured_js, in its order.
        measured_q: Measured positions (rad, m), shape (n,).
        measured_qd: Measured velocities (rad/s, m/s), shape (n,); None if not reported.
        measured_stamp_ns: Stamp of measured_js; 0 means that the arm marks it invalid.
        measured_arrival_ns: When it arrived; None if none has yet.
        setpoint_q: Positions that the arm was last told (rad, m), shape (n,).
        setpoint_stamp_ns: Stamp of setpoint_js.
        setpoint_arrival_ns: When it arrived; None if none has yet.
        operating_state: State of the arm.
        is_homed: Whether it reports that it is homed. It also does so in DISABLED and FAULT.
        is_busy: Whether it reports that it is busy.
        interruptions: How many operating_state messages so far were anything but ENABLED, homed
            and not busy. A pulse of a few ms between two ticks shows only here.
        tool: Value of tool_type, such as "LARGE_NEEDLE_DRIVER:400006[..]"; empty if none.
        errors: Number of messages so far on the arm's ``error`` topic.
        last_error: Text of the last one.
    """

    joint_names: tuple[str, ...]
    measured_q: Array
    measured_qd: Array | None
    measured_stamp_ns: int
    measured_arrival_ns: int | None
    setpoint_q: Array
    setpoint_stamp_ns: int
    setpoint_arrival_ns: int | None
    operating_state: OperatingState
    is_homed: bool
    is_busy: bool
    interruptions: int = 0
    tool: str = ""
    errors: int = 0
    last_error: str = ""


class JawReading(NamedTuple):
    """The state of the jaw that an arm reports.

    Attributes:
        position: Measured opening (rad); None if nothing valid and finite has arrived.
        velocity: Measured speed (rad/s); None if not reported.
        setpoint: Opening that it was last told (rad); None if unknown or not finite.
    """

    position: float | None
    velocity: float | None
    setpoint: float | None


class ArmPort(Protocol):
    """An arm, real or simulated, at the other end of its CRTK topics."""

    def read(self) -> ArmState:
        """Return the newest state; never block."""
        ...

    def read_jaw(self) -> JawReading:
        """Return the newest state of the jaw; never block."""
        ...

    def servo_jp(self, q: Array, qd: Array) -> None:
        """Send a setpoint: positions (rad, m) and feed-forward velocities, shape (n,) each."""
        ...

    def servo_jaw(self, position: float) -> None:
        """Send a setpoint of the jaw (rad); only to an arm that has one."""
        ...

    def hold(self) -> None:
        """Tell the arm to stay at its setpoint."""
        ...

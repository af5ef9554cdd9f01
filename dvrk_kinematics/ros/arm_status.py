"""What there is to say about one arm to a person: state, joints, tip, limits, refusals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dvrk_kinematics.geometry import so3
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.ros.heard_diagnostics import Line
from dvrk_kinematics.ros.own_command import own_command
from dvrk_kinematics.ros.quantity import Quantity, show_quantity
from dvrk_kinematics.ros.terminal import table

__all__ = [
    "ArmStatus",
    "JointReading",
    "describe_state",
    "describe_status",
    "find_next_step",
    "summarise_status",
]


@dataclass(frozen=True, slots=True)
class JointReading:
    """Where one joint is.

    Attributes:
        name: The joint as clients name it.
        quantity: ANGLE or LENGTH.
        position: Where it is (rad, m).
        lower: Its lower limit.
        upper: Its upper limit.
    """

    name: str
    quantity: Quantity
    position: float
    lower: float
    upper: float

    @property
    def margin(self) -> float:
        """Distance to the nearer limit (rad, m); negative outside."""
        return min(self.position - self.lower, self.upper - self.position)


@dataclass(frozen=True, slots=True)
class ArmStatus:
    """What is known of one arm.

    Attributes:
        arm: Its name.
        base_frame: The frame of its tip's pose.
        joints: Its joints; empty while the arm has no valid ones, such as before homing.
        jaw: Its jaw; None if it has none, or none is known.
        T_base_tip: Pose of its tip in its base; None while there are no valid joints.
        speed: Part of their planned speed at which motions are played; None if unknown.
        lines: The bridge's diagnostics by name: "connection", "motion", "last stop".
    """

    arm: str
    base_frame: str
    joints: tuple[JointReading, ...] = ()
    jaw: JointReading | None = None
    T_base_tip: Array | None = None
    speed: float | None = None
    lines: Mapping[str, Line] = field(default_factory=dict)

    def value(self, line: str, name: str) -> str:
        """A value of the diagnostics; empty if it was not said."""
        found = self.lines.get(line)
        return "" if found is None else found.values.get(name, "")

    def message(self, line: str) -> str:
        """What a line of the diagnostics says; empty if it was not heard."""
        found = self.lines.get(line)
        return "" if found is None else found.message


def describe_status(status: ArmStatus) -> str:
    """All of it, on several lines."""
    rows = [("hardware", _hardware(status))]
    rows += [(joint.name, _joint(joint)) for joint in status.joints]
    if status.jaw is not None:
        rows.append((f"{status.jaw.name} (opening)", _joint(status.jaw)))
    if status.T_base_tip is None:
        rows.append(("joints", "none that are valid: the arm is not homed, or has no tool"))
    else:
        rows.append(("tip", _tip(status.T_base_tip, status.base_frame)))
        nearest = min(status.joints, key=lambda joint: joint.margin / (joint.upper - joint.lower))
        rows.append(
            ("nearest limit", f"{nearest.name}, {show_quantity(nearest.margin, nearest.quantity)}")
        )
    rows.append(("speed scale", _speed(status)))
    rows.append(("last stop", _aged(status, status.message("last stop") or "none", "stop_age_s")))
    refused = status.value("last stop", "refused")
    rows.append(("last refusal", _aged(status, refused, "refusal_age_s") if refused else "none"))
    next_step = find_next_step(status)
    lines = [f"{status.arm}: {describe_state(status)}", table(rows)]
    return "\n".join([*lines, f"next: {next_step}"] if next_step else lines)


def summarise_status(status: ArmStatus) -> str:
    """The same on one line, for logs."""
    joints = ", ".join(
        f"{joint.name} {show_quantity(joint.position, joint.quantity)}" for joint in status.joints
    )
    return f"{status.arm}: {describe_state(status)}; {joints or 'no valid joints'}"


def find_next_step(status: ArmStatus) -> str:
    """The command that a person needs next before the arm can move; empty if it can."""
    start = f"{own_command('arm')} {status.arm}"
    state = status.value("connection", "state")
    if state == "PAUSED":
        return f"{start} resume"
    if state and (state != "ENABLED" or status.value("connection", "enabled_here") == "False"):
        return f"{start} enable"
    if status.value("connection", "is_homed") == "False":
        return f"{start} home"
    return ""


def describe_state(status: ArmStatus) -> str:
    """Its state in a few words."""
    state = status.value("connection", "state")
    if not state:
        return status.message("connection") or "no diagnostics were heard of its bridge"
    parts = [state, "homed" if status.value("connection", "is_homed") == "True" else "not homed"]
    if status.value("connection", "enabled_here") == "False":
        parts.append("not enabled through its bridge")
    if status.message("connection") not in ("", state):
        parts.append(status.message("connection"))
    return f"{', '.join(parts)}; {status.message('motion') or 'at rest'}"


def _hardware(status: ArmStatus) -> str:
    names = ("hardware", "publisher", "tool")
    parts = [text for text in (status.value("connection", name) for name in names) if text]
    rate = status.value("connection", "state_rate_hz")
    if rate:
        parts.append(f"{float(rate):.0f} states a second")
    return ", ".join(parts) or "unknown"


def _joint(joint: JointReading) -> str:
    position, margin = (
        show_quantity(value, joint.quantity) for value in (joint.position, joint.margin)
    )
    lower, upper = (show_quantity(v, joint.quantity, 1) for v in (joint.lower, joint.upper))
    return f"{position:>11}   allowed {lower.split()[0]:>6} to {upper:<9}  margin {margin}"


def _tip(T_base_tip: Array, frame: str) -> str:
    x, y, z = (f"{1e3 * value + 0.0:.2f}" for value in T_base_tip[:3, 3])
    turn = ", ".join(f"{value + 0.0:.4f}" for value in so3.to_quaternion(T_base_tip[:3, :3]))
    return f"x {x}, y {y}, z {z} mm in {frame}; quaternion {turn}"


def _speed(status: ArmStatus) -> str:
    if status.speed is None:
        return "unknown"
    wish = status.value("motion", "speed_scaling_input")
    asked = "" if not wish else f" (asked for {float(wish):.0%})"
    return f"{status.speed:.0%}{asked}"


def _aged(status: ArmStatus, text: str, name: str) -> str:
    age = status.value("last stop", name)
    return f"{text}, {float(age):.0f} s ago" if age else text

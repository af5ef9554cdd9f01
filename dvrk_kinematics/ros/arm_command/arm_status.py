"""The status of one arm, as shown to a person: state, joints, tip, limits, refusals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dvrk_kinematics.geometry import so3
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.ros.client.heard_diagnostics import DiagnosticLine
from dvrk_kinematics.ros.common.own_command import own_command
from dvrk_kinematics.ros.common.quantity import Quantity, show_quantity
from dvrk_kinematics.ros.common.terminal import table

__all__ = [
    "ArmStatus",
    "ShownJoint",
    "describe_start",
    "describe_state",
    "describe_status",
    "find_next_step",
    "summarise_status",
]


@dataclass(frozen=True, slots=True)
class ShownJoint:
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
    """What is known about one arm.

    Attributes:
        arm: Its name.
        base_frame: The frame of its tip's pose.
        namespace: Where its names begin, without slashes at its ends; "" for the root.
        joints: Its joints; empty while the arm has no valid ones, such as before homing.
        jaw: Its jaw; None if it has none, or none is known.
        T_base_tip: Pose of its tip in its base; None while there are no valid joints.
        speed: Fraction of their planned speed at which motions are played; None if unknown.
        lines: The bridge's diagnostics by name: "connection", "motion", "last stop"; empty if it
            has been silent.
        silent_s: How long it has been silent (s), if too long for a running bridge; else 0.
    """

    arm: str
    base_frame: str
    namespace: str = ""
    joints: tuple[ShownJoint, ...] = ()
    jaw: ShownJoint | None = None
    T_base_tip: Array | None = None
    speed: float | None = None
    lines: Mapping[str, DiagnosticLine] = field(default_factory=dict)
    silent_s: float = 0.0

    def value(self, line: str, name: str) -> str:
        """Return a value of the diagnostics; empty if not reported."""
        found = self.lines.get(line)
        return "" if found is None else found.values.get(name, "")

    def message(self, line: str) -> str:
        """Return the message of a diagnostics line; empty if not received."""
        found = self.lines.get(line)
        return "" if found is None else found.message


def describe_status(status: ArmStatus) -> str:
    """Describe all of it, on several lines."""
    rows = [("hardware", _hardware(status))]
    rows += [(joint.name, _joint(joint)) for joint in status.joints]
    if status.jaw is not None:
        rows.append((f"{status.jaw.name} (opening)", _joint(status.jaw)))
    if status.T_base_tip is None:
        none = "none that are valid: the arm is not homed, not enabled, or has no tool"
        rows.append(("joints", none if status.lines else "unknown"))
    else:
        # One row each: a single row would be wider than a terminal.
        rows.append(("tip", _position(status.T_base_tip, status.base_frame)))
        rows.append(("orientation", _orientation(status.T_base_tip)))
        rows.append(("nearest limit", _nearest_limit(status)))
    rows.append(("speed scale", _speed(status)))
    rows.append(("last stop", _aged(status, status.message("last stop"), "stop_age_s")))
    rows.append(("last refusal", _refusal(status)))
    next_step = find_next_step(status)
    lines = [f"{status.arm}: {describe_state(status)}", table(rows)]
    return "\n".join([*lines, f"next: {next_step}"] if next_step else lines)


def summarise_status(status: ArmStatus) -> str:
    """Describe the same on one line, for logs."""
    joints = ", ".join(
        f"{joint.name} {show_quantity(joint.position, joint.quantity)}" for joint in status.joints
    )
    parts = [f"{status.arm}: {describe_state(status)}", joints or "no valid joints"]
    if status.T_base_tip is not None:
        T, frame = status.T_base_tip, status.base_frame
        parts += [f"tip {_position(T, frame)}, {_orientation(T)}"]
        parts += [f"nearest limit {_nearest_limit(status)}"]
    parts += [f"speed scale {_speed(status)}", f"last refusal {_refusal(status)}"]
    return "; ".join(parts)


def describe_start(arm: str, namespace: str) -> str:
    """Return the command that starts the bridge of an arm."""
    return f"./dvrk up --arm {arm}" + (f" namespace:={namespace}" if namespace else "")


def find_next_step(status: ArmStatus) -> str:
    """Return the next command needed before the arm can move; empty if it can."""
    verb = _find_next_verb(status)
    where = f" --namespace {status.namespace}" if status.namespace else ""
    return f"{own_command('arm')} {status.arm} {verb}{where}" if verb else ""


def _find_next_verb(status: ArmStatus) -> str:
    state = status.value("connection", "state")
    if state == "PAUSED":
        return "resume"
    if state and (state != "ENABLED" or status.value("connection", "enabled_here") == "False"):
        return "enable"
    return "home" if status.value("connection", "is_homed") == "False" else ""


def describe_state(status: ArmStatus) -> str:
    """Describe its state in a few words."""
    if status.silent_s > 0.0:
        return f"the bridge has been silent for {status.silent_s:.0f} s"
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


def _joint(joint: ShownJoint) -> str:
    position, margin = (
        show_quantity(value, joint.quantity) for value in (joint.position, joint.margin)
    )
    lower, upper = (show_quantity(v, joint.quantity, 1) for v in (joint.lower, joint.upper))
    return f"{position:>11}   allowed {lower.split()[0]:>6} to {upper:<9}  margin {margin}"


def _position(T_base_tip: Array, frame: str) -> str:
    x, y, z = (f"{1e3 * value + 0.0:.2f}" for value in T_base_tip[:3, 3])
    return f"x {x}, y {y}, z {z} mm in {frame}"


def _orientation(T_base_tip: Array) -> str:
    turn = ", ".join(f"{value + 0.0:.4f}" for value in so3.to_quaternion(T_base_tip[:3, :3]))
    return f"quaternion {turn}"


def _nearest_limit(status: ArmStatus) -> str:
    nearest = min(status.joints, key=lambda joint: joint.margin / (joint.upper - joint.lower))
    return f"{nearest.name}, {show_quantity(nearest.margin, nearest.quantity)}"


def _speed(status: ArmStatus) -> str:
    if status.speed is None:
        return "unknown"
    wish = status.value("motion", "speed_scaling_input")
    asked = "" if not wish else f" (asked for {float(wish):.0%})"
    return f"{status.speed:.0%}{asked}"


def _refusal(status: ArmStatus) -> str:
    return _aged(status, status.value("last stop", "refused"), "refusal_age_s")


def _aged(status: ArmStatus, text: str, name: str) -> str:
    if not text:
        return "none" if "last stop" in status.lines else "unknown"
    age = status.value("last stop", name)
    return f"{text}, {float(age):.0f} s ago" if age else text

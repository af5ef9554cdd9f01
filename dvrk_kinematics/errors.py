"""Every error of the project: one tree, whose leaves carry the data that a caller needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dvrk_kinematics.motion.planning.flight_plan import FlightPlan

__all__ = [
    "AlreadyRunning",
    "ArmNotReady",
    "BagError",
    "BridgeMissing",
    "CallFailed",
    "CollinearPoints",
    "DoesNotFit",
    "DvrkError",
    "FitCause",
    "FrameError",
    "GoalRejected",
    "InvalidInput",
    "LayoutError",
    "LimitViolation",
    "MissingExtra",
    "ModelError",
    "OutputError",
    "PlanReason",
    "PlanRefused",
    "PlanningCancelled",
    "PlanningTimeout",
    "ProcessEnded",
    "ReplayRefused",
    "UnknownName",
    "shorten",
]


_LONGEST_NAME = 200


def shorten(name: str) -> str:
    """A name fit for a sentence: on one line, cut if it is very long."""
    shown = "".join(sign if sign.isprintable() else "?" for sign in name)
    if len(shown) <= _LONGEST_NAME:
        return shown
    return f"{shown[:100]}...{shown[-60:]} ({len(name)} characters)"


class DvrkError(Exception):
    """Root of all errors that this project raises on purpose."""


class InvalidInput(DvrkError, ValueError):
    """An argument that makes no sense for any arm: NaN, a wrong shape, no valid rotation.

    Attributes:
        argument: Name of the argument.
        reason: What is wrong with it and what is allowed.
    """

    def __init__(self, argument: str, reason: str) -> None:
        super().__init__(f"{argument}: {reason}")
        self.argument = argument
        self.reason = reason


class CollinearPoints(InvalidInput):
    """Three points that define no circle: they are collinear, or two of them coincide.

    Attributes:
        start: Where the arc begins (m).
        via: What it should go through (m).
        end: Where it ends (m).
        off_line_m: How far the three points are from collinear (m).
    """

    def __init__(
        self,
        start: Sequence[float],
        via: Sequence[float],
        end: Sequence[float],
        off_line_m: float,
    ) -> None:
        points = ", ".join(
            "(" + ", ".join(f"{value:.6g}" for value in point) + ")" for point in (start, via, end)
        )
        super().__init__(
            "via",
            f"no circle goes through {points} m: they are {off_line_m:.3g} m from a line; "
            "an arc needs three points apart and not in a row",
        )
        self.start = tuple(start)
        self.via = tuple(via)
        self.end = tuple(end)
        self.off_line_m = off_line_m


class ModelError(DvrkError):
    """A file of a model, a figure or a recording that cannot be used.

    Attributes:
        source: File and place in it, such as ``psm.yaml: joints[2].lower``.
        reason: What is wrong there and what is allowed.
    """

    def __init__(self, source: str, reason: str) -> None:
        super().__init__(f"{source}: {reason}")
        self.source = source
        self.reason = reason


class UnknownName(DvrkError, LookupError):
    """A name that is unknown here; the message lists the known names.

    Attributes:
        kind: The kind of name ("arm", "instrument", ...).
        name: The name as given.
        valid: The names that exist.
    """

    def __init__(self, kind: str, name: str, valid: Iterable[str]) -> None:
        self.kind = kind
        self.name = name
        self.valid = tuple(valid)
        super().__init__(f"unknown {kind} {name!r}; valid: {', '.join(self.valid)}")


class LimitViolation(DvrkError):
    """A joint value outside its limits (rad or m).

    Attributes:
        joint: Name of the joint.
        value: The requested value.
        lower: Smallest value allowed.
        upper: Largest value allowed.
    """

    def __init__(self, joint: str, value: float, lower: float, upper: float) -> None:
        super().__init__(f"{joint} = {value:.6g} is outside [{lower:.6g}, {upper:.6g}]")
        self.joint = joint
        self.value = value
        self.lower = lower
        self.upper = upper


class MissingExtra(DvrkError, ImportError):
    """An optional library that is not installed.

    Attributes:
        library: What could not be imported.
        hint: How to install it.
    """

    def __init__(self, library: str, hint: str) -> None:
        super().__init__(f"{library} is not installed; {hint}")
        self.library = library
        self.hint = hint


class BagError(DvrkError):
    """A recording that cannot be read, or that lacks the data needed.

    Attributes:
        bag: Its path.
        reason: What is wrong with it and what is needed.
    """

    def __init__(self, bag: str, reason: str) -> None:
        super().__init__(f"{shorten(bag)}: {reason}")
        self.bag = bag
        self.reason = reason


class OutputError(DvrkError):
    """A file that cannot be written.

    Attributes:
        file: The file.
        reason: Why not.
    """

    def __init__(self, file: str, reason: str) -> None:
        super().__init__(f"{shorten(file)} cannot be written: {reason}")
        self.file = file
        self.reason = reason


class ProcessEnded(DvrkError):
    """A process that exited on its own, and that the others need to go on.

    Attributes:
        name: Its name.
        code: Its exit code; negative for the signal that ended it.
    """

    def __init__(self, name: str, code: int) -> None:
        super().__init__(f"{name} ended with exit code {code}; stopping the others")
        self.name = name
        self.code = code


class CallFailed(DvrkError):
    """A service or action that did not answer.

    Attributes:
        name: Name of the service or action on the graph.
        waited_s: How long we waited for it (s).
        reason: What did not happen.
        hint: What to check; may be empty.
    """

    def __init__(self, name: str, waited_s: float, reason: str, hint: str = "") -> None:
        text = f"{name}: {reason} within {waited_s:g} s"
        super().__init__(f"{text}; {hint}" if hint else text)
        self.name = name
        self.waited_s = waited_s
        self.reason = reason
        self.hint = hint


class ArmNotReady(DvrkError):
    """An arm that is present but cannot start a motion.

    Attributes:
        arm: Its name.
        reason: What is missing, and what to do.
    """

    def __init__(self, arm: str, reason: str) -> None:
        super().__init__(reason)
        self.arm = arm
        self.reason = reason


class BridgeMissing(DvrkError):
    """An arm whose bridge does not answer.

    Attributes:
        arm: Name of the arm.
        waited_s: How long we waited for its bridge (s).
        others: The arms that have bridges, with their namespaces.
        start: The command that starts one.
    """

    def __init__(self, arm: str, waited_s: float, others: Iterable[str], start: str) -> None:
        self.arm = arm
        self.waited_s = waited_s
        self.others = tuple(others)
        self.start = start
        found = ", ".join(self.others) or "none"
        super().__init__(
            f"no bridge of {arm} appeared within {waited_s:g} s (bridges that run: {found}); "
            f"start one in another terminal: {start}"
        )


class AlreadyRunning(DvrkError):
    """A second process of a kind that may run only once.

    Attributes:
        what: What is already running, such as "bridge of PSM1".
        process: Id of the process; None if it could not be found.
        topic: The topic that only one process may publish, or answer on.
    """

    def __init__(
        self, what: str, process: int | None, topic: str, does: str = "publishes"
    ) -> None:
        who = "" if process is None else f" (process {process})"
        super().__init__(
            f"another {what}{who} runs already and {does} {topic}; end it first, or start this "
            "one in another namespace or ROS_DOMAIN_ID"
        )
        self.what = what
        self.process = process
        self.topic = topic


class GoalRejected(DvrkError):
    """A goal that an action server did not accept.

    Attributes:
        name: Name of the action on the graph.
    """

    def __init__(self, name: str) -> None:
        super().__init__(f"{name}: the goal was rejected")
        self.name = name


class FrameError(DvrkError, LookupError):
    """A frame that cannot be used: it is unpublished, disconnected, or too old.

    Attributes:
        frame: The requested frame.
        reason: What is wrong with it, and what is available.
    """

    def __init__(self, frame: str, reason: str) -> None:
        super().__init__(f"frame {frame!r} {reason}")
        self.frame = frame
        self.reason = reason


class LayoutError(DvrkError):
    """A message whose serialised form is not what patching needs.

    Attributes:
        message_type: The message class.
        reason: What does not fit.
    """

    def __init__(self, message_type: type, reason: str) -> None:
        super().__init__(f"{message_type.__name__}: {reason}")
        self.message_type = message_type
        self.reason = reason


class FitCause(str, Enum):
    """Why a figure fits nowhere."""

    TURN = "turn"
    """The figure turns the tool farther than a joint can turn."""
    JOINT_LIMIT = "joint_limit"
    """A joint would leave its limits: of the wrist, or of the joints that carry it."""
    CANNULA = "cannula"
    """The wrist would come too near to the remote centre."""
    REACH = "reach"
    """No joint positions reach some of its poses."""
    JUMP = "jump"
    """The joints would have to jump between two of its poses."""
    MARGIN = "margin"
    """It fits, but with less room to the limits than requested."""


class DoesNotFit(DvrkError):
    """A figure that fits nowhere in the dexterous workspace at the requested size.

    Attributes:
        figure: Its name.
        scale: The requested size, as a factor; None if it could have been any.
        largest_scale: The largest size that fits somewhere; 0 if none does.
        cause: What kind of obstacle prevents it, at the place of best fit.
        reason: The same, in words.
        joint: The joint that prevents it; empty if none does.
        value: What the figure would need: a joint position (rad, m), the angle by which a joint
            would have to turn (rad), the depth of the wrist (m) or the margin; NaN if no number
            applies.
        limit: What is allowed.
    """

    def __init__(
        self,
        figure: str,
        scale: float | None,
        largest_scale: float,
        cause: FitCause,
        reason: str,
        joint: str = "",
        value: float = float("nan"),
        limit: float = float("nan"),
    ) -> None:
        if scale is None:
            text = f"fits nowhere, whatever its size: {reason}"
        elif largest_scale > 0.0:
            text = f"fits nowhere at scale {scale:.4g}, at most {largest_scale:.4g} fits: {reason}"
        else:
            text = f"fits nowhere, neither at scale {scale:.4g} nor smaller: {reason}"
        super().__init__(f"{figure}: {text}")
        self.figure = figure
        self.scale = scale
        self.largest_scale = largest_scale
        self.cause = cause
        self.reason = reason
        self.joint = joint
        self.value = value
        self.limit = limit


class PlanReason(str, Enum):
    """Why a motion was not planned."""

    START = "start"
    """The path does not begin where the arm is."""
    UNREACHABLE = "unreachable"
    """No joint positions put the tip there."""
    POSITION_LIMIT = "position_limit"
    """A joint would leave its limits."""
    VELOCITY_LIMIT = "velocity_limit"
    """A joint would be too fast."""
    ACCELERATION_LIMIT = "acceleration_limit"
    """A joint would accelerate too much."""
    IN_CANNULA = "in_cannula"
    """The wrist would come too near to the remote centre."""
    JUMP = "jump"
    """Joint positions that follow the path would jump."""
    DEVIATION = "deviation"
    """What would be played leaves the exact path, however dense the knots."""
    TOO_MANY_KNOTS = "too_many_knots"
    """The motion needs more knots than a goal may have."""


class PlanRefused(DvrkError):
    """A requested motion that cannot be planned; nothing moves.

    Attributes:
        reason: Why.
        step: Which of the moves, or segments, counted from 0.
        distance_m: Where on the path: metres of tip travel from the start.
        fraction: The same as a fraction of the whole path.
        joint: The joint that prevents it; empty if none does.
        value: What was found (rad, m; per s; per s^2); NaN if no number applies.
        limit: What is allowed.
        detail: Further details.
        flight_plan: What was found so far, ``ok`` false.
    """

    def __init__(
        self,
        reason: PlanReason,
        step: int,
        distance_m: float,
        fraction: float,
        joint: str = "",
        value: float = float("nan"),
        limit: float = float("nan"),
        detail: str = "",
    ) -> None:
        self.reason = reason
        self.step = step
        self.distance_m = distance_m
        self.fraction = fraction
        self.joint = joint
        self.value = value
        self.limit = limit
        self.detail = detail
        self.flight_plan: FlightPlan | None = None
        super().__init__(f"{self._where()}: {self._what()}")

    def _where(self) -> str:
        return (
            f"step {self.step}, {self.distance_m:.4f} m along the path "
            f"({100.0 * self.fraction:.1f} %)"
        )

    def _what(self) -> str:
        text = self.reason.value
        if self.value == self.value:
            name = f"{self.joint} " if self.joint else ""
            text += f", {name}{self.value:.6g}, allowed {self.limit:.6g}"
        elif self.joint:
            text += f", {self.joint}"
        return f"{text} ({self.detail})" if self.detail else text


class PlanningCancelled(DvrkError):
    """Planning that was ended before there was a plan; nothing moves.

    Attributes:
        reason: Why, in the words of the caller that ended it.
        fraction: The part of the planning that was done, from 0 to 1.
        doing: What the goal was doing then, as in "was planned".
    """

    def __init__(self, reason: str, fraction: float, doing: str = "was planned") -> None:
        super().__init__(f"{reason} while it {doing}")
        self.reason = reason
        self.fraction = fraction


class PlanningTimeout(DvrkError):
    """Planning that took longer than allowed; nothing moves.

    Attributes:
        allowed_s: How long it may take (s).
        fraction: The part of the planning that was done by then, from 0 to 1.
    """

    def __init__(self, allowed_s: float, fraction: float) -> None:
        super().__init__(
            f"was not planned within {allowed_s:g} s ({100.0 * fraction:.0f} % done); ask for "
            "fewer or shorter moves or fewer corners, or allow more time"
        )
        self.allowed_s = allowed_s
        self.fraction = fraction


class ReplayRefused(DvrkError):
    """A replay on several arms where one cannot do its part; no arm moves.

    Attributes:
        arm: Name of the arm.
        cause: Why it cannot.
    """

    def __init__(self, arm: str, cause: DvrkError) -> None:
        super().__init__(f"{arm}: {cause}")
        self.arm = arm
        self.cause = cause

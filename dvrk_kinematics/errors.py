"""Every error of the project: one tree, whose leaves carry the data that a caller needs."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = [
    "CallFailed",
    "DvrkError",
    "GoalRejected",
    "InvalidInput",
    "LayoutError",
    "LimitViolation",
    "MissingExtra",
    "ModelError",
    "UnknownName",
]


class DvrkError(Exception):
    """Root of all errors that this project raises on purpose."""


class InvalidInput(DvrkError, ValueError):
    """An argument that no arm could make sense of: NaN, a wrong shape, a matrix that is no pose.

    Attributes:
        argument: Name of the argument.
        reason: What is wrong with it and what is allowed.
    """

    def __init__(self, argument: str, reason: str) -> None:
        super().__init__(f"{argument}: {reason}")
        self.argument = argument
        self.reason = reason


class ModelError(DvrkError):
    """A model file that cannot be used.

    Attributes:
        source: File and place in it, such as ``psm.yaml: joints[2].lower``.
        reason: What is wrong there and what is allowed.
    """

    def __init__(self, source: str, reason: str) -> None:
        super().__init__(f"{source}: {reason}")
        self.source = source
        self.reason = reason


class UnknownName(DvrkError, LookupError):
    """A name that stands for nothing here; the message lists the names that do.

    Attributes:
        kind: What was looked up ("arm", "instrument", ...).
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
        value: The value asked for.
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


class CallFailed(DvrkError):
    """A service or action that did not answer.

    Attributes:
        name: Name of the service or action on the graph.
        waited_s: How long it was waited for (s).
        reason: What did not happen.
    """

    def __init__(self, name: str, waited_s: float, reason: str) -> None:
        super().__init__(f"{name}: {reason} within {waited_s:g} s")
        self.name = name
        self.waited_s = waited_s
        self.reason = reason


class GoalRejected(DvrkError):
    """A goal that an action server did not accept.

    Attributes:
        name: Name of the action on the graph.
    """

    def __init__(self, name: str) -> None:
        super().__init__(f"{name}: the goal was rejected")
        self.name = name


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

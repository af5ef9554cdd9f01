"""Parameters of a node: declared once, checked as a whole, read as one immutable object.

Example:
    @dataclass(frozen=True)
    class Settings:
        rate: float = parameter(200.0, "rate of the state topics", unit="Hz", minimum=1.0)
        arm: str = parameter("PSM1", "arm to drive", read_only=True)

        def check(self) -> None:
            ...raise InvalidInput where two parameters do not go together...

    parameters = Parameters(node, Settings)
    parameters.values.rate
"""

from __future__ import annotations

import dataclasses
import difflib
import importlib
import math
from array import array
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Generic, TypeVar

from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.exceptions import InvalidParameterValueException
from rclpy.node import Node
from rclpy.parameter import Parameter

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.ros.rclpy_ext.parameter_services import guard_parameter_services

__all__ = ["Parameters", "parameter", "parameter_rows"]

SettingsT = TypeVar("SettingsT")
_METADATA = "dvrk_parameter"
_USE_SIM_TIME = "use_sim_time"
_OVERRIDES_OF_RCLPY = "qos_overrides."
_ALL_SETTINGS = "dvrk_kinematics.ros.common.answer_arguments"


@dataclasses.dataclass(frozen=True, slots=True)
class _Declaration:
    description: str
    unit: str
    minimum: float | None
    maximum: float | None
    choices: tuple[Any, ...]
    read_only: bool
    at_rest: bool

    @property
    def when(self) -> str:
        """Return when it can be changed; empty if that needs a restart."""
        if self.read_only:
            return ""
        return "at rest" if self.at_rest else "at any time"

    def constraints(self) -> str:
        parts = [f"unit: {self.unit}"] if self.unit else []
        parts += [f"one of: {', '.join(map(str, self.choices))}"] if self.choices else []
        return "; ".join(parts)

    def check(self, name: str, value: Any) -> None:
        for number in value if isinstance(value, tuple) else (value,):
            if isinstance(number, float) and not math.isfinite(number):
                raise InvalidInput(name, f"{number} is not a finite number")
            if self.minimum is not None and number < self.minimum:
                raise InvalidInput(name, f"{number} is below {self.minimum} {self.unit}".rstrip())
            if self.maximum is not None and number > self.maximum:
                raise InvalidInput(name, f"{number} is above {self.maximum} {self.unit}".rstrip())
            if self.choices and number not in self.choices:
                raise InvalidInput(
                    name, f"{number!r} is none of {', '.join(map(str, self.choices))}"
                )


def parameter(
    default: Any,
    description: str,
    *,
    unit: str = "",
    minimum: float | None = None,
    maximum: float | None = None,
    choices: Sequence[Any] = (),
    read_only: bool = False,
    at_rest: bool = False,
) -> Any:
    """Declare one parameter as a field of a settings dataclass.

    Args:
        default: Its value if none is given; its type is the parameter's type (a tuple becomes
            an array).
        description: The text that `ros2 param describe` shows.
        unit: Its unit, "" for none.
        minimum: Smallest number allowed.
        maximum: Largest number allowed.
        choices: The values allowed, if there are only a few.
        read_only: Whether a change needs a restart.
        at_rest: Whether it can be changed only while nothing moves.
    """
    declaration = _Declaration(
        description, unit, minimum, maximum, tuple(choices), read_only, at_rest
    )
    return dataclasses.field(default=default, metadata={_METADATA: declaration})


def parameter_rows(settings: type[Any]) -> list[tuple[str, Any, str, str, str]]:
    """List what a settings class declares, for documentation.

    Returns:
        For each parameter: name, default, description, constraints, when it can be changed
        ("at rest", "at any time", or empty).
    """
    rows = []
    for field in dataclasses.fields(settings):
        declaration: _Declaration = field.metadata[_METADATA]
        bounds = (("from", declaration.minimum), ("to", declaration.maximum))
        span = " ".join(f"{word} {number:g}" for word, number in bounds if number is not None)
        constraints = "; ".join(part for part in (span, declaration.constraints()) if part)
        rows.append(
            (
                field.name,
                field.default,
                declaration.description,
                constraints,
                declaration.when,
            )
        )
    return rows


class Parameters(Generic[SettingsT]):
    """Declares the parameters of a settings class on a node and keeps their values.

    A change from outside is accepted or refused as a whole: the new settings are built and
    checked, and only then replace the old ones. A refusal reports its reason to the client. Values
    that rclpy itself cannot handle are refused, too. use_sim_time keeps the value with which the
    node was started: switching clocks at run time would make ages and starts of motions
    meaningless.

    Args:
        node: The node.
        settings: A frozen dataclass whose fields are made by :func:`parameter`; it may have a
            method ``check``.
        on_change: Called with the new settings after each accepted change.
        is_at_rest: Tells whether nothing moves; some parameters can be changed only then.

    Raises:
        InvalidInput: If a value given at start-up is not allowed.
    """

    def __init__(
        self,
        node: Node,
        settings: type[SettingsT],
        on_change: Callable[[SettingsT], None] | None = None,
        is_at_rest: Callable[[], bool] | None = None,
    ) -> None:
        self._type = settings
        self._is_at_rest = is_at_rest
        self._on_change = on_change
        self._declared: dict[str, _Declaration] = {
            field.name: field.metadata[_METADATA]
            for field in dataclasses.fields(settings)  # type: ignore[arg-type]
        }
        self._defaults: dict[str, Any] = {
            field.name: field.default
            for field in dataclasses.fields(settings)  # type: ignore[arg-type]
        }
        _refuse_unknown(node, self._declared)
        given = {
            name: self._declare(node, name, default) for name, default in self._defaults.items()
        }
        self._values = self._build(given)
        self._has_simulated_time = bool(node.get_parameter(_USE_SIM_TIME).value)
        guard_parameter_services(node)
        node.add_pre_set_parameters_callback(self._read)
        node.add_on_set_parameters_callback(self._judge)
        node.add_post_set_parameters_callback(self._take)

    @property
    def values(self) -> SettingsT:
        """The current settings."""
        return self._values

    def _declare(self, node: Node, name: str, default: Any) -> Any:
        declaration = self._declared[name]
        descriptor = ParameterDescriptor(
            description=declaration.description,
            additional_constraints=declaration.constraints(),
            read_only=declaration.read_only,
        )
        _describe_range(descriptor, declaration, default)
        overrides: Mapping[str, Parameter[Any]] = node._parameter_overrides
        value = _to_ros(default) if name not in overrides else overrides[name].value
        given = _as_typed(value, default)
        if given is None:
            kind = _kind(default)
            raise InvalidInput(name, f"{value!r} is of the wrong type, must be {kind}")
        try:
            # Read here and not by rclpy, to accept a whole number for a float.
            declared = node.declare_parameter(name, given, descriptor, ignore_override=True)
        except InvalidParameterValueException as error:
            raise InvalidInput(name, str(error)) from error
        return declared.value

    def _build(self, given: dict[str, Any]) -> SettingsT:
        values = {name: _from_ros(value) for name, value in given.items()}
        for name, value in values.items():
            self._declared[name].check(name, value)
        built = self._type(**values)
        check = getattr(built, "check", None)
        if check is not None:
            check()
        return built

    def _changed(self, parameters: Sequence[Parameter[Any]]) -> SettingsT | None:
        """Return the settings with some parameters changed; None if none of them is ours."""
        changes = {p.name: p.value for p in parameters if p.name in self._declared}
        if not changes:
            return None
        now = {name: getattr(self._values, name) for name in self._declared}
        return self._build(now | changes)

    def _read(self, parameters: list[Parameter[Any]]) -> list[Parameter[Any]]:
        """Accept whole numbers for floats, and numbers for names, as at start-up."""
        read = []
        for one in parameters:
            typed = _as_typed(one.value, self._defaults.get(one.name))
            read.append(one if typed is None else Parameter(one.name, value=typed))
        return read

    def _judge(self, parameters: Sequence[Parameter[Any]]) -> SetParametersResult:
        try:
            self._check_clock(parameters)
            self._check_rest(parameters)
            self._changed(parameters)
        except InvalidInput as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def _check_clock(self, parameters: Sequence[Parameter[Any]]) -> None:
        for one in parameters:
            if one.name == _USE_SIM_TIME and one.value != self._has_simulated_time:
                now = str(self._has_simulated_time).lower()
                reason = f"is {now} since the node was started; to change it, start the node anew"
                raise InvalidInput(_USE_SIM_TIME, reason)

    def _check_rest(self, parameters: Sequence[Parameter[Any]]) -> None:
        names = [p.name for p in parameters if p.name in self._declared]
        waiting = [name for name in names if self._declared[name].at_rest]
        if waiting and self._is_at_rest is not None and not self._is_at_rest():
            raise InvalidInput(waiting[0], "can be changed at rest only; something moves")

    def _take(self, parameters: Sequence[Parameter[Any]]) -> None:
        changed = self._changed(parameters)
        if changed is None:
            return
        self._values = changed
        if self._on_change is not None:
            self._on_change(changed)


def _describe_range(descriptor: Any, declaration: _Declaration, default: Any) -> None:
    """Give tools the range, so that they can show a slider."""
    lower, upper = declaration.minimum, declaration.maximum
    if lower is None and upper is None:
        return
    if isinstance(default, float):
        ends = (-math.inf if lower is None else lower, math.inf if upper is None else upper)
        descriptor.floating_point_range = [
            FloatingPointRange(from_value=float(ends[0]), to_value=float(ends[1]))
        ]
    elif isinstance(default, int):
        least, most = -(2**63), 2**63 - 1
        ends = (least if lower is None else int(lower), most if upper is None else int(upper))
        descriptor.integer_range = [IntegerRange(from_value=ends[0], to_value=ends[1])]


def _refuse_unknown(node: Node, declared: Collection[str]) -> None:
    """Refuse parameters that the node does not have: they would silently do nothing.

    Parameters of rclpy itself pass, and so do those of other nodes of this package: one file can
    serve several nodes.
    """
    unknown = [
        name
        for name in node._parameter_overrides
        if name not in declared
        and not node.has_parameter(name)
        and not name.startswith(_OVERRIDES_OF_RCLPY)
    ]
    if not unknown:
        return
    # Imported here: it imports every node's settings, which import this module.
    names = importlib.import_module(_ALL_SETTINGS).parameter_names()
    for name in unknown:
        if name not in names:
            near = difflib.get_close_matches(name, declared, n=1)
            hint = f"did you mean {near[0]}? " if near else ""
            valid = ", ".join(declared)
            raise InvalidInput(
                name, f"{node.get_name()} has no such parameter; {hint}there are: {valid}"
            )


def _as_typed(value: Any, default: Any) -> Any:
    """Convert a value to the type of a default, None if it does not fit.

    YAML reads ``100`` as a whole number where 100.0 is meant, and ``400006`` where it is a name.
    """
    if isinstance(default, tuple):
        if not isinstance(value, list | tuple | array):
            return None
        typed = [_as_typed(item, default[0]) for item in value]
        return None if None in typed else typed
    if isinstance(value, int) and not isinstance(value, bool) and not isinstance(default, bool):
        return type(default)(value) if isinstance(default, int | float | str) else None
    return value if type(value) is type(default) else None


def _kind(default: Any) -> str:
    """Return the type of a parameter in messages."""
    return f"list of {_kind(default[0])}" if isinstance(default, tuple) else type(default).__name__


def _to_ros(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _from_ros(value: Any) -> Any:
    return value if isinstance(value, bool | int | float | str) else tuple(value)

"""Parameters of a node: declared once, checked as a whole, seen as one immutable object.

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
import math
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.exceptions import InvalidParameterTypeException, InvalidParameterValueException
from rclpy.node import Node
from rclpy.parameter import Parameter

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.ros.parameter_services import guard_parameter_services

__all__ = ["Parameters", "parameter", "parameter_rows"]

SettingsT = TypeVar("SettingsT")
_METADATA = "dvrk_parameter"
_USE_SIM_TIME = "use_sim_time"


@dataclasses.dataclass(frozen=True, slots=True)
class _Declaration:
    description: str
    unit: str
    minimum: float | None
    maximum: float | None
    choices: tuple[Any, ...]
    read_only: bool

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
) -> Any:
    """Declare one parameter as a field of a settings dataclass.

    Args:
        default: Its value if nobody gives one; its type is the parameter's type (a tuple becomes
            an array).
        description: What `ros2 param describe` says.
        unit: Its unit, "" for none.
        minimum: Smallest number allowed.
        maximum: Largest number allowed.
        choices: The values allowed, if these are few.
        read_only: Whether a change needs a restart.
    """
    declaration = _Declaration(description, unit, minimum, maximum, tuple(choices), read_only)
    return dataclasses.field(default=default, metadata={_METADATA: declaration})


def parameter_rows(settings: type[Any]) -> list[tuple[str, Any, str, str, bool]]:
    """What a settings class declares, for documents.

    Returns:
        For each parameter: name, default, description, constraints, whether it is read-only.
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
                declaration.read_only,
            )
        )
    return rows


class Parameters(Generic[SettingsT]):
    """Declares the parameters of a settings class on a node and keeps their values.

    A change from outside is taken or refused as a whole: the new settings are built and checked,
    and only then do they replace the old ones. Refusals carry the reason to whoever asked. What
    rclpy itself cannot deal with is refused, too, and use_sim_time keeps the value that the
    node was started with: a clock that becomes another one while something runs makes ages and
    starts of motions meaningless.

    Args:
        node: The node.
        settings: A frozen dataclass whose fields are made by :func:`parameter`; it may have a
            method ``check``.
        on_change: Called with the new settings after each accepted change.

    Raises:
        InvalidInput: If a value given at start-up is not allowed.
    """

    def __init__(
        self,
        node: Node,
        settings: type[SettingsT],
        on_change: Callable[[SettingsT], None] | None = None,
    ) -> None:
        self._type = settings
        self._on_change = on_change
        self._declared: dict[str, _Declaration] = {
            field.name: field.metadata[_METADATA]
            for field in dataclasses.fields(settings)  # type: ignore[arg-type]
        }
        given = {
            field.name: self._declare(node, field.name, field.default)
            for field in dataclasses.fields(settings)  # type: ignore[arg-type]
        }
        self._values = self._build(given)
        self._has_simulated_time = bool(node.get_parameter(_USE_SIM_TIME).value)
        guard_parameter_services(node)
        node.add_on_set_parameters_callback(self._judge)
        node.add_post_set_parameters_callback(self._take)

    @property
    def values(self) -> SettingsT:
        """The settings now in force."""
        return self._values

    def _declare(self, node: Node, name: str, default: Any) -> Any:
        declaration = self._declared[name]
        descriptor = ParameterDescriptor(
            description=declaration.description,
            additional_constraints=declaration.constraints(),
            read_only=declaration.read_only,
        )
        _describe_range(descriptor, declaration, default)
        try:
            declared = node.declare_parameter(name, _to_ros(default), descriptor)
        except InvalidParameterTypeException as error:
            kind = type(default).__name__
            raise InvalidInput(name, f"is of the wrong type, must be {kind} ({error})") from error
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
        """The settings with some parameters changed; None if none of them is ours."""
        changes = {p.name: p.value for p in parameters if p.name in self._declared}
        if not changes:
            return None
        now = {name: getattr(self._values, name) for name in self._declared}
        return self._build(now | changes)

    def _judge(self, parameters: Sequence[Parameter[Any]]) -> SetParametersResult:
        try:
            self._check_clock(parameters)
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


def _to_ros(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _from_ros(value: Any) -> Any:
    return value if isinstance(value, bool | int | float | str) else tuple(value)

"""Turns the processes of a system into actions of ``launch_ros``.

launch and launch_ros are not to be had everywhere that rclpy is, so that only the launch files
import them; they hand over here what is needed of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.models.loader import load_model, model_name
from dvrk_kinematics.ros.arm_roster import ARMS, CART
from dvrk_kinematics.ros.bringup import Process, command_line
from dvrk_kinematics.ros.system import SIMULATED, make_processes
from dvrk_kinematics.ros.system_arguments import ARGUMENTS, Argument, read_system

__all__ = ["LAUNCHES", "Launch", "describe"]

_ARM_ARGUMENTS = tuple(argument.name for argument in ARGUMENTS)
_CART_ARGUMENTS = tuple(name for name in _ARM_ARGUMENTS if name != "arm")
_VIEW_ARGUMENTS = ("arm", "prefix", "namespace")
_RECORD_ARGUMENTS = ("arm", "namespace", "output")
_FIGURE_JOINTS = 6
"""The Block-O turns the tip while it moves it: position and orientation are both its own."""


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch file.

    Attributes:
        arguments: Names of those of ``ARGUMENTS`` that it takes.
        make: Makes the processes from what the user said.
        extra: Arguments of its own.
    """

    arguments: tuple[str, ...]
    make: Callable[[dict[str, str]], Sequence[Process]]
    extra: tuple[Argument, ...] = ()

    @property
    def declared(self) -> tuple[Argument, ...]:
        """All its arguments."""
        return (*(a for a in ARGUMENTS if a.name in self.arguments), *self.extra)


def _arm(values: dict[str, str]) -> Sequence[Process]:
    return make_processes(read_system(values))


def _patient_cart(values: dict[str, str]) -> Sequence[Process]:
    return make_processes(read_system(values, CART, has_setup_joints=True))


def _block_o(values: dict[str, str]) -> Sequence[Process]:
    scale = values.pop("scale")
    system = read_system(values)
    (arm,) = system.arms
    tracing = [name for name in ARMS if _count_joints(name) >= _FIGURE_JOINTS]
    if arm not in tracing:
        reason = f"{arm} has {_count_joints(arm)} joints, the figure needs {_FIGURE_JOINTS}"
        raise InvalidInput("arm", f"{reason}; choose from {', '.join(tracing)}")
    arguments = ["--arm", arm, "--scale", scale]
    if system.hardware == SIMULATED:
        # A real arm is enabled by the person who stands beside it.
        arguments.append("--bring-up")
    trace = Process("trace_block_o", namespace=system.namespace, arguments=tuple(arguments))
    return (*make_processes(system), trace)


def _count_joints(arm: str) -> int:
    return len(load_model(model_name(arm)).joints)


def _view(values: dict[str, str]) -> Sequence[Process]:
    system = read_system({**values, "rviz": "true", "servers": "false", "hardware": "dvrk"})
    return [process for process in make_processes(system) if process.package == "rviz2"]


def _record(values: dict[str, str]) -> Sequence[Process]:
    system = read_system({**values, "record": "true", "servers": "false", "hardware": "dvrk"})
    return [process for process in make_processes(system) if process.executable == "record"]


LAUNCHES = {
    "arm": Launch(_ARM_ARGUMENTS, _arm),
    "patient_cart": Launch(_CART_ARGUMENTS, _patient_cart),
    "block_o": Launch(
        _ARM_ARGUMENTS,
        _block_o,
        (Argument("scale", "0.5", "size of the figure; 1 is 0.196 m by 0.256 m"),),
    ),
    "view": Launch(_VIEW_ARGUMENTS, _view),
    "record": Launch(_RECORD_ARGUMENTS, _record),
}
"""Every launch file by its name."""


def describe(name: str, launch: Any, launch_ros: Any) -> Any:
    """The LaunchDescription of a launch file.

    Args:
        name: One of ``LAUNCHES``.
        launch: The module launch.
        launch_ros: The module launch_ros.
    """
    chosen = LAUNCHES[name]
    declared = [
        launch.actions.DeclareLaunchArgument(
            argument.name,
            default_value=argument.default,
            description=argument.description,
            **({"choices": list(argument.choices)} if argument.choices else {}),
        )
        for argument in chosen.declared
    ]

    def start(context: Any) -> list[Any]:
        read = launch.substitutions.LaunchConfiguration
        values = {a.name: read(a.name).perform(context) for a in chosen.declared}
        return [_start(process, launch, launch_ros) for process in chosen.make(values)]

    opaque = launch.actions.OpaqueFunction(function=start)
    return launch.LaunchDescription([*declared, opaque])


def _start(process: Process, launch: Any, launch_ros: Any) -> Any:
    if process.executable == "record":
        # It is told apart from nodes: it takes no arguments of ROS.
        return launch.actions.ExecuteProcess(cmd=command_line(process), output="screen")
    files = [process.params_file] if process.params_file else []
    return launch_ros.actions.Node(
        package=process.package,
        executable=process.executable,
        name=process.name or None,
        namespace=process.namespace or None,
        parameters=[dict(process.parameters), *files],
        remappings=list(process.remappings.items()),
        arguments=list(process.arguments),
        additional_env=dict(process.environment),
        ros_arguments=["--log-level", process.log_level] if process.log_level else [],
        output="screen",
        emulate_tty=True,
    )

"""Turns the processes of a system into actions of ``launch_ros``.

launch and launch_ros are not available everywhere that rclpy is. So only the launch files import
them, and pass the modules to this one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, partial
from itertools import pairwise
from typing import Any

from dvrk_kinematics.errors import InvalidInput, ProcessEnded
from dvrk_kinematics.models.load_model import load_model, model_name
from dvrk_kinematics.motion.figures.figure import Orientation
from dvrk_kinematics.ros.bringup.leave_out_missing import leave_out_missing
from dvrk_kinematics.ros.bringup.processes import (
    PACKAGE,
    RESPAWN_S,
    RESPAWNS,
    Process,
    list_arguments,
)
from dvrk_kinematics.ros.bringup.system import make_processes
from dvrk_kinematics.ros.bringup.system_arguments import ARGUMENTS, Argument, read_system
from dvrk_kinematics.ros.common.arm_roster import ARMS, CART
from dvrk_kinematics.ros.executables import LAUNCHED_BY

__all__ = ["LAUNCHES", "Launch", "describe"]

_ARM_ARGUMENTS = tuple(argument.name for argument in ARGUMENTS)
_CART_ARGUMENTS = tuple(name for name in _ARM_ARGUMENTS if name != "arm")
_VIEW_ARGUMENTS = ("arm", "prefix", "namespace")
_RECORD_ARGUMENTS = ("arm", "namespace", "output")
_OF_LAUNCH = (
    *("launch-prefix", "launch-prefix-filter", "emulate_tty"),
    *("sigterm_timeout", "sigkill_timeout"),
)
"""Arguments that launch itself reads when it starts or ends processes."""
_FIGURE_JOINTS = 6
"""The Block-O turns the tip while moving it: it defines both position and orientation."""


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch file.

    Attributes:
        arguments: Names of the ``ARGUMENTS`` that it takes.
        make: Makes the processes from the user's values.
        extra: Its own arguments.
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
    scale, orientation = values.pop("scale"), values.pop("orientation")
    system = read_system(values)
    arm = system.arms[0]
    if len(system.arms) > 1:
        raise InvalidInput("arm", f"one arm traces, not {', '.join(system.arms)}")
    tracing = [name for name in ARMS if _count_joints(name) >= _FIGURE_JOINTS]
    if arm not in tracing:
        reason = f"{arm} has {_count_joints(arm)} joints, the figure needs {_FIGURE_JOINTS}"
        raise InvalidInput("arm", f"{reason}; choose from {', '.join(tracing)}")
    arguments = ["--arm", arm, "--scale", scale, "--orientation", orientation]
    # We must not command a system that already runs before our own notices it and ends.
    arguments += ["--started-by", str(os.getpid())]
    if system.bring_up:
        # The bridge already brings the arm up; its answers tell the client when to start.
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
        (
            Argument("scale", "0.5", "size of the figure; 1 is 0.196 m by 0.256 m"),
            Argument(
                "orientation",
                Orientation.ALONG.value,
                "turn the tool along the travel, or keep its orientation fixed",
                tuple(item.value for item in Orientation),
            ),
        ),
    ),
    "view": Launch(_VIEW_ARGUMENTS, _view),
    "record": Launch(_RECORD_ARGUMENTS, _record),
}
"""Every launch file by its name."""


def describe(name: str, launch: Any, launch_ros: Any) -> Any:
    """Make the LaunchDescription of a launch file.

    Args:
        name: One of ``LAUNCHES``.
        launch: The module launch.
        launch_ros: The module launch_ros.
    """
    chosen = LAUNCHES[name]
    # Values are checked here and not by launch, which rejects True for true, and lists.
    declared = [
        launch.actions.DeclareLaunchArgument(
            argument.name, default_value=argument.default, description=argument.help
        )
        for argument in chosen.declared
    ]

    def start(context: Any) -> list[Any]:
        if _is_started_directly(name):
            _refuse_unknown(context.argv, chosen.declared)
        read = launch.substitutions.LaunchConfiguration
        values = {a.name: a.read(read(a.name).perform(context)) for a in chosen.declared}
        processes, left_out = leave_out_missing(chosen.make(values))
        told = [launch.actions.LogInfo(msg=sentence) for sentence in left_out]
        # We find all before the first one starts: launch would leave that one running.
        paths = [_find(process, launch_ros, context) for process in processes]
        started = zip(processes, paths, strict=True)
        # A user who gave their own prefix, such as a debugger, wants only that.
        has_prefix = bool(read("launch-prefix", default="").perform(context))
        make = partial(_start, launch=launch, launch_ros=launch_ros, is_bare=has_prefix)
        return [*told, *(make(process, path) for process, path in started)]

    opaque = launch.actions.OpaqueFunction(function=start)
    return launch.LaunchDescription([*declared, opaque])


def _is_started_directly(name: str) -> bool:
    """Return whether ``ros2 launch`` runs this launch file, and not one that includes it.

    A launch file that includes it may have its own arguments, which appear here among ours.
    """
    return (PACKAGE, f"{name}.launch.py") in pairwise(sys.argv)


def _refuse_unknown(told: Sequence[str], declared: Sequence[Argument]) -> None:
    """Refuse arguments that launch would silently set, and nobody would read.

    Args:
        told: The launch arguments, as typed.
        declared: The existing arguments.

    Raises:
        InvalidInput: There is no such argument.
    """
    known = [argument.name for argument in declared]
    for text in told:
        name = text.partition(":=")[0]
        if name not in (*known, *_OF_LAUNCH):
            near = get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]}? " if near else ""
            raise InvalidInput(name, f"is no argument; {hint}there are: {', '.join(known)}")


def _find(process: Process, launch_ros: Any, context: Any) -> str:
    """Return the path of a process's installed executable."""
    if process.package != PACKAGE:
        return process.executable
    find = launch_ros.substitutions.ExecutableInPackage
    path: str = find(executable=process.executable, package=process.package).perform(context)
    return path


def _start(process: Process, path: str, launch: Any, launch_ros: Any, is_bare: bool) -> Any:
    common: dict[str, Any] = {
        "additional_env": {
            **process.environment,
            LAUNCHED_BY: str(os.getpid()),
            "PYTHONUNBUFFERED": "1",
        },
        "output": "screen",
        "prefix": None if is_bare else _find_prefix(process),
        "on_exit": _Watch(process, launch),
        "respawn": process.respawn,
        "respawn_delay": RESPAWN_S,
        "respawn_max_retries": RESPAWNS,
    }
    if process.package != PACKAGE or process.executable == "record":
        # Not all of these accept what launch_ros adds to a node's command line.
        command = [path, *list_arguments(process)]
        return launch.actions.ExecuteProcess(cmd=command, name=process.label, **common)
    files = [process.params_file] if process.params_file else []
    return launch_ros.actions.Node(
        executable=path,
        exec_name=process.label,
        name=process.name or None,
        namespace=process.namespace or None,
        parameters=[dict(process.parameters), *files],
        remappings=list(process.remappings.items()),
        arguments=list(process.arguments),
        ros_arguments=["--log-level", process.log_level] if process.log_level else [],
        # Coloured log lines. Text that a command draws for a terminal would not come line by line.
        emulate_tty=process.is_node,
        **common,
    )


def _find_prefix(process: Process) -> str | None:
    """Find the prefix to start a process with, if the machine has it; None for none."""
    if process.package != PACKAGE:
        # It ends with the launch, as ours do on their own.
        return "setpriv --pdeathsig TERM" if shutil.which("setpriv") else None
    # A Ctrl-C waits until the process can handle it, instead of raising during an import.
    return "env --block-signal=INT" if _can_block_signals() else None


@cache
def _can_block_signals() -> bool:
    """Return whether env is GNU's, version 8.31 or later."""
    told = subprocess.run(["env", "--block-signal=INT", "true"], capture_output=True, check=False)
    return told.returncode == 0


class _Watch:
    """Ends the launch when a required process has ended, with its name and exit code 1.

    Args:
        process: The process.
        launch: The module launch.
    """

    def __init__(self, process: Process, launch: Any) -> None:
        self._process = process
        self._launch = launch
        self._respawns = 0

    def __call__(self, event: Any, context: Any) -> Any:
        """Handle the end of the process.

        Raises:
            ProcessEnded: It is required; launch then ends all others, and its exit code is 1.
        """
        if context.is_shutdown:
            return None
        label, code = self._process.label, event.returncode
        if not self._process.is_missed(code):
            return self._tell(f"{label} ended with exit code {code}; the others go on")
        if self._process.respawn and self._respawns < RESPAWNS:
            self._respawns += 1
            times = f"{self._respawns} of {RESPAWNS}"
            return self._tell(f"{label} ended with exit code {code}; starting it again ({times})")
        raise ProcessEnded(label, code)

    def _tell(self, sentence: str) -> Any:
        return self._launch.actions.LogInfo(msg=sentence)

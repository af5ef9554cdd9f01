"""The processes of a running system, as plain data.

This is the only place that defines which nodes run, with which parameters, names and environment.
Launch files turn a :class:`Process` into a ``launch_ros`` action; ``./dvrk up`` starts the same
process without it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from dvrk_kinematics.errors import UnknownName
from dvrk_kinematics.ros.executables import COMMANDS, EXECUTABLES

__all__ = [
    "PACKAGE",
    "RESPAWNS",
    "RESPAWN_S",
    "Process",
    "command_line",
    "list_arguments",
    "recording",
    "simulated_arms",
]

PACKAGE: Final = "dvrk_kinematics"

RESPAWNS: Final = 5
"""How many times a node that dies is restarted, if respawn is requested."""

RESPAWN_S: Final = 1.0
"""How long to wait before that (s)."""


@dataclass(frozen=True, slots=True)
class Process:
    """One process with one node.

    Attributes:
        executable: The executable, from the package.
        namespace: Where its relative names begin; "" for the root.
        name: Name of the node; "" for the executable's own.
        parameters: Parameters that differ from their defaults.
        remappings: Names on the graph, from the node's own to those wanted.
        environment: Variables beyond those inherited.
        arguments: Arguments before those of ROS.
        params_file: YAML file with more parameters, which override ours; "" for none.
        log_level: Lowest severity that is logged; "" for the default.
        package: Package of the executable; a third-party one is found on the PATH.
        respawn: Whether to restart it when it dies.
        is_optional: Whether all others can run without it.
    """

    executable: str
    namespace: str = ""
    name: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    remappings: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    params_file: str = ""
    log_level: str = ""
    package: str = PACKAGE
    respawn: bool = False
    is_optional: bool = False

    def __post_init__(self) -> None:
        if self.package == PACKAGE and self.executable not in EXECUTABLES:
            raise UnknownName("executable", self.executable, EXECUTABLES)

    @property
    def is_node(self) -> bool:
        """Whether it is one of our nodes, which handle signals on their own once they run."""
        return self.package == PACKAGE and self.executable not in COMMANDS

    @property
    def label(self) -> str:
        """Its name in messages: the node's name, or the executable's."""
        return self.name or Path(self.executable).name

    def is_missed(self, code: int) -> bool:
        """Return whether the system must end because this process has ended on its own.

        A node is needed while the system runs. A command may simply be done.

        Args:
            code: Its exit code.
        """
        is_done = self.package == PACKAGE and self.executable in COMMANDS and code == 0
        return not self.is_optional and not is_done


def simulated_arms(arms: Sequence[str], namespace: str = "", **parameters: Any) -> Process:
    """Make the process that simulates arms.

    Args:
        arms: Their names, such as ``PSM1``.
        namespace: Where the arms' names begin.
        parameters: Other parameters of the node arm_simulator.
    """
    return Process("arm_simulator", namespace, parameters={"arms": list(arms), **parameters})


def recording(
    arms: Sequence[str],
    output: Path,
    namespace: str = "",
    topics: Sequence[str] = ("standard",),
    duration_s: float = 0.0,
) -> Process:
    """Make the process that records a bag.

    Args:
        arms: Arms whose standard topics are recorded.
        output: Folder for the bag; must not exist yet.
        namespace: Where relative names begin.
        topics: Names of topics; "standard" stands for those of config/recording/topics.yaml.
        duration_s: How long to record (s); 0 until stopped.
    """
    parameters = {
        "arms": list(arms),
        "topics": list(topics),
        "output": str(output.absolute()),
        "duration": float(duration_s),
    }
    return Process("recorder", namespace, parameters=parameters)


def command_line(process: Process) -> list[str]:
    """Return the command that starts a process with this interpreter."""
    program = [process.executable]
    if process.package == PACKAGE:
        program = [sys.executable, "-m", "dvrk_kinematics.ros.executables", process.executable]
    return [*program, *list_arguments(process)]


def list_arguments(process: Process) -> list[str]:
    """Return the arguments after the program in the command that starts a process."""
    rules = {"__ns": f"/{process.namespace.strip('/')}"} if process.namespace else {}
    rules |= {"__node": process.name} if process.name else {}
    rules |= process.remappings
    arguments = [part for source, to in rules.items() for part in ("-r", f"{source}:={to}")]
    for name, value in process.parameters.items():
        # JSON is YAML, which rcl reads; numbers keep their type.
        arguments += ["-p", f"{name}:={json.dumps(value)}"]
    if process.params_file:
        arguments += ["--params-file", process.params_file]
    if process.log_level:
        arguments += ["--log-level", process.log_level]
    ros = ["--ros-args", *arguments] if arguments else []
    return [*process.arguments, *ros]

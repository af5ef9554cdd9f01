"""The processes of a running system, as plain data.

Which nodes run, with which parameters, names and environment stands here once. Launch files turn a
:class:`Process` into a ``launch_ros`` action; ``./dvrk up`` starts the same process without it.
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
"""How many times a node that dies is started again, where that was asked for."""

RESPAWN_S: Final = 1.0
"""How long to wait before that (s)."""


@dataclass(frozen=True, slots=True)
class Process:
    """One process with one node.

    Attributes:
        executable: Which executable of the package.
        namespace: Where its relative names begin; "" for the root.
        name: Name of the node; "" for the executable's own.
        parameters: Parameters that differ from their defaults.
        remappings: Names on the graph, from the node's own to those wanted.
        environment: Variables beyond those inherited.
        arguments: Arguments before those of ROS.
        params_file: YAML file with more parameters, which go before ours; "" for none.
        log_level: Least severity that is logged; "" for the usual.
        package: Package of the executable; one of others is found on the PATH.
        respawn: Whether to start it again when it dies.
        is_optional: Whether all others can do without it.
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
        """Whether it is one of our nodes, which handle signals by themselves once they run."""
        return self.package == PACKAGE and self.executable not in COMMANDS

    @property
    def label(self) -> str:
        """What to call it in messages: the node's name, or the executable's."""
        return self.name or Path(self.executable).name

    def is_missed(self, code: int) -> bool:
        """Whether a system must end after it has ended by itself.

        A node is needed for as long as the system runs. A command may be done.

        Args:
            code: Its exit code.
        """
        is_done = self.package == PACKAGE and self.executable in COMMANDS and code == 0
        return not self.is_optional and not is_done


def simulated_arms(arms: Sequence[str], namespace: str = "", **parameters: Any) -> Process:
    """The process that plays arms.

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
    """The process that records a bag.

    Args:
        arms: Arms whose standard topics are recorded.
        output: Folder of the bag; must not exist yet.
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
    """The command that starts a process with this interpreter."""
    program = [process.executable]
    if process.package == PACKAGE:
        program = [sys.executable, "-m", "dvrk_kinematics.ros.executables", process.executable]
    return [*program, *list_arguments(process)]


def list_arguments(process: Process) -> list[str]:
    """What follows the program in the command that starts a process."""
    rules = {"__ns": f"/{process.namespace.strip('/')}"} if process.namespace else {}
    rules |= {"__node": process.name} if process.name else {}
    rules |= process.remappings
    arguments = [part for source, to in rules.items() for part in ("-r", f"{source}:={to}")]
    for name, value in process.parameters.items():
        # JSON is YAML, which is what rcl reads; numbers keep their type.
        arguments += ["-p", f"{name}:={json.dumps(value)}"]
    if process.params_file:
        arguments += ["--params-file", process.params_file]
    if process.log_level:
        arguments += ["--log-level", process.log_level]
    ros = ["--ros-args", *arguments] if arguments else []
    return [*process.arguments, *ros]

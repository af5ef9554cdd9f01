"""The processes of a running system, as plain data.

Which nodes run, with which parameters, names and environment stands here once. Launch files turn a
:class:`Process` into a ``launch_ros`` action; ``./dvrk up`` starts the same process without it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from dvrk_kinematics.errors import UnknownName

__all__ = ["EXECUTABLES", "Process", "command_line", "simulated_arms"]

PACKAGE: Final = "dvrk_kinematics"

EXECUTABLES: Final = {"arm_simulator": "dvrk_kinematics.ros.arm_simulator"}
"""The package's executables and the modules that they run."""


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
    """

    executable: str
    namespace: str = ""
    name: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    remappings: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.executable not in EXECUTABLES:
            raise UnknownName("executable", self.executable, EXECUTABLES)


def simulated_arms(arms: Sequence[str], namespace: str = "", **parameters: Any) -> Process:
    """The process that plays arms.

    Args:
        arms: Their names, such as ``PSM1``.
        namespace: Where the arms' names begin.
        parameters: Other parameters of the node arm_simulator.
    """
    return Process("arm_simulator", namespace, parameters={"arms": list(arms), **parameters})


def command_line(process: Process) -> list[str]:
    """The command that starts a process with this interpreter."""
    rules = {"__ns": f"/{process.namespace.strip('/')}"} if process.namespace else {}
    rules |= {"__node": process.name} if process.name else {}
    rules |= process.remappings
    arguments = [part for source, to in rules.items() for part in ("-r", f"{source}:={to}")]
    for name, value in process.parameters.items():
        # JSON is YAML, which is what rcl reads; numbers keep their type.
        arguments += ["-p", f"{name}:={json.dumps(value)}"]
    ros = ["--ros-args", *arguments] if arguments else []
    return [sys.executable, "-m", EXECUTABLES[process.executable], *ros]

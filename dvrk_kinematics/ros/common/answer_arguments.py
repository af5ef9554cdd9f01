"""A node's response to --help and to arguments that it does not understand."""

from __future__ import annotations

import importlib
import re
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any, Final

from dvrk_kinematics.ros.common.parameters import parameter_rows

__all__ = [
    "NODE_SETTINGS",
    "answer_arguments",
    "describe_node",
    "explain_empty",
    "parameter_names",
]

NODE_SETTINGS: Final = {
    "arm_bridge": ("bridge.node", "bridge.settings", "BridgeSettings"),
    "arm_simulator": ("simulator.node", "simulator.settings", "SimulatorSettings"),
    "kinematics_server": (
        "servers.kinematics_server",
        "servers.kinematics_server",
        "KinematicsSettings",
    ),
    "recorder": ("recorder.node", "recorder.settings", "RecorderSettings"),
    "trajectory_server": (
        "servers.trajectory_server",
        "servers.trajectory_server",
        "TrajectorySettings",
    ),
}
"""The nodes of this package: the module of each, and the module and class of its parameters."""

_EMPTY: Final = re.compile(r"parameter override rule: '(?:-p|--param) ([^' ]+):='")
"""How rcl reports a parameter without a value."""
_ROOM: Final = "dvrk_kinematics.ros"
_WIDTH: Final = 100
_MISUSE: Final = 2
"""Exit code for wrong usage, as in shells."""


def answer_arguments(executable: str, arguments: Sequence[str] | None) -> int | None:
    """Respond to the arguments of a command line that are not ROS arguments.

    Args:
        executable: The node's executable.
        arguments: Its command line; the process's own if None.

    Returns:
        None if there is nothing to respond to; otherwise the exit code: 0 after showing help,
        2 for an unknown argument.
    """
    plain = _plain(sys.argv[1:] if arguments is None else arguments)
    if not plain:
        return None
    if any(text in ("-h", "--help") for text in plain):
        sys.stdout.write(describe_node(executable))
        return 0
    sys.stderr.write(f"{executable}: {_explain(plain[0])}; --help lists its parameters\n")
    return _MISUSE


def describe_node(executable: str) -> str:
    """Describe how to start a node, and list all of its parameters."""
    module, _, _ = NODE_SETTINGS[executable]
    what = (importlib.import_module(f"{_ROOM}.{module}").__doc__ or "").splitlines()[0]
    lines = [f"usage: {executable} [--ros-args -p NAME:=VALUE ...]", "", what, "", "parameters:"]
    for name, default, description, constraints, when in parameter_rows(_settings(executable)):
        changed = f"; can be changed {when}" if when else ""
        lines.append(f"  {name} (default: {_show(default)}{changed})")
        text = f"{description}; {constraints}" if constraints else description
        lines += textwrap.wrap(text, _WIDTH, initial_indent="      ", subsequent_indent="      ")
    return "\n".join([*lines, ""])


def explain_empty(executable: str, refusal: str) -> str:
    """Explain what to write for a parameter that was given without a value.

    Args:
        executable: The node's executable; empty for a third-party node.
        refusal: What ROS reports about the command line.

    Returns:
        A sentence; empty if that is not the problem.
    """
    empty = _EMPTY.search(refusal)
    if empty is None or executable not in NODE_SETTINGS:
        return ""
    meanings = {row[0]: row[2] for row in parameter_rows(_settings(executable))}
    meaning = f" ({meanings[empty[1]]})" if empty[1] in meanings else ""
    return f"{empty[1]} has no value{meaning}; leave it out for its default"


def parameter_names() -> set[str]:
    """Return the parameter names of all nodes: one file may hold those of several."""
    return {row[0] for node in NODE_SETTINGS for row in parameter_rows(_settings(node))}


def _settings(executable: str) -> type[Any]:
    _, module, name = NODE_SETTINGS[executable]
    settings: type[Any] = getattr(importlib.import_module(f"{_ROOM}.{module}"), name)
    return settings


def _plain(arguments: Sequence[str]) -> list[str]:
    """Return the arguments that are not between ``--ros-args`` and ``--``.

    rclpy's own function takes ``name:=value`` for a ROS argument anywhere, though ROS itself no
    longer does.
    """
    plain, is_of_ros = [], False
    for text in arguments:
        if text == "--ros-args":
            is_of_ros = True
        elif is_of_ros:
            is_of_ros = text != "--"
        else:
            plain.append(text)
    return plain


def _show(value: Any) -> str:
    if isinstance(value, str):
        return value or "empty"
    if isinstance(value, Iterable):
        return f"[{', '.join(_show(one) for one in value)}]"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _explain(text: str) -> str:
    if ":=" in text:
        return f"a parameter is given by --ros-args -p {text}"
    return f"there is no argument {text!r}"

"""How a user runs a command of this package: from an installation, or with ``./dvrk``."""

from __future__ import annotations

import sys
from pathlib import Path

__all__ = ["own_command"]

_PACKAGE = "dvrk_kinematics"


def own_command(name: str) -> str:
    """Return what to type to run a command of this package the way this process was run.

    Args:
        name: The command, such as ``record``.
    """
    # An installation has a program for it in lib/dvrk_kinematics; ./dvrk runs a module, which
    # takes the bare name of the command.
    program = Path(sys.argv[0])
    is_installed = (program.parent.name, program.name) == (_PACKAGE, name)
    return f"ros2 run {_PACKAGE} {name}" if is_installed else f"./dvrk {name}"

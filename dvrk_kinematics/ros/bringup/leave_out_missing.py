"""Checks that third-party programs are installed, before anything starts."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ament_index_python.packages import PackageNotFoundError, get_package_prefix

from dvrk_kinematics.errors import MissingExtra
from dvrk_kinematics.ros.bringup.processes import PACKAGE, Process

__all__ = ["leave_out_missing"]


def leave_out_missing(
    processes: Sequence[Process],
) -> tuple[tuple[Process, ...], tuple[str, ...]]:
    """Find third-party programs, and leave out optional ones that are not installed.

    Args:
        processes: The processes to run.

    Returns:
        The processes that can run, with the paths of third-party programs; and a sentence for
        each one left out.

    Raises:
        MissingExtra: A required one is missing, or nothing would be left.
    """
    found: list[Process] = []
    missing: list[Process] = []
    for process in processes:
        path = process.executable if process.package == PACKAGE else _find(process)
        if path is not None:
            found.append(replace(process, executable=path))
        elif process.is_optional and len(processes) > 1:
            missing.append(process)
        else:
            raise MissingExtra(process.label, "nothing was started")
    return tuple(found), tuple(f"{p.label} is not installed; going on without it" for p in missing)


def _find(process: Process) -> str | None:
    """Find the path of a program: in its package, or on the PATH."""
    try:
        folder = Path(get_package_prefix(process.package), "lib", process.package)
    except PackageNotFoundError:
        return shutil.which(process.executable)
    return shutil.which(process.executable, path=str(folder)) or shutil.which(process.executable)

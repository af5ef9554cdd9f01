"""Builds the interface packages that this machine lacks, again only when their files change."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bootstrap.clone import Clone
from bootstrap.environment import BASE_PURPOSES, ensure_venv
from bootstrap.lock import hold_lock
from bootstrap.machine import check_compilers, read_machine
from bootstrap.problems import Problem
from bootstrap.stamps import digest_files, read_stamp, remove_stamp, write_stamp
from bootstrap.steps import run_step

__all__ = ["InterfacePackage", "ensure_interfaces", "list_packages"]

_BUILT_WITH = ("ros-", "empy=", "numpy=")
"""Prefixes of the requirements whose change requires a new build."""


@dataclass(frozen=True)
class InterfacePackage:
    """One package of message, service or action types.

    Attributes:
        name: Its ROS name.
        source: Its folder in the clone.
        prefix: Where it gets installed.
    """

    name: str
    source: Path
    prefix: Path

    def digest(self, clone: Clone) -> str:
        """Digest of the files that the build depends on."""
        files = [file for file in self.source.rglob("*") if file.is_file()]
        if clone.uses_wheels:
            files += [clone.root / "bootstrap" / "wheels.cmake"]
        return digest_files(files, clone.root)


def list_packages(clone: Clone, environ: Mapping[str, str]) -> list[InterfacePackage]:
    """The packages under interfaces/ that are not installed elsewhere.

    Args:
        clone: The clone.
        environ: The environment. Where ROS 2 is sourced, AMENT_PREFIX_PATH tells what is
            installed.
    """
    prefixes: list[str] = []
    if not clone.uses_wheels:
        prefixes = [entry for entry in environ.get("AMENT_PREFIX_PATH", "").split(":") if entry]
    sources = (clone.root / "interfaces").glob("**/package.xml")
    return [
        InterfacePackage(source.name, source, clone.interfaces / "install" / source.name)
        for source in sorted(file.parent for file in sources)
        if not any(_provides(Path(prefix), source.name) for prefix in prefixes)
    ]


def ensure_interfaces(clone: Clone) -> list[Path]:
    """Make sure that every interface package exists.

    Returns:
        The prefixes of those that were built here.

    Raises:
        Problem: If one cannot be built.
    """
    packages = list_packages(clone, os.environ)
    if _stale(clone, packages):
        machine = read_machine(clone.root)
        check_compilers(machine)
        if clone.uses_wheels and machine.needs_cmake:
            ensure_venv(clone, ["cmake"])
        with hold_lock(clone.work / "lock") as lock:
            stale = _stale(clone, packages)
            if stale:
                _build(clone, stale, lock)
    return [package.prefix for package in packages]


def _provides(prefix: Path, name: str) -> bool:
    return (prefix / "share" / "ament_index" / "resource_index" / "packages" / name).exists()


def _stamp(clone: Clone, package: InterfacePackage) -> dict[str, Any]:
    return {
        "digest": package.digest(clone),
        "pins": _read_pins(clone),
        "at": str(package.prefix),
        "python": sys.version,
    }


def _read_pins(clone: Clone) -> list[str]:
    """The wheels that a built package depends on; the others may change without a new build."""
    if not clone.uses_wheels:
        return []
    lines = [
        line
        for purpose in BASE_PURPOSES
        for line in clone.requirements(purpose).read_text().splitlines()
    ]
    return sorted(line for line in lines if line.startswith(_BUILT_WITH))


def _stale(clone: Clone, packages: Sequence[InterfacePackage]) -> list[InterfacePackage]:
    return [p for p in packages if read_stamp(p.prefix) != _stamp(clone, p)]


def _build(clone: Clone, packages: Sequence[InterfacePackage], lock: int) -> None:
    """Build from scratch: never continue a partial build."""
    build = clone.interfaces / "build"
    stamps = {package.name: _stamp(clone, package) for package in packages}
    for package in packages:
        remove_stamp(package.prefix)
        for folder in (package.prefix, build / package.name):
            shutil.rmtree(folder, ignore_errors=True)
    names = [package.name for package in packages]
    run_step(
        f"build {', '.join(names)}",
        [
            *_colcon(clone),
            *[str(package.source) for package in packages],
            *_cmake_arguments(clone),
        ],
        clone.logs / "interfaces.log",
        _build_environ(clone),
        clone.root / "interfaces",
        lock,
    )
    for package in packages:
        write_stamp(package.prefix, stamps[package.name])
        shutil.rmtree(build / package.name, ignore_errors=True)


def _colcon(clone: Clone) -> list[str]:
    if clone.uses_wheels:
        colcon = [str(clone.venv / "bin" / "python"), "-m", "colcon"]
    else:
        found = shutil.which("colcon")
        if found is None:
            raise Problem(
                "colcon is needed to build interfaces/; install it "
                "(apt install python3-colcon-common-extensions) and start again"
            )
        colcon = [found]
    folders = clone.interfaces
    return [
        *(*colcon, "--log-base", str(folders / "log"), "build"),
        *("--build-base", str(folders / "build"), "--install-base", str(folders / "install")),
        *("--event-handlers", "console_direct+", "--paths"),
    ]


def _cmake_arguments(clone: Clone) -> list[str]:
    python = clone.venv / "bin" / "python" if clone.uses_wheels else sys.executable
    arguments = ["--cmake-args", "-DBUILD_TESTING=OFF", f"-DPython3_EXECUTABLE={python}"]
    if clone.uses_wheels:
        arguments += [
            "-GNinja",
            f"-DCMAKE_PROJECT_INCLUDE={clone.root / 'bootstrap' / 'wheels.cmake'}",
            "-DPython3_FIND_VIRTUALENV=ONLY",
        ]
    return arguments


def _build_environ(clone: Clone) -> dict[str, str]:
    environ = dict(os.environ)
    # The user's own settings for colcon could choose another layout of the install folder.
    environ["COLCON_HOME"] = str(clone.work / "colcon")
    environ.pop("COLCON_DEFAULTS_FILE", None)
    if clone.uses_wheels:
        venv = str(clone.venv)
        for name in ("PYTHONPATH", "LD_LIBRARY_PATH", "_ROS_WHEELS_BOOTSTRAP_COMPLETE"):
            environ.pop(name, None)
        environ["PATH"] = f"{venv}/bin:{environ.get('PATH', '')}"
        environ |= {"AMENT_PREFIX_PATH": venv, "CMAKE_PREFIX_PATH": venv}
        environ |= {"ROS_VERSION": "2", "ROS_PYTHON_VERSION": "3", "ROS_DISTRO": "jazzy"}
    return environ

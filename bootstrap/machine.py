"""What this machine has, and whether that is enough to make the environment."""

from __future__ import annotations

import importlib.util
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from bootstrap.problems import Problem

__all__ = ["Machine", "check_machine", "read_machine"]

_NEEDED_BYTES = 1_500_000_000
"""Space for the environment, pip's downloads and the built interfaces."""

_NEEDED_CMAKE = (3, 21)
"""First CMake whose cmake_language(DEFER) is known to work with bootstrap/wheels.cmake."""


@dataclass(frozen=True)
class Machine:
    """Facts about the machine that the environment depends on."""

    system: str
    processor: str
    implementation: str
    python: tuple[int, int]
    c_compiler: str | None
    cxx_compiler: str | None
    has_python_headers: bool
    has_ensurepip: bool
    cmake: tuple[int, int] | None
    free_bytes: int

    @property
    def needs_cmake(self) -> bool:
        """Whether CMake has to come from PyPI."""
        return self.cmake is None or self.cmake < _NEEDED_CMAKE


def read_machine(folder: Path) -> Machine:
    """Look at this machine.

    Args:
        folder: Where the environment is going to be.
    """
    return Machine(
        system=platform.system(),
        processor=platform.machine(),
        implementation=platform.python_implementation(),
        python=sys.version_info[:2],
        c_compiler=shutil.which("cc") or shutil.which("gcc") or shutil.which("clang"),
        cxx_compiler=shutil.which("c++") or shutil.which("g++") or shutil.which("clang++"),
        has_python_headers=Path(sysconfig.get_path("include"), "Python.h").exists(),
        has_ensurepip=importlib.util.find_spec("ensurepip") is not None,
        cmake=_cmake_version(),
        free_bytes=shutil.disk_usage(folder).free,
    )


def check_machine(machine: Machine) -> None:
    """Refuse a machine on which the environment cannot be made, before anything is written.

    Raises:
        Problem: What is missing, and what to do about it.
    """
    if machine.system != "Linux" or machine.processor != "x86_64":
        raise Problem(
            "ROS 2 is on PyPI for x86_64 Linux only, and this is "
            f"{machine.processor} {machine.system}; install ROS 2 Jazzy or newer here, source it, "
            "and start again"
        )
    if machine.implementation != "CPython" or not (3, 10) <= machine.python <= (3, 14):
        version = ".".join(map(str, machine.python))
        raise Problem(
            f"CPython 3.10 to 3.14 is needed, and this is {machine.implementation} {version}; "
            "install one, or name it in DVRK_PYTHON"
        )
    if machine.c_compiler is None or machine.cxx_compiler is None:
        raise Problem(
            "a C and C++ compiler is needed to build the message types and none was found; "
            "install one (Debian, Ubuntu: apt install g++) and start again"
        )
    if not machine.has_ensurepip:
        raise Problem(
            "this Python cannot make virtual environments; install its venv module "
            "(Debian, Ubuntu: apt install python3-venv) and start again"
        )
    if not machine.has_python_headers:
        raise Problem(
            "the headers of this Python (Python.h) are needed to build the message types; "
            "install them (Debian, Ubuntu: apt install python3-dev) and start again"
        )
    if machine.free_bytes < _NEEDED_BYTES:
        raise Problem(
            f"about {_NEEDED_BYTES / 1e9:.1f} GB of disk space is needed and "
            f"{machine.free_bytes / 1e9:.2f} GB is free; free some and start again"
        )


def _cmake_version() -> tuple[int, int] | None:
    if shutil.which("cmake") is None:
        return None
    told = subprocess.run(["cmake", "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"version (\d+)\.(\d+)", told.stdout)
    return (int(found[1]), int(found[2])) if found else None

"""The machine's properties, and whether they suffice to make the environment."""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from bootstrap.problems import Problem

__all__ = ["Machine", "check_compilers", "check_machine", "check_venv", "read_machine"]

_NEEDED_BYTES = 1_500_000_000
"""Space for the environment with the tests' libraries, pip's downloads and interfaces."""

_NEEDED_CMAKE = (3, 21)
"""First CMake whose cmake_language(DEFER) is known to work with bootstrap/wheels.cmake."""

_NEEDED_GLIBC = (2, 28)
"""What the wheels of ROS 2 were built for (manylinux_2_28)."""


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
        folder: Where the environment will be.
    """
    return Machine(
        system=_system(),
        processor=platform.machine() if sys.maxsize > 2**32 else "32-bit",
        implementation=_implementation(),
        python=sys.version_info[:2],
        c_compiler=_find_compiler("CC", "cc", "gcc", "clang"),
        cxx_compiler=_find_compiler("CXX", "c++", "g++", "clang++"),
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
            "ROS 2 is on PyPI for x86_64 Linux with glibc 2.28 or newer only, and this is "
            f"{machine.processor} {machine.system}; install ROS 2 Jazzy or newer here, source it, "
            "and start again"
        )
    if machine.implementation != "CPython" or not (3, 10) <= machine.python <= (3, 14):
        version = ".".join(map(str, machine.python))
        raise Problem(
            f"CPython 3.10 to 3.14 is needed, and this is {machine.implementation} {version}; "
            "install one, or name it in DVRK_PYTHON"
        )
    check_compilers(machine)
    check_venv(machine)
    if machine.free_bytes < _NEEDED_BYTES:
        raise Problem(
            f"about {_NEEDED_BYTES / 1e9:.1f} GB of disk space is needed and "
            f"{machine.free_bytes / 1e9:.2f} GB is free; free some and start again"
        )


def check_compilers(machine: Machine) -> None:
    """Refuse a machine on which message types cannot be built.

    Raises:
        Problem: What is missing, and what to do about it.
    """
    if machine.c_compiler is None or machine.cxx_compiler is None:
        raise Problem(
            "a C and a C++ compiler are needed to build the message types and at least one is "
            "missing; install them (Debian, Ubuntu: apt install gcc g++) and start again"
        )
    if not machine.has_python_headers:
        raise Problem(
            "the headers of this Python (Python.h) are needed to build the message types; "
            "install them (Debian, Ubuntu: apt install python3-dev) and start again"
        )


def check_venv(machine: Machine) -> None:
    """Refuse a Python that cannot make virtual environments.

    Raises:
        Problem: What is missing, and what to do about it.
    """
    if not machine.has_ensurepip:
        raise Problem(
            "this Python cannot make virtual environments; install its venv module "
            "(Debian, Ubuntu: apt install python3-venv) and start again"
        )


def _system() -> str:
    """The operating system; the wheels are for Linux with a glibc that is not too old."""
    name = platform.system()
    if name != "Linux":
        return name
    libc, version = platform.libc_ver()
    if libc != "glibc":
        return "Linux without glibc"
    is_new_enough = tuple(map(int, version.split(".")[:2])) >= _NEEDED_GLIBC
    return "Linux" if is_new_enough else f"Linux with glibc {version}"


def _implementation() -> str:
    """The kind of Python; a free-threaded one would need other wheels."""
    name = platform.python_implementation()
    return f"free-threaded {name}" if sysconfig.get_config_var("Py_GIL_DISABLED") else name


def _find_compiler(variable: str, *names: str) -> str | None:
    """The compiler that CMake is going to use: the user's own choice, else the first of some."""
    chosen = os.environ.get(variable, "").split()[:1]
    return next(filter(None, map(shutil.which, chosen or names)), None)


def _cmake_version() -> tuple[int, int] | None:
    if shutil.which("cmake") is None:
        return None
    told = subprocess.run(["cmake", "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"version (\d+)\.(\d+)", told.stdout)
    return (int(found[1]), int(found[2])) if found else None

"""Machines on which the environment cannot be made are refused, each in one sentence."""

from __future__ import annotations

import platform
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bootstrap.machine import Machine, check_compilers, check_machine, check_venv, read_machine
from bootstrap.problems import Problem

FIT = Machine(
    system="Linux",
    processor="x86_64",
    implementation="CPython",
    python=(3, 12),
    c_compiler="/usr/bin/cc",
    cxx_compiler="/usr/bin/c++",
    has_python_headers=True,
    has_ensurepip=True,
    cmake=(3, 28),
    free_bytes=50_000_000_000,
)

NEEDS_X86 = "ROS 2 is on PyPI for x86_64 Linux with glibc 2.28 or newer only, and this is "
NEEDS_CPYTHON = "CPython 3.10 to 3.14 is needed, and this is "
UNFIT: list[tuple[dict[str, Any], str]] = [
    ({"system": "Darwin"}, NEEDS_X86 + "x86_64 Darwin"),
    ({"processor": "aarch64"}, NEEDS_X86 + "aarch64 Linux"),
    ({"system": "Linux without glibc"}, NEEDS_X86 + "x86_64 Linux without glibc"),
    ({"python": (3, 9)}, NEEDS_CPYTHON + "CPython 3.9"),
    ({"python": (3, 15)}, NEEDS_CPYTHON + "CPython 3.15"),
    ({"implementation": "PyPy"}, NEEDS_CPYTHON + "PyPy 3.12"),
    ({"implementation": "free-threaded CPython"}, NEEDS_CPYTHON + "free-threaded CPython 3.12"),
    ({"c_compiler": None}, "a C and a C++ compiler are needed"),
    ({"cxx_compiler": None}, "a C and a C++ compiler are needed"),
    ({"has_python_headers": False}, "the headers of this Python"),
    ({"has_ensurepip": False}, "this Python cannot make virtual environments"),
    ({"free_bytes": 300_000_000}, "about 1.5 GB of disk space is needed and 0.30 GB is free"),
]


@pytest.mark.parametrize("python", [(3, 10), (3, 11), (3, 12), (3, 13), (3, 14)])
def test_a_fit_machine_is_accepted(python: tuple[int, int]) -> None:
    check_machine(replace(FIT, python=python))


@pytest.mark.parametrize(("change", "sentence"), UNFIT)
def test_an_unfit_machine_is_refused_in_one_sentence_that_says_what_to_do(
    change: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(Problem) as told:
        check_machine(replace(FIT, **change))
    text = str(told.value)
    assert text.startswith(sentence)
    assert "\n" not in text
    assert "; install" in text or "; free some" in text


def test_a_machine_with_a_sourced_ros_is_asked_only_for_what_is_used_there() -> None:
    arm = replace(FIT, processor="aarch64", free_bytes=0)
    check_compilers(arm)
    check_venv(arm)
    with pytest.raises(Problem, match="compiler"):
        check_compilers(replace(arm, c_compiler=None))
    with pytest.raises(Problem, match="venv module"):
        check_venv(replace(arm, has_ensurepip=False))


@pytest.mark.parametrize(
    ("cmake", "needs"), [(None, True), ((3, 20), True), ((3, 21), False), ((4, 1), False)]
)
def test_cmake_comes_from_pypi_where_it_is_absent_or_old(
    cmake: tuple[int, int] | None, needs: bool
) -> None:
    assert replace(FIT, cmake=cmake).needs_cmake is needs


def test_this_machine_is_read_as_it_is(tmp_path: Path) -> None:
    machine = read_machine(tmp_path)
    assert machine.python == sys.version_info[:2]
    assert machine.processor == platform.machine()
    assert machine.free_bytes > 0


def test_compilers_and_cmake_are_looked_for_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CC", "CXX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    bare = read_machine(tmp_path)
    assert (bare.c_compiler, bare.cxx_compiler, bare.cmake) == (None, None, None)

    for name in ("clang", "clang++", "my-cc"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "cmake").write_text("#!/bin/sh\necho cmake version 3.19.8-custom\n")
    (tmp_path / "cmake").chmod(0o755)
    found = read_machine(tmp_path)
    assert found.c_compiler == str(tmp_path / "clang")
    assert found.cxx_compiler == str(tmp_path / "clang++")
    assert found.cmake == (3, 19)

    monkeypatch.setenv("CC", "my-cc -m64")
    monkeypatch.setenv("CXX", "absent-c++")
    chosen = read_machine(tmp_path)
    assert chosen.c_compiler == str(tmp_path / "my-cc")
    assert chosen.cxx_compiler is None


@pytest.mark.parametrize(
    ("libc", "system"),
    [
        (("glibc", "2.28"), "Linux"),
        (("glibc", "2.41"), "Linux"),
        (("glibc", "2.27"), "Linux with glibc 2.27"),
        (("", ""), "Linux without glibc"),
    ],
)
def test_a_linux_that_the_wheels_were_not_built_for_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, libc: tuple[str, str], system: str
) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    monkeypatch.setattr(platform, "libc_ver", lambda: libc)
    assert read_machine(tmp_path).system == system

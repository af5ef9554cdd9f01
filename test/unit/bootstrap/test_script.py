"""Real runs of ./dvrk with bad input: one sentence, an exit code, and nothing to trust later."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REAL = Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
NEEDED = ("sh", "dirname", "readlink")

on_x86_64 = pytest.mark.skipif(platform.machine() != "x86_64", reason="x86_64 is checked first")


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder for PATH with nothing but what the script itself calls."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for name in NEEDED:
        found = shutil.which(name)
        assert found is not None
        (folder / name).symlink_to(found)
    return folder


def add_program(folder: Path, name: str, script: str) -> Path:
    file = folder / name
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return file


def run(
    root: Path, path: Path | str, *arguments: str, **more: str
) -> subprocess.CompletedProcess[str]:
    """Run ./dvrk as a user does whose shell has no ROS 2."""
    environ = {"PATH": str(path), "HOME": str(root.parent), "PYTHONDONTWRITEBYTECODE": "1", **more}
    return subprocess.run(
        [str(root / "dvrk"), *arguments],
        env=environ,
        cwd=root.parent,
        capture_output=True,
        text=True,
        check=False,
    )


def assert_refused(told: subprocess.CompletedProcess[str], root: Path, *words: str) -> None:
    (sentence,) = told.stderr.splitlines()
    assert sentence.startswith("dvrk: ")
    for word in words:
        assert word in sentence
    assert told.stdout == ""
    assert told.returncode == 1
    assert not (root / ".venv").exists()
    left = [file for file in (root / ".dvrk").rglob("*") if file.is_file()]
    assert [file.name for file in left] in ([], ["lock"])


def test_an_unknown_command_is_answered_with_the_known_ones(small_clone: Path) -> None:
    told = run(small_clone, os.environ["PATH"], "tset")
    assert_refused(
        told,
        small_clone,
        "unknown command 'tset'; did you mean test?",
        "demo, up, arm, test, bench, record, report, docs, python, help",
    )


def test_the_version_needs_no_environment(small_clone: Path) -> None:
    told = run(small_clone, os.environ["PATH"], "--version")
    assert told.returncode == 0 and told.stderr == ""
    assert told.stdout.startswith("dvrk_kinematics ") and told.stdout.strip()[-1].isdigit()
    assert not (small_clone / ".dvrk").exists()


def test_docs_refuses_arguments(small_clone: Path) -> None:
    told = run(small_clone, os.environ["PATH"], "docs", "serve")
    assert_refused(told, small_clone, "docs takes no arguments, got 'serve'")


def test_an_unknown_benchmark_is_answered_with_the_known_ones(small_clone: Path) -> None:
    told = run(small_clone, os.environ["PATH"], "bench", "lop")
    assert_refused(told, small_clone, "unknown benchmark 'lop'", "there are: loop")


@pytest.mark.parametrize("arguments", [[], ["help"], ["--help"], ["-h"]])
def test_help_needs_no_environment(small_clone: Path, arguments: list[str]) -> None:
    told = run(small_clone, os.environ["PATH"], *arguments)
    assert told.stdout.startswith("usage: ./dvrk COMMAND")
    assert (told.returncode, told.stderr) == (0, "")
    assert not (small_clone / ".dvrk").exists()


@on_x86_64
@pytest.mark.parametrize("compilers", [[], ["cc"], ["c++"]])
def test_a_machine_without_compilers_is_told_to_install_them(
    small_clone: Path, tools: Path, compilers: list[str]
) -> None:
    add_program(tools, "python3", f'exec {REAL} "$@"')
    for name in compilers:
        add_program(tools, name, "exit 0")
    told = run(small_clone, tools, "test")
    assert_refused(told, small_clone, "a C and a C++ compiler are needed", "apt install gcc g++")


def test_without_any_python_the_script_itself_says_so(small_clone: Path, tools: Path) -> None:
    told = run(small_clone, tools, "test")
    assert_refused(told, small_clone, "no CPython 3.10 to 3.14 found", "DVRK_PYTHON")


@pytest.mark.parametrize("version", [(3, 9), (3, 15), (2, 7)])
def test_a_python_of_the_wrong_version_is_not_used(
    small_clone: Path, tools: Path, version: tuple[int, int]
) -> None:
    """The real interpreter plays one of another version: the script only asks for the number."""
    pretend = f"import sys; sys.version_info = (*{version}, 0, 'final', 0); exec(sys.argv.pop())"
    add_program(tools, "python3", f'exec {REAL} -c "{pretend}" "$2"')
    told = run(small_clone, tools, "test")
    assert_refused(told, small_clone, "no CPython 3.10 to 3.14 found")


def test_a_fitting_python_behind_an_old_one_is_found(small_clone: Path, tools: Path) -> None:
    add_program(tools, "python3", "exit 1")
    add_program(tools, "python3.12", f'exec {REAL} "$@"')
    assert run(small_clone, tools, "help").returncode == 0


def test_the_python_that_the_user_names_is_used_and_no_other(
    small_clone: Path, tools: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "with space"
    folder.mkdir()
    named = add_program(folder, "python", f'echo used >> "$0.txt"; exec {REAL} "$@"')
    assert run(small_clone, tools, "help", DVRK_PYTHON=str(named)).returncode == 0
    assert named.with_name("python.txt").read_text() == "used\nused\n"

    add_program(tools, "python3", f'exec {REAL} "$@"')
    told = run(small_clone, tools, "help", DVRK_PYTHON="/absent/python")
    assert_refused(told, small_clone, "DVRK_PYTHON is /absent/python", "CPython 3.10 to 3.14")


def test_the_script_works_through_a_link_and_from_a_folder_with_misleading_names(
    small_clone: Path, tmp_path: Path
) -> None:
    for name in ("bootstrap", "platform", "signal", "types"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('the wrong module')")
    link = tmp_path / "dvrk"
    link.symlink_to(small_clone / "dvrk")
    environ = {"PATH": os.environ["PATH"]}
    told = subprocess.run(
        [link, "help"], env=environ, cwd=tmp_path, capture_output=True, check=False
    )
    assert (told.returncode, told.stderr) == (0, b"")


def test_a_sourced_ros_that_is_too_old_is_refused(small_clone: Path, tmp_path: Path) -> None:
    index = tmp_path / "ros" / "share" / "ament_index" / "resource_index" / "packages"
    index.mkdir(parents=True)
    (index / "rclpy").touch()
    sourced = {"ROS_DISTRO": "humble", "AMENT_PREFIX_PATH": str(tmp_path / "ros")}
    told = run(small_clone, os.environ["PATH"], "python", **sourced)
    assert_refused(told, small_clone, "ROS 2 humble is sourced, but Jazzy or newer is needed")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_clone_of_somebody_else_is_refused(small_clone: Path) -> None:
    small_clone.chmod(0o555)
    told = run(small_clone, os.environ["PATH"], "python")
    small_clone.chmod(0o755)
    assert_refused(told, small_clone, "Permission denied", "use one that belongs to you")

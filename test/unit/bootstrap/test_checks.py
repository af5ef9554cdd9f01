"""./dvrk test runs every check, also after a failed one, and says which failed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bootstrap.checks import run_checks

# Notes its arguments, says how it runs, and fails for the words in fails.txt.
PYTHON = """#!/bin/sh
echo "$*" >> calls.txt
echo "policy $(cut -d' ' -f41 /proc/self/stat), $PYTHONPATH"
env > environ.txt
for word in $(cat fails.txt); do
    case "$*" in *"$word"*) exit 1;; esac
done
"""


@pytest.fixture
def python(tmp_path: Path) -> Path:
    file = tmp_path / "python"
    file.write_text(PYTHON)
    file.chmod(0o755)
    (tmp_path / "fails.txt").touch()
    return file


def calls(folder: Path) -> list[str]:
    return [line.split()[1] for line in (folder / "calls.txt").read_text().splitlines()]


def test_all_checks_run_in_order(
    tmp_path: Path, python: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run_checks(tmp_path, python, {"PATH": "/usr/bin:/bin"}, []) == 0
    assert calls(tmp_path) == ["ruff", "ruff", "mypy", "pytest", "pytest"]
    assert (
        "dvrk test: lint, format, types, tests, tests with ROS all passed"
        in capfd.readouterr().err
    )


@pytest.mark.parametrize(
    ("fails", "told"),
    [
        ("mypy", "types"),
        ("--check", "format"),
        ("ruff pytest", "lint, format, tests, tests with ROS"),
    ],
)
def test_a_failed_check_does_not_hide_the_others(
    tmp_path: Path, python: Path, capfd: pytest.CaptureFixture[str], fails: str, told: str
) -> None:
    (tmp_path / "fails.txt").write_text(fails)
    assert run_checks(tmp_path, python, {"PATH": "/usr/bin:/bin"}, []) == 1
    assert calls(tmp_path) == ["ruff", "ruff", "mypy", "pytest", "pytest"]
    assert capfd.readouterr().err.splitlines()[-1] == f"dvrk test: failed: {told}"


def test_with_arguments_pytest_runs_alone_with_them(tmp_path: Path, python: Path) -> None:
    assert run_checks(tmp_path, python, {"PATH": "/usr/bin:/bin"}, ["-k", "psm"]) == 0
    (only,) = (tmp_path / "calls.txt").read_text().splitlines()
    assert only.startswith("-m pytest")
    assert only.endswith("-k psm")


def test_caches_lie_in_the_ignored_folder_and_messages_check_their_fields(
    tmp_path: Path, python: Path
) -> None:
    run_checks(tmp_path, python, {"PATH": "/usr/bin:/bin"}, ["x"])
    lines = (tmp_path / "environ.txt").read_text().splitlines()
    environ = dict(line.split("=", 1) for line in lines if "=" in line)
    assert environ["ROS_PYTHON_CHECK_FIELDS"] == "1"
    for name in ("HYPOTHESIS_STORAGE_DIRECTORY", "MYPY_CACHE_DIR", "RUFF_CACHE_DIR"):
        assert Path(environ[name]).is_relative_to(tmp_path / ".dvrk")
    assert f"cache_dir={tmp_path / '.dvrk'}" in (tmp_path / "calls.txt").read_text()


def test_fast_leaves_out_what_starts_processes(
    tmp_path: Path, python: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run_checks(tmp_path, python, {"PATH": "/usr/bin:/bin"}, ["--fast"]) == 0
    assert calls(tmp_path) == ["ruff", "ruff", "mypy", "pytest"]
    assert "test/ros" not in (tmp_path / "calls.txt").read_text()
    assert "dvrk test: lint, format, types, tests all passed" in capfd.readouterr().err


def test_what_fails_once_has_failed(
    tmp_path: Path, python: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """No second run: a failure that comes now and then would go through."""
    (tmp_path / "fails.txt").write_text("test/ros")
    assert run_checks(tmp_path, python, {"PATH": "/usr/bin:/bin"}, []) == 1
    assert len(calls(tmp_path)) == 5
    assert capfd.readouterr().err.splitlines()[-1] == "dvrk test: failed: tests with ROS"


@pytest.mark.parametrize("fails", ["", "--ignore=test/unit/bootstrap"])
def test_an_older_numpy_is_tried_beside_the_tests_with_ros(
    tmp_path: Path, python: Path, capfd: pytest.CaptureFixture[str], fails: str
) -> None:
    (tmp_path / "fails.txt").write_text(fails)
    environ = {"PATH": "/usr/bin:/bin", "PYTHONPATH": "/usual"}
    code = run_checks(tmp_path, python, environ, [], older=tmp_path / "older")
    assert code == (1 if fails else 0)
    assert sorted(calls(tmp_path)) == ["mypy", "pytest", "pytest", "pytest", "ruff", "ruff"]
    said = capfd.readouterr()
    assert ("failed: tests with an older numpy" in said.err) == bool(fails)
    assert f"policy {os.SCHED_IDLE}," in said.out and f"{tmp_path / 'older'}:/usual" in said.out

"""What ./dvrk test runs: lint, types, tests."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bootstrap.children import run_command

__all__ = ["run_checks"]

_ROS_TESTS = "test/ros"

_WORKERS = 2
"""How many tests that start processes run beside each other; more of them starve two cores."""

_ALONE_AT_MOST = 3
"""How many tests may fail beside others and still be looked at alone. More are no accident."""


def run_checks(
    root: Path,
    python: Path,
    environ: Mapping[str, str],
    arguments: Sequence[str],
    older: Path | None = None,
) -> int:
    """Run every check, and say at the end which ones failed.

    Args:
        root: The clone.
        python: Interpreter with the test tools.
        environ: Environment with ROS 2.
        arguments: If any, only pytest runs, with these.
        older: Folder with the numpy of a stock ROS 2 Jazzy; if given, the tests that need no ROS
            run once more with it.

    Returns:
        Exit code, 0 if all is well.
    """
    cache = root / ".dvrk" / "cache"
    runner = _Runner(root, cache, _with_tools(environ, cache))
    module = [str(python), "-m"]
    pytest = [*module, "pytest", "-o", f"cache_dir={cache / 'pytest'}", *arguments]
    if arguments:
        return run_command(pytest, root, runner.environ)
    by_file = ["--dist", "loadfile"]
    parallel = [*pytest, "-n", "auto", "--maxprocesses", "4", *by_file]
    # In their own order: files with few tests are the longest here, and would come last.
    beside = [*pytest, "-n", str(_WORKERS), *by_file, "--no-loadscope-reorder"]
    alone = [*pytest, "--last-failed"]
    passed = {
        "lint": runner.passes("lint", [*module, "ruff", "check", "."]),
        "format": runner.passes("format", [*module, "ruff", "format", "--check", "."]),
        "types": runner.passes("types", [*module, "mypy"]),
        "tests": runner.passes("tests", [*parallel, "test/unit"]),
        "tests with ROS": runner.passes("tests with ROS", [*beside, _ROS_TESTS])
        or runner.pass_alone("tests with ROS", [*alone, _ROS_TESTS]),
    }
    if older is not None:
        name = "tests with an older numpy"
        pure = [*parallel, "-q", "test/unit", "--ignore=test/unit/bootstrap"]
        passed[name] = runner.with_path(older).passes(name, pure)
    failed = [name for name, is_passed in passed.items() if not is_passed]
    if failed:
        print(f"dvrk test: failed: {', '.join(failed)}", file=sys.stderr)
        return 1
    print(f"dvrk test: {', '.join(passed)} all passed", file=sys.stderr)
    return 0


def _with_tools(environ: Mapping[str, str], cache: Path) -> dict[str, str]:
    """An environment in which the tools keep their caches in the ignored folder."""
    return {
        **environ,
        # Message setters check their types, so that a wrong one fails in a test and not on the
        # robot.
        "ROS_PYTHON_CHECK_FIELDS": "1",
        "HYPOTHESIS_STORAGE_DIRECTORY": str(cache / "hypothesis"),
        "MYPY_CACHE_DIR": str(cache / "mypy"),
        "RUFF_CACHE_DIR": str(cache / "ruff"),
    }


@dataclass(frozen=True)
class _Runner:
    """Runs checks in the clone, and tells what they are and how long they took."""

    root: Path
    cache: Path
    environ: Mapping[str, str]

    def with_path(self, folder: Path) -> _Runner:
        """The same with a folder in which modules are looked for first."""
        path = f"{folder}:{self.environ['PYTHONPATH']}"
        return replace(self, environ={**self.environ, "PYTHONPATH": path})

    def passes(self, name: str, command: Sequence[str]) -> bool:
        """Run one check."""
        _tell(name)
        started = time.monotonic()
        code = run_command(command, self.root, self.environ)
        _tell(f"{name} took {time.monotonic() - started:.0f} s")
        return code == 0

    def pass_alone(self, name: str, command: Sequence[str]) -> bool:
        """Run what failed beside other tests once more with the machine to itself.

        A test of real processes can starve beside another one. One more run tells that apart from
        what is broken, which fails again. It is told at the end, and done for a few tests only.
        """
        failures = self.cache / "pytest" / "v" / "cache" / "lastfailed"
        known = json.loads(failures.read_text()) if failures.exists() else {}
        starved = sorted(test for test in known if test.startswith(f"{_ROS_TESTS}/"))
        if not 0 < len(starved) <= _ALONE_AT_MOST:
            return False
        if not self.passes(f"{name}, alone", command):
            return False
        _tell(f"passed only alone: {', '.join(starved)}")
        return True


def _tell(text: str) -> None:
    print(f"dvrk test: {text}", file=sys.stderr, flush=True)

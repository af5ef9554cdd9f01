"""What ./dvrk test runs: lint, types, tests."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryFile

from bootstrap.children import end_group, run_command

__all__ = ["run_checks"]

_ROS_TESTS = "test/ros"

_WORKERS = 2
"""How many test files that start processes run in parallel; more starve two cores."""

_FAST = "--fast"
"""The argument that skips tests that start processes, for a quick check between two changes."""


def run_checks(
    root: Path,
    python: Path,
    environ: Mapping[str, str],
    arguments: Sequence[str],
    older: Path | None = None,
) -> int:
    """Run every check, and report at the end which ones failed.

    Args:
        root: The clone.
        python: Interpreter with the test tools.
        environ: Environment with ROS 2.
        arguments: If any, only pytest runs, with these; ``--fast`` alone runs all but the tests
            that start processes, and those with an older numpy.
        older: Folder with the numpy of a stock ROS 2 Jazzy; if given, the tests that need no ROS
            run once more with it, except campaigns of random and hostile cases.

    Returns:
        Exit code, 0 if all is well.
    """
    cache = root / ".dvrk" / "cache"
    runner = _Runner(root, _with_tools(environ, cache))
    module = [str(python), "-m"]
    pytest = [*module, "pytest", "-o", f"cache_dir={cache / 'pytest'}"]
    is_fast = list(arguments) == [_FAST]
    if arguments and not is_fast:
        return run_command([*pytest, *arguments], root, runner.environ)
    by_file = ["--dist", "loadfile"]
    parallel = [*pytest, "-n", "auto", "--maxprocesses", "4", *by_file]
    # In their own order: files with few tests are the longest here, and would come last.
    beside = [*pytest, "-n", str(_WORKERS), *by_file, "--no-loadscope-reorder"]
    passed = {
        "lint": runner.passes("lint", [*module, "ruff", "check", "."]),
        "format": runner.passes("format", [*module, "ruff", "format", "--check", "."]),
        "types": runner.passes("types", [*module, "mypy"]),
        "tests": runner.passes("tests", [*parallel, "test/unit"]),
    }
    if not is_fast:
        # Random and hostile cases look for our own mistakes, and have run above.
        usual = ["-k", "not campaign and not hostile and not random"]
        # Neither ./dvrk itself nor the building of the site computes with numpy.
        left_out = [f"--ignore=test/unit/{part}" for part in ("bootstrap", "docs/test_site.py")]
        pure = [*parallel, "-q", "test/unit", *left_out, *usual]
        # Tests with processes mostly wait, so there is room for others.
        with runner.with_path(older).beside(pure) if older else nullcontext() as finish:
            passed["tests with ROS"] = runner.passes("tests with ROS", [*beside, _ROS_TESTS])
            if finish is not None:
                passed["tests with an older numpy"] = finish("tests with an older numpy")
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
    """Runs checks in the clone, and reports their names and durations."""

    root: Path
    environ: Mapping[str, str]

    def with_path(self, folder: Path) -> _Runner:
        """Return the same runner with a folder that is searched first for modules."""
        path = f"{folder}:{self.environ['PYTHONPATH']}"
        return replace(self, environ={**self.environ, "PYTHONPATH": path})

    def passes(self, name: str, command: Sequence[str]) -> bool:
        """Run one check."""
        _tell(name)
        started = time.monotonic()
        code = run_command(command, self.root, self.environ)
        _tell(f"{name} took {time.monotonic() - started:.0f} s")
        return code == 0

    @contextmanager
    def beside(self, command: Sequence[str]) -> Iterator[Callable[[str], bool]]:
        """Run one check beside others, which come first; it is ended with the block.

        Args:
            command: The check's command.

        Yields:
            Waits for the check, prints its output below a name, and returns whether it passed.
        """
        with TemporaryFile() as said:
            child = subprocess.Popen(
                command,
                cwd=self.root,
                env=dict(self.environ),
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                preexec_fn=_give_way,
                start_new_session=True,
            )

            def finish(name: str) -> bool:
                _tell(f"{name}, which ran beside")
                code = child.wait()
                said.seek(0)
                print(said.read().decode(errors="replace"), flush=True)
                return code == 0

            try:
                yield finish
            finally:
                end_group(child)


def _give_way() -> None:
    """Leave the cores to other processes; for a child, before it runs."""
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def _tell(text: str) -> None:
    print(f"dvrk test: {text}", file=sys.stderr, flush=True)

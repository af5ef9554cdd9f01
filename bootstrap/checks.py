"""What ./dvrk test runs: lint, types, tests."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from bootstrap.children import run_command

__all__ = ["run_checks"]


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
    tools = {
        **environ,
        # Message setters check their types, so that a wrong one fails in a test and not on the
        # robot.
        "ROS_PYTHON_CHECK_FIELDS": "1",
        "HYPOTHESIS_STORAGE_DIRECTORY": str(cache / "hypothesis"),
        "MYPY_CACHE_DIR": str(cache / "mypy"),
        "RUFF_CACHE_DIR": str(cache / "ruff"),
    }
    module = [str(python), "-m"]
    pytest = [*module, "pytest", "-o", f"cache_dir={cache / 'pytest'}", *arguments]
    if arguments:
        return run_command(pytest, root, tools)
    # Those that start processes run one after the other, so that none starves another.
    parallel = [*pytest, "-n", "auto", "--maxprocesses", "4", "--dist", "loadfile"]
    checks = {
        "lint": [*module, "ruff", "check", "."],
        "format": [*module, "ruff", "format", "--check", "."],
        "types": [*module, "mypy"],
        "tests": [*parallel, "test/unit"],
        "tests with ROS": [*pytest, "test/ros"],
    }
    failed = [name for name, command in checks.items() if not _passes(name, command, root, tools)]
    if older is not None:
        name = "tests with an older numpy"
        pure = [*parallel, "-q", "test/unit", "--ignore=test/unit/bootstrap"]
        checks[name] = pure
        with_older = {**tools, "PYTHONPATH": f"{older}:{tools['PYTHONPATH']}"}
        failed += [] if _passes(name, pure, root, with_older) else [name]
    if failed:
        print(f"dvrk test: failed: {', '.join(failed)}", file=sys.stderr)
        return 1
    print(f"dvrk test: {', '.join(checks)} all passed", file=sys.stderr)
    return 0


def _passes(name: str, command: Sequence[str], root: Path, environ: Mapping[str, str]) -> bool:
    print(f"dvrk test: {name}", file=sys.stderr, flush=True)
    started = time.monotonic()
    code = run_command(command, root, environ)
    print(
        f"dvrk test: {name} took {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True
    )
    return code == 0

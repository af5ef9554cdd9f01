"""Processes of a benchmark, gone when it is over."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

__all__ = ["ROOT", "processes"]

ROOT = Path(__file__).parents[1]


@contextmanager
def processes(commands: Sequence[Sequence[str]]) -> Iterator[list[int]]:
    """Run Python modules for as long as a with-block lasts.

    Args:
        commands: For each process, the module and its arguments.

    Yields:
        Their ids.

    Raises:
        RuntimeError: If one of them did not end well.
    """
    started = [
        subprocess.Popen([sys.executable, "-m", *command], cwd=ROOT) for command in commands
    ]
    try:
        yield [process.pid for process in started]
    finally:
        for process in started:
            process.terminate()
        codes = [process.wait(30) for process in started]
    if any(codes):
        raise RuntimeError(f"processes ended with {codes}")

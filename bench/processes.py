"""Processes of a benchmark, gone when it is over."""

from __future__ import annotations

import ctypes
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

__all__ = ["ROOT", "die_with_parent", "processes"]

ROOT = Path(__file__).parents[1]

_PR_SET_PDEATHSIG = 1
"""From <sys/prctl.h>: the signal that a process receives when its parent dies."""
# Looked up here: between fork and exec, a lock that another thread held would never be released.
_prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else None

_END_S = 30.0
"""How long a process may take to end before it is killed."""


def die_with_parent() -> None:
    """In a child, before it runs: request a signal to end when the parent is killed."""
    if _prctl is not None:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


@contextmanager
def processes(commands: Sequence[Sequence[str]]) -> Iterator[list[int]]:
    """Run Python modules while a with-block lasts; none is left afterwards.

    Args:
        commands: For each process, the module and its arguments.

    Yields:
        Their ids.

    Raises:
        RuntimeError: If one of them failed, or had to be killed. An exception of the with-block
            has priority.
    """
    started: list[subprocess.Popen[bytes]] = []
    with ExitStack() as stack:
        stack.callback(_end, started)
        for command in commands:
            started.append(
                subprocess.Popen(
                    [sys.executable, "-m", *command], cwd=ROOT, preexec_fn=die_with_parent
                )
            )
        yield [process.pid for process in started]
    codes = [process.returncode for process in started]
    if any(codes):
        raise RuntimeError(f"processes ended with {codes}")


def _end(started: Sequence[subprocess.Popen[bytes]]) -> None:
    """Ask all to end, and kill those that do not, whatever happens meanwhile."""
    try:
        for process in started:
            process.terminate()
        deadline = time.monotonic() + _END_S
        for process in started:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, deadline - time.monotonic()))
    finally:
        for process in started:
            process.kill()
            process.wait()

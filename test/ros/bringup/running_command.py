"""A command of the project as a user runs it: what it prints, and what it started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from io import TextIOWrapper
from pathlib import Path

from bench.processes import die_with_parent

_WAIT_S = 90.0
_END_S = 60.0
_GONE_S = 20.0


def _begin_in_front() -> None:
    """In the command, before it runs: as in a terminal, and gone when the tests are killed."""
    die_with_parent()
    # Whoever runs the tests may have set it aside, as nohup does.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


class RunningCommand:
    """The command, from its start on.

    Args:
        command: What to run.
        environ: Its environment; that of this process if None.
    """

    def __init__(self, command: Sequence[str], environ: Mapping[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            command,
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            # As in a terminal of its own, whose Ctrl-C goes to all that was started there.
            start_new_session=True,
            preexec_fn=_begin_in_front,
        )
        self._lines: list[str] = []
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def output(self) -> str:
        """What it has printed so far."""
        with self._changed:
            return "".join(self._lines)

    def wait(self, text: str, count: int = 1, within_s: float = _WAIT_S) -> None:
        """Wait until it has printed something, so many times (s)."""
        with self._changed:
            came = self._changed.wait_for(
                lambda: sum(text in line for line in self._lines) >= count, timeout=within_s
            )
        assert came, f"{text!r} did not come {count} times\n{self.output}"

    def children(self) -> dict[int, str]:
        """The processes that it started: their ids, and how they were started."""
        file = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        pids = [int(pid) for pid in file.read_text().split()]
        return {
            pid: Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ").strip()
            for pid in pids
        }

    def find(self, text: str) -> int:
        """Id of the one process that was started with this in its command."""
        (pid,) = [pid for pid, command in self.children().items() if text in command]
        return pid

    def signal(self, number: int) -> int:
        """Send a signal, and wait for the end; gives the exit code."""
        self.process.send_signal(number)
        return self.end()

    def signal_all(self, number: int) -> None:
        """Send a signal to the command and to what it has started, as a terminal does."""
        os.killpg(self.process.pid, number)

    def end(self) -> int:
        """Wait for the end; gives the exit code."""
        code = self.process.wait(timeout=_END_S)
        self._reader.join(timeout=10.0)
        return code

    def _read(self) -> None:
        assert self.process.stdout is not None
        # Line by line as they are: a line that is drawn over has its "\r".
        with TextIOWrapper(self.process.stdout, encoding="utf-8", newline="\n") as lines:
            for line in lines:
                with self._changed:
                    self._lines.append(line)
                    self._changed.notify_all()


@contextmanager
def running_command(
    command: Sequence[str], environ: Mapping[str, str] | None = None
) -> Iterator[RunningCommand]:
    """Run a command, which is gone after the with-block."""
    started = RunningCommand(command, environ)
    try:
        yield started
    finally:
        if started.process.poll() is None:
            started.process.kill()
            started.process.wait()


def running(module: str, *arguments: str) -> AbstractContextManager[RunningCommand]:
    """Run a module of the project as a command, which is gone after the with-block."""
    return running_command([sys.executable, "-m", module, *arguments])


def await_gone(pids: Iterable[int]) -> None:
    """Check that processes are gone, or go."""
    left = list(pids)
    deadline = time.monotonic() + _GONE_S
    while left and time.monotonic() < deadline:
        time.sleep(0.02)
        left = [pid for pid in left if Path(f"/proc/{pid}").exists()]
    assert not left

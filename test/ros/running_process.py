"""A process of the project that tests can stop, freeze, kill and start again."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from bench.processes import die_with_parent
from dvrk_kinematics.ros.bringup.processes import Process, list_arguments

_END_S = 20.0
_START_S = 120.0
"""Within which a nursery has imported everything, on a busy machine."""


class Nursery:
    """Where processes with nodes come from: nursery.py, which has imported all that they run."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).parent / "nursery.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=die_with_parent,
        )
        self._started: list[int] = []
        self._codes: dict[int, int] = {}
        self._changed = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def start(self, arguments: list[str], environ: dict[str, str], output: Path) -> int:
        """Start an executable; gives its process id."""
        order = {"arguments": arguments, "environ": environ, "output": str(output)}
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        with self._changed:
            assert self._changed.wait_for(lambda: bool(self._started), _START_S), "no nursery"
            return self._started.pop()

    def wait(self, pid: int, timeout_s: float) -> int | None:
        """The exit code of a process, None if it has not ended in time (s)."""
        with self._changed:
            self._changed.wait_for(lambda: pid in self._codes, timeout_s)
            return self._codes.get(pid)

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            news: dict[str, Any] = json.loads(line)
            with self._changed:
                if "started" in news:
                    self._started.append(news["started"])
                else:
                    self._codes[news["ended"]] = news["code"]
                self._changed.notify_all()


@functools.cache
def nursery() -> Nursery:
    """The one of this process; it ends with it."""
    return Nursery()


class RunningProcess:
    """One process, from its start on.

    What it prints goes to a file: a pipe that nobody empties would stop the process when full.

    Args:
        process: What to run.
        file: Where to write what it prints.
    """

    def __init__(self, process: Process, file: Path) -> None:
        self._process = process
        self._file = file
        file.touch()
        self._pid = self._begin()

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._pid

    @property
    def returncode(self) -> int | None:
        """Its exit code, None while it runs."""
        return nursery().wait(self.pid, 0.0)

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self.returncode is None

    @property
    def output(self) -> str:
        """What it has printed so far."""
        return self._file.read_text()

    @property
    def memory_bytes(self) -> int:
        """Memory that it holds now."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def freeze(self) -> None:
        """Let it stand still, as if the machine had no time for it."""
        os.kill(self.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        os.kill(self.pid, signal.SIGCONT)

    def kill(self) -> None:
        """End it without a chance to say anything."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        nursery().wait(self.pid, _END_S)

    def restart(self) -> None:
        """Start it again after it has ended."""
        assert not self.is_running
        self._pid = self._begin()

    @property
    def is_simulator(self) -> bool:
        """Whether it plays arms, which others need until they have ended."""
        return self._process.executable == "arm_simulator"

    def tell_to_end(self) -> None:
        """Tell it to end, and do not wait for that."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGCONT)
            os.kill(self.pid, signal.SIGTERM)

    def wait_ended(self) -> None:
        """Wait until it has ended, for a while."""
        nursery().wait(self.pid, _END_S)

    def end(self) -> None:
        """Tell it to end, and check that it does so cleanly; one that was killed has ended."""
        if self.returncode == -signal.SIGKILL:
            return
        self.tell_to_end()
        self.wait_ended()
        if self.is_running:
            self.kill()
        assert self.returncode == 0, self.output

    def _begin(self) -> int:
        arguments = [self._process.executable, *list_arguments(self._process)]
        return nursery().start(arguments, {**os.environ, **self._process.environment}, self._file)

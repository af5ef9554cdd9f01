"""A process of the project that tests can stop, freeze, kill and start again."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from pathlib import Path

from bench.processes import die_with_parent
from dvrk_kinematics.ros.bringup.processes import Process, command_line

_END_S = 20.0


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
        self._popen = self._begin()

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._popen.pid

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self._popen.poll() is None

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
        self._popen.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        self._popen.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """End it without a chance to say anything."""
        self._popen.kill()
        self._popen.wait(_END_S)

    def restart(self) -> None:
        """Start it again after it has ended."""
        assert not self.is_running
        self._popen = self._begin()

    @property
    def is_simulator(self) -> bool:
        """Whether it plays arms, which others need until they have ended."""
        return self._process.executable == "arm_simulator"

    def tell_to_end(self) -> None:
        """Tell it to end, and do not wait for that."""
        self._popen.send_signal(signal.SIGCONT)
        self._popen.terminate()

    def wait_ended(self) -> None:
        """Wait until it has ended, for a while."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(_END_S)

    def end(self) -> None:
        """Tell it to end, and check that it does so cleanly; one that was killed has ended."""
        if self._popen.poll() == -signal.SIGKILL:
            return
        self.tell_to_end()
        self.wait_ended()
        if self.is_running:
            self.kill()
        assert self._popen.returncode == 0, self.output

    def _begin(self) -> subprocess.Popen[str]:
        with self._file.open("a") as output:
            return subprocess.Popen(
                command_line(self._process),
                env={**os.environ, **self._process.environment},
                stdout=output,
                stderr=subprocess.STDOUT,
                text=True,
                preexec_fn=die_with_parent,
            )

"""Starts processes, shows their output, and ends them in order: those that move an arm first."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType

from dvrk_kinematics.errors import MissingExtra
from dvrk_kinematics.ros.bringup.processes import RESPAWN_S, RESPAWNS, Process, command_line
from dvrk_kinematics.ros.common.end_times import END_S
from dvrk_kinematics.ros.common.interruptions import StopRequest

__all__ = ["Supervisor"]

_LOOK_S = 0.05
_ORDER = ("arm_bridge", "", "arm_simulator")
"""The order in which processes are told to end. A bridge brings its arm to rest first, while all
others still run; the simulated arms end last."""
_OTHERS_S = 4.0
"""How long third-party programs may take to end (s): none of them moves an arm."""
_KILL_S = 0.3
_PR_SET_PDEATHSIG = 1
"""From <sys/prctl.h>: the signal that a process gets when its parent dies."""
# Looked up here: between fork and exec, a lock held by another thread would never be released.
_prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else None


class _Child:
    """One process, with a thread that reads its output."""

    def __init__(self, process: Process, say: Callable[[str], None]) -> None:
        self.process = process
        self.respawns = 0
        try:
            self._popen = subprocess.Popen(
                command_line(process),
                env={**os.environ, **process.environment, "PYTHONUNBUFFERED": "1"},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                # A Ctrl-C of the terminal must not reach it: it ends in its turn.
                start_new_session=True,
                preexec_fn=partial(_prepare, os.getpid(), process.is_node),
            )
        except FileNotFoundError as error:
            hint = f"install it, or leave it out ({process.label})"
            raise MissingExtra(process.executable, hint) from error
        self._say = say
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """Id of the process."""
        return self._popen.pid

    @property
    def code(self) -> int | None:
        """Its exit code; None while it runs."""
        return self._popen.poll()

    def signal(self, number: int) -> None:
        """Send a signal, if it still runs."""
        with contextlib.suppress(ProcessLookupError):
            if self.code is None:
                self._popen.send_signal(number)

    def join(self) -> None:
        """Wait for the rest of its output."""
        self._reader.join(timeout=1.0)

    def _read(self) -> None:
        assert self._popen.stdout is not None
        for line in self._popen.stdout:
            # Read on, whatever happens to the line: a node whose pipe is full blocks.
            self._say(f"[{self.process.label}] {line.rstrip()}")


class Supervisor:
    """Runs processes during a with-block.

    Args:
        processes: The processes to run, in starting order.
        say: Takes every line that a process prints, prefixed with its name, and the events of the
            processes. Called from several threads. If it fails (OSError), the processes still run
            and end as usual.

    Raises:
        MissingExtra: A program is not installed; those started before it are ended.
    """

    def __init__(self, processes: Sequence[Process], say: Callable[[str], None]) -> None:
        self._processes = tuple(processes)
        self._take = say
        self._children: list[_Child] = []

    def __enter__(self) -> Supervisor:
        try:
            for process in self._processes:
                self._children.append(_Child(process, self._say))
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _say(self, line: str) -> None:
        """Report a line, if its reader still exists or the disk has room for it."""
        with contextlib.suppress(OSError):
            self._take(line)

    @property
    def pids(self) -> dict[str, int]:
        """Return the ids of the processes by label."""
        return {child.process.label: child.pid for child in self._children}

    def find_ended(self) -> tuple[str, int] | None:
        """Find a required process that has ended on its own, and its exit code; else None."""
        child = self._find_missed()
        return None if child is None or child.code is None else (child.process.label, child.code)

    def _find_missed(self) -> _Child | None:
        for child in tuple(self._children):
            code = child.code
            if code is None:
                continue
            if child.process.is_missed(code):
                return child
            self._children.remove(child)
            self._say(f"{child.process.label} ended with exit code {code}; the others go on")
        return None

    def wait(self, stop: StopRequest) -> int:
        """Wait until told to stop, or until a required process ends and is not respawned.

        Args:
            stop: Set to end the waiting.

        Returns:
            Exit code: 0, or 1 if a process ended on its own.
        """
        while not stop.wait(_LOOK_S):
            ended = self._find_missed()
            if ended is not None and not self._respawn(ended, stop):
                what = f"{ended.process.label} ended with exit code {ended.code}"
                self._say(f"{what}; stopping the others")
                return 1
        return 0

    def _respawn(self, ended: _Child, stop: StopRequest) -> bool:
        """Restart a process that has ended, if requested; return whether it was."""
        if not ended.process.respawn or ended.respawns == RESPAWNS:
            return False
        times = ended.respawns + 1
        what = f"{ended.process.label} ended with exit code {ended.code}"
        self._say(f"{what}; starting it again ({times} of {RESPAWNS})")
        if not stop.wait(RESPAWN_S):
            again = _Child(ended.process, self._say)
            again.respawns = times
            self._children[self._children.index(ended)] = again
        return True

    def end(self, label: str, timeout_s: float) -> int | None:
        """End one process and wait for it (s); return its exit code, None if it did not end."""
        child = next(child for child in self._children if child.process.label == label)
        child.signal(signal.SIGINT)
        _await([child], timeout_s)
        child.join()
        code = child.code
        if code is not None:
            self._children.remove(child)
        return code

    def stop(self) -> None:
        """End all processes in order; kill those that do not end."""
        for executable in _ORDER:
            group = [child for child in self._children if _is_in(child, executable)]
            for child in group:
                child.signal(signal.SIGINT)
            others = [child for child in group if not child.process.is_node]
            begin = time.monotonic()
            _await(others, _OTHERS_S)
            self._kill(others)
            _await(group, begin + END_S - time.monotonic())
            self._kill(group)
        for child in self._children:
            child.join()
        self._children.clear()

    def _kill(self, group: Sequence[_Child]) -> None:
        """Kill those that still run, even if the report about them fails."""
        left = [child for child in group if child.code is None]
        for child in left:
            child.signal(signal.SIGKILL)
        for child in left:
            self._say(f"{child.process.label} does not end; it is killed")
        _await(left, _KILL_S)


def _is_in(child: _Child, executable: str) -> bool:
    name = Path(child.process.executable).name
    return name == executable if executable else name not in _ORDER


def _await(children: Sequence[_Child], timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    while any(child.code is None for child in children) and time.monotonic() < deadline:
        time.sleep(0.01)


def _prepare(parent: int, is_node: bool) -> None:
    """Make the child end when the process that started it is killed; runs in the child.

    Args:
        parent: Id of that process.
        is_node: Whether a SIGINT must wait until the node has its handlers: one that comes during
            imports would end it with a traceback.
    """
    if is_node:
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    if _prctl is not None:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            # The parent was killed before the call above.
            os._exit(1)

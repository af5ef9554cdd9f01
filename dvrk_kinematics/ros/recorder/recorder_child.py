"""A third-party recorder, such as ``ros2 bag record``, as a child that closes its bag and ends.

It ends when this process gets any stop signal, and when this process is killed: a forgotten
recorder would fill the disk.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from types import FrameType

from dvrk_kinematics.ros.common.interruptions import stop_signals

__all__ = ["run_for"]

_END_S = 20.0
"""How long a recorder may take to close its bag."""

_PR_SET_PDEATHSIG = 1
"""From <sys/prctl.h>: the signal that a process gets when its parent dies."""


def run_for(command: Sequence[str], duration_s: float, environ: Mapping[str, str]) -> int:
    """Run a recorder until it is told to stop, or for some time.

    Args:
        command: The command; it ends cleanly on SIGINT.
        duration_s: How long (s); 0 for no limit.
        environ: Its environment.

    Returns:
        Its exit code.
    """
    with _start(command, environ) as process:
        try:
            return process.wait(duration_s or None)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
        try:
            return process.wait(_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()


@contextmanager
def _start(
    command: Sequence[str], environ: Mapping[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """Start the child, and forward this process's stop signals to it."""
    started: list[subprocess.Popen[bytes]] = []

    def hand_on(_sign: int, _frame: FrameType | None) -> None:
        for child in started:
            child.send_signal(signal.SIGINT)

    # A signal during the child's creation waits until the child exists.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, stop_signals())
    with _taking_stop_signals(hand_on):
        try:
            child = subprocess.Popen(
                command,
                env=dict(environ),
                # So that Ctrl-C reaches it only once: from here.
                start_new_session=True,
                preexec_fn=partial(_prepare, os.getpid(), mask),
            )
            started.append(child)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        yield child


@contextmanager
def _taking_stop_signals(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Let a handler take the stop signals."""
    previous = {sign: signal.signal(sign, handler) for sign in stop_signals()}
    try:
        yield
    finally:
        for sign, old in previous.items():
            signal.signal(sign, old)


def _prepare(parent: int, mask: Collection[int]) -> None:
    """Make the child close its bag if the parent is killed, and restore its signals; in the child.

    Args:
        parent: Id of the parent.
        mask: Signals that the parent had blocked before it created this process.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGINT)
    # If the parent was killed before the line above, it no longer exists.
    if os.getppid() != parent:
        os._exit(1)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)

"""Child processes: how they end, and that all of them do."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType

__all__ = ["end_group", "run_command", "take_stop_signals"]

_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_PATIENCE_S = 5.0


@contextmanager
def take_stop_signals(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Let a handler take the signals that ask this process to stop; ignored ones stay ignored.

    Args:
        handler: Called with the signal's number, as by signal.signal.
    """
    before = {number: signal.getsignal(number) for number in _STOP_SIGNALS}
    taken = {number: old for number, old in before.items() if old is not signal.SIG_IGN}
    try:
        for number in taken:
            signal.signal(number, handler)
        yield
    finally:
        for number, old in taken.items():
            signal.signal(number, old)


def run_command(command: Sequence[str], cwd: Path, environ: Mapping[str, str]) -> int:
    """Run a command on this terminal; if asked to stop, let it stop on its own and wait for it.

    Args:
        command: The command and its arguments.
        cwd: Its working folder.
        environ: Its environment.

    Returns:
        Its exit code; 128 and the number of the signal, as in a shell, if a signal ended it.

    Raises:
        KeyboardInterrupt: When it has ended after this process was asked to stop.
    """
    stops: list[int] = []
    children: list[subprocess.Popen[bytes]] = []

    def pass_on(number: int, _: FrameType | None) -> None:
        stops.append(number)
        # The terminal has sent its Ctrl-C to the child already, and a second one would cut the
        # child's own clean-up short.
        if children and not (number == signal.SIGINT and len(stops) == 1 and _is_foreground()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(children[0].pid, signal.SIGINT)

    with take_stop_signals(pass_on):
        # A signal during the start of the child waits until we can pass it on.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, _STOP_SIGNALS)
        unblock = partial(signal.pthread_sigmask, signal.SIG_SETMASK, mask)
        try:
            child = subprocess.Popen(command, cwd=cwd, env=dict(environ), preexec_fn=unblock)
            children.append(child)
        finally:
            unblock()
        code = child.wait()
    if stops:
        raise KeyboardInterrupt
    return code if code >= 0 else 128 - code


def end_group(leader: subprocess.Popen[bytes]) -> None:
    """End whatever is left of a process group: politely, then for good.

    Args:
        leader: The child that was started as the leader of the group.
    """
    stops: list[int] = []
    with take_stop_signals(lambda number, _: stops.append(number)):
        for number in (signal.SIGTERM, signal.SIGKILL):
            if not _lives(leader):
                break
            with contextlib.suppress(ProcessLookupError):
                os.killpg(leader.pid, number)
            deadline = time.monotonic() + _PATIENCE_S
            # Nothing reports the end of a whole group, so it is looked at until it is empty. Asked
            # to stop once more, the politeness is over.
            while _lives(leader) and time.monotonic() < deadline:
                if stops and number == signal.SIGTERM:
                    break
                time.sleep(0.02)


def _lives(leader: subprocess.Popen[bytes]) -> bool:
    """Whether any process of a group still runs. A zombie that nobody reaped does not count."""
    leader.poll()
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _parent, group = file.read_text().rpartition(")")[2].split()[:3]
        except (OSError, ValueError):
            continue
        if int(group) == leader.pid and state not in "ZX":
            return True
    return False


def _is_foreground() -> bool:
    """Whether a Ctrl-C on the terminal reaches this process, and so its children too."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)

"""Signals that ask a command to end, raised where that does no harm and kept back elsewhere."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from types import FrameType, TracebackType
from typing import Any

__all__ = ["Interrupted", "Interruptions", "StopRequest", "stop_signals"]


def stop_signals() -> tuple[signal.Signals, ...]:
    """Ctrl-C, a polite end, and a terminal that is closed, unless nohup has set that aside.

    Whoever starts something below nohup wants it to outlive the terminal: a robot goes on, and
    a recording is not cut short.
    """
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        return signal.SIGINT, signal.SIGTERM
    return signal.SIGINT, signal.SIGTERM, signal.SIGHUP


class StopRequest:
    """Whether somebody wants this process to stop.

    A ``threading.Event`` takes a lock when it is set. A second signal that arrives while the
    handler of the first one sets it, as when a terminal is closed and a parent dies, would wait
    for that lock for ever, in the thread that holds it. A SimpleQueue may be entered again.
    """

    def __init__(self) -> None:
        self._is_set = False
        self._queue: SimpleQueue[None] = SimpleQueue()

    @property
    def is_set(self) -> bool:
        """Whether it is asked for."""
        return self._is_set

    def set(self) -> None:
        """Ask for the stop; from any thread and any signal handler."""
        self._is_set = True
        self._queue.put(None)

    def hear(self, _number: int, _frame: FrameType | None) -> None:
        """Ask for the stop, as the handler of a signal."""
        self.set()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until it is asked for.

        Args:
            timeout_s: Longest time to wait (s); None for without end.

        Returns:
            Whether it is asked for.
        """
        if not self._is_set:
            with suppress(Empty):
                self._queue.get(timeout=timeout_s)
        return self._is_set


_BY_SIGNAL = 128
"""A process that a signal ended has this exit code more than the signal's number, as in shells."""


class Interrupted(KeyboardInterrupt):
    """Somebody wants the command to end.

    Attributes:
        exit_code: 130 for Ctrl-C, 143 for SIGTERM, 129 for a terminal that was closed.
    """

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.exit_code = _BY_SIGNAL + number


class Interruptions:
    """Handles the signals that ask for the end, for as long as a with-block lasts.

    A command starts and ends things that must not be left halfway: nodes, processes, files. There
    a signal is kept back. Where the command does its work, each signal raises, the second as the
    first: whoever presses Ctrl-C twice does not want to wait for a cancelled goal to end.

        with Interruptions() as interruptions:
            ...                             # kept back
            with interruptions.raised():
                ...                         # raises Interrupted in the main thread
            ...                             # kept back
    """

    def __init__(self) -> None:
        self._is_raised = False
        self._kept: int | None = None
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> Interruptions:
        self._previous = {number: signal.signal(number, self._hear) for number in stop_signals()}
        # Whoever started this process may have kept signals back until somebody handles them.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, self._previous)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    @contextmanager
    def raised(self) -> Iterator[None]:
        """Have signals raised, also one that came before.

        Raises:
            Interrupted: By a signal; in the main thread, at any point of the with-block.
        """
        self._is_raised = True
        try:
            if self._kept is not None:
                raise Interrupted(self._kept)
            yield
        finally:
            self._is_raised = False

    def _hear(self, number: int, _frame: FrameType | None) -> None:
        self._kept = number
        if self._is_raised:
            raise Interrupted(number)

"""Signals that ask a command to end: raised where that is harmless, deferred elsewhere."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from types import FrameType, TracebackType
from typing import Any

__all__ = ["Interrupted", "Interruptions", "StopRequest", "stop_signals"]


def stop_signals() -> tuple[signal.Signals, ...]:
    """Return SIGINT (Ctrl-C), SIGTERM, and SIGHUP (closed terminal) unless nohup ignores it.

    A user who starts a command under nohup wants it to outlive the terminal: a robot goes on, and
    a recording is not cut short.
    """
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        return signal.SIGINT, signal.SIGTERM
    return signal.SIGINT, signal.SIGTERM, signal.SIGHUP


class StopRequest:
    """Whether this process was asked to stop.

    Setting a ``threading.Event`` takes a lock. A second signal may arrive while the handler of the
    first sets the event, as when a terminal is closed and a parent dies. It would wait for that
    lock forever, in the thread that holds it. A SimpleQueue is reentrant.
    """

    def __init__(self) -> None:
        self._is_set = False
        self._queue: SimpleQueue[None] = SimpleQueue()

    @property
    def is_set(self) -> bool:
        """Return whether a stop was requested."""
        return self._is_set

    def set(self) -> None:
        """Request the stop, from any thread or signal handler."""
        self._is_set = True
        self._queue.put(None)

    def hear(self, _number: int, _frame: FrameType | None) -> None:
        """Request the stop, as a signal handler."""
        self.set()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until a stop is requested.

        Args:
            timeout_s: Longest time to wait (s); None to wait forever.

        Returns:
            Whether a stop was requested.
        """
        if not self._is_set:
            with suppress(Empty):
                self._queue.get(timeout=timeout_s)
        return self._is_set


_BY_SIGNAL = 128
"""A process ended by a signal exits with this code plus the signal's number, as in shells."""


class Interrupted(KeyboardInterrupt):
    """The command was asked to end.

    Attributes:
        exit_code: 130 for Ctrl-C, 143 for SIGTERM, 129 for a terminal that was closed.
    """

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.exit_code = _BY_SIGNAL + number


class Interruptions:
    """Handles the stop signals during a with-block.

    A command starts and ends things that must not be left halfway: nodes, processes, files. There
    a signal is deferred. Where the command does its work, every signal raises, not only the first:
    a user who presses Ctrl-C twice does not want to wait for a cancelled goal to end.

        with Interruptions() as interruptions:
            ...                             # deferred
            with interruptions.raised():
                ...                         # raises Interrupted in the main thread
            ...                             # deferred
    """

    def __init__(self) -> None:
        self._is_raised = False
        self._kept: int | None = None
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> Interruptions:
        self._previous = {number: signal.signal(number, self._hear) for number in stop_signals()}
        # The parent process may have blocked signals until they have handlers.
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
        """Raise signals, including one that came before.

        Raises:
            Interrupted: On a signal; in the main thread, at any point of the with-block.
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

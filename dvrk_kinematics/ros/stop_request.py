"""Something that signals can set while somebody waits for it."""

from __future__ import annotations

from contextlib import suppress
from queue import Empty, SimpleQueue
from types import FrameType

__all__ = ["StopRequest"]


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

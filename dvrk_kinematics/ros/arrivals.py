"""Which goals had arrived before a hold, although the control loop had not seen them yet."""

from __future__ import annotations

__all__ = ["Arrivals"]


class Arrivals:
    """Numbers goals by the holds before them.

    A goal passes other threads before the loop sees it, and whoever asks for a hold in between
    means that goal, too.
    """

    def __init__(self) -> None:
        self._holds = 0
        self._holds_at_arrival = 0

    def note(self) -> None:
        """A goal has arrived, and its client does not know that yet; in the executor's thread."""
        self._holds_at_arrival = self._holds

    @property
    def number(self) -> int:
        """The number of the goal that was noted last; in the executor's thread."""
        return self._holds_at_arrival

    def drop(self) -> None:
        """Let no goal begin that has arrived until now; in the loop's thread."""
        self._holds += 1

    def is_dropped(self, number: int) -> bool:
        """Whether a hold was asked for after a goal of this number; in the loop's thread."""
        return number != self._holds

"""How many messages of a topic never arrived, told from the numbers that its publisher gives them.

The middleware numbers the messages of every publisher from 1 on, without gaps. A number that is
skipped is a message that was sent and not received: dropped on the way, or pushed out of a full
queue. What a publisher sent before its first message arrived is not counted: a recorder that comes
late has lost nothing. A message does not say whose it is, so nothing is counted on a topic that
had several publishers at the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

__all__ = ["NO_NUMBERS", "SEVERAL", "LossCounter"]

SEVERAL = "several publishers: not counted"
NO_NUMBERS = "messages without numbers: not counted"


class LossCounter:
    """Counts the messages of one topic that are missing.

    Args:
        find_publishers: Tells who publishes the topic now, each by something of its own.

    Attributes:
        not_counted: Why nothing is counted; "" where it is.
    """

    def __init__(self, find_publishers: Callable[[], Collection[object]]) -> None:
        self.not_counted = ""
        self._find_publishers = find_publishers
        self._publisher: object = None
        self._last: int | None = None
        self._lost = 0

    @property
    def lost(self) -> int | None:
        """How many are missing so far; None where nothing is counted."""
        return None if self.not_counted else self._lost

    def see(self, number: int | None) -> None:
        """Note the number of a message that arrived.

        Args:
            number: As its publisher counts; None if the middleware does not number messages.
        """
        if self.not_counted:
            return
        if number is None:
            self.not_counted = NO_NUMBERS
        elif self._last is None or number != self._last + 1:
            self.see_publishers(self._find_publishers())
            if self._last is not None:
                # A lower number is one that was heard before: it came again to a new subscription.
                self._lost += max(0, number - self._last - 1)
        self._last = number

    def see_publishers(self, publishers: Collection[object]) -> None:
        """Note who publishes the topic now."""
        if len(publishers) > 1:
            self.not_counted = self.not_counted or SEVERAL
        for publisher in publishers:
            if publisher != self._publisher:
                self._publisher = publisher
                self._last = None

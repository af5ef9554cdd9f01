"""Counts the messages of a topic that never arrived, from their publisher's sequence numbers.

The middleware numbers the messages of every publisher from 1, without gaps. A skipped number means
a message that was sent and not received: dropped on the way, or pushed out of a full queue.
Messages that a publisher sent before the first one received are not counted: a recorder that
starts late has lost nothing. A message does not identify its publisher, so nothing is counted on a
topic that had several publishers at the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

__all__ = ["NO_NUMBERS", "SEVERAL", "LossCounter"]

SEVERAL = "several publishers: not counted"
NO_NUMBERS = "messages without numbers: not counted"


class LossCounter:
    """Counts the missing messages of one topic.

    Args:
        find_publishers: Returns the topic's current publishers, each by a unique identity.

    Attributes:
        not_counted: Why nothing is counted; "" if losses are counted.
    """

    def __init__(self, find_publishers: Callable[[], Collection[object]]) -> None:
        self.not_counted = ""
        self._find_publishers = find_publishers
        self._publisher: object = None
        self._last: int | None = None
        self._lost = 0

    @property
    def lost(self) -> int | None:
        """Number missing so far; None if nothing is counted."""
        return None if self.not_counted else self._lost

    def see(self, number: int | None) -> None:
        """Note the number of a message that arrived.

        Args:
            number: Its publisher's number; None if the middleware does not number messages.
        """
        if self.not_counted:
            return
        if number is None:
            self.not_counted = NO_NUMBERS
        elif self._last is None or number != self._last + 1:
            self.see_publishers(self._find_publishers())
            if self._last is not None:
                # A lower number was received before: it came again to a new subscription.
                self._lost += max(0, number - self._last - 1)
        self._last = number

    def see_publishers(self, publishers: Collection[object]) -> None:
        """Note the topic's current publishers."""
        if len(publishers) > 1:
            self.not_counted = self.not_counted or SEVERAL
        for publisher in publishers:
            if publisher != self._publisher:
                self._publisher = publisher
                self._last = None

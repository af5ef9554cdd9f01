"""How many messages of a topic never arrived, told from the numbers that publishers give them.

The middleware numbers the messages of every publisher from 1 on, without gaps. A number that is
skipped is a message that was sent and not received: dropped on the way, or pushed out of a full
queue. What a publisher sent before its first message arrived is not counted: a recorder that comes
late has lost nothing. The numbers do not say whose they are, so with several publishers on one
topic each number is taken to continue the row that it fits; a loss is then told to the message in
all but contrived cases.
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["LossCounter"]


class LossCounter:
    """Counts the messages of one topic that are missing.

    Args:
        count_publishers: Tells how many publishers the topic has now.

    Attributes:
        lost: How many are missing so far; None if the middleware gives no numbers.
    """

    def __init__(self, count_publishers: Callable[[], int]) -> None:
        self.lost: int | None = 0
        self._count_publishers = count_publishers
        self._rows: list[int] = []
        """The last number of each publisher heard so far."""

    def see(self, number: int | None) -> int:
        """Note the number of a message that arrived.

        Args:
            number: As the publisher counts; None if the middleware does not number messages.

        Returns:
            How many are missing just before it.
        """
        if number is None or self.lost is None:
            self.lost = None
            return 0
        if number - 1 in self._rows:
            self._rows[self._rows.index(number - 1)] = number
            return 0
        earlier = [last for last in self._rows if last < number]
        is_new = number == 1 or not earlier or len(self._rows) < self._count_publishers()
        if is_new:
            self._rows.append(number)
            return 0
        last = max(earlier)
        self._rows[self._rows.index(last)] = number
        missing = number - last - 1
        self.lost += missing
        return missing

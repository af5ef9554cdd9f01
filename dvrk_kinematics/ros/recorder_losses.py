"""How many messages of a topic never arrived, told from the numbers that publishers give them.

The middleware numbers the messages of every publisher from 1 on, without gaps. A number that is
skipped is a message that was sent and not received: dropped on the way, or pushed out of a full
queue. What a publisher sent before its first message arrived is not counted: a recorder that comes
late has lost nothing. The numbers do not say whose they are, so with several publishers on one
topic each number is taken to continue the row that it fits. One that fits none, while publishers
were not heard yet, may be the first of theirs or come after a gap: it begins a row, and if that
goes on while the row before it is silent, it was a gap. Should the silent row go on after all, it
was none.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["LossCounter"]

_SURE = 3
"""Messages with which a row shows that it is the one before it, continued after a gap."""

_SILENT = 16
"""How many rows are remembered that were taken to be continued by another."""


@dataclass(slots=True, eq=False)
class _Row:
    """The messages of one publisher.

    Attributes:
        last: The number of its last one.
        before: The row that it may continue; None if it is certainly another.
        gap: How many are missing in between if it does.
        heard: How many messages it has.
    """

    last: int
    before: _Row | None = None
    gap: int = 0
    heard: int = 1


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
        self._rows: list[_Row] = []
        self._silent: deque[tuple[int, int]] = deque(maxlen=_SILENT)
        """Rows that were taken to be continued by another: their last numbers, and the gaps."""

    def see(self, number: int | None) -> None:
        """Note the number of a message that arrived.

        Args:
            number: As the publisher counts; None if the middleware does not number messages.
        """
        if number is None or self.lost is None:
            self.lost = None
            return
        row = next((row for row in self._rows if row.last == number - 1), None)
        if row is not None:
            self._go_on(row, number)
        elif not self._wake(number):
            self._place(number)

    def _go_on(self, row: _Row, number: int) -> None:
        row.last = number
        row.heard += 1
        self._part(row)
        if row.heard > _SURE:
            self._join(row)

    def _part(self, row: _Row) -> None:
        """Take the others that may continue a row to be of other publishers."""
        for later in self._rows:
            if later.before is row:
                later.before = None

    def _join(self, row: _Row) -> None:
        """Take a row to be the one before it, continued, and that one likewise."""
        while row.before is not None:
            before = row.before
            self._rows.remove(before)
            self._silent.append((before.last, row.gap))
            self._add(row.gap)
            self._part(before)
            row.before, row.gap = before.before, before.gap

    def _wake(self, number: int) -> bool:
        """Whether a number continues a row that was taken to be continued by another."""
        for last, gap in self._silent:
            if last == number - 1:
                self._silent.remove((last, gap))
                self._add(-gap)
                self._rows.append(_Row(number))
                return True
        return False

    def _place(self, number: int) -> None:
        """Find the place of a number that continues no row."""
        earlier = [row for row in self._rows if row.last < number]
        if number == 1 or not earlier:
            self._rows.append(_Row(number))
            return
        nearest = max(earlier, key=lambda row: row.last)
        gap = number - nearest.last - 1
        if len(self._rows) < self._count_publishers():
            self._rows.append(_Row(number, nearest, gap))
            return
        self._add(gap)
        self._go_on(nearest, number)

    def _add(self, missing: int) -> None:
        self.lost = (self.lost or 0) + missing

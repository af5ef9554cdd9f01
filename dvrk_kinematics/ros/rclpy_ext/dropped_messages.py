"""Messages that a node could not read: dropped, counted by topic, and reported now and then.

Anybody on the network can send anything, and a packet can be cut short. A message that does not
match its type, or is too large to make sense, counts as not received, however it came: through a
loop that takes it (``polled_subscription``) or through the executor (``guarded_executor``).

Answers rclpy 7.1, which keeps no count of what it could not read. This test shows what we count:
``test_polled.py::test_a_message_that_was_cut_short_is_dropped_and_counted``.
"""

from __future__ import annotations

import threading
import traceback
from collections import Counter
from typing import Any
from weakref import WeakKeyDictionary

from rclpy.node import Node

__all__ = ["DroppedMessages", "dropped_by"]

_TELL_EVERY_S = 10.0


class DroppedMessages:
    """Counts the messages that one node has dropped; usable from any thread.

    Args:
        logger: The node's logger.
    """

    def __init__(self, logger: Any) -> None:
        self._logger = logger
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    @property
    def counts(self) -> dict[str, int]:
        """Return the number dropped so far by topic, service or action, without zeros."""
        with self._lock:
            return dict(self._counts)

    def note(self, name: str, reason: object) -> None:
        """Count an unreadable message, and log this at most every 10 s.

        Args:
            name: Its topic, service or action.
            reason: What is wrong with it.
        """
        count = self._count(name)
        self._logger.warning(
            f"{name}: dropped what cannot be read, {count} so far: {reason}",
            throttle_duration_sec=_TELL_EVERY_S,
        )

    def note_failure(self, name: str, error: Exception) -> None:
        """Count a message that was read but then failed in processing: a bug of ours.

        Args:
            name: Its topic, service or action.
            error: The exception raised.
        """
        count = self._count(name)
        trace = "".join(traceback.format_exception(error))
        self._logger.error(
            f"{name}: dropped what made an internal error, {count} so far:\n{trace}",
            throttle_duration_sec=_TELL_EVERY_S,
        )

    def _count(self, name: str) -> int:
        with self._lock:
            self._counts[name] += 1
            return self._counts[name]


_all: WeakKeyDictionary[Node, DroppedMessages] = WeakKeyDictionary()
_all_lock = threading.Lock()


def dropped_by(node: Node) -> DroppedMessages:
    """Return the counter of a node; each node has one."""
    with _all_lock:
        if node not in _all:
            _all[node] = DroppedMessages(node.get_logger())
        return _all[node]

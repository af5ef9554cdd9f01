"""What a node has heard and could not read: dropped, counted by topic, and told now and then.

Anybody on the network can send anything, and a packet can be cut short. A message that is not what
its type says, or is larger than makes sense, is as if it had not arrived, whichever way it came:
by a loop that takes it (``polled_subscription``) or by the executor (``guarded_executor``).

Answers rclpy 7.1, which keeps no count of what it could not read. What is counted here is shown by
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
    """Counts the messages that one node has dropped; from any thread.

    Args:
        logger: The node's logger.
    """

    def __init__(self, logger: Any) -> None:
        self._logger = logger
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    @property
    def counts(self) -> dict[str, int]:
        """How many were dropped so far, by topic, service or action; only those that have any."""
        with self._lock:
            return dict(self._counts)

    def note(self, name: str, reason: object) -> None:
        """Count one that cannot be read, and say so every 10 s at most.

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
        """Count one that was read and then could not be dealt with: a mistake of ours.

        Args:
            name: Its topic, service or action.
            error: What was raised.
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
    """What a node has dropped, one for each node."""
    with _all_lock:
        if node not in _all:
            _all[node] = DroppedMessages(node.get_logger())
        return _all[node]

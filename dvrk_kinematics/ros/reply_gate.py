"""Whether whoever asks a service can hear its answer yet.

A client of a service has two ends, one that asks and one that hears, and DDS tells the server of
them one after the other. On a busy machine or network a request arrives before the end that hears
was found. The middleware then waits for it up to 100 ms, with Python's interpreter lock held, so
that a control loop stands still; and if that was not enough, it drops the answer and the client
waits for ever. So an answer is kept back until it can be heard.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable

from rclpy.node import Node
from rclpy.topic_endpoint_info import TopicEndpointInfo

__all__ = ["PATIENCE_S", "ReplyGate", "count_participants"]

PATIENCE_S = 30.0
"""An end that is missing for so long belongs to something that wants no answers.

A busy machine takes many seconds to find it, and an answer that is sent before is lost. Who never
hears keeps the others waiting once, when it comes.
"""

_PREFIX_BYTES = 12
"""How much of the id of a DDS endpoint names its participant."""


class ReplyGate:
    """The clients of one service, as far as their ends were found.

    Args:
        node: The node that serves.
        service: Name of the service.
    """

    def __init__(self, node: Node, service: str) -> None:
        name = node.resolve_service_name(service)
        self._node = node
        self._requests, self._replies = f"rq{name}Request", f"rr{name}Reply"
        self._deaf: Counter[bytes] = Counter()
        self._deaf_since_s = 0.0

    @property
    def is_open(self) -> bool:
        """Whether every client that was found can hear, or has had its time."""
        deaf = self._find_deaf()
        now_s = time.monotonic()
        if deaf != self._deaf:
            self._deaf, self._deaf_since_s = deaf, now_s
        return not deaf or now_s - self._deaf_since_s > PATIENCE_S

    def _find_deaf(self) -> Counter[bytes]:
        """Participants that have more ends that ask than ends that hear."""
        asking = self._node.get_publishers_info_by_topic(self._requests, no_mangle=True)
        hearing = self._node.get_subscriptions_info_by_topic(self._replies, no_mangle=True)
        return count_participants(asking) - count_participants(hearing)


def count_participants(ends: Iterable[TopicEndpointInfo]) -> Counter[bytes]:
    """How many of the ends each participant has."""
    return Counter(bytes(end.endpoint_gid[:_PREFIX_BYTES]) for end in ends)

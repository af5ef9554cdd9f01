"""A publisher of bytes, for messages that are serialised once and patched."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.node import Node
from rclpy.qos import QoSProfile

__all__ = ["RawPublisher"]


class RawPublisher:
    """Publishes bytes, and nothing else.

    rclpy guards each use of a publisher against its destruction and looks at the type of what is
    sent; here it is guarded once, from its making to :meth:`close`.

    Args:
        node: The node.
        message_type: The message class.
        name: Name of the topic.
        qos: Quality of service.
    """

    def __init__(self, node: Node, message_type: type, name: str, qos: QoSProfile) -> None:
        self._handle = node.create_publisher(message_type, name, qos).handle
        self._handle.__enter__()
        self.publish: Callable[[bytes], None] = self._handle.publish_raw

    def is_heard(self) -> bool:
        """Whether anybody listens."""
        return bool(self.count_listeners())

    def count_listeners(self) -> int:
        """How many listen."""
        return int(self._handle.get_subscription_count())

    def close(self) -> None:
        """Publish nothing any more."""
        self._handle.__exit__(None, None, None)

"""Subscriptions that a loop reads by itself, at the moment it needs the message.

An executor wakes for every message, builds its wait set anew and runs a callback, and all that
Python competes with the loop for the interpreter. A loop that runs at the rate of its input needs
none of it: it takes what has arrived at the begin of its tick. Such a subscription is kept out of
the executor's wait set.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node
from rclpy.qos import QoSProfile

__all__ = ["PolledSubscription"]

MessageT = TypeVar("MessageT")


class _NeverExecuted(CallbackGroup):
    """A group whose callbacks no executor runs or waits for."""

    def can_execute(self, entity: Any) -> bool:
        return False

    def beginning_execution(self, entity: Any) -> bool:
        return False

    def ending_execution(self, entity: Any) -> None:
        return None


class PolledSubscription(Generic[MessageT]):
    """Takes messages, as bytes, when asked.

    Args:
        node: The node.
        message_type: The message class.
        topic: Name of the topic.
        qos: Quality of service; its depth is how many messages can wait to be taken.
    """

    def __init__(
        self, node: Node, message_type: type[MessageT], topic: str, qos: QoSProfile
    ) -> None:
        self._type = message_type
        self._subscription = node.create_subscription(
            message_type, topic, _ignore, qos, callback_group=_NeverExecuted(), raw=True
        )

    def take(self) -> bytes | None:
        """The oldest message that waits, as bytes; None if there is none."""
        taken = self._take()
        return None if taken is None else taken[0]

    def take_received(self) -> tuple[bytes, int] | None:
        """The oldest message that waits and when it arrived (ns, system time).

        Who reads several topics can so act on their messages in the order in which they came.
        """
        taken = self._take()
        return None if taken is None else (taken[0], taken[1]["received_timestamp"])

    def take_newest(self) -> bytes | None:
        """The newest message that waits, as bytes, the others dropped; None if there is none."""
        newest = None
        while (message := self.take()) is not None:
            newest = message
        return newest

    def _take(self) -> tuple[bytes, dict[str, Any]] | None:
        handle = self._subscription.handle
        with handle:
            taken: tuple[bytes, dict[str, Any]] | None = handle.take_message(self._type, True)
        return taken


def _ignore(_: bytes) -> None:
    return None

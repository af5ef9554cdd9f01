"""Subscriptions that a loop reads on its own, at the moment it needs the message.

A loop that runs at the rate of its input does not need an executor: it takes the arrived messages
at the start of its tick. Such a subscription is kept out of the executor's wait set.

Messages that are unreadable or too large are dropped and counted
(:mod:`dvrk_kinematics.ros.rclpy_ext.dropped_messages`).

Answers rclpy 7.1, whose executor wakes for every message, rebuilds its wait set and runs a
callback; all that Python competes with the loop for the interpreter. Needed while this passes:
``test_plain_rclpy.py::test_an_executor_builds_its_wait_set_anew_for_every_message``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, Generic, NamedTuple, TypeVar

from rclpy.callback_groups import CallbackGroup
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message

from dvrk_kinematics.errors import LayoutError
from dvrk_kinematics.ros.rclpy_ext.dropped_messages import dropped_by
from dvrk_kinematics.ros.rclpy_ext.patched_message import RawMessage, RawReader

__all__ = ["MAX_BYTES", "Arrival", "NeverExecuted", "PolledGroup", "PolledSubscription"]

MessageT = TypeVar("MessageT")

MAX_BYTES = 1_000_000
"""Messages larger than this are dropped by default: some 6000 transforms."""


class NeverExecuted(CallbackGroup):
    """A group whose callbacks no executor runs or waits for."""

    def can_execute(self, entity: Any) -> bool:
        """Return that no entity can be executed."""
        return False

    def beginning_execution(self, entity: Any) -> bool:
        """Prevent any execution."""
        return False

    def ending_execution(self, entity: Any) -> None:
        """Do nothing: no execution ever begins."""


class PolledSubscription(Generic[MessageT]):
    """Takes messages, as bytes, on demand.

    Args:
        node: The node.
        message_type: The message class.
        topic: Name of the topic.
        qos: Quality of service; its depth is how many messages can wait to be taken.
        max_bytes: Larger messages are dropped unread; None for no bound.
    """

    def __init__(
        self,
        node: Node,
        message_type: type[MessageT],
        topic: str,
        qos: QoSProfile,
        max_bytes: int | None = MAX_BYTES,
    ) -> None:
        self._node = node
        self._type = message_type
        self._topic = topic
        self._max_bytes = max_bytes
        self._dropped = dropped_by(node)
        self._subscription = node.create_subscription(
            message_type, topic, _ignore, qos, callback_group=NeverExecuted(), raw=True
        )

    def take(self) -> bytes | None:
        """Take the oldest waiting message, as bytes; None if there is none."""
        taken = self.take_with_info()
        return None if taken is None else taken[0]

    def take_message(self) -> MessageT | None:
        """Take the oldest waiting message that is readable; None if there is none."""
        while (data := self.take()) is not None:
            try:
                message: MessageT = deserialize_message(data, self._type)
            except _UNREADABLE:
                self._dropped.note(self._topic, _unreadable(data, self._type))
            else:
                return message
        return None

    def take_raw(self, reader: RawReader[MessageT]) -> RawMessage[MessageT] | None:
        """Take the oldest waiting message that a reader can read; None if there is none."""
        while (data := self.take()) is not None:
            message = self.see(data, reader)
            if message is not None:
                return message
        return None

    def see(self, data: bytes, reader: RawReader[MessageT]) -> RawMessage[MessageT] | None:
        """View a message taken earlier; an unreadable one is counted, and yields None."""
        try:
            return reader.read(data)
        except LayoutError as error:
            self._dropped.note(self._topic, error)
            return None

    def take_with_info(self) -> tuple[bytes, Mapping[str, int | None]] | None:
        """Take the oldest waiting message and its middleware information, None if there is none.

        The latter has ``source_timestamp`` and ``received_timestamp`` (ns, system time) and the
        publisher's ``publication_sequence_number``, None if the middleware does not number
        messages.
        """
        handle = self._subscription.handle
        while True:
            with handle:
                taken: tuple[bytes, Mapping[str, int | None]] | None = handle.take_message(
                    self._type, True
                )
            if taken is None or self._max_bytes is None or len(taken[0]) <= self._max_bytes:
                return taken
            self._dropped.note(self._topic, _too_large(taken[0], self._max_bytes))

    def take_newest(self) -> bytes | None:
        """Take the newest waiting message, as bytes, and drop the others; None if none waits."""
        newest = None
        while (message := self.take()) is not None:
            newest = message
        return newest

    def take_newest_message(self) -> MessageT | None:
        """Take the newest readable message, and drop the others; None if there is none."""
        newest = None
        while (message := self.take_message()) is not None:
            newest = message
        return newest

    def close(self) -> None:
        """Unsubscribe; call it while the node's executor is not waiting, such as in a callback."""
        self._node.destroy_subscription(self._subscription)


class Arrival(NamedTuple):
    """A message taken by a group.

    Attributes:
        received_ns: When it arrived (ns, system time).
        message: The message.
        topic: Its topic.
        key: The key given for its topic.
    """

    received_ns: int
    message: Any
    topic: str
    key: Any


class _Source(NamedTuple):
    handle: Any
    take: Callable[[type, bool], Any]
    message_type: type
    topic: str
    key: Any


_IDLE_TURNS = 4
"""Topics without a publisher are checked only once in this many takes."""


class PolledGroup:
    """Many topics that a loop reads together, in the order in which their messages arrived.

    rclpy guards each use of a subscription against its destruction, which costs three times as
    much as finding that nothing has arrived. A group guards its subscriptions once, from their
    creation to :meth:`close`. A topic without a publisher is checked only every fourth time: most
    of an arm's command topics are idle, and each check touches separate memory.

    Args:
        node: The node.
        max_bytes: Larger messages are dropped unread.
    """

    def __init__(self, node: Node, max_bytes: int = MAX_BYTES) -> None:
        self._node = node
        self._max_bytes = max_bytes
        self._dropped = dropped_by(node)
        self._sources: list[_Source] = []
        self._busy: list[_Source] = []
        self._turn = 0

    def subscribe(self, message_type: type, topic: str, qos: QoSProfile, key: Any) -> None:
        """Subscribe to one more topic.

        Args:
            message_type: The message class.
            topic: Name of the topic.
            qos: Quality of service; its depth is how many messages can wait to be taken.
            key: Delivered with every message of this topic.
        """
        handle = self._node.create_subscription(
            message_type, topic, _ignore, qos, callback_group=NeverExecuted(), raw=True
        ).handle
        handle.__enter__()
        self._sources.append(_Source(handle, handle.take_message, message_type, topic, key))

    def take_all(self) -> list[Arrival]:
        """Take all readable messages that have arrived, oldest first."""
        arrived: list[Arrival] = []
        self._turn = (self._turn + 1) % _IDLE_TURNS
        if self._turn == 0:
            self._busy = [s for s in self._sources if s.handle.get_publisher_count() > 0]
        # Idle ones as well: a publisher may have come, published and gone between two checks.
        for source in self._sources if self._turn == 0 else self._busy:
            while (taken := source.take(source.message_type, True)) is not None:
                message = self._read(taken[0], source)
                if message is not None:
                    received_ns = taken[1]["received_timestamp"]
                    arrived.append(Arrival(received_ns, message, source.topic, source.key))
        if len(arrived) > 1:
            arrived.sort(key=attrgetter("received_ns"))
        return arrived

    def close(self) -> None:
        """Release the subscriptions; nothing can be taken any more."""
        for source in self._sources:
            source.handle.__exit__(None, None, None)
        self._sources.clear()
        self._busy.clear()

    def _read(self, data: bytes, source: _Source) -> Any:
        """Return the message, or None if it is dropped."""
        if len(data) > self._max_bytes:
            self._dropped.note(source.topic, _too_large(data, self._max_bytes))
            return None
        try:
            return deserialize_message(data, source.message_type)
        except _UNREADABLE:
            self._dropped.note(source.topic, _unreadable(data, source.message_type))
            return None


_UNREADABLE = (rclpy_implementation.RMWError, ValueError)
"""The exceptions raised for bytes that do not match their type."""


def _unreadable(data: bytes, message_type: type) -> str:
    return f"{len(data)} bytes are no {message_type.__name__}"


def _too_large(data: bytes, max_bytes: int) -> str:
    return f"{len(data)} bytes, at most {max_bytes} are read"


def _ignore(_: bytes) -> None:
    return None

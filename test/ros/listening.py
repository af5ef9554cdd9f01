"""Hears topics without an executor, so that a test costs little beside what it tests.

An arm says where it is hundreds of times a second on several topics. Through an executor, each
message costs a wait set and a callback, more than all else in a test. Here one thread a node
takes what has arrived.
"""

from __future__ import annotations

import contextlib
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.qos import QoSProfile

from dvrk_kinematics.ros.rclpy_ext.polled_subscription import PolledSubscription

__all__ = ["Listener", "listener_of"]

_LOOK_S = 0.004

Keep = Callable[[bytes, Any], None]
"""Takes a message's bytes and what the middleware says of it."""


class Listener:
    """Takes the messages of any number of topics in a thread of its own.

    Args:
        node: The node that subscribes; the thread ends with it.
    """

    def __init__(self, node: Node) -> None:
        self._node = weakref.ref(node)
        self._lock = threading.Lock()
        self._sources: dict[PolledSubscription[Any], Keep] = {}
        threading.Thread(target=self._listen, name="listener", daemon=True).start()

    def subscribe(
        self, message_type: type, topic: str, qos: QoSProfile, keep: Keep
    ) -> PolledSubscription[Any]:
        """Hear one more topic.

        Args:
            message_type: The message class.
            topic: Name of the topic.
            qos: Quality of service; its depth must last for some milliseconds.
            keep: Called in the listener's thread with every message.
        """
        node = self._node()
        assert node is not None
        source: PolledSubscription[Any] = PolledSubscription(node, message_type, topic, qos)
        with self._lock:
            self._sources[source] = keep
        return source

    def unsubscribe(self, source: PolledSubscription[Any]) -> None:
        """Hear a topic no longer."""
        with self._lock:
            del self._sources[source]
        node = self._node()
        assert node is not None
        # Done by the executor: what its wait set holds must not be destroyed behind its back.
        gone = threading.Event()
        node.executor.create_task(source.close).add_done_callback(lambda _: gone.set())
        assert gone.wait(30.0), "unsubscribing"

    def _listen(self) -> None:
        """Take what arrives until the node is gone."""
        while self._node() is not None:
            with self._lock:
                sources = list(self._sources.items())
            for source, keep in sources:
                try:
                    while (taken := source.take_with_info()) is not None:
                        # What cannot be read is dropped, as nodes do.
                        with contextlib.suppress(rclpy_implementation.RMWError):
                            keep(*taken)
                except rclpy_implementation.InvalidHandle:
                    with self._lock:
                        self._sources.pop(source, None)
            del sources
            time.sleep(_LOOK_S)


_listeners: weakref.WeakKeyDictionary[Node, Listener] = weakref.WeakKeyDictionary()


def listener_of(node: Node) -> Listener:
    """The listener of a node; all that hear through one node share its thread."""
    if node not in _listeners:
        _listeners[node] = Listener(node)
    return _listeners[node]

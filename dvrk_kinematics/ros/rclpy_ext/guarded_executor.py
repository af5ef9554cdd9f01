"""An executor that no message, request, goal or answer can end.

Answers rclpy 7.1, whose executors re-raise what a callback raises in the spinning thread. Needed
while this passes: ``test_plain_rclpy.py::test_a_callback_that_raises_ends_an_executor``.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from dvrk_kinematics.ros.rclpy_ext.dropped_messages import dropped_by

__all__ = ["GuardedExecutor"]

_Work = Callable[[], Coroutine[Any, Any, None]]


class GuardedExecutor(SingleThreadedExecutor):
    """Spins one node; drops and counts messages that it cannot read or process.

    To the sender it does not matter whether deserialisation or the callback fails. Timers and
    tasks are not guarded: their exceptions are the node's own failure, and end it.

    Args:
        node: The node.
    """

    def __init__(self, node: Node) -> None:
        super().__init__(context=node.context)
        self._dropped = dropped_by(node)
        self.add_node(node)

    def _take_subscription(self, sub: Any) -> _Work | None:
        return self._take_guarded(sub.topic_name, super()._take_subscription, sub)

    def _take_service(self, srv: Any) -> _Work | None:
        return self._take_guarded(srv.srv_name, super()._take_service, srv)

    def _take_client(self, client: Any) -> _Work | None:
        return self._take_guarded(client.srv_name, super()._take_client, client)

    def _take_waitable(self, waitable: Any) -> _Work | None:
        # An action's server or client; others have no name and receive nothing from outside.
        name = getattr(waitable, "name", None) or getattr(waitable, "_action_name", "waitable")
        return self._take_guarded(str(name), super()._take_waitable, waitable)

    def _take_guarded(
        self, name: str, take: Callable[[Any], _Work | None], entity: Any
    ) -> _Work | None:
        try:
            work = take(entity)
        except Exception as error:
            self._dropped.note(name, error)
            return None
        return None if work is None else self._guarded(name, work)

    def _guarded(self, name: str, work: _Work) -> _Work:
        async def run() -> None:
            try:
                await work()
            except Exception as error:
                self._dropped.note_failure(name, error)

        return run

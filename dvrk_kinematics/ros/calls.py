"""Calling services and actions from ordinary code: one spinning thread, a time-out on every wait.

rclpy.spin_until_future_complete adds the node to an executor and takes it out again on every call,
and gets slower with each. Here a node is spun by one thread
(:class:`~dvrk_kinematics.ros.spinning.SpinningNode`), and whoever calls waits for an event.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from rclpy.action import ActionClient
from rclpy.client import Client
from rclpy.node import Node
from rclpy.task import Future

from dvrk_kinematics.errors import CallFailed, GoalRejected

__all__ = ["Goal", "call", "send_goal"]


def call(client: Client, request: Any, timeout_s: float) -> Any:
    """Call a service and wait for its answer, while another thread spins the client's node.

    Args:
        client: The client.
        request: The request.
        timeout_s: Time for finding the service and for its answer together (s).

    Returns:
        The response.

    Raises:
        CallFailed: If the service is not there, or does not answer in time.
    """
    deadline = time.monotonic() + timeout_s
    name = client.service_name
    if not client.service_is_ready() and not client.wait_for_service(timeout_s):
        raise CallFailed(name, timeout_s, "no such service appeared")
    future = client.call_async(request)
    if not _wait(future, deadline):
        client.remove_pending_request(future)
        raise CallFailed(name, timeout_s, "no answer came")
    return future.result()


class Goal:
    """A goal that an action server has accepted."""

    def __init__(self, name: str, node: Node, handle: Any) -> None:
        self._name = name
        self._node = node
        self._handle = handle
        self._result = _send(node, handle.get_result_async)
        self._ended = threading.Event()
        self._result.add_done_callback(lambda _: self._ended.set())

    def wait(self, timeout_s: float) -> bool:
        """Wait for the end of the goal, and tell whether it has come (s)."""
        return self._ended.wait(timeout_s)

    def result(self, timeout_s: float) -> Any:
        """Wait for the end of the goal.

        Returns:
            The response, with its ``status`` and ``result``.

        Raises:
            CallFailed: If the goal does not end in time; it goes on.
        """
        if not self.wait(timeout_s):
            raise CallFailed(self._name, timeout_s, "the goal did not end")
        return self._result.result()

    def cancel(self, timeout_s: float) -> bool:
        """Ask for the end of the goal.

        Returns:
            Whether the server accepted that; wait for :meth:`result` to know that it has ended.

        Raises:
            CallFailed: If the server does not answer in time.
        """
        future = _send(self._node, self._handle.cancel_goal_async)
        if not _wait(future, time.monotonic() + timeout_s):
            raise CallFailed(self._name, timeout_s, "no answer to the cancel request came")
        return bool(future.result().goals_canceling)


def send_goal(
    client: ActionClient,
    goal: Any,
    timeout_s: float,
    on_feedback: Callable[[Any], None] | None = None,
) -> Goal:
    """Send a goal and wait until it is accepted, while another thread spins the client's node.

    Args:
        client: The action client.
        goal: The goal.
        timeout_s: Time for finding the server and for its answer together (s).
        on_feedback: Called in the spinning thread with every feedback.

    Raises:
        CallFailed: If the server is not there, or does not answer in time.
        GoalRejected: If it does not accept the goal.
    """
    deadline = time.monotonic() + timeout_s
    name = client._action_name
    if not client.server_is_ready() and not client.wait_for_server(timeout_s):
        raise CallFailed(name, timeout_s, "no such action appeared")
    hear = None if on_feedback is None else (lambda message: on_feedback(message.feedback))
    future = _send(client._node, lambda: client.send_goal_async(goal, feedback_callback=hear))
    if not _wait(future, deadline):
        # It may still be accepted. What nobody waits for any more must not move an arm.
        future.add_done_callback(_cancel_late)
        raise CallFailed(name, timeout_s, "no answer to the goal came")
    handle = future.result()
    if not handle.accepted:
        raise GoalRejected(name)
    return Goal(name, client._node, handle)


def _cancel_late(future: Future) -> None:
    handle = future.result()
    if handle is not None and handle.accepted:
        handle.cancel_goal_async()


def _send(node: Node, send: Callable[[], Future]) -> Future:
    """Send a request of an action from the thread that spins its node.

    rclpy notes such a request only after it was sent. From another thread, an answer that comes
    in between would be taken for somebody else's, and lost.

    Args:
        node: The node of the action's client.
        send: Sends, and gives the future of the answer.
    """
    answer = Future()

    def begin() -> None:
        try:
            future = send()
        except Exception as error:
            answer.set_exception(error)
        else:
            future.add_done_callback(lambda done: answer.set_result(done.result()))

    if node.executor is None:
        begin()
    else:
        node.executor.create_task(begin)
    return answer


def _wait(future: Future, deadline: float) -> bool:
    done = threading.Event()
    future.add_done_callback(lambda _: done.set())
    return done.wait(max(0.0, deadline - time.monotonic()))

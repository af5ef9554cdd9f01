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

    def __init__(self, name: str, handle: Any) -> None:
        self._name = name
        self._handle = handle
        self._result = handle.get_result_async()

    def result(self, timeout_s: float) -> Any:
        """Wait for the end of the goal.

        Returns:
            The response, with its ``status`` and ``result``.

        Raises:
            CallFailed: If the goal does not end in time; it goes on.
        """
        if not _wait(self._result, time.monotonic() + timeout_s):
            raise CallFailed(self._name, timeout_s, "the goal did not end")
        return self._result.result()

    def cancel(self, timeout_s: float) -> bool:
        """Ask for the end of the goal.

        Returns:
            Whether the server accepted that; wait for :meth:`result` to know that it has ended.

        Raises:
            CallFailed: If the server does not answer in time.
        """
        future = self._handle.cancel_goal_async()
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
    future = client.send_goal_async(goal, feedback_callback=hear)
    if not _wait(future, deadline):
        raise CallFailed(name, timeout_s, "no answer to the goal came")
    handle = future.result()
    if not handle.accepted:
        raise GoalRejected(name)
    return Goal(name, handle)


def _wait(future: Future, deadline: float) -> bool:
    done = threading.Event()
    future.add_done_callback(lambda _: done.set())
    return done.wait(max(0.0, deadline - time.monotonic()))

"""Calls of services and actions from ordinary code: one spinning thread, every wait bounded.

rclpy.spin_until_future_complete adds the node to an executor and takes it out again on every call,
and gets slower with each. Here one thread spins the node (``SpinningNode``), and the caller waits
for an event. After 3 s a line names that event (``Patience``).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from types import TracebackType
from typing import Any

from rclpy.action import ActionClient
from rclpy.client import Client
from rclpy.context import Context
from rclpy.node import Node
from rclpy.task import Future

from dvrk_kinematics.errors import CallFailed, GoalRejected
from dvrk_kinematics.ros.common.patience import BOUND_S, PATIENT, Patience, looking_at

__all__ = ["SentGoal", "call", "send_goal"]

_STOP_S = 10.0
"""How long to wait for an abandoned goal to end (s)."""
_SHORT_S = 1.0
"""The same, if it was abandoned because of an error (s)."""


def call(
    client: Client, request: Any, timeout_s: float = BOUND_S, patience: Patience = PATIENT
) -> Any:
    """Call a service and wait for its answer, while another thread spins the client's node.

    Args:
        client: The client.
        request: The request.
        timeout_s: Time for finding the service and for its answer together (s).
        patience: How to wait.

    Returns:
        The response.

    Raises:
        CallFailed: If the service is not there, or does not answer in time.
    """
    deadline_s = time.monotonic() + timeout_s
    name = client.service_name
    patience = _while_valid(patience, client.context, name)
    is_there = looking_at(client.service_is_ready)
    if not patience.wait(is_there, f"the service {name}", timeout_s):
        raise CallFailed(name, timeout_s, "no such service appeared")
    future = client.call_async(request)
    if not _wait(future, f"the answer of {name}", deadline_s, patience):
        client.remove_pending_request(future)
        raise CallFailed(name, timeout_s, "no answer came")
    return future.result()


class SentGoal:
    """A goal that an action server has accepted.

    Leaving a with-block before the goal has ended, by Ctrl-C or by an error, cancels the goal and
    waits for its end.
    """

    def __init__(self, name: str, node: Node, handle: Any, patience: Patience = PATIENT) -> None:
        self._name = name
        self._node = node
        self._patience = patience
        self._handle = handle
        self._result = _send(node, handle.get_result_async)
        self._ended = threading.Event()
        self._result.add_done_callback(lambda _: self._ended.set())

    def __enter__(self) -> SentGoal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._ended.is_set():
            return
        # After an error, the server may be at fault.
        stop_s = _SHORT_S if isinstance(error, Exception) else _STOP_S
        answer = _send(self._node, self._handle.cancel_goal_async)
        has_ended = False
        try:
            self._patience.say(f"{self._name}: cancelling the goal")
            what = f"the end of the cancelled goal of {self._name}"
            has_ended = self._patience.wait(self._ended.wait, what, stop_s)
        except CallFailed:
            # The exception that left the with-block says more.
            pass
        except KeyboardInterrupt:
            # After a second interrupt we do not wait for the end; but the request must get out.
            _await_quietly(answer, _SHORT_S)
            raise
        finally:
            if not has_ended:
                self._patience.say(f"{self._name}: whether the goal ends is not known")

    def wait(self, timeout_s: float) -> bool:
        """Wait for the end of the goal (s), and return whether it has ended."""
        return self._ended.wait(timeout_s)

    def result(self, timeout_s: float) -> Any:
        """Wait for the end of the goal.

        Returns:
            The response, with its ``status`` and ``result``.

        Raises:
            CallFailed: If the goal does not end in time; it continues.
        """
        if not self.wait(timeout_s):
            raise CallFailed(self._name, timeout_s, "the goal did not end")
        return self._result.result()

    def cancel(self, timeout_s: float) -> bool:
        """Request the end of the goal.

        Returns:
            Whether the server accepted; wait for :meth:`result` to be sure that it has ended.

        Raises:
            CallFailed: If the server does not answer in time.
        """
        future = _send(self._node, self._handle.cancel_goal_async)
        deadline_s = time.monotonic() + timeout_s
        what = f"the answer of {self._name} to a cancel request"
        if not _wait(future, what, deadline_s, self._patience):
            raise CallFailed(self._name, timeout_s, "no answer to the cancel request came")
        return bool(future.result().goals_canceling)


def send_goal(
    client: ActionClient,
    goal: Any,
    timeout_s: float = BOUND_S,
    on_feedback: Callable[[Any], None] | None = None,
    patience: Patience = PATIENT,
) -> SentGoal:
    """Send a goal and wait until it is accepted, while another thread spins the client's node.

    Args:
        client: The action client.
        goal: The goal.
        timeout_s: Time for finding the server and for its answer together (s).
        on_feedback: Called in the spinning thread with every feedback.
        patience: How to wait.

    Raises:
        CallFailed: If the server is not there, or does not answer in time.
        GoalRejected: If it does not accept the goal.
    """
    deadline_s = time.monotonic() + timeout_s
    name = client._action_name
    patience = _while_valid(patience, client._node.context, name)
    is_there = looking_at(client.server_is_ready)
    if not patience.wait(is_there, f"the action {name}", timeout_s):
        raise CallFailed(name, timeout_s, "no such action appeared")
    hear = None if on_feedback is None else (lambda message: on_feedback(message.feedback))
    future = _send(client._node, lambda: client.send_goal_async(goal, feedback_callback=hear))
    try:
        is_answered = _wait(future, f"{name} to accept the goal", deadline_s, patience)
    except BaseException as error:
        asked = _cancel_unanswered(future)
        try:
            patience.say(f"{name}: cancelling the goal")
            asked.wait(_SHORT_S if isinstance(error, Exception) else _STOP_S)
        except KeyboardInterrupt:
            asked.wait(_SHORT_S)
        raise
    if not is_answered:
        # It may still be accepted. An abandoned goal must not move an arm.
        future.add_done_callback(_cancel_late)
        raise CallFailed(name, timeout_s, "no answer to the goal came")
    handle = future.result()
    if not handle.accepted:
        raise GoalRejected(name)
    return SentGoal(name, client._node, handle, patience)


def _cancel_late(future: Future) -> None:
    handle = future.result()
    if handle is not None and handle.accepted:
        handle.cancel_goal_async()


def _cancel_unanswered(future: Future) -> threading.Event:
    """Cancel a goal once it is accepted; return an event to await before the process ends."""
    asked = threading.Event()

    def cancel(answered: Future) -> None:
        handle = answered.result()
        if handle is not None and handle.accepted:
            handle.cancel_goal_async().add_done_callback(lambda _: asked.set())
        else:
            asked.set()

    future.add_done_callback(cancel)
    return asked


def _send(node: Node, send: Callable[[], Future]) -> Future:
    """Send an action request from the thread that spins its node.

    rclpy registers such a request only after sending it. From another thread, an answer that
    arrives in between would not be recognised, and would be lost.

    Args:
        node: The node of the action's client.
        send: Sends, and returns the future of the answer.
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


def _wait(future: Future, what: str, deadline_s: float, patience: Patience) -> bool:
    done = threading.Event()
    future.add_done_callback(lambda _: done.set())
    return patience.wait(done.wait, what, max(0.0, deadline_s - time.monotonic()))


def _await_quietly(future: Future, timeout_s: float) -> None:
    """Wait for a future (s), whatever its outcome."""
    done = threading.Event()
    future.add_done_callback(lambda _: done.set())
    done.wait(timeout_s)


def _while_valid(patience: Patience, context: Context, name: str) -> Patience:
    """Wait only while ROS is running: rclpy's own signal handlers shut it down."""
    begin_s = time.monotonic()

    def check() -> None:
        patience.check()
        if not context.ok():
            waited_s = round(time.monotonic() - begin_s, 1)
            raise CallFailed(name, waited_s, "ROS was shut down")

    return replace(patience, check=check)

"""An action server whose goals are executed elsewhere, such as by a control loop.

It accepts a goal and hands it over; any thread can finish it later. The executor only sends the
messages.

Answers rclpy 7.1, which executes a goal in a callback: one that blocks stops the executor, and
one that awaits continues only when something else wakes it. Needed while this passes:
``test_plain_rclpy.py::test_what_is_awaited_does_not_wake_its_executor``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node

from dvrk_kinematics.driver.playback.goal_result import GoalStatus
from dvrk_kinematics.ros.common import qos
from dvrk_kinematics.ros.rclpy_ext.dropped_messages import dropped_by
from dvrk_kinematics.ros.rclpy_ext.patient_answers import ReplyGate
from dvrk_kinematics.ros.rclpy_ext.steady_timer import create_steady_timer

__all__ = ["DeferredActionServer"]

_RESULT_TIMEOUT_S = 10
"""How long a result stays available."""

_MOST_KEPT = 5000
"""Most goals, active or with an available result; beyond it, new ones are rejected."""

_READY = (
    "_is_goal_request_ready",
    "_is_cancel_request_ready",
    "_is_result_request_ready",
    "_is_goal_expired",
)
"""The flags that rclpy sets between waiting and taking."""

_LOOK_S = 0.05
"""How often to check whether a client that sent a goal can receive the answer."""


class DeferredActionServer(ActionServer):
    """Accepts every goal, so that a refusal can say why in its result.

    It rejects a goal only if it already keeps five thousand. The goal message may be large; the
    code that executes it keeps it for that time.

    Args:
        node: The node.
        action_type: The action class.
        name: Name of the action.
        on_goal: Called in the executor's thread with the id and the goal; must not take long.
        gate: Whether clients can receive the answer; by default, the graph decides.
        on_arrival: Called in the executor's thread before a goal is answered, and so before its
            client can send any request about it.
    """

    def __init__(
        self,
        node: Node,
        action_type: Any,
        name: str,
        on_goal: Callable[[bytes, Any], None],
        gate: ReplyGate | None = None,
        on_arrival: Callable[[], None] | None = None,
    ) -> None:
        self.name = name
        """Name of the action."""
        self._dropped = dropped_by(node)
        self._on_goal = on_goal
        self._on_arrival = on_arrival
        self._gate = gate or ReplyGate(node, f"{name}/_action/send_goal")
        self._early: list[Any] = []
        self._look = create_steady_timer(node, _LOOK_S, self._begin_early)
        self._look.cancel()
        self._open: dict[bytes, Any] = {}
        self._open_lock = threading.Lock()
        super().__init__(
            node,
            action_type,
            name,
            execute_callback=_never_called,
            goal_callback=self._accept,
            handle_accepted_callback=self._begin,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
            goal_service_qos_profile=qos.SERVICE,
            result_service_qos_profile=qos.TRIGGER,
            cancel_service_qos_profile=qos.TRIGGER,
            result_timeout=_RESULT_TIMEOUT_S,
            status_pub_qos_profile=qos.ACTION_STATUS,
        )

    def find_cancelled(self) -> list[bytes]:
        """Return the ids of open goals with a cancel request; callable from any thread."""
        if not self._open:
            return []
        with self._open_lock:
            handles = list(self._open.items())
        return [goal_id for goal_id, handle in handles if handle.is_cancel_requested]

    def finish(self, goal_id: bytes, status: GoalStatus, result: Any) -> None:
        """End a goal; callable from any thread.

        Args:
            goal_id: Which goal.
            status: How it ended. A goal without a cancel request cannot end as canceled; it ends
                as aborted instead.
            result: The result message.
        """
        with self._open_lock:
            handle = self._open.pop(goal_id, None)
        if handle is None:
            return

        def end(goal_handle: Any) -> Any:
            if status is GoalStatus.SUCCEEDED:
                goal_handle.succeed()
            elif status is GoalStatus.CANCELED and goal_handle.is_cancel_requested:
                goal_handle.canceled()
            else:
                goal_handle.abort()
            return result

        super().notify_execute(handle, end)

    def feed_back(self, goal_id: bytes, feedback: Any) -> None:
        """Publish feedback about an open goal."""
        with self._open_lock:
            handle = self._open.get(goal_id)
        if handle is not None:
            handle.publish_feedback(feedback)

    def notify_execute(self, goal_handle: Any, execute_callback: Any) -> None:
        """Do nothing when a goal starts: rclpy resumes in :meth:`finish`."""

    def take_data(self) -> dict[str, Any]:
        """Take what has arrived; an unreadable message does not affect the others."""
        ready = [flag for flag in _READY if getattr(self, flag)]
        data: dict[str, Any] = {}
        for flag in ready:
            for other in _READY:
                setattr(self, other, other == flag)
            try:
                data |= super().take_data()
            except rclpy_implementation.RCLError as error:
                self._dropped.note(self.name, error)
        return data

    async def execute(self, taken_data: dict[str, Any]) -> None:
        """Process what was taken; a goal only once its client can receive the acceptance.

        rclpy drops a goal whose acceptance cannot be sent, and its client waits forever.
        """
        if "goal" in taken_data:
            self._early.append(taken_data.pop("goal"))
        # A request to cancel all goals includes those that wait here.
        await self._begin_early(at_once="cancel" in taken_data)
        await super().execute(taken_data)

    async def _begin_early(self, at_once: bool = False) -> None:
        """Start the waiting goals, at once or as soon as the client can receive the answer."""
        if self._early and not at_once and not self._gate.is_open:
            self._look.reset()
            return
        self._look.cancel()
        while self._early:
            await super().execute({"goal": self._early.pop(0)})

    def _accept(self, _: Any) -> GoalResponse:
        if len(self._goal_handles) >= _MOST_KEPT:
            self._dropped.note(self.name, f"{_MOST_KEPT} goals in {_RESULT_TIMEOUT_S} s")
            return GoalResponse.REJECT
        if self._on_arrival is not None:
            self._on_arrival()
        return GoalResponse.ACCEPT

    def _begin(self, handle: Any) -> None:
        goal_id = bytes(handle.goal_id.uuid)
        with self._open_lock:
            self._open[goal_id] = handle
        handle.execute()
        # rclpy keeps a goal for as long as its result.
        request, handle._goal_request = handle.request, None
        try:
            self._on_goal(goal_id, request)
        except Exception:
            self.finish(goal_id, GoalStatus.ABORTED, self.action_type.Result())
            raise


def _never_called(_: Any) -> None:
    raise AssertionError("goals are finished by finish()")

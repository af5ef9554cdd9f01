"""An action server whose goals are carried out elsewhere, as by a control loop.

rclpy wants a goal carried out by a callback: one that blocks stops the executor, and one that
awaits keeps it spinning at full speed. Here a goal is accepted, handed over, and finished later
from any thread; the executor only sends what has to be sent.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.node import Node

from dvrk_kinematics.driver.result import GoalStatus
from dvrk_kinematics.ros import qos
from dvrk_kinematics.ros.reply_gate import ReplyGate
from dvrk_kinematics.ros.steady_timer import create_steady_timer

__all__ = ["DeferredActionServer"]

_RESULT_TIMEOUT_S = 60
"""How long a result can be asked for. The goal itself is kept as long, and may be large."""

_LOOK_S = 0.05
"""How often to look whether a client that sent a goal can hear the answer."""


class DeferredActionServer(ActionServer):
    """Accepts every goal, so that a refusal can say why in its result.

    Args:
        node: The node.
        action_type: The action class.
        name: Name of the action.
        on_goal: Called in the executor's thread with the id and the goal; must not take long.
        gate: Whether those who send goals can hear the answer; by default as the graph tells.
        on_arrival: Called in the executor's thread before a goal is answered, and so before its
            client can ask for anything that is about it.
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
            result_timeout=_RESULT_TIMEOUT_S,
            status_pub_qos_profile=qos.ACTION_STATUS,
        )

    def find_cancelled(self) -> list[bytes]:
        """Ids of the open goals whose end was asked for; from any thread."""
        if not self._open:
            return []
        with self._open_lock:
            handles = list(self._open.items())
        return [goal_id for goal_id, handle in handles if handle.is_cancel_requested]

    def finish(self, goal_id: bytes, status: GoalStatus, result: Any) -> None:
        """End a goal; from any thread.

        Args:
            goal_id: Which goal.
            status: How it ended. A goal that nobody cancelled cannot end as canceled, and ends as
                aborted then.
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
        """Do nothing when a goal begins: :meth:`finish` is where rclpy comes in again."""

    async def execute(self, taken_data: dict[str, Any]) -> None:
        """Carry out what was taken; a goal only once its client can hear that it is accepted.

        rclpy drops a goal whose acceptance cannot be sent, and its client waits for ever.
        """
        if "goal" in taken_data:
            self._early.append(taken_data.pop("goal"))
        # Whoever cancels all goals means those that wait here, too.
        await self._begin_early(at_once="cancel" in taken_data)
        await super().execute(taken_data)

    async def _begin_early(self, at_once: bool = False) -> None:
        """Begin the goals that wait, at once or as soon as the answer can be heard."""
        if self._early and not at_once and not self._gate.is_open:
            self._look.reset()
            return
        self._look.cancel()
        while self._early:
            await super().execute({"goal": self._early.pop(0)})

    def _accept(self, _: Any) -> GoalResponse:
        if self._on_arrival is not None:
            self._on_arrival()
        return GoalResponse.ACCEPT

    def _begin(self, handle: Any) -> None:
        goal_id = bytes(handle.goal_id.uuid)
        with self._open_lock:
            self._open[goal_id] = handle
        handle.execute()
        self._on_goal(goal_id, handle.request)


def _never_called(_: Any) -> None:
    raise AssertionError("goals are finished by finish()")

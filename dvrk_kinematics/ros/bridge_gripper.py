"""gripper_cmd: opens and closes the jaw of an instrument (ParallelGripperCommand)."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from control_msgs.action import ParallelGripperCommand
from rclpy.node import Node
from sensor_msgs.msg import JointState

from dvrk_kinematics.driver.jaw import JawPlayer, JawResult
from dvrk_kinematics.driver.port import JawReading
from dvrk_kinematics.driver.reasons import Finding, Reason
from dvrk_kinematics.driver.result import make_result
from dvrk_kinematics.ros.arrivals import Arrivals
from dvrk_kinematics.ros.conversions import make_joint_state
from dvrk_kinematics.ros.deferred_action import DeferredActionServer
from dvrk_kinematics.ros.log_failure import log_failure
from dvrk_kinematics.ros.stamps import write_stamp

__all__ = ["GripperAction"]


class GripperAction:
    """The action of one jaw; the control loop calls everything but the making.

    Args:
        node: The node.
        arm: Name of the arm.
        joint: The jaw as clients name it.
        player: What plays its goals.
    """

    def __init__(self, node: Node, arm: str, joint: str, player: JawPlayer) -> None:
        self._node = node
        self._joint = joint
        self._player = player
        self._arrivals = Arrivals()
        self._incoming: deque[tuple[bytes, Any, int]] = deque()
        self._server = DeferredActionServer(
            node,
            ParallelGripperCommand,
            f"bridge/{arm}/gripper_cmd",
            lambda goal_id, goal: self._incoming.append((goal_id, goal, self._arrivals.number)),
            on_arrival=self._arrivals.note,
        )

    def drop_arriving(self) -> None:
        """Let no goal begin that has arrived until now."""
        self._arrivals.drop()

    def take_requests(self, refused: Finding | None) -> list[Finding]:
        """Start what was asked for and stop what was cancelled.

        Args:
            refused: Why nothing may move; None if it may.

        Returns:
            The reasons of what was refused.
        """
        findings = []
        while self._incoming:
            goal_id, request, number = self._incoming.popleft()
            try:
                found = self._begin(goal_id, request, number, refused)
            except Exception as error:
                # Whatever a goal holds, only that goal ends.
                log_failure(self._node.get_logger(), "gripper_cmd", error)
                found = Finding(Reason.PREPARATION_FAILED, repr(error))
            if found is not None:
                findings.append(found)
                self._end(JawResult(goal_id, found, JawReading(None, None, None)))
        for goal_id in self._server.find_cancelled():
            self._player.cancel(goal_id)
        return findings

    def send_results(self) -> list[Finding]:
        """Tell clients what became of their goals; gives the reasons."""
        results = self._player.take_results()
        for result in results:
            self._end(result)
        return [result.finding for result in results]

    def feed_back(self) -> None:
        """Tell the client where the jaw is."""
        feedback = self._player.feedback()
        if feedback is not None:
            message = ParallelGripperCommand.Feedback(state=self._state(feedback.reading))
            self._server.feed_back(bytes(feedback.goal_id), message)  # type: ignore[call-overload]

    def _begin(
        self, goal_id: bytes, request: Any, number: int, refused: Finding | None
    ) -> Finding | None:
        """Start a goal; gives why it is refused, None if it is not."""
        position = self._read(request.command)
        if isinstance(position, Finding):
            return position
        if refused is None and self._arrivals.is_dropped(number):
            refused = Finding(Reason.HOLD_REQUESTED, "before it began")
        return refused or self._player.accept(goal_id, position)

    def _read(self, command: Any) -> float | Finding:
        if list(command.name) not in ([], [self._joint]):
            return Finding(Reason.WRONG_SHAPE, f"joints {list(command.name)}, not {self._joint}")
        if len(command.position) != 1:
            return Finding(Reason.WRONG_SHAPE, f"{len(command.position)} positions, not 1")
        if any(command.velocity) or any(command.effort):
            return Finding(Reason.WRONG_SHAPE, "limits of velocity and effort are not offered")
        return float(command.position[0])

    def _end(self, result: JawResult) -> None:
        status = make_result(result.goal_id, result.finding, 0.0).status
        message = ParallelGripperCommand.Result(
            state=self._state(result.reading),
            stalled=result.is_stalled,
            reached_goal=result.is_reached,
        )
        self._server.finish(bytes(result.goal_id), status, message)  # type: ignore[call-overload]

    def _state(self, reading: JawReading) -> JointState:
        none = np.empty(0)
        position = none if reading.position is None else np.array([reading.position])
        velocity = none if reading.velocity is None else np.array([reading.velocity])
        state = make_joint_state([self._joint], position, velocity)
        write_stamp(state.header.stamp, int(self._node.get_clock().now().nanoseconds))
        return state

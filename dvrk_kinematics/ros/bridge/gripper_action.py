"""gripper_cmd: opens and closes the jaw of an instrument (ParallelGripperCommand)."""

from __future__ import annotations

from typing import Any

import numpy as np
from control_msgs.action import ParallelGripperCommand
from rclpy.node import Node
from sensor_msgs.msg import JointState

from dvrk_kinematics.driver.jaw import JawPlayer, JawResult
from dvrk_kinematics.driver.playback.goal_result import make_result
from dvrk_kinematics.driver.port import JawReading
from dvrk_kinematics.driver.reasons import Finding, Reason
from dvrk_kinematics.ros.bridge.contract import GRIPPER_CMD
from dvrk_kinematics.ros.bridge.goal_queue import Arrivals, GoalQueue
from dvrk_kinematics.ros.common.conversions import make_joint_state
from dvrk_kinematics.ros.common.explain import log_failure
from dvrk_kinematics.ros.common.joint_language import JointLanguage
from dvrk_kinematics.ros.common.stamps import write_stamp
from dvrk_kinematics.ros.rclpy_ext.deferred_action import DeferredActionServer

__all__ = ["GripperAction"]


class GripperAction:
    """The action of one jaw; the control loop calls everything except the constructor.

    Args:
        node: The node.
        arm: Name of the arm.
        language: The clients' name and sign of the jaw.
        player: Plays its goals.
    """

    def __init__(self, node: Node, arm: str, language: JointLanguage, player: JawPlayer) -> None:
        self._node = node
        self._joint = language.names[0]
        self._sign = float(language.signs[0])
        self._player = player
        self._arrivals = Arrivals()
        self._ready: GoalQueue[float] = GoalQueue(self._arrivals)
        self._server = DeferredActionServer(
            node,
            *GRIPPER_CMD.of(arm),
            lambda goal_id, goal: self._ready.put(
                goal_id, self._look_at(goal), self._arrivals.number
            ),
            on_arrival=self._arrivals.note,
        )

    def drop_arriving(self) -> None:
        """Drop all goals that have arrived but not begun."""
        self._arrivals.drop()

    @property
    def has_waiting(self) -> bool:
        """Whether a goal waits for the arm."""
        return self._ready.has_waiting

    def take_requests(
        self, refused: Finding | None, is_waiting: bool, now_ns: int
    ) -> list[Finding]:
        """Start requested goals and stop cancelled ones.

        Args:
            refused: Why nothing may move; None if it may.
            is_waiting: Whether goals must wait for the arm.
            now_ns: Time now (monotonic).

        Returns:
            The reasons of all refusals.
        """
        findings = []
        cancelled = self._server.find_cancelled()
        for goal_id, opening in self._ready.take(is_waiting, cancelled, now_ns):
            found: Finding | None
            if isinstance(opening, Finding):
                found = opening
            else:
                found = refused or self._accept(goal_id, opening)
            if found is not None:
                findings.append(found)
                self._end(JawResult(goal_id, found, JawReading(None, None, None)))
        for goal_id in cancelled:
            self._player.cancel(goal_id)
        return findings

    def send_results(self) -> list[Finding]:
        """Send clients the results of their goals, and return the reasons."""
        results = self._player.take_results()
        for result in results:
            self._end(result)
        return [result.finding for result in results]

    def feed_back(self) -> None:
        """Send the client the position of the jaw."""
        feedback = self._player.feedback()
        if feedback is not None:
            message = ParallelGripperCommand.Feedback(state=self._state(feedback.reading))
            self._server.feed_back(bytes(feedback.goal_id), message)  # type: ignore[call-overload]

    def _look_at(self, request: Any) -> float | Finding:
        """The opening that a goal requests (rad), or why it is refused."""
        try:
            return self._read(request.command)
        except Exception as error:
            return self._note_failure(error)

    def _accept(self, goal_id: bytes, opening: float) -> Finding | None:
        """Start towards an opening (rad); return why it is refused, or None."""
        try:
            return self._player.accept(goal_id, opening)
        except Exception as error:
            return self._note_failure(error)

    def _note_failure(self, error: Exception) -> Finding:
        """Log a goal's error, which must end only that goal, and return it as a finding."""
        log_failure(self._node.get_logger(), "gripper_cmd", error)
        return Finding(Reason.PREPARATION_FAILED, repr(error))

    def _read(self, command: Any) -> float | Finding:
        if list(command.name) not in ([], [self._joint]):
            return Finding(Reason.WRONG_SHAPE, f"joints {list(command.name)}, not {self._joint}")
        if len(command.position) != 1:
            return Finding(Reason.WRONG_SHAPE, f"{len(command.position)} positions, not 1")
        if any(command.velocity) or any(command.effort):
            return Finding(Reason.WRONG_SHAPE, "limits of velocity and effort are not offered")
        return self._sign * float(command.position[0])

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
        position = none if reading.position is None else np.array([self._sign * reading.position])
        velocity = none if reading.velocity is None else np.array([self._sign * reading.velocity])
        state = make_joint_state([self._joint], position, velocity)
        write_stamp(state.header.stamp, int(self._node.get_clock().now().nanoseconds))
        return state

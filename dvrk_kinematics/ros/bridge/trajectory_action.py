"""follow_joint_trajectory: passes goals to the player, and their results back to clients.

A goal passes through three threads. The executor's thread receives it and hands it on immediately,
so that it never delays the next request, such as a cancel. A separate thread converts it, and
checks every point, which may take long. The control loop plays it.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from control_msgs.action import FollowJointTrajectory
from rclpy.node import Node

from dvrk_kinematics.driver import (
    Feedback,
    Finding,
    Goal,
    GoalResult,
    GoalTolerances,
    Knots,
    PreparedGoal,
    Reason,
    ResultCode,
    StateTolerance,
)
from dvrk_kinematics.driver.playback.goal_result import make_result
from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.ros.bridge.contract import FOLLOW_JOINT_TRAJECTORY
from dvrk_kinematics.ros.bridge.goal_queue import Arrivals, GoalQueue
from dvrk_kinematics.ros.common.conversions import to_flat, trajectory_to_knots
from dvrk_kinematics.ros.common.explain import log_failure
from dvrk_kinematics.ros.common.joint_language import (
    CONTROLLER,
    JointLanguage,
    controller_language,
)
from dvrk_kinematics.ros.common.stamps import seconds_to_ns, stamp_to_ns, write_stamp
from dvrk_kinematics.ros.rclpy_ext.deferred_action import DeferredActionServer

__all__ = ["TrajectoryAction", "read_goal"]


class TrajectoryAction:
    """The action of one arm.

    Args:
        node: The node.
        arm: Name of the arm.
        joints: The controller's names of its joints.
        language: The clients' names and signs of them, unless they use the controller's language.
        prepare: Checks a goal; called in a separate thread.
        max_points: Goals with more points are refused unread.
    """

    def __init__(
        self,
        node: Node,
        arm: str,
        joints: Sequence[str],
        language: JointLanguage,
        prepare: Callable[[Goal], PreparedGoal | Finding],
        max_points: int,
    ) -> None:
        self._node = node
        self._joints = tuple(joints)
        self._language = language
        self._controller = controller_language(joints)
        self._spoken: dict[bytes, JointLanguage] = {}
        """Languages of the goals that have not ended yet."""
        self._prepare = prepare
        self._max_points = max_points
        self._arrivals = Arrivals()
        self._incoming: queue.SimpleQueue[tuple[bytes, Any, int] | None] = queue.SimpleQueue()
        self._ready: GoalQueue[PreparedGoal] = GoalQueue(self._arrivals)
        self._server = DeferredActionServer(
            node,
            *FOLLOW_JOINT_TRAJECTORY.of(arm),
            lambda goal_id, goal: self._incoming.put((goal_id, goal, self._arrivals.number)),
            on_arrival=self._arrivals.note,
        )
        self._thread = threading.Thread(target=self._work, name="goals", daemon=True)
        self._thread.start()

    @property
    def has_waiting(self) -> bool:
        """Whether a goal waits for the arm."""
        return self._ready.has_waiting

    def take_ready(
        self, is_waiting: bool, cancelled: Collection[bytes], now_ns: int
    ) -> list[tuple[bytes, PreparedGoal | Finding]]:
        """Goals that were checked since the last call, in order of arrival.

        Args:
            is_waiting: Whether they must wait for the arm.
            cancelled: Ids of the goals with a cancel request.
            now_ns: Time now (monotonic).
        """
        return self._ready.take(is_waiting, cancelled, now_ns)

    def drop_arriving(self) -> None:
        """Drop all goals that have arrived but not begun; in the loop's thread."""
        self._arrivals.drop()

    def find_cancelled(self) -> list[bytes]:
        """Ids of the goals with a cancel request."""
        return self._server.find_cancelled()

    def finish(self, result: GoalResult) -> None:
        """Report to the client how a goal ended."""
        finding = self._explain(bytes(result.goal_id), result.finding)  # type: ignore[call-overload]
        self._end(result, result.error_code, replace(result, finding=finding).error_string)

    def refuse(self, goal_id: bytes, finding: Finding) -> None:
        """Report to the client why a goal was not played."""
        code = finding.code
        if code is ResultCode.PATH_TOLERANCE_VIOLATED:
            # This would have stopped it on its way, but it never began.
            code = ResultCode.INVALID_GOAL
        text = str(self._explain(goal_id, finding))
        self._end(make_result(goal_id, finding, 0.0), code, text)

    def _explain(self, goal_id: bytes, finding: Finding) -> Finding:
        return self._spoken.get(goal_id, self._controller).explain(finding, self._joints)

    def _end(self, result: GoalResult, code: ResultCode, text: str) -> None:
        self._spoken.pop(bytes(result.goal_id), None)  # type: ignore[call-overload]
        message = FollowJointTrajectory.Result(error_code=int(code), error_string=text)
        self._server.finish(bytes(result.goal_id), result.status, message)  # type: ignore[call-overload]

    def feed_back(self, feedback: Feedback, stamp_ns: int) -> None:
        """Send the client the state of its goal at a given time (ns, ROS time)."""
        language = self._spoken.get(bytes(feedback.goal_id), self._language)  # type: ignore[call-overload]
        message = FollowJointTrajectory.Feedback(joint_names=list(language.names))
        write_stamp(message.header.stamp, stamp_ns)
        signs, desired = language.signs, feedback.desired
        message.desired.positions = to_flat(desired.q * signs)
        message.desired.velocities = to_flat(desired.qd * signs)
        message.actual.positions = to_flat(feedback.measured_q * signs)
        message.error.positions = to_flat((feedback.measured_q - desired.q) * signs)
        if feedback.measured_qd is not None:
            message.actual.velocities = to_flat(feedback.measured_qd * signs)
            message.error.velocities = to_flat((feedback.measured_qd - desired.qd) * signs)
        for point in (message.desired, message.actual, message.error):
            write_stamp(point.time_from_start, seconds_to_ns(feedback.time_s))
        self._server.feed_back(feedback.goal_id, message)  # type: ignore[arg-type]

    def close(self) -> None:
        """Accept no more goals."""
        self._incoming.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (taken := self._incoming.get()) is not None:
            goal_id, request, number = taken
            prepared: PreparedGoal | Finding
            try:
                prepared = self._look_at(goal_id, request)
            except Exception as error:
                # A bad goal must not affect any other.
                log_failure(self._node.get_logger(), "follow_joint_trajectory", error)
                prepared = Finding(Reason.PREPARATION_FAILED, repr(error))
            self._ready.put(goal_id, prepared, number)

    def _look_at(self, goal_id: bytes, request: Any) -> PreparedGoal | Finding:
        count = len(request.trajectory.points)
        if count > self._max_points:
            return Finding(Reason.TOO_MANY_POINTS, "", "", count, self._max_points)
        names = request.trajectory.joint_names
        is_controllers = any(name.startswith(CONTROLLER) for name in names)
        language = self._controller if is_controllers else self._language
        self._spoken[goal_id] = language
        try:
            goal = read_goal(goal_id, request, language)
        except InvalidInput as error:
            return Finding(Reason.WRONG_SHAPE, str(error))
        return goal if isinstance(goal, Finding) else self._prepare(goal)


def read_goal(goal_id: bytes, request: Any, language: JointLanguage) -> Goal | Finding:
    """Convert a goal message to numbers.

    A goal whose header names a frame is part of a Cartesian motion, so the cannula rule applies.

    Args:
        goal_id: Identifies its result.
        request: The goal.
        language: Its names and signs of the arm's joints.

    Raises:
        InvalidInput: Joints or numbers are missing, or the arm lacks one of the joints.
    """
    trajectory = request.trajectory
    if not trajectory.points:
        return Finding(Reason.EMPTY_GOAL)
    if request.multi_dof_trajectory.joint_names:
        return Finding(Reason.WRONG_SHAPE, "multi_dof_trajectory is not offered")
    joints = language.names
    times, position, velocity, acceleration = trajectory_to_knots(trajectory, joints)
    tolerances = GoalTolerances(
        _read_tolerances(request.path_tolerance, joints, "path_tolerance"),
        _read_tolerances(request.goal_tolerance, joints, "goal_tolerance"),
        stamp_to_ns(request.goal_time_tolerance) * 1e-9,
    )
    return Goal(
        goal_id,
        Knots(
            times,
            position * language.signs,
            language.convert(velocity),
            language.convert(acceleration),
        ),
        tolerances,
        stamp_to_ns(trajectory.header.stamp),
        is_cartesian=bool(trajectory.header.frame_id),
    )


def _read_tolerances(messages: Sequence[Any], joints: Sequence[str], field: str) -> StateTolerance:
    position: Array = np.zeros(len(joints))
    velocity: Array = np.zeros(len(joints))
    for message in messages:
        if message.name not in joints:
            raise InvalidInput(field, f"{message.name!r} is no joint; valid: {list(joints)}")
        j = list(joints).index(message.name)
        position[j], velocity[j] = message.position, message.velocity
    return StateTolerance(position, velocity)

"""Lets the bridge of an arm play a plan, follows it there, and measures the tip meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np
from control_msgs.action import FollowJointTrajectory
from dvrk_kinematics_interfaces.msg import TipError
from rclpy.action import ActionClient
from rclpy.action.client import GoalStatus as ActionStatus
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory

from dvrk_kinematics.driver.result import GoalStatus
from dvrk_kinematics.errors import CallFailed, GoalRejected
from dvrk_kinematics.kinematics.arm import Arm
from dvrk_kinematics.motion.plan import Plan
from dvrk_kinematics.ros import qos
from dvrk_kinematics.ros.arm_watch import ArmWatch
from dvrk_kinematics.ros.calls import Goal, send_goal
from dvrk_kinematics.ros.motion_messages import make_trajectory
from dvrk_kinematics.ros.stamps import stamp_to_ns, write_stamp
from dvrk_kinematics.ros.tip_error import PathClock, measure_tip

__all__ = ["CANCELLED", "Outcome", "PlanPlayer", "Tell"]

CANCELLED = "cancelled"
"""Why a motion ends if its client asked for that."""

Tell = Callable[[float, float, float], None]
"""Told while a motion lasts: fraction of the path, and what the tip is off it now (m, rad)."""

_BRIDGE_S = 5.0
"""How long the bridge may take to answer."""
_GONE_S = 1.0
"""How long the bridge may be out of sight before it counts as gone."""
_POLL_S = 0.05
_EXTRA_S = 30.0
"""How much longer than planned a motion may take before it is given up."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a motion ended.

    Attributes:
        status: Whether it arrived, was cancelled or failed.
        message: Why, in words.
        error: How well the tip followed; None if that was not measured.
    """

    status: GoalStatus
    message: str
    error: TipError | None = None


class PlanPlayer:
    """Plays plans on one arm.

    Args:
        node: The node, which must be spun.
        name: Name of the arm.
        arm: Its kinematics.
        watch: Hears where it is.
        base: Name of its base frame.
        joint_prefix: Prefix of joints in goals to the bridge.
    """

    def __init__(
        self, node: Node, name: str, arm: Arm, watch: ArmWatch, base: str, joint_prefix: str
    ) -> None:
        self._node = node
        self._arm = arm
        self._watch = watch
        self._base = base
        self._joints = [f"{joint_prefix}{joint}" for joint in arm.joint_names]
        self._action = f"bridge/{name}/follow_joint_trajectory"
        self._bridge = ActionClient(node, FollowJointTrajectory, self._action)
        self._planned_paths = node.create_publisher(
            JointTrajectory, f"trajectory/{name}/planned_path", qos.DESCRIPTION
        )

    def play(
        self,
        plan: Plan,
        find_end: Callable[[], str],
        start_ns: int = 0,
        tell: Tell | None = None,
    ) -> Outcome:
        """Let the bridge play a plan, and wait for its end.

        Args:
            plan: What to play.
            find_end: Asked again and again why the motion shall end early; empty if it shall not.
            start_ns: When to begin (ns, clock of the node); 0 means now.
            tell: Told how it goes; None for a motion that is not measured.

        Raises:
            CallFailed: The bridge does not end a motion that it was told to end.
        """
        why = find_end()
        if why:
            return _end_early(why, "nothing moved")
        trajectory = make_trajectory(plan, self._joints, self._base)
        if tell is not None:
            self._planned_paths.publish(trajectory)
            self._watch.begin()
        write_stamp(trajectory.header.stamp, start_ns)
        goal = FollowJointTrajectory.Goal(trajectory=trajectory)
        clock = PathClock()

        def hear(feedback: Any) -> None:
            time_s = stamp_to_ns(feedback.desired.time_from_start) * 1e-9
            clock.note(stamp_to_ns(feedback.header.stamp) * 1e-9, time_s)

        try:
            sent = send_goal(self._bridge, goal, _BRIDGE_S, hear)
        except (CallFailed, GoalRejected) as error:
            return Outcome(GoalStatus.ABORTED, f"{error}; is the bridge running?")
        outcome = self._follow(plan, sent, clock, find_end, start_ns, tell)
        if tell is None:
            return outcome
        stamps, q = self._watch.history()
        measured = measure_tip(self._arm, plan, clock, stamps, q)
        if measured.samples == 0:
            outcome = replace(outcome, message=f"{outcome.message}; nothing was measured")
        return replace(outcome, error=measured)

    def _follow(
        self,
        plan: Plan,
        sent: Goal,
        clock: PathClock,
        find_end: Callable[[], str],
        start_ns: int,
        tell: Tell | None,
    ) -> Outcome:
        wait_s = max(0.0, (start_ns - self._now_ns()) * 1e-9) if start_ns else 0.0
        deadline = time.monotonic() + wait_s + plan.duration_s + _EXTRA_S
        seen, asked, why = time.monotonic(), -inf, ""
        while not sent.wait(_POLL_S):
            now = time.monotonic()
            seen = now if self._bridge.server_is_ready() else seen
            if now - seen > _GONE_S:
                # It may be there after all, and play on.
                _ask_to_end(sent)
                return Outcome(GoalStatus.ABORTED, f"{self._action} went away while it moved")
            if why and now > deadline:
                _ask_to_end(sent)
                raise CallFailed(self._action, _EXTRA_S, f"{why}, and the motion did not end")
            if not why:
                why = find_end() or ("took far longer than planned" if now > deadline else "")
                deadline = now + _EXTRA_S if why else deadline
            if why and now - asked > _BRIDGE_S:
                _ask_to_end(sent)
                asked = now
            self._tell(plan, clock, tell)
        self._watch.poll()
        return _read_result(sent.result(_BRIDGE_S), why)

    def _tell(self, plan: Plan, clock: PathClock, tell: Tell | None) -> None:
        """Compare the newest state with the path, and tell."""
        newest = self._watch.poll()
        if tell is None or newest is None or not clock.has_begun:
            return
        stamp_ns, q = newest
        at = np.array([clock.read_now(stamp_ns * 1e-9)])
        errors = plan.path.contour_errors(at, self._arm.forward(q[None]))
        part = min(clock.newest_s / plan.duration_s, 1.0) if plan.duration_s > 0.0 else 1.0
        tell(part, float(errors.position[0]), float(errors.rotation[0]))

    def _now_ns(self) -> int:
        return int(self._node.get_clock().now().nanoseconds)


def _ask_to_end(sent: Goal) -> None:
    """Have a motion ended, without waiting for the answer: its result tells what became of it."""
    with suppress(CallFailed):
        sent.cancel(0.0)


def _read_result(response: Any, why: str) -> Outcome:
    """How a motion ended; one that arrived has arrived, even if its end was asked for.

    The error code does not tell: it is the same for a motion that was cancelled.
    """
    text = response.result.error_string
    if response.status == ActionStatus.STATUS_SUCCEEDED:
        return Outcome(GoalStatus.SUCCEEDED, text)
    if why:
        return _end_early(why, f"bridge: {text}")
    return Outcome(GoalStatus.ABORTED, f"bridge: {text}")


def _end_early(why: str, what: str) -> Outcome:
    status = GoalStatus.CANCELED if why == CANCELLED else GoalStatus.ABORTED
    return Outcome(status, f"{why}; {what}")

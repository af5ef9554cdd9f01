"""Has the bridge of an arm play a plan, follows the motion, and measures the tip meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from math import inf
from typing import Any, NamedTuple

from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import SpeedScalingFactor
from dvrk_kinematics_interfaces.msg import TipError
from rclpy.action import ActionClient
from rclpy.action.client import GoalStatus as ActionStatus
from rclpy.node import Node
from rclpy.serialization import deserialize_message

from dvrk_kinematics.driver.playback.goal_result import GoalStatus, read_slow_downs
from dvrk_kinematics.errors import CallFailed, GoalRejected
from dvrk_kinematics.kinematics.arm import Arm
from dvrk_kinematics.motion.joint_path import JointPath
from dvrk_kinematics.motion.planning.planner import Plan
from dvrk_kinematics.motion.planning.tip_follower import (
    FollowingFigures,
    TipFollower,
    summarise_following,
)
from dvrk_kinematics.ros.bridge.contract import FOLLOW_JOINT_TRAJECTORY
from dvrk_kinematics.ros.client.calls import SentGoal, send_goal
from dvrk_kinematics.ros.common.joint_language import controller_language
from dvrk_kinematics.ros.common.patience import INNER_BOUND_S, Patience, looking_at
from dvrk_kinematics.ros.common.stamps import stamp_to_ns, write_stamp
from dvrk_kinematics.ros.rclpy_ext.polled_subscription import PolledSubscription
from dvrk_kinematics.ros.rclpy_ext.server_watch import GONE_S, ServerWatch
from dvrk_kinematics.ros.servers.arm_watch import ArmWatch
from dvrk_kinematics.ros.servers.contract import PLANNED_PATH, SPEED_SCALING
from dvrk_kinematics.ros.servers.motion_messages import make_trajectory
from dvrk_kinematics.ros.servers.tip_error import HeardPathClock, make_tip_error

__all__ = [
    "CANCELLED",
    "ENDING",
    "Going",
    "HeardSpeedScaling",
    "PlanPlayer",
    "PlayOutcome",
    "Tell",
]


class HeardSpeedScaling:
    """Reads the speed factor on request; costs little, as it is published only on change.

    Args:
        node: The node.
        arm: Name of the arm.
    """

    def __init__(self, node: Node, arm: str) -> None:
        self._subscription: PolledSubscription[Any] = PolledSubscription(
            node, *SPEED_SCALING.of(arm)
        )
        self._factor = 1.0

    def read(self) -> float:
        """The newest factor, from 0 to 1; 1 if none was received."""
        data = self._subscription.take_newest()
        if data is not None:
            try:
                factor = float(deserialize_message(data, SpeedScalingFactor).factor)
            except Exception:
                # Ignore bytes that are not such a message; they must not end a motion.
                return self._factor
            if 0.0 <= factor <= 1.0:
                self._factor = factor
        return self._factor


CANCELLED = "cancelled"
"""Why a motion ends at the request of its client."""
ENDING = "the server ends"
"""Why it ends when this process ends."""


class Going(NamedTuple):
    """The current state of a motion.

    Attributes:
        progress: Fraction of the path.
        position_error: Distance of the tip from the path (m); 0 if not measured.
        rotation_error: Angle between the tip and the path (rad); 0 if not measured.
        speed_scaling: Fraction of the planned speed at which it plays.
    """

    progress: float
    position_error: float = 0.0
    rotation_error: float = 0.0
    speed_scaling: float = 1.0


Tell = Callable[[Going], None]
"""Called with the state of a motion while it lasts."""

_BRIDGE_S = 5.0
"""How often we ask a bridge to end a motion, and how long we wait for the result of one that has
ended (s)."""
_POLL_S = 0.05
_STALL_S = 30.0
"""How long a motion that is not paused may stall on its path before we give it up, and how long it
may take to end on request (s)."""


@dataclass(frozen=True, slots=True)
class PlayOutcome:
    """How a motion ended.

    Attributes:
        status: Whether it arrived, was cancelled or failed.
        message: Why, in words.
        error: How well the tip followed; None if not measured.
        slow_downs: How often lateness slowed the motion down.
    """

    status: GoalStatus
    message: str
    error: TipError | None = None
    slow_downs: int = 0


class _EndedEarly(Exception):
    """The motion should no longer begin."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class PlanPlayer:
    """Plays plans on one arm.

    Args:
        node: The node, which must be spinning.
        name: Name of the arm.
        arm: Its kinematics.
        watch: Reads its states.
        base: Name of its base frame.
        joint_prefix: Prefix of the joint names in the published path.
    """

    def __init__(
        self, node: Node, name: str, arm: Arm, watch: ArmWatch, base: str, joint_prefix: str
    ) -> None:
        self._node = node
        self._arm = arm
        self._watch = watch
        self._base = base
        self._joints = [f"{joint_prefix}{joint}" for joint in arm.joint_names]
        # Plans use the controller's joint conventions, whatever description the bridge shows.
        self._sent_joints = controller_language(arm.joint_names).names
        self._action = FOLLOW_JOINT_TRAJECTORY.name_of(name)
        self._bridge = ActionClient(node, *FOLLOW_JOINT_TRAJECTORY.of(name))
        self._server = ServerWatch(node, self._action)
        self._scaling = HeardSpeedScaling(node, name)
        self._planned_paths = node.create_publisher(*PLANNED_PATH.of(name))

    def play(
        self,
        plan: Plan,
        find_end: Callable[[], str],
        start_ns: int = 0,
        tell: Tell | None = None,
        *,
        is_measured: bool = True,
    ) -> PlayOutcome:
        """Have the bridge play a plan, and wait for its end.

        Args:
            plan: What to play.
            find_end: Polled for why the motion should end early; empty if it should not.
            start_ns: When to begin (ns, clock of the node); 0 means now.
            tell: Called with the state of the motion.
            is_measured: Whether to publish the path and to measure the tip on it.

        Raises:
            CallFailed: The bridge does not end a motion on request.
        """
        why = find_end()
        if why:
            return _end_early(why, "nothing moved")
        trajectory = make_trajectory(plan, self._joints, self._base)
        if is_measured:
            self._planned_paths.publish(trajectory)
            self._watch.begin()
        trajectory.joint_names = list(self._sent_joints)
        write_stamp(trajectory.header.stamp, start_ns)
        goal = FollowJointTrajectory.Goal(trajectory=trajectory)
        clock = HeardPathClock()

        def hear(feedback: Any) -> None:
            self._server.note_life()
            is_first = clock.begin_ns is None
            begin_ns = clock.note(
                stamp_to_ns(feedback.header.stamp), stamp_to_ns(feedback.desired.time_from_start)
            )
            if is_first and is_measured:
                # For later comparison with states, as in the report of a bag.
                write_stamp(trajectory.header.stamp, begin_ns)
                self._planned_paths.publish(trajectory)

        try:
            self._find_bridge(find_end)
            patience = Patience(self._node.get_logger().info, self._check_bridge)
            sent = send_goal(self._bridge, goal, INNER_BOUND_S, hear, patience)
        except _EndedEarly as ended:
            return _end_early(ended.why, "nothing moved")
        except (CallFailed, GoalRejected) as error:
            return PlayOutcome(GoalStatus.ABORTED, f"{error}; is the bridge running?")
        follower = self._make_follower(plan) if is_measured else None
        outcome = self._follow(plan, sent, clock, find_end, start_ns, tell, follower)
        if follower is None:
            return outcome
        measured = FollowingFigures()
        if clock.begin_ns is not None:
            measured = summarise_following([follower.follow(*self._watch.history(clock.begin_ns))])
        return _add_error(outcome, measured)

    def _make_follower(self, plan: Plan) -> TipFollower:
        spline = plan.spline
        path = JointPath(spline.times, spline.position, spline.velocity, spline.acceleration)
        return TipFollower(self._arm, path)

    def _find_bridge(self, find_end: Callable[[], str]) -> None:
        """Wait for the bridge, which may still be starting, or may come back after it was killed.

        Args:
            find_end: Returns why the motion should end early.

        Raises:
            CallFailed: There is no bridge.
            _EndedEarly: The motion should no longer begin.
        """

        def check() -> None:
            why = find_end()
            if why:
                raise _EndedEarly(why)

        patience = Patience(self._node.get_logger().info, check)
        if not self._server.wait(INNER_BOUND_S, patience):
            raise CallFailed(self._action, INNER_BOUND_S, "no such action appeared")
        is_there = looking_at(self._bridge.server_is_ready)
        if not patience.wait(is_there, f"the action {self._action}", INNER_BOUND_S):
            raise CallFailed(self._action, INNER_BOUND_S, "no such action appeared")

    def _check_bridge(self) -> None:
        """Raise CallFailed if the bridge is gone, so that we do not wait for its answer."""
        silent_s = self._server.silent_s
        if silent_s > GONE_S:
            raise CallFailed(self._action, round(silent_s, 1), "went away, and did not come back")

    def _follow(
        self,
        plan: Plan,
        sent: SentGoal,
        clock: HeardPathClock,
        find_end: Callable[[], str],
        start_ns: int,
        tell: Tell | None,
        follower: TipFollower | None,
    ) -> PlayOutcome:
        """Wait for the end of a motion, indefinitely while it advances or is paused.

        Its duration is no criterion, since it may be slowed down. We ask a motion to end if it
        stalls without being paused, and also if the bridge goes silent.
        """
        wait_s = max(0.0, (start_ns - self._now_ns()) * 1e-9) if start_ns else 0.0
        deadline = time.monotonic() + wait_s + _STALL_S
        seen, asked, why, reached = time.monotonic(), -inf, "", 0.0
        while not sent.wait(_POLL_S):
            now = time.monotonic()
            seen = now if self._bridge.server_is_ready() else seen
            if max(now - seen, self._server.silent_s) > (0.0 if why == ENDING else GONE_S):
                # The bridge may still be there and keep playing.
                _ask_to_end(sent)
                return PlayOutcome(GoalStatus.ABORTED, self._describe_silence(why))
            if why and now > deadline:
                _ask_to_end(sent)
                raise CallFailed(self._action, _STALL_S, f"{why}, and the motion did not end")
            factor = self._scaling.read()
            if not why:
                if factor == 0.0 or clock.newest_s > reached:
                    deadline = max(deadline, now + _STALL_S)
                reached = clock.newest_s
                why = find_end() or ("did not go on along its path" if now > deadline else "")
                deadline = now + _STALL_S if why else deadline
            if why and now - asked > _BRIDGE_S:
                _ask_to_end(sent)
                asked = now
            going = self._look(plan, clock, factor, follower)
            if tell is not None and going is not None:
                tell(going)
        self._watch.poll()
        return _read_result(sent.result(_BRIDGE_S), why)

    def _describe_silence(self, why: str) -> str:
        told = f"{why}, but " if why else ""
        return f"{told}{self._action} went away while it moved; whether the arm rests is not known"

    def _look(
        self, plan: Plan, clock: HeardPathClock, factor: float, follower: TipFollower | None
    ) -> Going | None:
        """The state of a motion; None before its first feedback."""
        # A paused arm reports the same state repeatedly, perhaps for a long time.
        newest = self._watch.poll(keep=factor > 0.0)
        if clock.begin_ns is None:
            return None
        part = min(clock.newest_s / plan.duration_s, 1.0) if plan.duration_s > 0.0 else 1.0
        if newest is None or follower is None:
            return Going(part, speed_scaling=factor)
        stamp_ns, q = newest
        return Going(part, *follower.find_errors(clock.read(stamp_ns), q), factor)

    def _now_ns(self) -> int:
        return int(self._node.get_clock().now().nanoseconds)


def _ask_to_end(sent: SentGoal) -> None:
    """Ask for the end of a motion without waiting for an answer; its result shows how it ended."""
    with suppress(CallFailed):
        sent.cancel(0.0)


def _read_result(response: Any, why: str) -> PlayOutcome:
    """How a motion ended; an arrival counts as such even if we asked for an early end.

    The error code does not help: it is the same for a cancelled motion.
    """
    text = response.result.error_string
    slow_downs = read_slow_downs(text)
    if response.status == ActionStatus.STATUS_SUCCEEDED:
        return PlayOutcome(GoalStatus.SUCCEEDED, text, slow_downs=slow_downs)
    if why:
        return replace(_end_early(why, f"bridge: {text}"), slow_downs=slow_downs)
    return PlayOutcome(GoalStatus.ABORTED, f"bridge: {text}", slow_downs=slow_downs)


def _add_error(outcome: PlayOutcome, measured: FollowingFigures) -> PlayOutcome:
    """Add how well the tip followed to an outcome, or a note if that is not known."""
    if measured.samples == 0 and outcome.status is GoalStatus.SUCCEEDED:
        unknown = "how well the tip followed is not known: no state of the arm came meanwhile"
        outcome = replace(outcome, message=f"{outcome.message}; {unknown}")
    return replace(outcome, error=make_tip_error(measured))


def _end_early(why: str, what: str) -> PlayOutcome:
    status = GoalStatus.CANCELED if why == CANCELLED else GoalStatus.ABORTED
    return PlayOutcome(status, f"{why}; {what}")

"""Carries out the goals of one arm: reads, plans and plays them, and reports the results.

Planning and waiting take long, so each arm has its own thread for them. Another thread reads
goals, so that a goal of thousands of steps does not delay a cancel request. A goal that arrives
while another one moves replaces it: the old motion stops along its path, and the new one starts
where the arm came to rest. A goal that arrives while another is being planned is refused, and so
is an invalid goal. Neither disturbs a running motion.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from typing import Any, NamedTuple

from rclpy.node import Node

from dvrk_kinematics.driver.playback.goal_result import GoalStatus
from dvrk_kinematics.errors import InvalidInput, PlanningCancelled, PlanningTimeout, PlanRefused
from dvrk_kinematics.kinematics.arm import Arm
from dvrk_kinematics.motion.planning.flight_plan import FlightPlan
from dvrk_kinematics.motion.planning.planner import Plan
from dvrk_kinematics.motion.planning.progress import PlanningWatch
from dvrk_kinematics.ros.bridge.contract import BridgeAction
from dvrk_kinematics.ros.common.conversions import matrix_to_pose
from dvrk_kinematics.ros.common.explain import explain
from dvrk_kinematics.ros.common.patience import Patience
from dvrk_kinematics.ros.common.stamps import stamp_to_ns
from dvrk_kinematics.ros.rclpy_ext.deferred_action import DeferredActionServer
from dvrk_kinematics.ros.servers.arm_watch import ArmWatch
from dvrk_kinematics.ros.servers.contract import FLIGHT_PLAN
from dvrk_kinematics.ros.servers.motion_messages import make_flight_plan
from dvrk_kinematics.ros.servers.plan_player import (
    CANCELLED,
    ENDING,
    Going,
    PlanPlayer,
    PlayOutcome,
)
from dvrk_kinematics.ros.servers.tip_error import make_tip_error
from dvrk_kinematics.ros.servers.trajectory_jobs import Job, PlanFrom

__all__ = ["ArmMover"]


_START_ROOM_S = 0.5
"""Time needed between the end of an approach and a start (s): to learn that the approach has
ended, and to send the next motion."""


_REST_S = 10.0
"""How long to keep listening to the arm after a goal, ready for the next one (s)."""


class _Phase(Enum):
    IDLE = "idle"
    PLANNING = "planning"
    MOVING = "moving"


@dataclass(frozen=True, slots=True)
class _Request:
    """An accepted goal.

    Attributes:
        server: Its action server.
        goal_id: Its id.
        goal: The goal message.
        plan: Plans it from the current position of the arm.
    """

    server: DeferredActionServer
    goal_id: bytes
    goal: Any
    plan: PlanFrom


class _Arrival(NamedTuple):
    """A goal that is accepted but not yet read.

    Attributes:
        server: Its action server.
        goal_id: Its id.
        goal: The goal message.
        read: Reads it.
    """

    server: DeferredActionServer
    goal_id: bytes
    goal: Any
    read: Callable[[Any], PlanFrom]


class ArmMover:
    """The actions of one arm.

    Args:
        node: The node, which must be spinning.
        name: Name of the arm.
        arm: The arm.
        base: Name of its base frame.
        joint_prefix: Prefix of the joint names in published paths.
        max_planning_s: Time limit for planning a goal (s).

    Attributes:
        max_planning_s: The same, for later goals.
    """

    def __init__(
        self,
        node: Node,
        name: str,
        arm: Arm,
        base: str,
        joint_prefix: str,
        max_planning_s: float,
    ) -> None:
        self._node = node
        self._name = name
        self.max_planning_s = max_planning_s
        self._watch = ArmWatch(node, name, arm.joint_names)
        self._player = PlanPlayer(node, name, arm, self._watch, base, joint_prefix)
        self._flight_plans = node.create_publisher(*FLIGHT_PLAN.of(name))
        self._arrivals: queue.SimpleQueue[_Arrival | None] = queue.SimpleQueue()
        self._requests: queue.SimpleQueue[_Request | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._phase = _Phase.IDLE
        self._is_replaced = False
        self._is_closing = False
        self._thread = threading.Thread(target=self._work, name=f"mover {name}", daemon=True)
        self._thread.start()
        threading.Thread(target=self._read, name=f"goals of {name}", daemon=True).start()

    def offer(self, action: BridgeAction, read: Callable[[Any], PlanFrom]) -> None:
        """Offer an action whose goals this arm carries out.

        Args:
            action: The action.
            read: Reads a goal, and returns the function that plans it.
        """
        server: DeferredActionServer

        def take(goal_id: bytes, goal: Any) -> None:
            self._arrivals.put(_Arrival(server, goal_id, goal, read))

        server = DeferredActionServer(self._node, *action.of(self._name), take)

    def begin_to_close(self) -> None:
        """Stop any motion and accept no more goals, without waiting for the stop."""
        self._is_closing = True
        self._arrivals.put(None)

    def wait_until_closed(self, timeout_s: float) -> None:
        """Wait until no goal is running; log an error on timeout (s)."""
        self._thread.join(timeout_s)
        if self._thread.is_alive():
            self._node.get_logger().error(f"{self._name}: was told to stop, and has not said so")

    def _read(self) -> None:
        """Read goals in the order in which they arrive, in a separate thread."""
        while (arrival := self._arrivals.get()) is not None:
            server, goal_id, goal, read = arrival
            watch = PlanningWatch(partial(self._find_own_end, server, goal_id))
            try:
                with watch.progress.in_force():
                    request = _Request(server, goal_id, goal, read(goal))
            except Exception as error:
                server.finish(goal_id, *self._refuse(server, error))
            else:
                self._take(request)
        # Last, so that every goal gets an answer.
        self._requests.put(None)

    def _take(self, request: _Request) -> None:
        """Queue a goal, or refuse it at once."""
        with self._lock:
            is_taken = self._phase is not _Phase.PLANNING and not self._is_replaced
            if is_taken:
                self._is_replaced = self._phase is _Phase.MOVING
                if self._phase is _Phase.IDLE:
                    self._phase = _Phase.PLANNING
        if is_taken:
            self._requests.put(request)
            return
        busy = InvalidInput("goal", "another one is being planned; send it again later")
        request.server.finish(request.goal_id, *self._refuse(request.server, busy))

    def _work(self) -> None:
        while (request := self._wait_for_request()) is not None:
            with self._lock:
                self._phase, self._is_replaced = _Phase.PLANNING, False
            status, result = self._carry_out(request)
            with self._lock:
                # A goal that replaced this one is already in the queue.
                self._phase = _Phase.PLANNING if self._is_replaced else _Phase.IDLE
            # Last, so that a client that waits for the end can send the next goal.
            request.server.finish(request.goal_id, status, result)

    def _wait_for_request(self) -> _Request | None:
        """The next goal; None at the end. Stop listening to the arm if none comes for a while."""
        try:
            return self._requests.get(timeout=_REST_S)
        except queue.Empty:
            self._watch.rest()
        return self._requests.get()

    def _carry_out(self, request: _Request) -> tuple[GoalStatus, Any]:
        try:
            job = self._plan(request)
            self._feed_back(request, job.plan, Going(0.0))
            self._flight_plans.publish(make_flight_plan(job.plan.flight_plan))
            outcome = self._move(request, job)
        except Exception as error:
            return self._refuse(request.server, error)
        return outcome.status, self._report(request.server, outcome, job)

    def _plan(self, request: _Request) -> Job:
        """Plan a goal from the current position of the arm, and report progress meanwhile.

        Waits for an arm that is still being discovered.

        Raises:
            DvrkError: The goal cannot be planned, takes too long to plan, or should end early.
        """

        def tell(fraction: float) -> None:
            feedback = request.server.action_type.Feedback(
                planning_progress=fraction, speed_scaling=1.0
            )
            request.server.feed_back(request.goal_id, feedback)

        def check() -> None:
            why = self._find_end(request)
            if why:
                raise PlanningCancelled(why, 0.0, "waited for the arm")
            tell(0.0)

        say = self._node.get_logger().info
        q_start = self._watch.read_setpoint(Patience(say, check))
        watch = PlanningWatch(lambda: self._find_end(request), self.max_planning_s, tell)
        with watch.progress.in_force():
            return request.plan(q_start, watch.progress)

    def _move(self, request: _Request, job: Job) -> PlayOutcome:
        if request.goal.plan_only:
            if self._find_end(request) == CANCELLED:
                return PlayOutcome(GoalStatus.CANCELED, f"{CANCELLED} while it was planned")
            return PlayOutcome(GoalStatus.SUCCEEDED, "planned, not moved")
        start_ns = stamp_to_ns(request.goal.start)
        self._check_start(start_ns, job.approach)
        with self._lock:
            self._phase = _Phase.MOVING

        def find_end() -> str:
            return self._find_end(request)

        def tell(going: Going) -> None:
            self._feed_back(request, job.plan, going)

        def tell_approach(going: Going) -> None:
            tell(Going(0.0, speed_scaling=going.speed_scaling))

        slow_downs = 0
        if job.approach is not None:
            outcome = self._player.play(
                job.approach, find_end, 0, tell_approach, is_measured=False
            )
            if outcome.status is not GoalStatus.SUCCEEDED:
                return replace(outcome, message=f"on the way to the start: {outcome.message}")
            slow_downs = outcome.slow_downs
        outcome = self._player.play(job.plan, find_end, start_ns, tell)
        return replace(outcome, slow_downs=slow_downs + outcome.slow_downs)

    def _check_start(self, start_ns: int, approach: Plan | None) -> None:
        """Refuse a start time that cannot be met, before anything moves."""
        if start_ns == 0:
            return
        left_s = (start_ns - int(self._node.get_clock().now().nanoseconds)) * 1e-9
        if left_s < 0.0:
            raise InvalidInput("start", f"is {-left_s:.3f} s in the past")
        if approach is not None and left_s < approach.duration_s + _START_ROOM_S:
            reason = f"but the way to the start takes {approach.duration_s:.3f} s"
            room = f"and {_START_ROOM_S:g} s must be left after it"
            raise InvalidInput("start", f"is in {left_s:.3f} s, {reason}, {room}")

    def _find_end(self, request: _Request) -> str:
        """Why a motion should end early; empty if it should not."""
        why = self._find_own_end(request.server, request.goal_id)
        return "replaced by a new goal" if self._is_replaced and why != CANCELLED else why

    def _find_own_end(self, server: DeferredActionServer, goal_id: bytes) -> str:
        """The same, regardless of other goals."""
        if goal_id in server.find_cancelled():
            return CANCELLED
        return ENDING if self._is_closing else ""

    def _feed_back(self, request: _Request, plan: Plan, going: Going) -> None:
        feedback = request.server.action_type.Feedback(
            planning_progress=1.0,
            plan=make_flight_plan(plan.flight_plan),
            **going._asdict(),
        )
        request.server.feed_back(request.goal_id, feedback)

    def _refuse(self, server: DeferredActionServer, error: Exception) -> tuple[GoalStatus, Any]:
        """The final status and the result of a goal without a plan."""
        if isinstance(error, PlanningCancelled):
            is_cancelled = error.reason == CANCELLED
            status = GoalStatus.CANCELED if is_cancelled else GoalStatus.ABORTED
            text = message = str(error)
        else:
            status = GoalStatus.ABORTED
            text = explain(error, self._node.get_logger())
            if isinstance(error, PlanningTimeout):
                text = f"{text} by the parameter max_planning_time"
            message = f"{self._name}: {text}"
            self._node.get_logger().warning(message)
        found = error.flight_plan if isinstance(error, PlanRefused) else None
        return status, server.action_type.Result(
            success=False,
            message=message,
            plan=make_flight_plan(found or FlightPlan(ok=False, reason=text)),
            error=make_tip_error(),
        )

    def _report(self, server: DeferredActionServer, outcome: PlayOutcome, job: Job) -> Any:
        """The result of a goal that was planned."""
        result = server.action_type.Result(
            success=outcome.status is GoalStatus.SUCCEEDED,
            message=outcome.message,
            plan=make_flight_plan(job.plan.flight_plan),
            error=outcome.error or make_tip_error(),
            slow_downs=outcome.slow_downs,
        )
        if job.placement is not None:
            result.figure = matrix_to_pose(job.placement.T_base_figure)
            result.scale = float(job.placement.scale)
        return result

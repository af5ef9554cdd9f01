"""A client of one arm's bridge, for a person at a terminal: reads, requests, moves and stops."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory, ParallelGripperCommand
from control_msgs.msg import SpeedScalingFactor
from rclpy.action import ActionClient
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectoryPoint

from dvrk_kinematics.errors import ArmNotReady, BridgeMissing, CallFailed
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.models.schema import JointModel
from dvrk_kinematics.ros.arm_command.arm_status import (
    ArmStatus,
    ShownJoint,
    describe_start,
    describe_state,
    find_next_step,
)
from dvrk_kinematics.ros.arm_command.bridge_facts import BridgeFacts, ask_bridge
from dvrk_kinematics.ros.arm_command.read_target import joint_quantity
from dvrk_kinematics.ros.client.calls import SentGoal, call, send_goal
from dvrk_kinematics.ros.client.heard_diagnostics import DiagnosticLine, HeardDiagnostics
from dvrk_kinematics.ros.common import qos
from dvrk_kinematics.ros.common.patience import PATIENT, Patience, looking_at
from dvrk_kinematics.ros.common.quantity import Quantity, show_quantity
from dvrk_kinematics.ros.common.stamps import seconds_to_ns, write_stamp
from dvrk_kinematics.ros.rclpy_ext.server_watch import GONE_S, ServerWatch

__all__ = ["ArmClient", "ArmOutcome"]

_BRIDGE_S = 30.0
"""How long to wait for a bridge (s)."""
_ANSWER_S = 100.0
"""How long to wait for its answer: it answers after its own time-outs, homing takes longest."""
_STATES_S = 30.0
"""How long to wait for valid joints of a homed arm (s)."""
_OLD_S = 1.0
"""Joint positions received longer ago than this (s) are not current."""
_SAID_S = 30.0
"""How long to wait for a bridge's next report (s): every second if the machine is not busy."""
_SILENT_S = 3.0
"""A bridge that is silent for this long (s) may be gone: its last report is no longer shown."""
_LINES = ("connection", "motion", "last stop")


class ArmOutcome(NamedTuple):
    """The outcome of a request.

    Attributes:
        is_done: Whether it was done.
        message: The bridge's message about it.
    """

    is_done: bool
    message: str


class ArmClient:
    """One arm through its bridge.

    Args:
        node: A spinning node, in the bridge's namespace.
        arm: Name of the arm.
        patience: How to wait.
        bound_s: How long to wait for the bridge (s).

    Raises:
        BridgeMissing: No bridge of the arm appears.
    """

    def __init__(
        self, node: Node, arm: str, patience: Patience = PATIENT, bound_s: float = _BRIDGE_S
    ) -> None:
        self.node = node
        self.name = arm
        self.patience = patience
        self.diagnostics = HeardDiagnostics(node)
        self._connection = f"{arm} {_LINES[0]}"
        self._facts: BridgeFacts | None = None
        self._joints: JointState | None = None
        self._joints_s = 0.0
        self._speed: float | None = None
        node.create_subscription(
            JointState, f"{arm}/joint_states", self._hear_joints, qos.STATE_READER
        )
        node.create_subscription(
            SpeedScalingFactor, f"bridge/{arm}/speed_scaling", self._hear_speed, qos.SPEED_SCALING
        )
        self._enable = node.create_client(Trigger, f"bridge/{arm}/enable")
        is_there = looking_at(self._enable.service_is_ready)
        start = describe_start(arm, self.namespace)
        what = f"the bridge of {arm}; {start} in another terminal starts one"
        if not patience.wait(is_there, what, bound_s):
            raise BridgeMissing(arm, bound_s, self._find_bridges(), start)

    @property
    def namespace(self) -> str:
        """Where the arm's names begin, without slashes at its ends; "" for the root."""
        return str(self.node.get_namespace()).strip("/")

    @property
    def facts(self) -> BridgeFacts:
        """The bridge's facts about itself; requested once.

        Raises:
            CallFailed: It does not report them.
        """
        if self._facts is None:
            self._facts = ask_bridge(self.node, self.name, self.patience)
        return self._facts

    def trigger(self, name: str) -> ArmOutcome:
        """Call a service of the bridge: enable, home, hold, pause, resume or disable.

        Raises:
            CallFailed: It does not answer.
        """
        client = self.node.create_client(Trigger, f"bridge/{self.name}/{name}")
        answer = call(client, Trigger.Request(), _ANSWER_S, self.patience)
        return ArmOutcome(bool(answer.success), str(answer.message))

    def read_joints(self) -> Array:
        """Return the joint positions (rad, m), shape (n,).

        Raises:
            ArmNotReady: The arm has no valid ones, such as before homing.
            CallFailed: The bridge does not answer.
        """
        self._wait_for_joints()
        q = self._newest_joints()
        if q is None:
            status = self.read_status()
            step = find_next_step(status)
            hint = f"; next: {step}" if step else ""
            state = describe_state(status)
            raise ArmNotReady(self.name, f"{self.name} has no valid joints: {state}{hint}")
        return q

    def read_status(self, is_patient: bool = True) -> ArmStatus:
        """Return everything known now.

        Args:
            is_patient: Whether to wait until the bridge has reported, and for the valid joints of
                a homed arm. It may still have none, if it is disabled.

        Raises:
            CallFailed: The bridge does not answer.
        """
        if is_patient:
            is_said = partial(self.diagnostics.wait, self._connection, 0.0)
            self.patience.wait(is_said, f"diagnostics of {self.name}", _SAID_S)
            self._wait_for_joints()
        facts, q = self.facts, self._newest_joints()
        status = self._read_lines()
        if q is None:
            return status
        joints = zip(facts.arm.model.joints, q.tolist(), strict=True)
        readings = tuple(_make_reading(facts, joint, value) for joint, value in joints)
        return replace(
            status, joints=readings, jaw=self._read_jaw(), T_base_tip=facts.arm.forward(q)
        )

    def _read_lines(self) -> ArmStatus:
        """Return the bridge's report, if it is recent."""
        now_s = time.monotonic()
        heard = {name: self.diagnostics.newest(f"{self.name} {name}") for name in _LINES}
        lines = {name: line for name, line in heard.items() if line is not None}
        status = ArmStatus(self.name, f"{self.name}_base", self.namespace)
        silent_s = min((now_s - line.heard_s for line in lines.values()), default=0.0)
        if silent_s > _SILENT_S:
            return replace(status, silent_s=silent_s)
        return replace(status, speed=self._speed, lines=lines)

    def _wait_for_joints(self) -> None:
        """Wait for valid joints, unless the bridge reports that there are none."""

        def is_known() -> bool:
            line = self.diagnostics.newest(self._connection)
            if line is None:
                return self._are_joints_new
            # An arm without power does not report its position, homed or not.
            is_off = line.values.get("state") in ("DISABLED", "FAULT")
            return is_off or line.values.get("is_homed") != "True" or self._are_joints_new

        self.patience.wait(looking_at(is_known), f"valid joints of {self.name}", _STATES_S)

    def _newest_joints(self) -> Array | None:
        """Return the newest joints, None if there are none or the arm no longer has valid ones."""
        message = self._joints
        if message is None or not self._are_joints_new:
            return None
        return self.facts.read_joints(message)

    @property
    def _are_joints_new(self) -> bool:
        """Return whether joints were received just now."""
        return self._joints is not None and time.monotonic() - self._joints_s <= _OLD_S

    def _read_jaw(self) -> ShownJoint | None:
        jaw, message = self.facts.arm.jaw, self._joints
        if jaw is None or message is None:
            return None
        name = f"{self.facts.joint_prefix}{jaw.name}"
        opening = dict(zip(message.name, message.position, strict=False)).get(name)
        if opening is None:
            return None
        return _make_reading(self.facts, jaw, self.facts.sign_of(jaw.name) * float(opening))

    def go(self, q: Array, seconds: float) -> ArmOutcome:
        """Go to joint positions (rad, m); an interruption cancels the goal.

        Raises:
            CallFailed: The bridge does not answer, or goes away.
        """
        goal = FollowJointTrajectory.Goal()
        goal.trajectory.joint_names = self.facts.sent_names
        point = JointTrajectoryPoint(positions=q.tolist())
        write_stamp(point.time_from_start, seconds_to_ns(seconds))
        goal.trajectory.points.append(point)
        action = f"bridge/{self.name}/follow_joint_trajectory"
        response = self._carry_out(FollowJointTrajectory, action, goal)
        is_done = response.status == GoalStatus.STATUS_SUCCEEDED
        return ArmOutcome(is_done, str(response.result.error_string))

    def open_jaw(self, opening: float) -> ArmOutcome:
        """Open or close the jaw (rad); an interruption cancels the goal.

        Raises:
            CallFailed: The bridge does not answer, or goes away.
        """
        goal = ParallelGripperCommand.Goal()
        jaw = self.facts.arm.jaw
        sign = 1.0 if jaw is None else self.facts.sign_of(jaw.name)
        goal.command = JointState(position=[sign * opening])
        action, begin_s = f"bridge/{self.name}/gripper_cmd", time.monotonic()
        response = self._carry_out(ParallelGripperCommand, action, goal)
        if response.status == GoalStatus.STATUS_SUCCEEDED:
            reached = response.result.state.position
            is_at = show_quantity(sign * reached[0], Quantity.ANGLE) if reached else ""
            return ArmOutcome(True, is_at)
        stalled = "the jaw stalled" if response.result.stalled else ""
        return ArmOutcome(False, stalled or self._find_jaw_reason(begin_s) or "cancelled")

    def _find_jaw_reason(self, begin_s: float) -> str:
        """Find why the jaw has not got there since a moment (s, monotonic); empty if not reported.

        The action has no field for a reason; the diagnostics do.
        """
        # A line sent before the goal ended does not report that end; the next one does.
        for _ in range(2):
            line = self.wait_for_line("last stop")
            if line is not None and line.is_since("jaw_stop_age_s", begin_s):
                return line.values.get("jaw_stopped", "")
            if line is not None and line.is_since("refusal_age_s", begin_s):
                return line.values.get("refused", "")
        return ""

    def wait_for_line(self, name: str) -> DiagnosticLine | None:
        """Return the bridge's next diagnostics line with this name; None if none comes."""
        ending, now_s = f"{self.name} {name}", time.monotonic()
        is_said = partial(self.diagnostics.wait, ending, now_s)
        self.patience.wait(is_said, f"diagnostics of {self.name}", _SAID_S)
        line = self.diagnostics.newest(ending)
        return line if line is not None and line.heard_s >= now_s else None

    def _carry_out(self, kind: Any, action: str, goal: Any) -> Any:
        """Send a goal and wait for its end, however long it takes, while the bridge is alive."""
        client = ActionClient(self.node, kind, action)
        watch = ServerWatch(self.node, action)
        with send_goal(client, goal, _BRIDGE_S, patience=self.patience) as running:
            return _await_end(running, watch, action)

    def _find_bridges(self) -> list[str]:
        services = [name for name, _ in self.node.get_service_names_and_types()]
        paths = [name.removesuffix("/enable") for name in services if name.endswith("/enable")]
        return sorted(path.replace("/bridge/", "/", 1) for path in paths if "/bridge/" in path)

    def _hear_joints(self, message: JointState) -> None:
        self._joints, self._joints_s = message, time.monotonic()

    def _hear_speed(self, message: SpeedScalingFactor) -> None:
        self._speed = float(message.factor)


def _make_reading(facts: BridgeFacts, joint: JointModel, position: float) -> ShownJoint:
    name = f"{facts.joint_prefix}{joint.name}"
    return ShownJoint(name, joint_quantity(joint.kind), position, joint.lower, joint.upper)


def _await_end(goal: SentGoal, watch: ServerWatch, action: str) -> Any:
    begin_s = time.monotonic()
    while not goal.wait(0.1):
        if watch.silent_s > GONE_S:
            raise CallFailed(action, round(time.monotonic() - begin_s, 1), "the bridge went away")
    return goal.result(0.0)

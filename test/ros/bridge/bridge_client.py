"""A client of an arm's bridge: calls, goals, and everything that is heard meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from arm_client import ArmClient
from command_log import CommandLog
from control_msgs.action import FollowJointTrajectory, ParallelGripperCommand
from diagnostics_log import DiagnosticsLog
from joint_goals import SUCCEEDED, TIMEOUT_S, make_goal
from listening import listener_of
from rcl_interfaces.msg import Parameter
from rcl_interfaces.srv import GetParameters, SetParameters
from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.parameter import Parameter as RclpyParameter
from rclpy.parameter import Parameter as TypedParameter
from rclpy.parameter import parameter_value_to_python
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64
from std_srvs.srv import Trigger

from dvrk_kinematics import load_arm
from dvrk_kinematics.driver import Reason
from dvrk_kinematics.models.model_files import model_name
from dvrk_kinematics.ros.bringup.processes import Process
from dvrk_kinematics.ros.client.calls import SentGoal, call, send_goal
from dvrk_kinematics.ros.common.stamps import stamp_to_ns


def bridge_of(namespace: str, **parameters: Any) -> Process:
    """The bridge of a rig; its diagnostics are in the rig's namespace, apart from all others."""
    return Process(
        "arm_bridge",
        namespace,
        parameters=parameters,
        remappings={"/diagnostics": "diagnostics"},
    )


class BridgeClient:
    """Hears and commands one arm through its bridge.

    Args:
        node: A spinning node.
        arm: The arm's name.
        namespace: Where relative names of the rig begin.

    Attributes:
        arm: A client of the arm itself, past the bridge.
        commands: All that the bridge says to the arm.
        joints: Names of the arm's joints.
        joint_states: Stamps (ns) of all joint_states that were heard.
        feedback: Feedback of the trajectory goal that was sent last from here.
    """

    def __init__(self, node: Node, arm: str = "PSM1", namespace: str = "") -> None:
        self._node = node
        self._start = f"{namespace}/" if namespace else ""
        self._name = arm
        self.model = load_arm(model_name(arm))
        self.joints = list(self.model.joint_names)
        self.arm = ArmClient(node, arm, self._start, durable=True)
        self.arm.hear("operating_state", "measured_js", "setpoint_js", "status")
        self.arm.hear("error", "warning")
        self._changed = threading.Condition()
        # Made now and not when it is called: rclpy's own services lose the answer to a client
        # that they have only half found.
        parameters = f"{self._start}dvrk/set_parameters"
        self._clients = {parameters: node.create_client(SetParameters, parameters)}
        self.joint_states: list[int] = []
        self.feedback: list[Any] = []
        self.commands = CommandLog(node, self.arm.start, self.model, self._tell)
        topic = f"{self._start}diagnostics"
        self._diagnostics = DiagnosticsLog(node, topic, arm, self._tell)
        # So many, because the listener may have no time for a while.
        queue = QoSProfile(depth=1000)
        topic = f"{self.arm.start}joint_states"
        listener_of(node).subscribe(JointState, topic, queue, self._count)
        self._follow = ActionClient(
            node, FollowJointTrajectory, self._bridge("follow_joint_trajectory")
        )
        self._grip = ActionClient(node, ParallelGripperCommand, self._bridge("gripper_cmd"))

    # Services

    def trigger(self, name: str) -> Any:
        """Call a service of the bridge and wait for its answer."""
        return self._call(Trigger, self._bridge(name), Trigger.Request())

    def do(self, *names: str) -> None:
        """Call services of the bridge that must succeed."""
        for name in names:
            answer = self.trigger(name)
            assert answer.success, f"{name}: {answer.message}"

    def get_ready(self) -> None:
        """Enable and home, from whatever state; before that, nothing must have been sent."""
        self.until(lambda: self.commands.is_connected, "the bridge's commands")
        # What the bridge knows of the arm can be older than what we know, just after a start; and
        # for a while after an arm has died, it is in the graph twice.
        self.until(
            lambda: self.trigger("enable").success and self.trigger("home").success,
            "enable and home",
            every_s=0.25,
        )
        self.commands.forgive()

    def fault(self, name: str, **parameters: Any) -> None:
        """Inject a fault into the simulated arm, after setting parameters of it."""
        if parameters:
            values = [
                TypedParameter(key, value=value).to_parameter_msg()
                for key, value in parameters.items()
            ]
            self._set_simulator(values)
        answer = self._call(
            Trigger, f"{self._start}dvrk/faults/{self._name}/{name}", Trigger.Request()
        )
        assert answer.success, answer.message

    def slow_moves(self, ratio: float) -> None:
        """Let the arm's own moves, homing too, take a part of their limits; 1 for all of them."""
        self.arm.hear("trajectory_j/ratio")
        self.arm.send("trajectory_j/set_ratio", Float64(data=ratio))
        self.until(
            lambda: [m.data for m in self.arm.heard["trajectory_j/ratio"]][-1:] == [ratio],
            "the ratio of moves",
        )

    def _set_simulator(self, values: list[Parameter]) -> None:
        request = SetParameters.Request(parameters=values)
        answer = self._call(SetParameters, f"{self._start}dvrk/set_parameters", request)
        assert all(result.successful for result in answer.results), answer

    def _call(self, kind: Any, name: str, request: Any) -> Any:
        if name not in self._clients:
            self._clients[name] = self._node.create_client(kind, name)
        return call(self._clients[name], request, TIMEOUT_S)

    def get_parameters(self, *names: str) -> list[Any]:
        """Values of parameters of the bridge."""
        request = GetParameters.Request(names=list(names))
        answer = self._call(GetParameters, f"{self._start}arm_bridge/get_parameters", request)
        return [parameter_value_to_python(value) for value in answer.values]

    def set_parameter(self, name: str, value: Any, node: str = "arm_bridge") -> str:
        """Change a parameter, of the bridge; gives why it was refused, "" if it was not."""
        parameter = RclpyParameter(name, value=value).to_parameter_msg()
        request = SetParameters.Request(parameters=[parameter])
        answer = self._call(SetParameters, f"{self._start}{node}/set_parameters", request)
        return "" if answer.results[0].successful else str(answer.results[0].reason)

    # Goals

    def follow(self, goal: Any) -> SentGoal:
        """Send a trajectory."""
        heard = self.feedback = []

        def keep(message: Any) -> None:
            heard.append(message)
            self._tell()

        return send_goal(self._follow, goal, TIMEOUT_S, keep)

    def go(self, q: Sequence[float] | np.ndarray, seconds: float) -> SentGoal:
        """Send a single point to go to."""
        return self.follow(make_goal(self.joints, [seconds], [q]))

    def send_soon(self, goal: Any, on_answer: Callable[[Any], None]) -> None:
        """Send a trajectory from the spinning thread, and go on at once.

        Args:
            goal: The goal.
            on_answer: Called in the spinning thread with the future of its handle.
        """
        self._node.executor.create_task(
            lambda: self._follow.send_goal_async(goal).add_done_callback(on_answer)
        )

    def grip(self, opening: float, **fields: Any) -> SentGoal:
        """Send an opening of the jaw (rad); the fields of its message may say otherwise."""
        goal = ParallelGripperCommand.Goal()
        goal.command = JointState(**({"position": [float(opening)]} | fields))
        return send_goal(self._grip, goal, TIMEOUT_S)

    def reach(self, q: Sequence[float] | np.ndarray, seconds: float = 0.3) -> None:
        """Go somewhere, and check that the arm is there and every command was as it must be."""
        result = self.go(q, seconds).result(TIMEOUT_S)
        assert result.status == SUCCEEDED, result.result
        self.wait_at("measured_js", q, 1e-6)
        self.commands.check()

    # What is heard

    @property
    def setpoint(self) -> np.ndarray:
        """Where the arm reports that it was told to be (rad, m)."""
        return np.array(self.arm.newest("setpoint_js").position)

    def wait_at(self, topic: str, q: Sequence[float] | np.ndarray, atol: float) -> None:
        """Wait until the arm reports positions (rad, m): a result can overtake its states."""
        self.until(
            lambda: np.allclose(self.arm.newest(topic).position, q, rtol=0.0, atol=atol),
            f"{topic} at {q}",
        )

    def wait_moving(self, seconds: float = 0.0, before: int | None = None) -> None:
        """Wait until a motion is under way for some time, by the commands that were sent."""
        start = self.commands.count() if before is None else before
        wanted = start + 5 + round(seconds / 0.005 * 0.5)
        self.until(lambda: self.commands.count() >= wanted, "a motion")

    def wait_diagnosed(self, report: str, message: str = "", **values: str) -> Any:
        """Wait for diagnostics that are sent after this call and say something; gives them.

        Args:
            report: Which line of them.
            message: What its message must contain.
            values: Values that it must have.
        """
        return self._wait_report(
            report,
            lambda status, said: message in status.message and values.items() <= said.items(),
            f"{report} {message} {values}",
        )

    def wait_stop(self, *reasons: Reason) -> None:
        """Wait until diagnostics name one of the reasons as the last stop."""
        names = {reason.name for reason in reasons}
        self._wait_report(
            "last stop", lambda _, said: said.get("stop") in names, f"last stop {names}"
        )

    def has_said(self, report: str, since_ns: int, **values: str) -> bool:
        """Whether diagnostics that were sent since a moment have values.

        Args:
            report: Which line of them.
            since_ns: When they must have been sent (ns, system time).
            values: Values that it must have.
        """
        found = self._diagnostics.find(
            report, since_ns, lambda _, said: values.items() <= said.items()
        )
        return found is not None

    def _wait_report(
        self, report: str, is_wanted: Callable[[Any, Mapping[str, str]], bool], what: str
    ) -> Any:
        since_ns = time.time_ns()
        return self.until(lambda: self._diagnostics.find(report, since_ns, is_wanted), what)

    def until(self, done: Callable[[], Any], what: str, every_s: float = 0.05) -> Any:
        """Wait until something holds of what was heard."""
        deadline = time.monotonic() + TIMEOUT_S
        while not (result := done()):
            with self._changed:
                self._changed.wait(every_s)
            assert time.monotonic() < deadline, f"{what}: {self._diagnostics}"
        return result

    def _bridge(self, name: str) -> str:
        return f"{self._start}bridge/{self._name}/{name}"

    def _tell(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _count(self, data: bytes, _: Any) -> None:
        message = deserialize_message(data, JointState)
        self.joint_states.append(stamp_to_ns(message.header.stamp))

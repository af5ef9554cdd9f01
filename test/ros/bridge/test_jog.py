"""Jog topics: along which axes the tip moves, what is refused, and that it ends by itself."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from bridge_client import BridgeClient
from control_msgs.msg import JointJog
from geometry_msgs.msg import TransformStamped, TwistStamped
from joint_goals import HOME
from rclpy.node import Node
from tf2_msgs.msg import TFMessage

from dvrk_kinematics.driver import Reason
from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.ros.common import qos
from dvrk_kinematics.ros.common.conversions import matrix_to_transform

CAMERA = so3.rot_x(0.7) @ so3.rot_z(1.1)
SPEED = 0.01
LINE_M = 1e-6
"""How far the commanded tip may be from the line that was asked for."""

JOG_TIMEOUT_S = 0.5
"""A machine without time for a while must not end a jog that is the subject here."""

RELEASE_S = JOG_TIMEOUT_S + 0.2
SILENT = "was silent, and who publishes it now is being asked"
LOOKS = 20
"""Ticks of the bridge without a command after which a jog is over."""


class Jogger:
    """Sends jog commands at 50 Hz for as long as a with-block lasts."""

    def __init__(self, node: Node, rig: Any) -> None:
        self.client: BridgeClient = rig.client
        self._bridge = rig.bridge
        self._twists = node.create_publisher(TwistStamped, "jog/bridge/PSM1/jog", qos.COMMAND)
        self._joints = node.create_publisher(JointJog, "jog/bridge/PSM1/jog_joints", qos.COMMAND)
        self._static = node.create_publisher(TFMessage, "/tf_static", qos.TF_STATIC)
        camera = TransformStamped(child_frame_id="camera")
        camera.header.frame_id = "PSM1_base"
        camera.transform = matrix_to_transform(se3.make(CAMERA, [0.1, 0.2, 0.3]))
        self._static.publish(TFMessage(transforms=[camera]))
        self._let_go_s = -np.inf

    def twist(
        self, linear: Array, frame: str = "", angular: Any = (0.0, 0.0, 0.0)
    ) -> TwistStamped:
        """A command of the tip."""
        message = TwistStamped()
        message.header.frame_id = frame
        v, w = message.twist.linear, message.twist.angular
        v.x, v.y, v.z = map(float, linear)
        w.x, w.y, w.z = map(float, angular)
        return message

    @contextmanager
    def sending(self, message: Any) -> Iterator[None]:
        """Send a command again and again, then let go without another word."""
        publisher = self._joints if isinstance(message, JointJog) else self._twists
        end = threading.Event()

        def send() -> None:
            while not end.is_set():
                publisher.publish(message)
                time.sleep(0.02)

        thread = threading.Thread(target=send)
        thread.start()
        try:
            yield
        finally:
            end.set()
            thread.join()
            self._let_go_s = time.monotonic()

    def jog(self, message: Any, count: int = 60) -> Array:
        """Jog until so many setpoints were sent, and wait for its end; gives all of them.

        Where the machine keeps the bridge from hearing its arm for a second, the bridge asks who
        that is, and what jogs meanwhile must be let go of first: rightly, and so that is done.
        """
        commands, has_jogged = self.client.commands, False
        while not has_jogged:
            self.wait_released()
            before, said = commands.mark(), len(self._bridge.output)
            since_ns = time.time_ns()

            def is_over(start: int = before, since_ns: int = since_ns) -> bool:
                return commands.count() > start + count or self._must_let_go(since_ns)

            with self.sending(message):
                self.client.until(is_over, "a jog")
            self.wait_rest()
            commands.check()
            has_jogged = commands.count() > before + count
            assert has_jogged or SILENT in self._bridge.output[said:], "refused without a reason"
        return commands.setpoints(before)

    def _must_let_go(self, since_ns: int) -> bool:
        """Whether the bridge has said since a moment that the jog must be let go of."""
        return self.client.has_said("last stop", since_ns, refusal=Reason.JOG_NOT_RELEASED.name)

    def wait_rest(self) -> None:
        """Wait until a jog is over: the bridge looks at the arm, and sends nothing."""
        shown, commands = self.client.joint_states, self.client.commands

        def is_at_rest() -> bool:
            last_ns = commands.last_stamp_ns()
            return sum(stamp_ns > last_ns for stamp_ns in shown[-2 * LOOKS :]) >= LOOKS

        self.client.until(is_at_rest, "the end of the jog")

    def wait_released(self) -> None:
        """Let what was sent before be over: a jog that was refused must be let go of."""
        self.wait_rest()
        time.sleep(max(self._let_go_s + RELEASE_S - time.monotonic(), 0.0))


@pytest.fixture(scope="module")
def jogger(make_rig: Any, node: Node) -> Jogger:
    rig = make_rig("jog", jog_timeout=JOG_TIMEOUT_S)
    rig.client.get_ready()
    return Jogger(node, rig)


def _check_line(jogger: Jogger, setpoints: Array, direction: Array) -> None:
    """The tip went along a direction, on a straight line, and did not turn."""
    T = jogger.client.model.forward(setpoints)
    travel = T[:, :3, 3] - T[0, :3, 3]
    along = travel @ direction
    assert along[-1] > 10.0 * LINE_M and (np.diff(along) >= -1e-12).all()
    assert np.linalg.norm(travel - np.outer(along, direction), axis=1).max() < LINE_M
    assert np.abs(T[:, :3, :3] - T[0, :3, :3]).max() < 1e-6


def test_a_twist_without_a_frame_is_along_the_base(jogger: Jogger) -> None:
    for frame in ("", "PSM1_base"):
        direction = np.array([0.6, 0.0, -0.8])
        setpoints = jogger.jog(jogger.twist(SPEED * direction, frame))
        _check_line(jogger, setpoints, direction)


def test_a_twist_of_the_tool_is_along_the_tip(jogger: Jogger) -> None:
    for frame in ("tool", "PSM1_tip"):
        T = jogger.client.model.forward(jogger.client.setpoint)
        setpoints = jogger.jog(jogger.twist(SPEED * np.array([0.0, 1.0, 0.0]), frame))
        _check_line(jogger, setpoints, T[:3, 1])


def test_the_first_jog_in_a_frame_of_others_makes_nothing_on_the_graph(
    jogger: Jogger, node: Node
) -> None:
    """The bridge began to hear tf in the tick in which such a jog came, which took 0.7 to 5 ms."""

    def readers() -> list[bytes]:
        """Of tf and tf_static, in the bridge."""
        infos = [
            info
            for topic in ("/tf", "/tf_static")
            for info in node.get_subscriptions_info_by_topic(topic)
            if (info.node_namespace, info.node_name) == ("/jog", "arm_bridge")
        ]
        return sorted(bytes(info.endpoint_gid) for info in infos)

    # It looks at frames of others for a moment with two more, as the camera's that are new.
    jogger.client.until(lambda: len(readers()) == 2, "a reader of each")
    before = readers()
    jogger.jog(jogger.twist(SPEED * np.array([1.0, 0.0, 0.0]), "camera"))
    jogger.client.until(lambda: len(readers()) == 2, "a reader of each, still")
    assert readers() == before


def test_a_twist_in_a_frame_of_tf_is_along_its_axes(jogger: Jogger) -> None:
    setpoints = jogger.jog(jogger.twist(SPEED * np.array([1.0, 0.0, 0.0]), "camera"))
    _check_line(jogger, setpoints, CAMERA[:, 0])


def test_a_turn_keeps_the_tip_where_it_is(jogger: Jogger) -> None:
    setpoints = jogger.jog(jogger.twist(np.zeros(3), "tool", (0.0, 0.0, 0.2)))
    T = jogger.client.model.forward(setpoints)
    assert np.abs(T[:, :3, 3] - T[0, :3, 3]).max() < LINE_M
    assert np.linalg.norm(so3.log(T[0, :3, :3].T @ T[-1, :3, :3])) > 0.005


@pytest.mark.parametrize("frame", ["", "tool", "camera"])
def test_no_number_of_a_jog_ends_the_bridge(jogger: Jogger, frame: str) -> None:
    """A filter that decays after release sends such numbers; their squares are zero."""
    jogger.wait_released()
    client = jogger.client
    before = client.commands.mark()
    with jogger.sending(jogger.twist(np.zeros(3), frame, (0.1, 0.0, 0.0))):
        client.until(lambda: client.commands.count() > before + 10, "a jog")
    for number in (1e-170, 5e-324, 1e308, float("inf"), float("nan")):
        shown = len(client.joint_states)
        with jogger.sending(jogger.twist(np.full(3, number), frame, (number, 0.0, 0.0))):
            client.until(lambda seen=shown: len(client.joint_states) > seen + LOOKS, "states")
    jogger.wait_rest()
    client.commands.check()
    client.reach(HOME)


def test_an_unknown_frame_is_refused_with_the_reason(jogger: Jogger) -> None:
    jogger.wait_released()
    nowhere = jogger.twist(SPEED * np.array([1.0, 0.0, 0.0]), "nowhere")
    with jogger.client.commands.silence(), jogger.sending(nowhere):
        status = jogger.client.wait_diagnosed("last stop", refusal=Reason.UNKNOWN_FRAME.name)
    refused = {v.key: v.value for v in status.values}["refused"]
    assert "'nowhere' is not on tf; there are: " in refused


def test_joints_jog_one_by_one(jogger: Jogger) -> None:
    message = JointJog(joint_names=["roll"], velocities=[0.2])
    setpoints = jogger.jog(message)
    moved = setpoints[-1] - setpoints[0]
    assert moved[3] > 0.01 and np.abs(np.delete(moved, 3)).max() == 0.0


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (JointJog(joint_names=["elbow"], velocities=[0.1]), "are no joints"),
        (JointJog(joint_names=["roll"], velocities=[0.1, 0.2]), "2 velocities"),
        (JointJog(joint_names=["roll"], displacements=[0.1]), "displacements are not offered"),
    ],
)
def test_joint_jogs_that_make_no_sense_are_refused(
    jogger: Jogger, message: JointJog, text: str
) -> None:
    jogger.wait_released()

    def is_told() -> bool:
        status = jogger.client.wait_diagnosed("last stop", refusal=Reason.WRONG_SHAPE.name)
        return any(text in v.value for v in status.values)

    with jogger.client.commands.silence(), jogger.sending(message):
        jogger.client.until(is_told, text)


def test_a_jog_whose_commands_cease_stops_by_itself(jogger: Jogger) -> None:
    jogger.jog(jogger.twist(SPEED * np.array([0.0, 1.0, 0.0])))
    jogger.client.wait_stop(Reason.JOG_TIMEOUT)
    status = jogger.client.wait_diagnosed("motion")
    assert status.message == "at rest"


def test_diagnostics_say_what_slows_a_jog(jogger: Jogger) -> None:
    """Out of the patient, towards the cannula: slower and slower, and the reason is told."""
    jogger.wait_released()

    def is_told() -> bool:
        status = jogger.client.wait_diagnosed("motion")
        values = {v.key: v.value for v in status.values}
        return values.get("jog_slowed_by", "").startswith(Reason.CANNULA_AHEAD.value)

    with jogger.sending(jogger.twist(np.array([0.0, 0.0, 0.08]))):
        jogger.client.until(is_told, "cannula ahead")
    jogger.wait_rest()
    jogger.client.commands.check()
    jogger.jog(jogger.twist(np.array([0.0, 0.0, -0.02])))


def test_nothing_jogs_before_the_arm_is_enabled_here(jogger: Jogger) -> None:
    jogger.client.do("disable")
    twist = jogger.twist(SPEED * np.array([1.0, 0.0, 0.0]))
    with jogger.client.commands.silence(), jogger.sending(twist):
        jogger.client.wait_diagnosed("last stop", refusal=Reason.NOT_ENABLED_HERE.name)

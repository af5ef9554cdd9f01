"""joint_states: every joint of the URDF that moves, with the arm's own numbers and stamps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from arm_client import ArmClient
from observer import Observer, bridge_process, find_pose, until
from rclpy.node import Node
from sensor_msgs.msg import JointState
from urdf_parser_py.urdf import URDF
from visualization_msgs.msg import Marker

from dvrk_kinematics import load_arm
from dvrk_kinematics.errors import FrameError
from dvrk_kinematics.ros.bridge.contract import MEASURED_JS
from dvrk_kinematics.ros.bridge.crtk_port import JointStream
from dvrk_kinematics.ros.bridge.not_homed_view import neutral_posture
from dvrk_kinematics.ros.bringup.processes import Process, simulated_arms
from dvrk_kinematics.ros.common import qos
from dvrk_kinematics.ros.common.conversions import make_joint_state
from dvrk_kinematics.ros.common.stamps import stamp_to_ns

JAW = 0.6
SHOWS: dict[str, dict[str, Any]] = {
    "actuated": {"actuated_only": True, "description_waits": True},
    "prefixed": {"joint_prefix": "left_", "publish_tf": False},
}


class Lab:
    """One simulated PSM, and bridges that show it in several ways."""

    def __init__(self, run: Any, node: Node) -> None:
        run(simulated_arms(["PSM1"]))
        run(Process("arm_bridge"))
        for name, parameters in SHOWS.items():
            run(bridge_process(name, **parameters))
        self.marker: list[Any] = []
        node.create_subscription(
            Marker, "bridge/PSM1/not_homed", self.marker.append, qos.DESCRIPTION
        )
        self.arm = ArmClient(node, "PSM1", durable=True)
        self.arm.hear("operating_state", "status", "warning", "error", "goal_reached")
        self.plain = Observer(node)
        self.shows = {name: Observer(node, show=name) for name in SHOWS}
        self.arm.wait("operating_state", lambda: self.arm.heard["operating_state"])


@pytest.fixture(scope="module")
def lab(run: Any, node: Node) -> Lab:
    made = Lab(run, node)
    # Shown while the arm is not homed, too: that is the first test.
    made.plain.description()
    return made


@pytest.fixture(scope="module")
def homed(lab: Lab) -> Lab:
    lab.arm.enable()
    lab.arm.home()
    lab.arm.move_joints("jaw/move_jp", [JAW])
    lab.arm.move_joints("move_jp", [0.3, -0.2, 0.14, 0.5, -0.4, 0.2])
    return lab


def positions(robot: URDF, actuated: Mapping[str, float]) -> dict[str, float]:
    """Positions of all movable joints, by the mimics of the URDF itself."""
    joints = {joint.name: joint for joint in robot.joints}

    def find(name: str) -> float:
        mimic = joints[name].mimic
        if mimic is None:
            return actuated[name]
        multiplier = 1.0 if mimic.multiplier is None else mimic.multiplier
        return float(multiplier * find(mimic.joint) + (mimic.offset or 0.0))

    return {name: find(name) for name, joint in joints.items() if joint.type != "fixed"}


def test_no_joint_is_told_while_the_arm_calls_its_state_invalid(lab: Lab) -> None:
    until(lambda: lab.plain.invalid > 100, "states with stamp 0")
    for observer in (lab.plain, *lab.shows.values()):
        assert not observer.joint_states
    assert lab.shows["prefixed"].description()
    assert not lab.shows["actuated"].descriptions, "it waits for the first valid state"


def test_an_arm_that_is_not_homed_stands_neutral_with_a_text_and_stamps_that_say_so(
    lab: Lab,
) -> None:
    """Without any transform RViz shows a heap of links and an error."""
    until(lambda: lab.marker and lab.marker[-1].text == "PSM1: not homed", "the text")
    assert lab.marker[-1].action == Marker.ADD and lab.marker[-1].header.frame_id == "PSM1_base"
    found = until(
        lambda: [m for m in lab.plain.frames.moving() if m[0].child.startswith("PSM1_")],
        "the neutral posture",
    )
    assert {frame.stamp_ns for message in found for frame in message} == {0}
    arm = load_arm("PSM")
    q = neutral_posture([*arm.model.joints, arm.jaw])
    np.testing.assert_array_equal(q[[0, 1, 3, 4, 5, 6]], 0.0)
    assert arm.limits.contains(q[:6])
    # Whoever asks our nodes for such a frame is told that it is not there.
    buffer = lab.plain.frames.buffer()
    with pytest.raises(FrameError):
        find_pose(buffer, "PSM1_base", "PSM1_tip")
    for frame in found[-1]:
        buffer.add(frame.parent, frame.child, frame.T, 1, 0, is_static=False)
    for link, T in arm.frames(q[:6], q[6]).items():
        found_T = find_pose(buffer, "PSM1_base", f"PSM1_{link}")
        np.testing.assert_allclose(found_T, T, atol=1e-9, err_msg=link)


def test_the_text_goes_when_the_arm_shows_itself(homed: Lab) -> None:
    until(lambda: homed.marker[-1].action == Marker.DELETE, "the end of the text")


def test_every_movable_joint_of_the_urdf_is_there_under_its_own_name(homed: Lab) -> None:
    robot = URDF.from_xml_string(homed.plain.description())
    state, measured = homed.plain.pairs(1)[0]
    movable = [joint.name for joint in robot.joints if joint.type != "fixed"]
    assert sorted(state.name) == sorted(movable) and len(state.name) > len(measured.name) + 1
    assert len(set(state.name)) == len(state.name)
    assert len(state.position) == len(state.velocity) == len(state.name)
    assert len(state.effort) == 0


def test_mimics_follow_their_leaders(homed: Lab) -> None:
    robot = URDF.from_xml_string(homed.plain.description())
    for state, measured in homed.plain.pairs():
        actuated = dict(zip(measured.name, measured.position, strict=True)) | {"jaw": JAW}
        wanted = positions(robot, actuated)
        np.testing.assert_allclose(
            state.position, [wanted[name] for name in state.name], rtol=0.0, atol=1e-12
        )


def test_velocities_follow_too_while_the_arm_moves(homed: Lab) -> None:
    robot = URDF.from_xml_string(homed.plain.description())
    homed.arm.send_joints("move_jp", [-0.6, 0.4, 0.1, -1.0, 0.3, -0.5])
    pairs: list[tuple[Any, Any]] = []

    def is_fast() -> bool:
        pairs.extend(homed.plain.pairs(60))
        return max(abs(v) for state, _ in pairs for v in state.velocity) > 0.1

    until(is_fast, "the motion")
    for state, measured in pairs:
        actuated = dict(zip(measured.name, measured.velocity, strict=True)) | {"jaw": 0.0}
        # A velocity follows with the factor alone.
        factors = {
            name: positions(robot, actuated)[name]
            - positions(robot, dict.fromkeys(actuated, 0.0))[name]
            for name in state.name
        }
        np.testing.assert_allclose(
            state.velocity, [factors[name] for name in state.name], rtol=0.0, atol=1e-12
        )


def test_stamps_are_those_of_measured_js_and_none_comes_twice(homed: Lab) -> None:
    stamps = [stamp_to_ns(state.header.stamp) for state, _ in homed.plain.pairs(50)]
    assert stamps == sorted(set(stamps)) and set(stamps) <= set(homed.plain.measured)


def test_actuated_only_leaves_out_what_follows(homed: Lab) -> None:
    state, measured = homed.shows["actuated"].pairs(1)[0]
    assert homed.shows["actuated"].description()
    assert sorted(state.name) == sorted([*measured.name, "jaw"])
    shown = dict(zip(state.name, state.position, strict=True))
    assert {name: shown[name] for name in measured.name} == dict(
        zip(measured.name, measured.position, strict=True)
    )


def test_a_joint_prefix_is_on_every_joint_and_in_the_description(homed: Lab) -> None:
    observer = homed.shows["prefixed"]
    robot = URDF.from_xml_string(observer.description())
    state, measured = observer.pairs(1)[0]
    assert all(name.startswith("left_") for name in state.name)
    assert set(state.name) == {joint.name for joint in robot.joints if joint.type != "fixed"}
    shown = dict(zip(state.name, state.position, strict=True))
    assert [shown[f"left_{name}"] for name in measured.name] == list(measured.position)
    assert not observer.frames.children(), "publish_tf is off"


def test_efforts_that_change_do_not_make_a_message_be_learnt_anew(node: Node) -> None:
    """A real arm's efforts never stay; learning a message costs more than a whole tick."""
    stream = JointStream(node, MEASURED_JS, "changing")
    publisher = node.create_publisher(JointState, "changing/measured_js", qos.ARM_STATE)
    for k in range(1, 6):
        message = make_joint_state(["yaw"], np.array([0.1]), np.array([0.2]), np.array([0.1 * k]))
        message.header.stamp.sec = k

        def is_read(k: int = k, message: Any = message) -> bool:
            publisher.publish(message)
            return stream.poll(0) and stream.stamp_ns == k * 1_000_000_000

        until(is_read, "a state")
    assert stream.learnt == 1


def test_nothing_is_shown_any_more_after_disable(homed: Lab) -> None:
    homed.arm.command("disable", lambda state: state.state == "DISABLED")
    seen = homed.plain.invalid
    until(lambda: homed.plain.invalid > seen + 20, "states with stamp 0")
    # What was valid until then may be shown late, but nothing else is.
    last_ns = max(homed.plain.measured)
    until(lambda: homed.plain.invalid > seen + 100, "states with stamp 0")
    assert max(homed.plain.measured) == last_ns
    assert max(homed.plain.joint_states) <= last_ns

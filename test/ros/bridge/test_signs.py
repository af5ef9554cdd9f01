"""A description that counts joints otherwise: goals, states and jogs speak its language."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bridge_client import BridgeClient
from control_msgs.msg import JointJog
from dvrk_kinematics_interfaces.action import Move
from dvrk_kinematics_interfaces.msg import MotionStep
from joint_goals import HOME, SUCCEEDED, TIMEOUT_S, at, check_ended, make_goal
from rclpy.action import ActionClient
from rclpy.node import Node
from sensor_msgs.msg import JointState

from dvrk_kinematics.driver import Reason, ResultCode
from dvrk_kinematics.driver.jaw import JawSettings
from dvrk_kinematics.models.urdf.describe_urdf import describe
from dvrk_kinematics.ros.bringup.processes import Process, command_line
from dvrk_kinematics.ros.client.calls import send_goal
from dvrk_kinematics.ros.common import qos
from dvrk_kinematics.ros.common.conversions import to_flat

TOL = 1e-6


@dataclass
class Lab:
    """A PSM whose yaw and jaw are shown against the controller, and what is shown of it."""

    client: BridgeClient
    shown: dict[str, float] = field(default_factory=dict)

    def hear(self, message: JointState) -> None:
        self.shown = dict(zip(message.name, message.position, strict=True))

    def wait_shown(self, joint: str, position: float) -> None:
        self.client.until(
            lambda: abs(self.shown.get(joint, np.inf) - position) < TOL,
            f"{joint} shown at {position}",
        )


@pytest.fixture(scope="module")
def lab(make_rig: Any, run: Any, node: Node, tmp_path_factory: pytest.TempPathFactory) -> Lab:
    file: Path = tmp_path_factory.mktemp("signs") / "psm.urdf"
    file.write_text(describe("PSM1"))
    signs = {"description": str(file), "description_signs": ["yaw", "jaw"]}
    lab = Lab(make_rig("signs", **signs).client)
    run(Process("trajectory_server", "signs", parameters={"arms": ["PSM1"]}))
    node.create_subscription(JointState, "signs/PSM1/joint_states", lab.hear, qos.STATE)
    lab.client.get_ready()
    lab.client.reach(HOME)
    return lab


def test_a_goal_moves_a_joint_to_where_it_is_then_shown(lab: Lab) -> None:
    client = lab.client
    goal = make_goal(client.joints, [1.0], [at(yaw=0.3)], path_tolerance=0.2, goal_tolerance=1e-3)
    response = client.follow(goal).result(TIMEOUT_S)
    assert response.status == SUCCEEDED, response
    client.wait_at("measured_js", at(yaw=-0.3), TOL)
    lab.wait_shown("yaw", 0.3)
    heard = client.feedback
    assert heard and all(list(one.joint_names) == client.joints for one in heard)
    desired = np.array([one.desired.positions[0] for one in heard])
    assert desired.max() > 0.1 and desired.min() > -TOL
    for one in heard:
        for quantity in ("positions", "velocities"):
            wanted, is_at, off = (
                np.array(getattr(point, quantity))
                for point in (one.desired, one.actual, one.error)
            )
            np.testing.assert_allclose(is_at - wanted, off, rtol=0.0, atol=1e-12)
    assert max(one.desired.velocities[0] for one in heard) > 0.1
    assert max(one.actual.velocities[0] for one in heard) > 0.1


def test_a_refusal_says_whose_numbers_it_names(lab: Lab) -> None:
    response = lab.client.go(at(yaw=1.7), 5.0).result(TIMEOUT_S)
    text = check_ended(response, Reason.GOAL_POSITION_LIMIT, ResultCode.INVALID_GOAL)
    assert "yaw = -1.7" in text and "counted as the controller does" in text


def test_whoever_speaks_the_controllers_language_says_so_by_the_names(lab: Lab) -> None:
    client = lab.client
    names = [f"controller/{name}" for name in client.joints]
    response = client.follow(make_goal(names, [1.0], [at(yaw=0.2)])).result(TIMEOUT_S)
    assert response.status == SUCCEEDED, response
    client.wait_at("measured_js", at(yaw=0.2), TOL)
    lab.wait_shown("yaw", -0.2)
    assert list(client.feedback[-1].joint_names) == names
    assert client.feedback[-1].actual.positions[0] > 0.0
    mixed = make_goal([*names[:3], *client.joints[3:]], [1.0], [HOME])
    response = client.follow(mixed).result(TIMEOUT_S)
    check_ended(response, Reason.WRONG_SHAPE, ResultCode.INVALID_JOINTS)


def test_a_jog_moves_a_joint_as_it_is_shown(lab: Lab, node: Node) -> None:
    lab.client.until(lambda: "yaw" in lab.shown, "joint_states")
    before = lab.shown["yaw"]
    jog = node.create_publisher(JointJog, "signs/bridge/PSM1/jog_joints", qos.COMMAND)

    def has_moved() -> bool:
        jog.publish(JointJog(joint_names=["yaw"], velocities=[0.2]))
        return abs(lab.shown["yaw"] - before) > 0.02

    lab.client.until(has_moved, "a jog")
    assert lab.shown["yaw"] > before


def test_the_jaw_opens_as_it_is_shown(lab: Lab) -> None:
    result = lab.client.grip(-0.4).result(TIMEOUT_S).result
    # The jaw counts as there once it is near enough, and goes on to where it was told.
    assert result.reached_goal and abs(result.state.position[0] + 0.4) <= JawSettings().tolerance
    lab.wait_shown("jaw", -0.4)


def test_the_trajectory_server_moves_the_arm_as_the_controller_counts(
    lab: Lab, node: Node
) -> None:
    client = ActionClient(node, Move, "signs/trajectory/PSM1/move")
    step = MotionStep(kind=MotionStep.MOVE_ABS_J, jp=to_flat(at(yaw=0.25, pitch=0.1)))
    response = send_goal(client, Move.Goal(steps=[step]), TIMEOUT_S).result(TIMEOUT_S)
    assert response.status == SUCCEEDED, response.result.message
    lab.client.wait_at("measured_js", at(yaw=0.25, pitch=0.1), TOL)
    lab.wait_shown("yaw", -0.25)


def test_a_person_at_the_terminal_moves_the_arm_as_the_controller_counts(lab: Lab) -> None:
    """Its kinematics are the controller's: joints that were turned would be another posture."""
    command = [*command_line(Process("arm")), "--namespace", "signs", "PSM1"]
    for words in (["go", "yaw=10deg"], ["go", "z+=-5mm"]):
        before = np.array(lab.client.arm.newest("measured_js").position)
        done = subprocess.run(
            [*command, *words], capture_output=True, text=True, timeout=TIMEOUT_S
        )
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        if words[1] == "yaw=10deg":
            lab.client.wait_at("measured_js", [np.radians(10.0), *before[1:]], 1e-3)
            lab.wait_shown("yaw", -np.radians(10.0))
    after = np.array(lab.client.arm.newest("setpoint_js").position)
    moved = lab.client.model.forward(after)[:3, 3] - lab.client.model.forward(before)[:3, 3]
    np.testing.assert_allclose(moved, [0.0, 0.0, -0.005], atol=1e-4)

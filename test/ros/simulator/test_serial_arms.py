"""Plain serial arms as a real process: enabled, homed, moved and served like any other arm."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from arm_client import ArmClient
from geometry_msgs.msg import PoseStamped
from rclpy.node import Node

from dvrk_kinematics import load_arm
from dvrk_kinematics.errors import UnknownName
from dvrk_kinematics.ros.bringup.processes import simulated_arms
from dvrk_kinematics.ros.common.conversions import pose_to_matrix
from dvrk_kinematics.ros.crtk.contract import CONTRACT, Kind, Rate, kind_of
from dvrk_kinematics.simulation import ArmSpec, SimulatedSystem

ARMS = ("RVM1", "CYBER310")


def test_every_topic_of_the_kind_is_in_the_tables_of_the_arm() -> None:
    topics = CONTRACT[Kind.ARM].topics
    for arm in SimulatedSystem([ArmSpec(name) for name in ARMS]).arms.values():
        assert arm.commands.keys() == {t.name for t in topics if t.rate is Rate.COMMAND}
        assert arm.readings.keys() == {t.name for t in topics if t.rate is Rate.STATE}
        for name in (*arm.commands, *arm.readings):
            assert hasattr(arm, name.replace("/", "_")), name


def test_the_kind_of_an_arm_is_what_its_model_says() -> None:
    assert [kind_of(name) for name in ("PSM2", "ECM", *ARMS)] == [
        Kind.PSM,
        Kind.ECM,
        Kind.ARM,
        Kind.ARM,
    ]
    assert kind_of("left", model="RVM1") is Kind.ARM
    with pytest.raises(UnknownName, match="MTML"):
        kind_of("MTML")


@pytest.fixture(scope="module")
def clients(run: Any, node: Node) -> dict[str, ArmClient]:
    run(simulated_arms(ARMS, rate=100.0))
    made = {name: ArmClient(node, name, durable=True) for name in ARMS}
    for client in made.values():
        client.hear("operating_state", "status", "warning", "error", "goal_reached")
        client.wait("operating_state", lambda c=client: c.heard["operating_state"])
        client.enable()
        client.home()
    return made


@pytest.fixture(params=ARMS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def client(name: str, clients: dict[str, ArmClient]) -> ArmClient:
    return clients[name]


def test_it_is_homed_where_its_model_says(name: str, client: ArmClient) -> None:
    arm = load_arm(name)
    message = client.newest("measured_js")
    assert tuple(message.name) == arm.joint_names
    np.testing.assert_allclose(message.position, arm.model.controller.home, atol=1e-12)
    client.check_stamps("measured_js")
    pose = client.newest("measured_cp")
    assert pose.header.frame_id == f"{name}_base"
    np.testing.assert_allclose(
        pose_to_matrix(pose.pose), arm.forward(message.position), atol=1e-12
    )


def test_it_moves_and_follows(client: ArmClient) -> None:
    goal = np.array(client.newest("measured_js").position) + 0.15
    assert client.move_joints("move_jp", goal)
    np.testing.assert_allclose(client.newest("measured_js").position, goal, atol=1e-9)
    client.send_joints("servo_jp", goal - 0.05)
    client.wait(
        "measured_js",
        lambda: np.allclose(client.heard["measured_js"][-1].position, goal - 0.05, atol=1e-9),
    )


def test_a_pose_out_of_reach_is_refused_and_nothing_moves(client: ArmClient) -> None:
    before = client.newest("measured_js").position
    far = PoseStamped()
    far.pose = client.newest("measured_cp").pose
    far.pose.position.x += 2.0
    client.send("servo_cp", far)
    client.wait("error", lambda: any("from the shoulder" in t for t in client.texts("error")))
    assert client.newest("measured_js").position == before
    assert client.state.state == "ENABLED"

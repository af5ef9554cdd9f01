"""Diagnostics: what a bridge says once a second, and that it tells of others in its place."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Any

import pytest
from bridge_client import BridgeClient
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import TransformStamped, TwistStamped
from rclpy.node import Node
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage

from dvrk_kinematics.driver import Reason
from dvrk_kinematics.ros.common import qos
from dvrk_kinematics.ros.common.stamps import stamp_to_ns

LINES = (
    *("connection", "control loop", "motion", "last stop"),
    *("other publishers", "dropped messages"),
)
SPACE = "told"


@pytest.fixture(scope="module")
def client(make_rig: Any) -> BridgeClient:
    made = make_rig(SPACE).client
    made.get_ready()
    return made


def _values(status: Any) -> dict[str, str]:
    return {value.key: value.value for value in status.values}


def test_every_line_comes_once_a_second(client: BridgeClient, node: Node) -> None:
    heard: list[Any] = []
    node.create_subscription(DiagnosticArray, f"{SPACE}/diagnostics", heard.append, 10)
    client.until(lambda: len(heard) >= 5, "diagnostics")
    for message in heard:
        names = [status.name for status in message.status]
        assert names == [f"{SPACE}/arm_bridge: PSM1 {line}" for line in LINES]
        assert {status.hardware_id for status in message.status} == {"PSM1"}
    stamps = [stamp_to_ns(message.header.stamp) * 1e-9 for message in heard]
    gaps = [b - a for a, b in pairwise(stamps)]
    # A busy machine can leave a turn out, and not all of them.
    assert sum(gaps) / len(gaps) > 0.7 and min(gaps) < 1.5, gaps


def test_the_connection_says_who_and_how_fresh(client: BridgeClient) -> None:
    status = client.wait_diagnosed("connection", state="ENABLED", enabled_here="True")
    values = _values(status)
    assert values["publisher"] == f"/{SPACE}/dvrk" and values["hardware"] == "simulated"
    assert values["is_homed"] == "True" and values["is_busy"] == "False"
    assert values["tool"] == "LARGE_NEEDLE_DRIVER:400006[..]"
    assert 0.0 <= float(values["state_age_s"]) < 60.0

    def is_fresh() -> bool:
        said = _values(client.wait_diagnosed("connection"))
        assert float(said["state_rate_hz"]) < 300.0, said
        return float(said["state_rate_hz"]) > 10.0 and float(said["state_age_s"]) < 1.0

    client.until(is_fresh, "states at their rate")


def test_the_control_loop_says_how_steady_it_is(client: BridgeClient) -> None:
    values = _values(client.wait_diagnosed("control loop", rate_hz="200"))
    assert int(values["ticks"]) > 100 and int(values["missed_ticks"]) >= 0
    assert 0.004 < float(values["period_p50_s"]) <= float(values["period_p99_s"])
    assert float(values["period_p99_s"]) <= float(values["period_max_s"])


def test_motion_says_how_near_the_limits_are(client: BridgeClient) -> None:
    values = _values(client.wait_diagnosed("motion"))
    assert float(values["tracking_error"]) < 1e-6 and float(values["limit_margin"]) > 0.05
    assert values["tracking_error_joint"] in client.joints
    client.go([0.0, 0.0, 0.12, 0.0, 0.0, 1.39], 1.0).result(40.0)
    status = client.wait_diagnosed(
        "motion", "wrist_yaw is near a limit", limit_margin_joint="wrist_yaw"
    )
    assert status.level == DiagnosticStatus.WARN


def test_the_last_refusal_is_told(client: BridgeClient) -> None:
    client.go([9.0, 0.0, 0.12, 0.0, 0.0, 0.0], 1.0).result(40.0)
    values = _values(client.wait_diagnosed("last stop", refusal="GOAL_POSITION_LIMIT"))
    assert values["refused"].startswith(Reason.GOAL_POSITION_LIMIT.value)
    assert 0.0 <= float(values["refusal_age_s"]) < 60.0


def test_nobody_else_publishes_until_somebody_does(client: BridgeClient, node: Node) -> None:
    client.wait_diagnosed("other publishers", "none")
    stranger = node.create_publisher(JointState, f"{SPACE}/PSM1/joint_states", qos.STATE)
    client.until(lambda: _others(client).get("PSM1/joint_states") == "/client", "the stranger")
    assert client.wait_diagnosed("other publishers").level == DiagnosticStatus.WARN
    node.executor.create_task(node.destroy_publisher, stranger)
    client.until(lambda: "PSM1/joint_states" not in _others(client), "nobody else any more")


def test_a_link_of_ours_that_somebody_else_moves_is_told(client: BridgeClient, node: Node) -> None:
    publisher = node.create_publisher(TFMessage, "/tf", qos.TF)

    def speak() -> None:
        message = TransformStamped(child_frame_id="PSM1_yaw_link")
        message.header.frame_id = "PSM1_base"
        message.header.stamp.sec = int(time.time())
        message.transform.rotation.w = 1.0
        publisher.publish(TFMessage(transforms=[message]))

    timer = node.create_timer(0.3, speak)
    client.until(lambda: _others(client).get("frames") == "PSM1_yaw_link", "the frame")
    node.executor.create_task(node.destroy_timer, timer)
    node.executor.create_task(node.destroy_publisher, publisher)
    client.until(lambda: "frames" not in _others(client), "our frames are ours again")


def test_what_could_not_be_read_is_counted_by_topic(client: BridgeClient, node: Node) -> None:
    client.wait_diagnosed("dropped messages", "none")
    publisher = node.create_publisher(TwistStamped, f"{SPACE}/bridge/PSM1/jog", qos.COMMAND)
    client.until(publisher.get_subscription_count, "the bridge")
    publisher.publish(serialize_message(TwistStamped())[:9])
    status = client.wait_diagnosed("dropped messages", **{"bridge/PSM1/jog": "1"})
    assert status.level in (DiagnosticStatus.WARN, DiagnosticStatus.OK)
    client.wait_diagnosed("dropped messages", "1 so far")


def test_an_arm_that_falls_silent_is_told(client: BridgeClient) -> None:
    client.fault("dropped_state")
    status = client.wait_diagnosed("connection", "no state arrives any more")
    assert status.level == DiagnosticStatus.ERROR
    client.fault("clear")
    client.wait_diagnosed("connection", "ENABLED")


def _others(client: BridgeClient) -> dict[str, str]:
    return _values(client.wait_diagnosed("other publishers"))

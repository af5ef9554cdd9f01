"""The speed of a motion, set by anybody while it moves."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from bridge_client import BridgeClient
from control_msgs.msg import JointJog, SpeedScalingFactor
from joint_goals import HOME, SUCCEEDED, TIMEOUT_S, at, check_ended, make_goal
from rclpy.node import Node

from dvrk_kinematics.driver import Reason, ResultCode
from dvrk_kinematics.ros.common import qos


class Slider:
    """Sets the speed, and hears what is played."""

    def __init__(self, node: Node, namespace: str) -> None:
        start = f"{namespace}/bridge/PSM1"
        self._publisher = node.create_publisher(
            SpeedScalingFactor, f"{start}/speed_scaling_input", qos.SPEED_SCALING
        )
        self.heard: list[float] = []
        node.create_subscription(
            SpeedScalingFactor,
            f"{start}/speed_scaling",
            lambda message: self.heard.append(message.factor),
            qos.SPEED_SCALING,
        )

    def set(self, factor: float) -> None:
        self._publisher.publish(SpeedScalingFactor(factor=factor))

    def wait(self, client: BridgeClient, factor: float) -> None:
        client.until(lambda: self.heard[-1:] == [factor], f"speed {factor}, heard {self.heard}")


@pytest.fixture(scope="module")
def slider(node: Node) -> Slider:
    """Speaks before there is a bridge: the factor waits for it."""
    slider = Slider(node, "speed")
    slider.set(0.25)
    return slider


@pytest.fixture(scope="module")
def rig(slider: Slider, make_rig: Any) -> Any:
    return make_rig("speed")


@pytest.fixture
def client(rig: Any) -> Any:
    """An arm at home; whatever the test does, its commands are checked."""
    rig.client.get_ready()
    rig.client.reach(HOME)
    yield rig.client
    rig.client.commands.check()


def test_a_factor_that_was_set_before_the_bridge_began_counts(
    client: BridgeClient, slider: Slider
) -> None:
    slider.wait(client, 0.25)
    goal = client.go(at(yaw=0.2), 1.0)
    response = goal.result(TIMEOUT_S)
    assert response.status == SUCCEEDED
    stamps = client.commands.stamps_ns()[-100:]
    assert response.result.error_string.startswith("goal reached")
    assert len(stamps) == 100
    slider.set(1.0)
    slider.wait(client, 1.0)


def test_a_motion_is_slowed_paused_and_goes_on(client: BridgeClient, slider: Slider) -> None:
    slider.set(1.0)
    slider.wait(client, 1.0)
    before = client.commands.mark()
    goal = client.go(at(yaw=0.5), 2.0)
    client.wait_moving(0.3, before=before)
    slider.set(0.5)
    slider.wait(client, 0.5)
    client.wait_diagnosed("motion", "50%", speed_scaling_input="0.5")
    slider.set(0.0)
    slider.wait(client, 0.0)
    client.wait_diagnosed("motion", "paused", speed_scaling="0")
    where = client.commands.newest()
    assert 0.0 < where[0] < 0.5
    client.wait_moving(0.2)
    np.testing.assert_array_equal(client.commands.newest(), where)
    assert not goal.wait(0.0)
    slider.set(1.0)
    assert goal.result(TIMEOUT_S).status == SUCCEEDED
    client.wait_at("measured_js", at(yaw=0.5), 1e-6)


@pytest.mark.parametrize("factor", [float("nan"), -0.1, 1.5, float("inf")])
def test_a_factor_outside_of_0_to_1_changes_nothing(
    client: BridgeClient, slider: Slider, factor: float
) -> None:
    slider.set(1.0)
    slider.wait(client, 1.0)
    slider.set(factor)
    client.reach(at(yaw=0.1))
    client.wait_diagnosed("motion", speed_scaling_input="1")


def test_some_parameters_are_changed_at_rest_and_refused_while_it_moves(
    client: BridgeClient, slider: Slider
) -> None:
    slider.set(1.0)
    slider.wait(client, 1.0)
    client.reach(at(yaw=0.2))
    before = client.commands.mark()
    goal = client.go(HOME, 2.0)
    client.wait_moving(0.2, before=before)
    why = "velocity_scale: can be changed at rest only; something moves"
    assert client.set_parameter("velocity_scale", 0.1) == why
    assert goal.result(TIMEOUT_S).status == SUCCEEDED
    assert client.get_parameters("velocity_scale") == [1.0]
    # A whole number stands for a float, as at the start.
    assert client.set_parameter("home_timeout", 30) == ""
    assert client.set_parameter("velocity_scale", 0.0) != ""
    assert client.set_parameter("velocity_scale", 0.05) == ""
    begin = time.monotonic()
    client.reach(at(yaw=0.2))
    # A twentieth of what the joint can do: the 0.3 s that were asked for become seconds.
    assert time.monotonic() - begin > 1.5
    assert client.set_parameter("velocity_scale", 1.0) == ""
    client.reach(HOME)
    assert "read-only" in client.set_parameter("max_age", 0.5)


def test_how_far_away_a_first_point_may_be_is_changed_at_rest(client: BridgeClient) -> None:
    near = make_goal(client.joints, [0.0, 1.0], [at(yaw=0.005), at(yaw=0.1)])
    assert client.set_parameter("start_tolerance", 0.001) == ""
    refused = client.follow(near).result(TIMEOUT_S)
    check_ended(refused, Reason.START_TOO_FAR, ResultCode.INVALID_GOAL)
    assert client.set_parameter("start_tolerance", 0.01) == ""
    assert client.follow(near).result(TIMEOUT_S).status == SUCCEEDED


def test_how_long_a_jog_goes_on_without_commands_is_changed_at_rest(
    client: BridgeClient, slider: Slider, node: Node
) -> None:
    slider.set(1.0)
    slider.wait(client, 1.0)
    publisher = node.create_publisher(JointJog, "speed/bridge/PSM1/jog_joints", qos.COMMAND)
    client.until(publisher.get_subscription_count, "a bridge that hears jogs")
    assert client.set_parameter("jog_timeout", 1.0) == ""
    before = client.commands.mark()
    publisher.publish(JointJog(joint_names=["roll"], velocities=[0.1]))
    client.wait_moving(0.1, before=before)
    client.wait_stop(Reason.JOG_TIMEOUT)
    stamps = client.commands.stamps_ns(before)
    assert (stamps[-1] - stamps[0]) * 1e-9 > 0.9, "longer than the 0.2 s of before"
    assert client.set_parameter("jog_timeout", 0.2) == ""
    assert client.set_parameter("jog_timeout", 5.0) != ""

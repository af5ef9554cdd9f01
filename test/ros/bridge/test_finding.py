"""A bridge whose arm is not there yet: what is asked of it waits, and is done in the end."""

from __future__ import annotations

import threading
from typing import Any

from bridge_client import BridgeClient, bridge_of
from joint_goals import SUCCEEDED, TIMEOUT_S, at, check_ended
from rclpy.action.client import GoalStatus
from rclpy.node import Node

from dvrk_kinematics.driver import Reason, ResultCode
from dvrk_kinematics.ros.bringup.processes import simulated_arms


def test_what_comes_before_its_arm_waits_for_it_and_is_done_in_order(
    run_alone: Any, node: Node
) -> None:
    bridge = run_alone(bridge_of("finding"))
    client = BridgeClient(node, "PSM1", "finding")
    client.until(lambda: client.commands.is_connected, "the bridge")
    cancelled = client.go(at(yaw=0.5), 1.0)
    cancelled.cancel(TIMEOUT_S)
    response = cancelled.result(TIMEOUT_S)
    assert response.status == GoalStatus.STATUS_CANCELED
    assert response.result.error_string.startswith("cancelled: before it began")
    held, held_jaw = client.go(at(yaw=0.5), 1.0), client.grip(0.3)
    client.do("hold")
    check_ended(held.result(TIMEOUT_S), Reason.HOLD_REQUESTED, ResultCode.INVALID_GOAL)
    assert not held_jaw.result(TIMEOUT_S).result.reached_goal
    assert "nobody publishes PSM1/measured_js" in client.trigger("disable").message

    answers: dict[str, Any] = {}
    waiting = [
        threading.Thread(target=lambda n=name: answers.update({n: client.trigger(n)}))
        for name in ("enable", "home")
    ]
    waiting[0].start()
    told = "enable waits for PSM1: state is stale: nobody publishes PSM1/measured_js"
    client.until(lambda: told in bridge.output, told)
    waiting[1].start()
    goal, grip = client.go(at(yaw=0.1), 0.5), client.grip(0.3)
    for name in ("home", "follow_joint_trajectory", "gripper_cmd"):
        client.until(lambda n=name: f"{n} waits for PSM1" in bridge.output, f"the line of {name}")
    assert client.commands.is_silent() and not answers
    run_alone(simulated_arms(["PSM1"], "finding"))
    for thread in waiting:
        thread.join(TIMEOUT_S)
    assert {name: answer.message for name, answer in answers.items()} == {
        "enable": "ENABLED, not homed: call home next",
        "home": "homed",
    }
    assert goal.result(TIMEOUT_S).status == SUCCEEDED
    assert grip.result(TIMEOUT_S).result.reached_goal
    assert client.commands.words() == ["enable", "home"]
    assert bridge.output.count("this bridge waits for PSM1") == 1


def test_goals_that_wait_for_an_arm_are_told_when_the_bridge_ends(
    run_alone: Any, node: Node
) -> None:
    bridge = run_alone(bridge_of("lonely"))
    client = BridgeClient(node, "PSM1", "lonely")
    client.until(lambda: client.commands.is_connected, "the bridge")
    goal = client.go(at(yaw=0.1), 0.5)
    bridge.end()
    check_ended(goal.result(TIMEOUT_S), Reason.HOLD_REQUESTED, ResultCode.INVALID_GOAL)

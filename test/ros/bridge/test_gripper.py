"""The jaw over its action: opens, closes on nothing or something, and is told what it may not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from bridge_client import BridgeClient
from command_log import PERIOD_S, SLACK
from joint_goals import ABORTED, CANCELED, HOME, SUCCEEDED, TIMEOUT_S, at

from dvrk_kinematics.driver import Reason
from dvrk_kinematics.ros.client.calls import SentGoal

TOLERANCE = 0.02


@pytest.fixture(scope="module")
def ready(make_rig: Any) -> BridgeClient:
    client: BridgeClient = make_rig("gripper").client
    client.get_ready()
    return client


@pytest.fixture(scope="module")
def slow_ready(make_rig: Any) -> BridgeClient:
    # A motion takes some seconds: time for what must happen on its way.
    client: BridgeClient = make_rig("slow_gripper", acceleration_scale=0.01).client
    client.get_ready()
    return client


@pytest.fixture
def client(ready: BridgeClient) -> Any:
    """An arm with an open jaw; whatever the test does, what the jaw was told is checked."""
    yield from set_jaw(ready, 0.5)


@pytest.fixture
def slow(slow_ready: BridgeClient) -> Any:
    """The same with a jaw that moves slowly, and is closed."""
    yield from set_jaw(slow_ready, 0.0)


def set_jaw(client: BridgeClient, opening: float) -> Iterator[BridgeClient]:
    """Open the jaw as far as said, and check afterwards what it was told."""
    response = client.grip(opening).result(TIMEOUT_S)
    assert response.status == SUCCEEDED, response
    before = client.commands.mark("jaw/servo_jp")
    yield client
    check_jaw(client, before)
    client.commands.check()


def start_pressing(client: BridgeClient) -> SentGoal:
    """Press the jaw together, and wait until it is on its way."""
    before = client.commands.mark("jaw/servo_jp")
    goal = client.grip(-0.6)
    client.until(lambda: client.commands.count("jaw/servo_jp") > before + 5, "the jaw")
    return goal


def check_jaw(client: BridgeClient, since: int) -> None:
    """Every setpoint inside the limits, and no step faster than the jaw may be."""
    jaw = client.model.jaw
    assert jaw is not None
    sent = client.commands.jaw_setpoints(since)
    assert np.isfinite(sent).all()
    assert (sent >= jaw.lower - 1e-9).all() and (sent <= jaw.upper + 1e-9).all()
    # A message may be lost on the way to us, and a tick that was late takes a longer step.
    elapsed = np.diff(client.commands.jaw_stamps_ns(since)) * 1e-9
    elapsed[1:] += elapsed[:-1].copy()
    allowed_s = np.maximum(2.0 * PERIOD_S, elapsed)
    steps = np.abs(np.diff(sent))
    assert (steps <= 2.0 * allowed_s * jaw.velocity + SLACK).all(), steps.max()


@pytest.mark.parametrize("position", [1.2, 0.0, -0.3])
def test_the_jaw_opens_and_closes(client: BridgeClient, position: float) -> None:
    with client.commands.silence("servo_jp"):
        response = client.grip(position).result(TIMEOUT_S)
    assert response.status == SUCCEEDED
    assert response.result.reached_goal and not response.result.stalled
    assert list(response.result.state.name) == ["jaw"]
    assert abs(response.result.state.position[0] - position) <= TOLERANCE
    measured = client.arm.newest("jaw/measured_js").position[0]
    assert abs(measured - position) <= TOLERANCE


@pytest.mark.parametrize(
    ("position", "fields", "reason"),
    [
        (1.5, {}, Reason.GOAL_POSITION_LIMIT),
        (-0.8, {}, Reason.GOAL_POSITION_LIMIT),
        (float("nan"), {}, Reason.NOT_FINITE_GOAL),
        (0.0, {"name": ["elbow"]}, Reason.WRONG_SHAPE),
        (0.0, {"position": []}, Reason.WRONG_SHAPE),
        (0.0, {"position": [0.1, 0.2]}, Reason.WRONG_SHAPE),
        (0.0, {"effort": [0.1]}, Reason.WRONG_SHAPE),
        (0.0, {"velocity": [0.1]}, Reason.WRONG_SHAPE),
    ],
)
def test_an_opening_that_makes_no_sense_is_refused(
    client: BridgeClient, position: float, fields: dict[str, Any], reason: Reason
) -> None:
    with client.commands.silence():
        response = client.grip(position, **fields).result(TIMEOUT_S)
    assert response.status == ABORTED
    assert not response.result.reached_goal and not response.result.stalled
    if fields == {}:
        client.wait_diagnosed("last stop", refusal=reason.name)


def test_a_jaw_that_closes_on_something_is_told_to_be_stalled(client: BridgeClient) -> None:
    client.fault("stalled_joint", fault_joint="jaw")
    response = client.grip(0.2).result(TIMEOUT_S)
    client.fault("clear")
    assert response.status == SUCCEEDED
    assert response.result.stalled and not response.result.reached_goal
    assert abs(response.result.state.position[0] - 0.5) <= TOLERANCE


def test_a_cancelled_jaw_stops_on_its_way(slow: BridgeClient) -> None:
    goal = start_pressing(slow)
    assert goal.cancel(TIMEOUT_S)
    response = goal.result(TIMEOUT_S)
    assert response.status == CANCELED
    assert not response.result.reached_goal
    assert -0.6 < slow.commands.jaw_setpoints()[-1] < 0.0


def test_hold_stops_the_jaw_too(slow: BridgeClient) -> None:
    goal = start_pressing(slow)
    assert slow.trigger("hold").message == "stopped"
    response = goal.result(TIMEOUT_S)
    assert response.status == ABORTED
    assert slow.commands.jaw_setpoints()[-1] > -0.6


def test_a_new_opening_takes_the_place_of_the_last(slow: BridgeClient) -> None:
    first = start_pressing(slow)
    second = slow.grip(0.0)
    assert first.result(TIMEOUT_S).status == ABORTED
    response = second.result(TIMEOUT_S)
    assert response.status == SUCCEEDED and response.result.reached_goal


def test_the_jaw_moves_while_the_arm_does(client: BridgeClient) -> None:
    client.reach(HOME)
    before = client.commands.mark()
    moving = client.go(at(yaw=0.6), 2.0)
    client.wait_moving(before=before)
    response = client.grip(1.0).result(TIMEOUT_S)
    assert response.status == SUCCEEDED and response.result.reached_goal
    arrived = moving.result(TIMEOUT_S)
    assert arrived.status == SUCCEEDED, arrived


def test_a_fault_of_the_arm_ends_the_jaws_goal(slow: BridgeClient) -> None:
    slow.fault("stalled_joint", fault_joint="jaw")
    goal = start_pressing(slow)
    slow.do("disable")
    response = goal.result(TIMEOUT_S)
    assert response.status == ABORTED and not response.result.reached_goal
    slow.fault("clear")
    slow.get_ready()


def test_a_hold_right_after_a_goal_means_that_goal(slow: BridgeClient) -> None:
    """It may overtake the goal, which passes another thread before the control loop sees it."""
    for _ in range(10):
        goal = slow.grip(-0.6)
        slow.do("hold")
        response = goal.result(TIMEOUT_S)
        assert response.status == ABORTED and not response.result.reached_goal
    assert slow.commands.jaw_setpoints()[-1] > -0.6

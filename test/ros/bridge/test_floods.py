"""Many requests and goals at once: those that stop an arm are all answered, and memory stays."""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any

import pytest
from bridge_client import BridgeClient
from joint_goals import make_goal
from rclpy.node import Node
from std_srvs.srv import Trigger

from dvrk_kinematics.ros.common import qos

SPACE = "floods"
TIMEOUT_S = 60.0
CALLS = 50
SERVICES = ("enable", "home", "hold", "pause", "resume", "disable")
GOALS, POINTS = 150, 1000
MOST_MB = 40.0
"""Kept for as long as their results, so many goals of so many points took 50 MB."""


@pytest.fixture(scope="module")
def rig(make_rig: Any) -> Any:
    made = make_rig(SPACE)
    made.client.get_ready()
    return made


def test_every_request_is_answered_however_many_come_at_once(rig: Any, node: Node) -> None:
    client: BridgeClient = rig.client
    # A client that keeps ten answers only may lose some of them while it has no time to read.
    clients = {
        name: node.create_client(Trigger, f"{SPACE}/bridge/PSM1/{name}", qos_profile=qos.TRIGGER)
        for name in SERVICES
    }
    assert all(one.wait_for_service(TIMEOUT_S) for one in clients.values())
    answered: Counter[str] = Counter()
    is_done = threading.Event()

    def count(name: str) -> None:
        answered[name] += 1
        if answered.total() == CALLS * len(SERVICES):
            is_done.set()

    for _ in range(CALLS):
        for name, one in clients.items():
            future = one.call_async(Trigger.Request())
            future.add_done_callback(lambda _, name=name: count(name))
    assert is_done.wait(TIMEOUT_S), answered
    client.get_ready()


def test_goals_that_were_refused_leave_no_memory_behind(rig: Any) -> None:
    client: BridgeClient = rig.client
    far = [9.0, 0.0, 0.12, 0.0, 0.0, 0.0]
    goal = make_goal(client.joints, [0.1 * (k + 1) for k in range(POINTS)], [far] * POINTS)
    client.follow(goal).result(TIMEOUT_S)
    before = rig.bridge.memory_bytes
    for _ in range(GOALS):
        result = client.follow(goal).result(TIMEOUT_S).result
        assert "leaves the joint limits" in result.error_string, result
    grown = (rig.bridge.memory_bytes - before) * 1e-6
    assert grown < MOST_MB, f"{grown:.0f} MB"

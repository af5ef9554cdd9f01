"""An arm whose publisher is late, with the limits as shipped: slow, never stopped."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bridge_client import BridgeClient
from joint_goals import HOME, SUCCEEDED, TIMEOUT_S, at

from dvrk_kinematics.driver.playback.goal_result import read_slow_downs

GOALS = 8
PATIENCE_S = 60.0
"""Longer than shipped, since a busy machine may need it; ages and gaps are as shipped."""


@pytest.fixture(scope="module")
def client(make_rig: Any) -> BridgeClient:
    client: BridgeClient = make_rig("late", patience=PATIENCE_S).client
    client.get_ready()
    return client


def test_goals_are_reached_though_the_publisher_has_gaps(client: BridgeClient) -> None:
    """Bursts, gaps of up to 120 ms and pauses, as recorded of a loaded dvrk_system."""
    rng = np.random.default_rng(3)
    client.fault("late_publisher")
    slowed = 0
    for _ in range(GOALS):
        q = at(yaw=rng.uniform(-0.4, 0.4), pitch=rng.uniform(-0.3, 0.3), roll=rng.uniform(-1, 1))
        response = client.go(q, float(rng.uniform(0.5, 1.5))).result(TIMEOUT_S)
        assert response.status == SUCCEEDED, response
        slowed += read_slow_downs(response.result.error_string)
    client.fault("clear")
    assert slowed > 0, "no gap was long enough to slow a motion"
    report = client.wait_diagnosed("motion")
    values = {value.key: value.value for value in report.values}
    assert int(values["slow_downs"]) >= slowed
    client.commands.check()


def test_an_arm_that_pauses_for_a_moment_is_waited_for(client: BridgeClient) -> None:
    client.reach(HOME)
    before = client.commands.mark()
    goal = client.go(at(yaw=0.3), 3.0)
    client.wait_moving(0.3, before=before)
    client.fault("dropped_state")
    client.wait_diagnosed("motion", "late")
    client.fault("clear")
    response = goal.result(TIMEOUT_S)
    assert response.status == SUCCEEDED, response
    assert read_slow_downs(response.result.error_string) >= 1
    client.wait_at("measured_js", at(yaw=0.3), 1e-6)
    client.commands.check()

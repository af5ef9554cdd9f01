"""A thousand goals, each replaced at a random moment: nothing jumps, nothing is left behind."""

from __future__ import annotations

import threading
import time
from collections import Counter
from typing import Any

import numpy as np
import pytest
from bridge_client import BridgeClient
from joint_goals import HOME, PSM_JOINTS, SUCCEEDED, TIMEOUT_S, make_goal

from dvrk_kinematics.driver import Reason

GOALS = 1000
SEED = 20261116
LONGEST_S = 0.03
KEPT_BYTES = 15e6
"""Memory that a bridge may hold more after a thousand goals.

Results can be asked for during a minute, so each goal is kept as long: its message, handle and
future, a few kB together, so some MB for all. Three times that leaves room for the allocator; ten
thousand points that stayed behind with each goal would be a hundred times as much.
"""


class Sender:
    """Sends goals without waiting for their end, and keeps what became of each.

    A service's queue holds ten requests: not more than a few are on their way at a time. They are
    sent by the thread that spins the node, as rclpy needs it.
    """

    def __init__(self, client: BridgeClient) -> None:
        self._client = client
        self._on_their_way = threading.Semaphore(5)
        self.results: list[Any] = []

    def send(self, goal: Any) -> None:
        assert self._on_their_way.acquire(timeout=TIMEOUT_S), len(self.results)
        self._client.send_soon(goal, self._accepted)

    def _accepted(self, future: Any) -> None:
        handle = future.result()
        assert handle.accepted
        handle.get_result_async().add_done_callback(self._ended)
        self._on_their_way.release()

    def _ended(self, future: Any) -> None:
        self.results.append(future.result())


def random_goal(rng: np.random.Generator) -> Any:
    """One to three points inside a part of the workspace, with times that may be too short."""
    low = np.array([-0.8, -0.6, 0.06, -1.0, -0.8, -0.8])
    high = np.array([0.8, 0.6, 0.2, 1.0, 0.8, 0.8])
    count = int(rng.integers(1, 4))
    q = rng.uniform(low, high, (count, 6))
    # Points after the first are near it, so that most goals can be played in their time.
    q[1:] = q[0] + 0.02 * (q[1:] - q[0])
    times = np.cumsum(rng.uniform(0.05, 0.6, count))
    return make_goal(PSM_JOINTS, times, q, np.zeros_like(q))


@pytest.fixture(scope="module")
def rig(make_rig: Any) -> Any:
    rig = make_rig("replacing")
    rig.client.get_ready()
    return rig


def test_a_thousand_goals_replace_each_other_at_random_moments(rig: Any) -> None:
    client: BridgeClient = rig.client
    client.reach(HOME)
    rng = np.random.default_rng(SEED)
    before, sender = rig.bridge.memory_bytes, Sender(client)
    for _ in range(GOALS):
        sender.send(random_goal(rng))
        time.sleep(rng.uniform(0.0, LONGEST_S))
    client.until(lambda: len(sender.results) == GOALS, f"results, {len(sender.results)} came")
    reasons = Counter(_reason(result) for result in sender.results)
    assert reasons[Reason.REPLACED] > 0.5 * GOALS, reasons
    assert reasons.keys() <= {
        Reason.REPLACED,
        Reason.REACHED,
        Reason.GOAL_VELOCITY_LIMIT,
        Reason.GOAL_ACCELERATION_LIMIT,
        Reason.GOAL_POSITION_LIMIT,
    }, reasons
    assert sum(result.status == SUCCEEDED for result in sender.results) == reasons[Reason.REACHED]
    assert client.commands.mark() > GOALS
    client.commands.check()
    assert rig.bridge.memory_bytes - before < KEPT_BYTES
    assert client.arm.state.state == "ENABLED"
    client.reach(HOME)


def _reason(result: Any) -> Reason:
    """The reason that a result's text begins with."""
    text = result.result.error_string
    found = [reason for reason in Reason if text.startswith(reason.value)]
    assert found, text
    return max(found, key=lambda reason: len(reason.value))


def test_goals_from_two_clients_replace_each_other(rig: Any, spinning: Any) -> None:
    first: BridgeClient = rig.client
    second = BridgeClient(spinning("second"), "PSM1", "replacing")
    second.reach(HOME)
    before = first.commands.mark()
    played = first.go(HOME + 0.3 * np.eye(6)[0], 10.0)
    first.wait_moving(before=before)
    response = second.go(HOME, 0.5).result(TIMEOUT_S)
    assert response.status == SUCCEEDED, response
    assert _reason(played.result(TIMEOUT_S)) is Reason.REPLACED
    first.commands.check()

"""A new subscriber gets the next state, and nothing is made where nobody listens."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState

from dvrk_kinematics.ros.crtk.contract import CONTRACT, Kind
from dvrk_kinematics.ros.simulator.stamps import DatumStamps, random_of
from dvrk_kinematics.ros.simulator.state_publishers import StateGate, StatePublishers
from dvrk_kinematics.simulation import ClockReadings, JointReading

pytestmark = pytest.mark.ros

TIMEOUT_S = 30.0
TOPIC = "arm/measured_js"


class Listener:
    """A subscriber that tells when it has found a publisher, and what it heard."""

    def __init__(self, node: Node) -> None:
        self.is_matched, self.has_heard = threading.Event(), threading.Event()
        self.heard: list[float] = []
        matched = SubscriptionEventCallbacks(matched=lambda _: self.is_matched.set())
        node.create_subscription(
            JointState, TOPIC, self._hear, QoSProfile(depth=10), event_callbacks=matched
        )

    def _hear(self, message: Any) -> None:
        self.heard.append(message.position[0])
        self.has_heard.set()


class Cycles:
    """One topic of an arm whose cycles the test makes by hand; its only joint counts them."""

    def __init__(self, node: Node) -> None:
        self.number = 0
        self.read = 0
        topics = [CONTRACT[Kind.PSM].topic("measured_js")]
        self.states = StatePublishers(
            node, topics, "arm/", {"measured_js": self.measured_js}, StateGate()
        )
        readings = ClockReadings(random_of(1, "readings"))
        self._stamps = DatumStamps(time.time_ns, readings)
        (self._publisher,) = [p for p in node.publishers if p.topic_name == f"/{TOPIC}"]

    def measured_js(self) -> JointReading:
        """The number of the cycle; counts how often it is read."""
        self.read += 1
        none = np.empty(0)
        return JointReading(("joint",), np.array([float(self.number)]), none, none, True)

    def turn(self) -> None:
        """Make a cycle."""
        self.number += 1
        now_ns = time.monotonic_ns()
        self._stamps.begin(now_ns)
        self.states.publish(self._stamps, now_ns)

    def await_listeners(self, number: int) -> None:
        """Wait until the publisher has found so many subscribers."""
        deadline = time.monotonic() + TIMEOUT_S
        while self._publisher.get_subscription_count() != number:
            assert time.monotonic() < deadline
            time.sleep(0.001)


@pytest.fixture
def cycles(spinning: Callable[..., Node]) -> Iterator[Cycles]:
    made = Cycles(spinning("arms"))
    yield made
    made.states.close()


def test_the_first_state_after_a_subscriber_was_found_reaches_it(
    cycles: Cycles, spinning: Callable[..., Node]
) -> None:
    client = spinning("client")
    for _ in range(3):
        cycles.turn()
    assert cycles.read == 0
    for number in range(1, 4):
        listener = Listener(client)
        assert listener.is_matched.wait(TIMEOUT_S)
        cycles.await_listeners(number)
        cycles.turn()
        assert listener.has_heard.wait(TIMEOUT_S)
        assert listener.heard == [cycles.number]
    assert cycles.read == 3

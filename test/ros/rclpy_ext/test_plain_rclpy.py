"""What rclpy does by itself, which ``ros/rclpy_ext`` works around.

If one of these fails, rclpy has changed, and the workaround whose docstring names it may go.
"""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from action_msgs.msg import GoalStatusArray
from control_msgs.action import FollowJointTrajectory
from rcl_interfaces.msg import Parameter as ParameterMessage
from rcl_interfaces.msg import ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.action import ActionClient
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rclpy.serialization import serialize_message
from rclpy.task import Future
from rclpy.waitable import NumberOfEntities, Waitable
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from dvrk_kinematics.ros.common import qos
from dvrk_kinematics.ros.rclpy_ext.patched_message import PatchedMessage
from dvrk_kinematics.ros.rclpy_ext.server_watch import ServerWatch
from dvrk_kinematics.ros.rclpy_ext.steady_timer import create_steady_timer

TIMEOUT_S = 30.0
ANY_DEPTH = QoSProfile(depth=10)


class Plain:
    """A node with rclpy's own executor, spun by the test itself."""

    def __init__(self, context: Context) -> None:
        self.node = Node("plain", context=context)
        self.executor = SingleThreadedExecutor(context=context)
        self.executor.add_node(self.node)

    def spin_until(self, is_so: Callable[[], bool]) -> None:
        """Spin until something is so, or a callback raises."""
        deadline = time.monotonic() + TIMEOUT_S
        while not is_so():
            assert time.monotonic() < deadline
            self.executor.spin_once(timeout_sec=0.1)


class Counter(Waitable):
    """Waits for nothing, and counts how often it is asked to wait."""

    def __init__(self) -> None:
        super().__init__(ReentrantCallbackGroup())
        self.count = 0

    def is_ready(self, wait_set: Any) -> bool:
        return False

    def take_data(self) -> None:
        return None

    async def execute(self, taken_data: None) -> None:
        return None

    def get_num_entities(self) -> NumberOfEntities:
        return NumberOfEntities(0, 0, 0, 0, 0)

    def add_to_wait_set(self, wait_set: Any) -> None:
        self.count += 1

    def wait_settled(self) -> None:
        """Wait until the executor waits, and has been waiting for a while."""
        deadline, since, count = time.monotonic() + TIMEOUT_S, time.monotonic(), self.count
        while self.count == 0 or time.monotonic() - since < 0.5:
            assert time.monotonic() < deadline
            time.sleep(0.02)
            if self.count != count:
                since, count = time.monotonic(), self.count


@pytest.fixture
def plain(context: Context) -> Iterator[Plain]:
    made = Plain(context)
    yield made
    made.executor.shutdown()
    made.node.destroy_node()


def never() -> bool:
    return False


def send(node: Node, topic: str, *messages: String | bytes) -> None:
    """Publish to the one who listens."""
    publisher = node.create_publisher(String, topic, ANY_DEPTH)
    deadline = time.monotonic() + TIMEOUT_S
    while not publisher.get_subscription_count():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    for message in messages:
        publisher.publish(message)


def test_a_callback_that_raises_ends_an_executor(
    plain: Plain, spinning: Callable[..., Node]
) -> None:
    plain.node.create_subscription(String, "say", lambda message: int(message.data), ANY_DEPTH)
    send(spinning("sender"), "say", String(data="none"))
    with pytest.raises(ValueError, match="none"):
        plain.spin_until(never)


def test_a_parameter_of_no_known_type_ends_an_executor(
    plain: Plain, spinning: Callable[..., Node]
) -> None:
    client = spinning("asker").create_client(SetParameters, "plain/set_parameters")
    assert client.wait_for_service(TIMEOUT_S)
    value = ParameterMessage(name="use_sim_time", value=ParameterValue(type=99))
    client.call_async(SetParameters.Request(parameters=[value]))
    with pytest.raises(ValueError, match="99"):
        plain.spin_until(never)


def test_what_is_awaited_does_not_wake_its_executor(
    plain: Plain,
) -> None:
    """It goes on only when something else does."""
    answer: Future = Future(executor=plain.executor)

    async def wait() -> None:
        await answer

    task = plain.executor.create_task(wait)
    spun = threading.Event()

    def spin() -> None:
        plain.executor.spin()
        spun.set()

    threading.Thread(target=spin, daemon=True).start()
    counter = Counter()
    plain.node.add_waitable(counter)
    counter.wait_settled()
    answer.set_result(None)
    counter.wait_settled()
    assert not task.done()
    plain.executor.create_task(lambda: None)
    deadline = time.monotonic() + TIMEOUT_S
    while not task.done():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    plain.executor.shutdown()
    assert spun.wait(TIMEOUT_S)


def test_an_executor_builds_its_wait_set_anew_for_every_message(
    plain: Plain, spinning: Callable[..., Node]
) -> None:
    heard: list[str] = []
    subscription = plain.node.create_subscription(
        String, "say", lambda message: heard.append(message.data), ANY_DEPTH
    )
    sender = spinning("sender")
    send(sender, "say", *(String(data=str(number)) for number in range(8)))
    counter = Counter()
    plain.node.add_waitable(counter)
    plain.spin_until(lambda: len(heard) == 8)
    assert counter.count >= 8
    plain.node.destroy_subscription(subscription)


def test_serialising_a_state_costs_more_than_patching_its_bytes() -> None:
    names = [f"joint_{number}" for number in range(7)]
    message = JointState(name=names, position=[0.0] * 7, velocity=[0.0] * 7, effort=[0.0] * 7)
    patched = PatchedMessage(message, ["position", "velocity", "effort"])
    numbers = np.full(7, 0.5)

    def make_anew() -> None:
        serialize_message(message)

    def patch() -> None:
        patched["position"] = numbers
        patched.stamped(1)

    def fastest_ns(run: Callable[[], None]) -> int:
        """The best of many, which no other process has disturbed."""
        times = []
        for _ in range(300):
            began_ns = time.perf_counter_ns()
            run()
            times.append(time.perf_counter_ns() - began_ns)
        return min(times)

    assert fastest_ns(make_anew) > fastest_ns(patch)


def test_a_timer_on_a_simulated_time_that_nobody_publishes_stands_still(
    spinning: Callable[..., Node],
) -> None:
    node = spinning(
        "waiting", parameter_overrides=[Parameter("use_sim_time", Parameter.Type.BOOL, True)]
    )
    own: list[None] = []
    steady: list[None] = []
    went_on = threading.Event()

    def tick() -> None:
        steady.append(None)
        if len(steady) == 20:
            went_on.set()

    node.create_timer(0.01, lambda: own.append(None))
    create_steady_timer(node, 0.01, tick)
    assert went_on.wait(TIMEOUT_S)
    assert own == []


def test_a_client_takes_a_server_that_was_killed_for_ready(
    spinning: Callable[..., Node], start: Callable[..., subprocess.Popen[str]]
) -> None:
    node = spinning("watching")
    client = ActionClient(node, FollowJointTrajectory, "lone/move")
    watch = ServerWatch(node, "lone/move")
    heard = threading.Event()
    status = "lone/move/_action/status"
    node.create_subscription(
        GoalStatusArray, status, lambda _: heard.set(), qos.ACTION_STATUS_WATCH
    )
    server = start("rclpy_ext/lone_server.py")
    assert client.wait_for_server(TIMEOUT_S)
    deadline = time.monotonic() + TIMEOUT_S
    # A goal is taken in and its status told: the server has promised to live, and was heard.
    while not heard.is_set():
        assert time.monotonic() < deadline
        client.send_goal_async(FollowJointTrajectory.Goal())
        heard.wait(0.5)
    server.kill()
    while watch.silent_s == 0.0:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert client.server_is_ready()

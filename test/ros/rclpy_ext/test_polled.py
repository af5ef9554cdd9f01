"""Subscriptions that are read when asked: nothing lost, nothing executed behind the back."""

from __future__ import annotations

import threading
from collections.abc import Callable

from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import String, UInt32
from std_srvs.srv import Trigger

from dvrk_kinematics.ros.client.calls import call
from dvrk_kinematics.ros.common import qos
from dvrk_kinematics.ros.rclpy_ext.dropped_messages import dropped_by
from dvrk_kinematics.ros.rclpy_ext.patched_message import RawReader
from dvrk_kinematics.ros.rclpy_ext.polled_subscription import PolledGroup, PolledSubscription

TIMEOUT_S = 30.0


def publish(node: Node, topic: str, profile: QoSProfile, count: int) -> None:
    """Publish numbers, and wait until they have arrived."""
    publisher = node.create_publisher(UInt32, topic, profile)
    connected = threading.Event()
    node.create_timer(0.02, lambda: publisher.get_subscription_count() and connected.set())
    assert connected.wait(TIMEOUT_S)
    for number in range(count):
        publisher.publish(UInt32(data=number))
        assert publisher.wait_for_all_acked(Duration(seconds=TIMEOUT_S))


def send_bytes(node: Node, topic: str, kind: type, *messages: bytes) -> None:
    """Publish bytes as they are, and wait until they have arrived."""
    publisher = node.create_publisher(kind, topic, QoSProfile(depth=10))
    connected = threading.Event()
    node.create_timer(0.02, lambda: publisher.get_subscription_count() and connected.set())
    assert connected.wait(TIMEOUT_S)
    for message in messages:
        publisher.publish(message)
        assert publisher.wait_for_all_acked(Duration(seconds=TIMEOUT_S))


def number(data: bytes | None) -> int | None:
    return None if data is None else int(deserialize_message(data, UInt32).data)


def test_messages_wait_in_order_until_they_are_taken(spinning: Callable[..., Node]) -> None:
    sender, receiver = spinning("sender"), spinning("receiver")
    subscription = PolledSubscription(receiver, UInt32, "numbers", QoSProfile(depth=10))
    assert subscription.take() is None
    publish(sender, "numbers", QoSProfile(depth=10), 5)
    assert [number(subscription.take()) for _ in range(6)] == [0, 1, 2, 3, 4, None]


def test_the_newest_is_taken_and_the_rest_dropped(spinning: Callable[..., Node]) -> None:
    sender, receiver = spinning("sender"), spinning("receiver")
    subscription = PolledSubscription(receiver, UInt32, "numbers", QoSProfile(depth=10))
    publish(sender, "numbers", QoSProfile(depth=10), 5)
    assert number(subscription.take_newest()) == 4
    assert subscription.take_newest() is None


def test_a_depth_of_one_keeps_the_newest(spinning: Callable[..., Node]) -> None:
    sender, receiver = spinning("sender"), spinning("receiver")
    subscription = PolledSubscription(receiver, UInt32, "numbers", qos.COMMAND)
    publish(sender, "numbers", qos.COMMAND, 5)
    assert number(subscription.take()) == 4
    assert subscription.take() is None


def test_waiting_messages_do_not_keep_the_executor_from_other_work(
    spinning: Callable[..., Node],
) -> None:
    sender, receiver = spinning("sender"), spinning("receiver")
    subscription = PolledSubscription(receiver, UInt32, "numbers", QoSProfile(depth=10))
    receiver.create_service(Trigger, "go", lambda _, r: setattr(r, "success", True) or r)
    publish(sender, "numbers", QoSProfile(depth=10), 5)
    client = sender.create_client(Trigger, "go")
    assert all(call(client, Trigger.Request(), TIMEOUT_S).success for _ in range(20))
    assert number(subscription.take()) == 0


def test_a_group_gives_messages_of_all_topics_in_the_order_of_their_arrival(
    spinning: Callable[..., Node],
) -> None:
    sender, receiver = spinning("sender"), spinning("receiver")
    group = PolledGroup(receiver)
    for topic in ("b", "a"):
        group.subscribe(UInt32, topic, QoSProfile(depth=10), key=topic)
    assert group.take_all() == []
    for topic in ("a", "b", "a"):
        publish(sender, topic, QoSProfile(depth=10), 2)
    # Topics that had no publisher at the last look are read every fourth time.
    arrivals = [arrival for _ in range(4) for arrival in group.take_all()]
    assert [(arrival.key, arrival.message.data) for arrival in arrivals] == [
        *(("a", 0), ("a", 1), ("b", 0), ("b", 1), ("a", 0), ("a", 1))
    ]
    assert arrivals == sorted(arrivals, key=lambda arrival: arrival.received_ns)
    group.close()
    assert group.take_all() == []


def test_a_message_that_was_cut_short_is_dropped_and_counted(
    spinning: Callable[..., Node],
) -> None:
    sender, receiver = spinning("sender"), spinning("receiver")
    text = PolledSubscription(receiver, String, "text", QoSProfile(depth=10))
    states = PolledSubscription(receiver, JointState, "states", QoSProfile(depth=10))
    word, state = serialize_message(String(data="word")), serialize_message(JointState(name=["a"]))
    send_bytes(sender, "text", String, word[:9], word, word[:5])
    send_bytes(sender, "states", JointState, state[:9], b"", state)
    taken = text.take_message()
    assert taken is not None and taken.data == "word" and text.take_message() is None
    read = states.take_raw(RawReader(JointState, ["position"]))
    assert read is not None and read.template.name == ["a"]
    assert dropped_by(receiver).counts == {"text": 2, "states": 2}
    assert dropped_by(sender).counts == {}


def test_a_message_that_is_too_large_is_dropped_unread(spinning: Callable[..., Node]) -> None:
    sender, receiver = spinning("sender"), spinning("receiver")
    bounded = PolledSubscription(receiver, String, "text", QoSProfile(depth=10), max_bytes=100)
    free = PolledSubscription(receiver, String, "text", QoSProfile(depth=10), max_bytes=None)
    words = [serialize_message(String(data="x" * length)) for length in (500, 10, 5_000_000)]
    send_bytes(sender, "text", String, *words)
    assert bounded.take() == words[1] and bounded.take() is None
    assert [free.take() for _ in range(4)] == [*words, None]
    assert dropped_by(receiver).counts == {"text": 2}


def test_a_group_drops_what_it_cannot_read(spinning: Callable[..., Node]) -> None:
    sender, receiver = spinning("sender"), spinning("receiver")
    group = PolledGroup(receiver, max_bytes=100)
    group.subscribe(String, "text", QoSProfile(depth=10), key=1)
    words = [serialize_message(String(data="x" * length)) for length in (500, 10)]
    send_bytes(sender, "text", String, words[0], words[1][:9], words[1])
    arrivals = [arrival for _ in range(4) for arrival in group.take_all()]
    assert [(arrival.message.data, arrival.topic) for arrival in arrivals] == [("x" * 10, "text")]
    assert dropped_by(receiver).counts == {"text": 2}
    group.close()

"""Events of simulated arms: sent at once, in order, each with its own stamp."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from crtk_msgs.msg import OperatingState
from rclpy.node import Node
from std_msgs.msg import Bool, Empty, Float64, String

from dvrk_kinematics.ros.common.stamps import write_stamp
from dvrk_kinematics.ros.crtk.contract import Topic
from dvrk_kinematics.ros.simulator.stamps import EventStamps

__all__ = ["EventPublishers"]


class EventPublishers:
    """The latched publishers of one arm.

    Args:
        node: The node.
        topics: Event topics of the contract.
        namespace: Where their names begin.
        stamps: The source of stamps.
    """

    def __init__(
        self, node: Node, topics: Iterable[Topic], namespace: str, stamps: EventStamps
    ) -> None:
        self._stamps = stamps
        self._publishers = {
            topic.name: (
                node.create_publisher(topic.message, namespace + topic.name, topic.qos),
                topic.message,
            )
            for topic in topics
        }

    def publish(self, events: Iterable[Any]) -> None:
        """Send events in order."""
        for topic, value in events:
            publisher, kind = self._publishers[topic]
            publisher.publish(_MAKERS[kind](value, self._stamps))


def _operating_state(value: Any, stamps: EventStamps) -> OperatingState:
    message = OperatingState(state=value.state, is_homed=value.is_homed, is_busy=value.is_busy)
    write_stamp(message.header.stamp, stamps.next())
    return message


_MAKERS: dict[Any, Callable[[Any, EventStamps], Any]] = {
    OperatingState: _operating_state,
    String: lambda value, _: String(data=value),
    Bool: lambda value, _: Bool(data=value),
    Float64: lambda value, _: Float64(data=float(value)),
    Empty: lambda value, _: Empty(),
}
"""Message factories by the type of the topic."""

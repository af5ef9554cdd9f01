"""State topics of simulated arms: sent to their subscribers in each cycle.

We check for subscribers in every cycle, so that a new one gets the next state. That takes 0.2 us
per topic. Publishing a message without subscribers would take ten times as long.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any, NamedTuple

from geometry_msgs.msg import PoseStamped, TwistStamped, WrenchStamped
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from dvrk_kinematics.ros.crtk.contract import Topic
from dvrk_kinematics.ros.rclpy_ext.patched_message import RawPublisher
from dvrk_kinematics.ros.simulator.stamps import DatumStamps
from dvrk_kinematics.ros.simulator.state_writers import (
    JacobianWriter,
    JointWriter,
    PoseWriter,
    TransformWriter,
    TwistWriter,
    WrenchWriter,
    Writer,
)
from dvrk_kinematics.simulation import Lateness, LatePublisher

__all__ = ["Delivery", "StateGate", "StatePublishers", "TransformPublisher"]

_WRITERS: dict[Any, Callable[[], Writer]] = {
    JointState: JointWriter,
    PoseStamped: PoseWriter,
    TwistStamped: TwistWriter,
    WrenchStamped: WrenchWriter,
    Float64MultiArray: JacobianWriter,
}


class Delivery(Enum):
    """What happens to an arm's state messages on their way out."""

    SENT = "sent"
    DROPPED = "dropped"
    DELAYED = "delayed"
    LATE = "late"


class StateGate:
    """The gate for one arm's state messages: open, or deliberately disturbed."""

    def __init__(self) -> None:
        self.delivery = Delivery.SENT
        self.delay_ns = 0
        self.late: LatePublisher | None = None
        self._waiting: deque[tuple[int, RawPublisher, bytes]] = deque()

    def send(self, publisher: RawPublisher, data: bytes, now_ns: int) -> None:
        """Publish, drop or keep for later.

        Args:
            publisher: The publisher.
            data: The message.
            now_ns: Now, on a clock that never goes back (ns).
        """
        if self.delivery is Delivery.DELAYED:
            self._waiting.append((now_ns + self.delay_ns, publisher, data))
        elif self.delivery is Delivery.SENT:
            publisher.publish(data)
        elif self.delivery is Delivery.LATE and self.late is not None:
            lateness = self.late.at(now_ns)
            if lateness is Lateness.SENT:
                publisher.publish(data)
            elif lateness is Lateness.HELD:
                self._waiting.append((self.late.until_ns, publisher, data))

    def flush(self, now_ns: int) -> None:
        """Publish messages delayed long enough; the rest are lost when the fault ends."""
        if self.delivery not in (Delivery.DELAYED, Delivery.LATE):
            self._waiting.clear()
        while self._waiting and self._waiting[0][0] <= now_ns:
            _, publisher, data = self._waiting.popleft()
            publisher.publish(data)


class _Entry(NamedTuple):
    publisher: RawPublisher
    read: Callable[[], Any]
    writer: Writer


class StatePublishers:
    """The periodic topics of one arm or SUJ.

    Args:
        node: The node.
        topics: State topics of the contract.
        namespace: Where their names begin.
        readings: Returns each topic's current reading, by topic name.
        gate: The gate for outgoing messages.
    """

    def __init__(
        self,
        node: Node,
        topics: Iterable[Topic],
        namespace: str,
        readings: Mapping[str, Callable[[], Any]],
        gate: StateGate,
    ) -> None:
        self._gate = gate
        self._entries = [
            _Entry(
                RawPublisher(node, topic.message, namespace + topic.name, topic.qos),
                readings[topic.name],
                _WRITERS[topic.message](),
            )
            for topic in topics
        ]

    def publish(self, stamps: DatumStamps, now_ns: int) -> None:
        """Send one message of every topic that has subscribers.

        Args:
            stamps: Stamps of the messages, all of one datum.
            now_ns: Now, on a clock that never goes back (ns).
        """
        gate = self._gate
        gate.flush(now_ns)
        for publisher, read, writer in self._entries:
            if publisher.is_heard():
                data = writer.write(read(), stamps.next())
                gate.send(publisher, data, now_ns)

    def close(self) -> None:
        """Stop publishing."""
        for entry in self._entries:
            entry.publisher.close()


class TransformPublisher:
    """Publishes tf, one message per frame.

    Args:
        node: The node.
        topic: The topic of the contract.
        namespace: Where its name begins.
    """

    def __init__(self, node: Node, topic: Topic, namespace: str) -> None:
        self._publisher = RawPublisher(node, topic.message, namespace + topic.name, topic.qos)
        self._writers: dict[str, TransformWriter] = {}

    def is_heard(self) -> bool:
        """Whether there are subscribers."""
        return self._publisher.is_heard()

    def publish(self, transforms: Iterable[Any], stamps: DatumStamps) -> None:
        """Send frames."""
        for transform in transforms:
            writer = self._writers.setdefault(transform.child, TransformWriter())
            self._publisher.publish(writer.write(transform, stamps.next()))

    def close(self) -> None:
        """Stop publishing."""
        self._publisher.close()

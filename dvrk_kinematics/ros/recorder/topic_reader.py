"""Reads one recorded topic as bytes, and counts its losses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from rclpy.node import Node
from rclpy.qos import QoSDurabilityPolicy, QoSProfile, QoSReliabilityPolicy
from rclpy.topic_endpoint_info import TopicEndpointInfo

from dvrk_kinematics.ros.rclpy_ext.polled_subscription import PolledSubscription
from dvrk_kinematics.ros.recorder.loss_counter import LossCounter
from dvrk_kinematics.ros.recorder.topics import RecordedTopic
from dvrk_kinematics.ros.recorder.type_definition import find_definition, find_message_class

__all__ = ["Taken", "TopicReader", "fit_to_offers"]


_FIRST_NS = 10_000_000_000
"""How long after its start a recording may still find earlier latched messages (ns)."""


class Taken(NamedTuple):
    """A message that has arrived.

    Attributes:
        received_ns: When (ns, system time); the start of the recording if it was sent before.
        reader: The reader that took it.
        data: The serialised message.
    """

    received_ns: int
    reader: TopicReader
    data: bytes


class TopicReader:
    """Subscribes to one topic.

    Args:
        node: The node.
        topic: The topic.
        type_name: Its type.
        qos: The QoS requested from its publishers.
        begin_ns: When the recording began (ns, system time).

    Raises:
        InvalidInput: If the type is not installed.
    """

    def __init__(
        self, node: Node, topic: RecordedTopic, type_name: str, qos: QoSProfile, begin_ns: int
    ) -> None:
        self.topic = topic
        self.type_name = type_name
        self.losses = LossCounter(
            lambda: _identities(node.get_publishers_info_by_topic(topic.name))
        )
        self._node = node
        self._begin_ns = begin_ns
        self._from_before = 0
        self._message_type = find_message_class(type_name)
        find_definition(type_name)
        self._subscribe(qos)

    def take(self) -> list[Taken]:
        """Take everything that has arrived, oldest first."""
        arrived = []
        while (taken := self._subscription.take_with_info()) is not None:
            data, info = taken
            self.losses.see(info["publication_sequence_number"])
            arrived.append(Taken(self._time_of(info), self, data))
        return arrived

    def _time_of(self, info: Mapping[str, int | None]) -> int:
        """Return when a message counts as received.

        A message latched before the recording began held at its start, however long it took to
        find the publisher. Another machine's clock may be off, so this rule soon ends.
        """
        received, sent = info["received_timestamp"] or 0, info["source_timestamp"] or 0
        is_latched = self.qos.durability == QoSDurabilityPolicy.TRANSIENT_LOCAL
        is_first = received - self._begin_ns < _FIRST_NS
        if not (is_latched and is_first and sent < self._begin_ns):
            return received
        self._from_before += 1
        return self._begin_ns + self._from_before

    def follow(self, publishers: Sequence[TopicEndpointInfo]) -> list[Taken] | None:
        """Request what all publishers offer, if it differs from the previous request.

        Returns:
            None if nothing changed, else the messages that had arrived until then.
        """
        self.losses.see_publishers(_identities(publishers))
        fitting = fit_to_offers(self.topic.qos, [info.qos_profile for info in publishers])
        if _strength(fitting) == _strength(self.qos):
            return None
        arrived = self.take()
        self._subscription.close()
        self._subscribe(fitting)
        return arrived

    def _subscribe(self, qos: QoSProfile) -> None:
        self.qos = qos
        self._subscription: PolledSubscription[Any] = PolledSubscription(
            self._node, self._message_type, self.topic.name, qos, max_bytes=None
        )


def fit_to_offers(asked: QoSProfile, offers: Sequence[QoSProfile]) -> QoSProfile:
    """Return the strongest requested QoS that every publisher offers.

    A reader that requests more than a publisher offers gets nothing at all from it.
    """
    reliable, latched = QoSReliabilityPolicy.RELIABLE, QoSDurabilityPolicy.TRANSIENT_LOCAL
    all_reliable = all(offer.reliability == reliable for offer in offers)
    all_latched = all(offer.durability == latched for offer in offers)
    return QoSProfile(
        depth=asked.depth,
        reliability=asked.reliability if all_reliable else QoSReliabilityPolicy.BEST_EFFORT,
        durability=asked.durability if all_latched else QoSDurabilityPolicy.VOLATILE,
    )


def _identities(publishers: Iterable[TopicEndpointInfo]) -> set[tuple[int, ...]]:
    return {tuple(info.endpoint_gid) for info in publishers}


def _strength(qos: QoSProfile) -> tuple[Any, Any]:
    return qos.reliability, qos.durability

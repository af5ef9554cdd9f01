"""Publishes the reports of a bridge once a second on /diagnostics."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node

from dvrk_kinematics.ros.bridge.contract import DIAGNOSTICS
from dvrk_kinematics.ros.common.stamps import write_stamp
from dvrk_kinematics.ros.rclpy_ext.steady_timer import create_steady_timer

__all__ = ["Diagnostics", "OtherPublishers", "Report"]

OK, WARN, ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR


@dataclass(slots=True)
class Report:
    """One line of diagnostics.

    Attributes:
        name: Its subject.
        message: The status, in a few words.
        level: OK, WARN or ERROR of DiagnosticStatus.
        values: Numbers and texts by name.
    """

    name: str
    message: str = "ok"
    level: bytes = OK
    values: dict[str, Any] = field(default_factory=dict)

    def worsen(self, level: bytes, message: str) -> None:
        """Report a problem, unless an equal or worse one was reported before."""
        if level > self.level:
            self.level, self.message = level, message


class Diagnostics:
    """Publishes reports at 1 Hz.

    Args:
        node: The node, which must be spinning.
        arm: Name of the arm: hardware_id, and part of every name.
        make: Returns the reports; called in the executor's thread.
    """

    def __init__(self, node: Node, arm: str, make: Callable[[], Iterable[Report]]) -> None:
        self._node = node
        self._arm = arm
        self._make = make
        self._publisher = node.create_publisher(*DIAGNOSTICS.of(arm))
        create_steady_timer(node, 1.0, self._publish)

    def _publish(self) -> None:
        message = DiagnosticArray()
        # All namespaces share the topic, and each may have an arm of this name.
        node = self._node.get_fully_qualified_name().removeprefix("/")
        write_stamp(message.header.stamp, int(self._node.get_clock().now().nanoseconds))
        for report in self._make():
            values = [KeyValue(key=key, value=_text(v)) for key, v in report.values.items()]
            message.status.append(
                DiagnosticStatus(
                    level=report.level,
                    name=f"{node}: {self._arm} {report.name}",
                    message=report.message,
                    hardware_id=self._arm,
                    values=values,
                )
            )
        self._publisher.publish(message)


def _text(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


class OtherPublishers:
    """Finds other publishers of topics that only we should publish.

    Args:
        node: The node.
        topics: Names of the topics.
    """

    def __init__(self, node: Node, topics: Iterable[str]) -> None:
        self._node = node
        self._topics = tuple(topics)

    def find(self) -> dict[str, list[str]]:
        """Names of other publishing nodes by topic, for topics that have any."""
        ours = self._node.get_fully_qualified_name()
        found = {}
        for topic in self._topics:
            infos = self._node.get_publishers_info_by_topic(topic)
            names = [f"{info.node_namespace.rstrip('/')}/{info.node_name}" for info in infos]
            others = sorted(names)
            # The first node of that name is ours; a second one is another bridge.
            if ours in others:
                others.remove(ours)
            if others:
                found[topic] = others
        return found

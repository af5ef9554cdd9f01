"""What a bridge says of one arm in its diagnostics, and when it said so."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node


class DiagnosticsLog:
    """Hears the diagnostics of one arm.

    Args:
        node: A spinning node.
        topic: Name of the topic.
        arm: The arm's name; what is said of others is not kept.
        on_heard: Called after every message.
    """

    def __init__(self, node: Node, topic: str, arm: str, on_heard: Callable[[], None]) -> None:
        self._arm = arm
        self._on_heard = on_heard
        self._newest: dict[str, tuple[int, Any]] = {}
        node.create_subscription(DiagnosticArray, topic, self._hear, 10)

    def find(
        self,
        report: str,
        since_ns: int,
        is_wanted: Callable[[Any, Mapping[str, str]], bool],
    ) -> Any:
        """The newest status of a report, None if it is older or not what is wanted.

        Args:
            report: Which line of the diagnostics.
            since_ns: When it must have been sent (ns, system time).
            is_wanted: Judges a status and its values by name.
        """
        sent_ns, status = self._newest.get(report, (0, None))
        if status is None or sent_ns < since_ns:
            return None
        return status if is_wanted(status, {v.key: v.value for v in status.values}) else None

    def __str__(self) -> str:
        return str({report: status for report, (_, status) in self._newest.items()})

    def _hear(self, message: Any, info: Mapping[str, int]) -> None:
        # By the middleware's time: the bridge's own may be simulated.
        sent_ns = info["source_timestamp"]
        for status in message.status:
            if status.hardware_id == self._arm:
                self._newest[status.name.partition(f": {self._arm} ")[2]] = sent_ns, status
        self._on_heard()

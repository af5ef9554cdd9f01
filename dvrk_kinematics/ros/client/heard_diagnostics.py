"""What nodes say on /diagnostics, kept for whoever wants to know the newest."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node

from dvrk_kinematics.ros.common import qos
from dvrk_kinematics.ros.common.stamps import stamp_to_ns

__all__ = ["DiagnosticLine", "HeardDiagnostics"]


@dataclass(frozen=True, slots=True)
class DiagnosticLine:
    """One line of diagnostics.

    Attributes:
        heard_s: When it was heard (s, monotonic).
        stamp_ns: When it was made, by the clock of its node (ns).
        values: Its values by name.
        message: What it says in a few words.
    """

    heard_s: float
    stamp_ns: int
    values: Mapping[str, str]
    message: str = ""

    def is_since(self, age: str, begin_s: float) -> bool:
        """Whether something has happened since a moment.

        Args:
            age: Name of the value that says how long ago it happened (s).
            begin_s: The moment (s, monotonic).
        """
        return age in self.values and self.heard_s - float(self.values[age]) >= begin_s


class HeardDiagnostics:
    """The newest line of every name, of nodes in one namespace.

    /diagnostics is one topic for all namespaces, in each of which there may be an arm of the same
    name. A line is told apart by its node, with whose full name its own begins.

    Args:
        node: A spinning node.
        namespace: Of the nodes to hear; None for that of the node itself.
    """

    def __init__(self, node: Node, namespace: str | None = None) -> None:
        space = (node.get_namespace() if namespace is None else namespace).strip("/")
        self._start = f"{space}/" if space else ""
        self._lines: dict[str, DiagnosticLine] = {}
        self._changed = threading.Condition()
        node.create_subscription(DiagnosticArray, "/diagnostics", self._hear, qos.STATE)

    def newest(self, ending: str) -> DiagnosticLine | None:
        """The newest line whose name ends like this; None if nobody has said any.

        Args:
            ending: Its name, with or without its node's: "PSM1 motion", "recorder: bag".
        """
        with self._changed:
            found = [
                line
                for name, line in self._lines.items()
                if name == ending or name.endswith(f": {ending}")
            ]
        return max(found, key=lambda line: line.heard_s, default=None)

    def wait(self, ending: str, after_s: float, timeout_s: float) -> bool:
        """Wait for a line.

        Args:
            ending: How its name ends.
            after_s: When it must have been heard at the earliest (s, monotonic).
            timeout_s: Longest time to wait (s).

        Returns:
            Whether there is one.
        """

        def is_there() -> bool:
            line = self.newest(ending)
            return line is not None and line.heard_s >= after_s

        with self._changed:
            return self._changed.wait_for(is_there, timeout_s)

    def _hear(self, message: Any) -> None:
        now_s, stamp_ns = time.monotonic(), stamp_to_ns(message.header.stamp)
        with self._changed:
            for status in message.status:
                name = status.name.removeprefix(self._start)
                is_here = status.name.startswith(self._start)
                if not is_here or "/" in name.partition(":")[0]:
                    continue
                values = {value.key: value.value for value in status.values}
                self._lines[name] = DiagnosticLine(now_s, stamp_ns, values, status.message)
            self._changed.notify_all()

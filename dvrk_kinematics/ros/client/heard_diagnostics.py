"""Keeps the newest diagnostics that nodes publish on /diagnostics."""

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
        heard_s: When it was received (s, monotonic).
        stamp_ns: When it was made, by the clock of its node (ns).
        values: Its values by name.
        message: Its short message.
    """

    heard_s: float
    stamp_ns: int
    values: Mapping[str, str]
    message: str = ""

    def is_since(self, age: str, begin_s: float) -> bool:
        """Return whether something has happened since a moment.

        Args:
            age: Name of the value that holds how long ago it happened (s).
            begin_s: The moment (s, monotonic).
        """
        return age in self.values and self.heard_s - float(self.values[age]) >= begin_s


class HeardDiagnostics:
    """The newest line of every name, from nodes in one namespace.

    /diagnostics is one topic for all namespaces, and each may have an arm of the same name. A
    line's name begins with the full name of its node, which tells lines apart.

    Args:
        node: A spinning node.
        namespace: Namespace of the nodes to read; None for that of the node itself.
    """

    def __init__(self, node: Node, namespace: str | None = None) -> None:
        space = (node.get_namespace() if namespace is None else namespace).strip("/")
        self._start = f"{space}/" if space else ""
        self._lines: dict[str, DiagnosticLine] = {}
        self._changed = threading.Condition()
        node.create_subscription(DiagnosticArray, "/diagnostics", self._hear, qos.STATE)

    def newest(self, ending: str) -> DiagnosticLine | None:
        """Return the newest line whose name has this ending; None if there is none.

        Args:
            ending: Its name, with or without its node's name: "PSM1 motion", "recorder: bag".
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
            after_s: The earliest time at which it may have been received (s, monotonic).
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

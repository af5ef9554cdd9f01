"""Receives topics as bytes and keeps them with the times at which they were sent."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped
from rclpy.node import Node
from sensor_msgs.msg import JointState

from dvrk_kinematics.ros.common import qos
from dvrk_kinematics.ros.rclpy_ext.patched_message import RawReader
from dvrk_kinematics.ros.rclpy_ext.polled_subscription import PolledSubscription

__all__ = ["Ear"]

_QUEUE = qos.with_depth(qos.STATE, 1000)
_EVERY_S = 0.05
_NUMBERS: dict[type, list[str]] = {
    JointState: ["position", "velocity", "effort"],
    PoseStamped: ["pose"],
}
"""The fields that change in a message besides its stamp; other messages are only counted."""


class Ear:
    """Listens without an executor.

    Args:
        node: The node.
        topics: Type and name of each topic, by its name in the result.
    """

    def __init__(self, node: Node, topics: Mapping[str, tuple[type, str]]) -> None:
        self._subscriptions: dict[str, PolledSubscription[Any]] = {
            name: PolledSubscription(node, kind, topic, _QUEUE)
            for name, (kind, topic) in topics.items()
        }
        self._readers: dict[str, RawReader[Any]] = {
            name: RawReader(kind, _NUMBERS[kind])
            for name, (kind, _) in topics.items()
            if kind in _NUMBERS
        }
        self.clear()

    def clear(self) -> None:
        """Forget all received messages."""
        for subscription in self._subscriptions.values():
            subscription.take_newest()
        self._heard: dict[str, list[tuple[float, ...]]] = {n: [] for n in self._subscriptions}

    def listen(self, seconds: float) -> None:
        """Take arriving messages for a while."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(_EVERY_S)
            for name, subscription in self._subscriptions.items():
                while (taken := subscription.take_with_info()) is not None:
                    self._heard[name].append(self._read(name, taken))

    def save(self, file: Path) -> None:
        """Write arrays, a row for each message: stamp, when it was sent (both ns), and numbers."""
        arrays: dict[str, Any] = {name: np.array(rows) for name, rows in self._heard.items()}
        np.savez(file, **arrays)

    def _read(self, name: str, taken: tuple[bytes, Mapping[str, int | None]]) -> tuple[Any, ...]:
        data, info = taken
        sent_ns = info["source_timestamp"]
        reader = self._readers.get(name)
        if reader is None:
            return (0, sent_ns)
        message = reader.read(data)
        numbers = message["pose"].tolist() if name == "setpoint_cp" else []
        return (message.stamp_ns, sent_ns, *numbers)

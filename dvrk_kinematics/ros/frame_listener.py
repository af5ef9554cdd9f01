"""Hears tf and tf_static into a buffer, as bytes, so that a cart's hundred frames cost little."""

from __future__ import annotations

import threading
import time
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile
from tf2_msgs.msg import TFMessage

from dvrk_kinematics.errors import LayoutError
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.ros import qos
from dvrk_kinematics.ros.conversions import cp_to_matrices
from dvrk_kinematics.ros.frames import FrameBuffer
from dvrk_kinematics.ros.patched import RawReader
from dvrk_kinematics.ros.polled import PolledSubscription
from dvrk_kinematics.ros.steady_timer import create_steady_timer

__all__ = ["QUEUE", "FrameListener"]

_POLL_S = 0.05
QUEUE = 500
"""Messages of tf that can wait between two polls: 10 kHz."""
_LAYOUTS = 64


class FrameListener:
    """Keeps a buffer of frames up to date.

    Args:
        node: The node, which must be spun; what has arrived is read every 50 ms, and before each
            question.
    """

    def __init__(self, node: Node) -> None:
        self._buffer = FrameBuffer()
        self._polling = threading.Lock()
        self._topics = (
            (_Reader(node, "/tf", qos.with_depth(qos.TF, QUEUE)), False),
            (_Reader(node, "/tf_static", qos.with_depth(qos.TF_STATIC, QUEUE)), True),
        )
        self._timer = create_steady_timer(node, _POLL_S, self.poll)

    @property
    def frames(self) -> tuple[str, ...]:
        """All frames that were heard of, sorted."""
        self.poll()
        return self._buffer.frames

    def poll(self) -> None:
        """Take in what has arrived."""
        # Two threads at once would mix the order of the stamps; who comes second does not wait.
        if not self._polling.acquire(blocking=False):
            return
        try:
            now_ns = time.monotonic_ns()
            for reader, is_static in self._topics:
                for parent, child, T, stamp_ns in reader.take():
                    self._buffer.add(parent, child, T, stamp_ns, now_ns, is_static)
        finally:
            self._polling.release()

    def lookup(self, target: str, source: str, max_age_s: float, stamp_ns: int = 0) -> Array:
        """Where one frame is in another; see :meth:`FrameBuffer.lookup`."""
        self.poll()
        return self._buffer.lookup(target, source, time.monotonic_ns(), max_age_s, stamp_ns)


class _Reader:
    def __init__(self, node: Node, topic: str, profile: QoSProfile) -> None:
        self._subscription = PolledSubscription(node, TFMessage, topic, profile)
        self._reader = RawReader(TFMessage, ["transforms[].transform"], _LAYOUTS)
        self._logger = node.get_logger()

    def take(self) -> list[tuple[str, str, Array, int]]:
        """Every transform that arrived: parent, child, T_parent_child, stamp (ns)."""
        found: list[tuple[str, str, Array, int]] = []
        while (data := self._subscription.take()) is not None:
            try:
                message = self._reader.read(data)
            except LayoutError as error:
                self._logger.warning(str(error), throttle_duration_sec=10.0)
                continue
            found += _transforms(message)
        return found


def _transforms(message: Any) -> list[tuple[str, str, Array, int]]:
    stamped = message.template.transforms
    poses, _ = cp_to_matrices(message["transforms[].transform"].reshape(-1, 7))
    return [
        (one.header.frame_id.lstrip("/"), one.child_frame_id.lstrip("/"), T, stamp_ns)
        for one, T, stamp_ns in zip(stamped, poses, message.stamps_ns, strict=True)
    ]

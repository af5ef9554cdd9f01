"""Reads tf and tf_static into a buffer, as bytes, so that a cart's hundred frames cost little.

Few of the messages are ever used. So we take them as bytes, to lose nothing, and convert them to
poses on demand. A server also looks up past poses, and has the time to convert them then. A
control loop looks up current poses within a tick, so we keep only the latest message of each list
of frames for it.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from rclpy.node import Node
from tf2_msgs.msg import TFMessage

from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.ros.common import qos
from dvrk_kinematics.ros.common.conversions import cp_to_matrices
from dvrk_kinematics.ros.common.frame_buffer import HISTORY_NS, FrameBuffer
from dvrk_kinematics.ros.rclpy_ext.patched_message import RawMessage, RawReader
from dvrk_kinematics.ros.rclpy_ext.polled_subscription import MAX_BYTES, PolledSubscription
from dvrk_kinematics.ros.rclpy_ext.steady_timer import create_steady_timer

__all__ = ["FRAME_TOPICS", "FrameListener"]

_TAKE_S = 0.5
_TAKE_FOR_LOOP_S = 0.05
_WAIT_S = 0.002
"""How long a lookup waits while another thread takes messages."""
_QUEUE = 500
"""Queue depth for tf: enough for 1 kHz if messages are taken twice a second."""
FRAME_TOPICS = {
    "/tf": qos.with_depth(qos.TF, _QUEUE),
    "/tf_static": qos.with_depth(qos.TF_STATIC, _QUEUE),
}
"""The topics, with their qualities of service."""
_LAYOUTS = 64
_KEPT_BYTES = 8 * MAX_BYTES
"""Largest amount kept unread; beyond it, the oldest is dropped."""


class FrameListener:
    """Keeps a buffer of frames up to date.

    Args:
        node: The node, which must be spun.
        is_for_loop: Whether a control loop looks frames up, and only their current poses; a
            lookup is then always fast.
    """

    def __init__(self, node: Node, is_for_loop: bool = False) -> None:
        self._buffer = FrameBuffer()
        self._polling = threading.Lock()
        history_ns = 0 if is_for_loop else HISTORY_NS
        self._topics = (
            (_Reader(node, "/tf", history_ns), False),
            (_Reader(node, "/tf_static", HISTORY_NS), True),
        )
        every_s = _TAKE_FOR_LOOP_S if is_for_loop else _TAKE_S
        self._timer = create_steady_timer(node, every_s, self._take)

    @property
    def frames(self) -> tuple[str, ...]:
        """Return all known frames, sorted."""
        self.poll()
        return self._buffer.frames

    def poll(self) -> None:
        """Take the messages that have arrived."""
        self._work(has_to_read=True, wait_s=_WAIT_S)

    def lookup(self, target: str, source: str, max_age_s: float, stamp_ns: int = 0) -> Array:
        """Find the pose of one frame in another; see :meth:`FrameBuffer.lookup`."""
        self.poll()
        return self._buffer.lookup(target, source, time.monotonic_ns(), max_age_s, stamp_ns)

    def _take(self) -> None:
        """Take the messages that have arrived, and read those that never come again."""
        self._work(has_to_read=False, wait_s=0.0)

    def _work(self, has_to_read: bool, wait_s: float) -> None:
        # Two threads at once would mix up the order of the stamps.
        if not self._polling.acquire(timeout=wait_s):
            return
        try:
            for reader, is_static in self._topics:
                reader.take()
                if has_to_read or is_static:
                    for parent, child, T, stamp_ns, arrival_ns in reader.read():
                        self._buffer.add(parent, child, T, stamp_ns, arrival_ns, is_static)
        finally:
            self._polling.release()


class _Heard(NamedTuple):
    """A message taken: its arrival time (ns, monotonic), the message, and its bytes."""

    arrival_ns: int
    message: RawMessage[TFMessage]
    size: int


class _Reader:
    """The messages of one topic, unread and read.

    Args:
        node: The node.
        topic: Name of the topic.
        history_ns: How old unread messages may become before only the last of each kind is
            kept.
    """

    def __init__(self, node: Node, topic: str, history_ns: int) -> None:
        self._history_ns = history_ns
        self._subscription = PolledSubscription(node, TFMessage, topic, FRAME_TOPICS[topic])
        self._reader = RawReader(TFMessage, ["transforms[].transform"], _LAYOUTS)
        self._unread: deque[_Heard] = deque()
        self._unread_bytes = 0
        self._last: dict[int, _Heard] = {}
        self._taken_ns = time.monotonic_ns()

    def take(self) -> None:
        """Take new messages; of those too old to look up, keep only the last of each kind.

        A kind is a list of frames, such as all links of an arm.
        """
        now_ns, wall_ns = time.monotonic_ns(), time.time_ns()
        longest_ns, self._taken_ns = now_ns - self._taken_ns, now_ns
        while (taken := self._subscription.take_with_info()) is not None:
            data, info = taken
            message = self._subscription.see(data, self._reader)
            if message is None:
                continue
            # The wall clock may have jumped; no message has waited since before the last take.
            waited_ns = wall_ns - (info["received_timestamp"] or wall_ns)
            arrival_ns = now_ns - min(max(waited_ns, 0), longest_ns)
            self._unread.append(_Heard(arrival_ns, message, len(data)))
            self._unread_bytes += len(data)
        while self._unread and (
            now_ns - self._unread[0].arrival_ns >= self._history_ns
            or self._unread_bytes > _KEPT_BYTES
        ):
            heard = self._unread.popleft()
            self._unread_bytes -= heard.size
            self._keep_last(heard)

    def read(self) -> Iterator[tuple[str, str, Array, int, int]]:
        """Read every unread transform, oldest first.

        Yields:
            Parent, child, T_parent_child, stamp (ns), arrival (ns, monotonic).
        """
        unread = [*self._last.values(), *self._unread]
        self._last.clear()
        self._unread.clear()
        self._unread_bytes = 0
        for heard in unread:
            yield from _transforms(heard)

    def _keep_last(self, heard: _Heard) -> None:
        kind = id(heard.message.template)
        self._last.pop(kind, None)
        self._last[kind] = heard
        if len(self._last) > _LAYOUTS:
            del self._last[next(iter(self._last))]


def _transforms(heard: _Heard) -> Iterator[tuple[str, str, Array, int, int]]:
    message = heard.message
    poses, _ = cp_to_matrices(message["transforms[].transform"].reshape(-1, 7))
    for one, T, stamp_ns in zip(
        message.template.transforms, poses, message.stamps_ns, strict=True
    ):
        parent, child = one.header.frame_id.lstrip("/"), one.child_frame_id.lstrip("/")
        yield parent, child, T, stamp_ns, heard.arrival_ns

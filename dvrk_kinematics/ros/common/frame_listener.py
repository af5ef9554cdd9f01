"""Hears tf and tf_static into a buffer, as bytes, so that a cart's hundred frames cost little.

Nobody reads all that arrives: it is taken as bytes, so that nothing is lost, and turned into poses
when somebody asks. A server is asked about the past too, and has the time to read it then. A
control loop asks where frames are now, in a tick: of each list of frames only the last waits for
it.
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
"""How long whoever asks waits for what is being taken at that moment."""
_QUEUE = 500
"""Messages of tf that can wait to be taken: 1 kHz where that is done twice a second."""
FRAME_TOPICS = {
    "/tf": qos.with_depth(qos.TF, _QUEUE),
    "/tf_static": qos.with_depth(qos.TF_STATIC, _QUEUE),
}
"""What is heard, and its qualities of service."""
_LAYOUTS = 64
_KEPT_BYTES = 8 * MAX_BYTES
"""What is kept unread at most; of more, the oldest is let go."""


class FrameListener:
    """Keeps a buffer of frames up to date.

    Args:
        node: The node, which must be spun.
        is_for_loop: Whether a control loop asks, and only where frames are now; an answer then
            never takes long.
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
        """All frames that were heard of, sorted."""
        self.poll()
        return self._buffer.frames

    def poll(self) -> None:
        """Take in what has arrived."""
        self._work(has_to_read=True, wait_s=_WAIT_S)

    def lookup(self, target: str, source: str, max_age_s: float, stamp_ns: int = 0) -> Array:
        """Where one frame is in another; see :meth:`FrameBuffer.lookup`."""
        self.poll()
        return self._buffer.lookup(target, source, time.monotonic_ns(), max_age_s, stamp_ns)

    def _take(self) -> None:
        """Take what has arrived, and read what never comes again."""
        self._work(has_to_read=False, wait_s=0.0)

    def _work(self, has_to_read: bool, wait_s: float) -> None:
        # Two threads at once would mix the order of the stamps.
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
    """A message that was taken: when it arrived (ns, monotonic), itself, and its bytes."""

    arrival_ns: int
    message: RawMessage[TFMessage]
    size: int


class _Reader:
    """The messages of one topic, unread and read.

    Args:
        node: The node.
        topic: Name of the topic.
        history_ns: How old what nobody has read may become before the last of each kind is kept
            alone.
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
        """Take what has arrived; of what is too old to be asked for, the last of each kind stays.

        A kind is a list of frames, such as all links of an arm.
        """
        now_ns, wall_ns = time.monotonic_ns(), time.time_ns()
        longest_ns, self._taken_ns = now_ns - self._taken_ns, now_ns
        while (taken := self._subscription.take_with_info()) is not None:
            data, info = taken
            message = self._subscription.see(data, self._reader)
            if message is None:
                continue
            # The wall clock may have jumped since; nothing waits longer than since the last time.
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
        """Every transform that was not read yet, oldest first.

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

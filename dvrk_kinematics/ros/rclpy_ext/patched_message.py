"""Messages as bytes: serialised once and patched in place, or read without deserialising.

Publishing a message in Python costs most of its time in serialising it, and receiving one in
building Python objects. A message whose names and lengths stay the same needs neither: only its
numbers and its stamp change, at positions that ``message_layout`` finds.

Answers rclpy 7.1, which serialises field by field; ``./dvrk bench messages`` has the figures.
Needed while this passes:
``test_plain_rclpy.py::test_serialising_a_state_costs_more_than_patching_its_bytes``.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Generic, TypeVar

import numpy as np
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message

from dvrk_kinematics.errors import InvalidInput, LayoutError
from dvrk_kinematics.geometry.arrays import Array, ArrayLike
from dvrk_kinematics.ros.common.stamps import NS_PER_S
from dvrk_kinematics.ros.rclpy_ext.message_layout import (
    HEADER_BYTES,
    Layout,
    find_layout,
    see_numbers,
)

__all__ = ["PatchedMessage", "RawMessage", "RawPublisher", "RawReader"]


class RawPublisher:
    """Publishes bytes, and nothing else.

    rclpy guards each use of a publisher against its destruction and checks the type of each
    message; here it is guarded once, from its creation to :meth:`close`.

    Args:
        node: The node.
        message_type: The message class.
        name: Name of the topic.
        qos: Quality of service.
    """

    def __init__(self, node: Node, message_type: type, name: str, qos: QoSProfile) -> None:
        self._handle = node.create_publisher(message_type, name, qos).handle
        self._handle.__enter__()
        self.publish: Callable[[bytes], None] = self._handle.publish_raw

    def is_heard(self) -> bool:
        """Return whether there are subscribers."""
        return bool(self.count_listeners())

    def count_listeners(self) -> int:
        """Return the number of subscribers."""
        return int(self._handle.get_subscription_count())

    def close(self) -> None:
        """Stop publishing."""
        self._handle.__exit__(None, None, None)


MessageT = TypeVar("MessageT")

_STAMP = struct.Struct("<iI")

_REMEMBERED_LAYOUTS = 8
_REMEMBERED_BYTES = 65_536
"""The layout of a larger message is not cached but found anew each time, to save memory."""


class PatchedMessage:
    """A message that is serialised once and whose numbers are written in place.

    Example:
        state = PatchedMessage(joint_state, ["position", "velocity"])
        state["position"] = q
        publisher.publish(state.stamped(now_ns))

    Args:
        message: The message with its final names and array lengths.
        fields: The fields to write, as for ``find_layout``.
    """

    def __init__(self, message: Any, fields: Sequence[str]) -> None:
        layout = find_layout(message, fields)
        self._layout = layout
        self._data = bytearray(layout.data)
        self._doubles = see_numbers(self._data, np.float64)
        self._ints = see_numbers(self._data, np.uint32)
        self._only_stamp = _find_only_stamp(layout)
        self._sizes = {field: self._doubles[index].size for field, index in layout.doubles.items()}

    def __setitem__(self, field: str, values: ArrayLike) -> None:
        numbers = np.ravel(values)
        # Checked here, since numpy would spread a single number over the whole field.
        if numbers.size != self._sizes[field]:
            raise InvalidInput(
                field, f"{numbers.size} numbers given, the message holds {self._sizes[field]}"
            )
        self._doubles[self._layout.doubles[field]] = numbers

    def __getitem__(self, field: str) -> Array:
        return np.array(self._doubles[self._layout.doubles[field]])

    def view(self, field: str) -> Array:
        """Return the numbers of a field, for code that writes them in place very often.

        Raises:
            LayoutError: If they are not contiguous.
        """
        index = self._layout.doubles[field]
        if not isinstance(index, slice):
            raise LayoutError(type(self), f"the numbers of {field} do not lie together")
        view: Array = self._doubles[index]
        return view

    def stamped(self, ns: int) -> bytes:
        """Write every stamp of the message and return the bytes to publish.

        Args:
            ns: Nanoseconds of the stamp.
        """
        sec, nanosec = divmod(ns, NS_PER_S)
        if self._only_stamp is not None:
            _STAMP.pack_into(self._data, self._only_stamp, sec, nanosec)
        else:
            self._ints[self._layout.seconds] = sec
            self._ints[self._layout.nanoseconds] = nanosec
        return bytes(self._data)


def _find_only_stamp(layout: Layout) -> int | None:
    """Find the stamp if there is exactly one: written six times as fast."""
    sec, nanosec = layout.seconds, layout.nanoseconds
    if not isinstance(sec, slice) or not isinstance(nanosec, slice):
        return None
    is_one = sec.stop - sec.start == 1 and nanosec.start == sec.stop
    return HEADER_BYTES + 4 * sec.start if is_one else None


class RawMessage(Generic[MessageT]):
    """One message read as bytes.

    Attributes:
        template: The first message of the same layout: it has the same names and frame, but other
            numbers.
    """

    __slots__ = ("_data", "_layout", "template")

    def __init__(self, data: bytes, layout: Layout, template: MessageT) -> None:
        self._data = data
        self._layout = layout
        self.template = template

    def __getitem__(self, field: str) -> Array:
        """Return the numbers of a field, read-only; empty if the message carries none."""
        numbers: Array = see_numbers(self._data, np.float64)[self._layout.doubles[field]]
        return numbers

    @property
    def stamp_ns(self) -> int:
        """Return the nanoseconds of the first stamp, 0 if there is none."""
        ints = see_numbers(self._data, np.uint32)
        seconds = ints[self._layout.seconds]
        if not seconds.size:
            return 0
        return int(seconds[0]) * NS_PER_S + int(ints[self._layout.nanoseconds][0])

    @property
    def stamps_ns(self) -> list[int]:
        """Return the nanoseconds of every stamp, in order."""
        ints = see_numbers(self._data, np.uint32)
        seconds, rest = ints[self._layout.seconds], ints[self._layout.nanoseconds]
        return [s * NS_PER_S + ns for s, ns in zip(seconds.tolist(), rest.tolist(), strict=True)]


class RawReader(Generic[MessageT]):
    """Reads the bytes of a raw subscription.

    It deserialises the first message and learns its layout. From then on it reads in place every
    message that differs only in the named fields and the stamps. It deserialises and learns any
    other one as well, so that it never mistakes a change of names, order or length for numbers.

    Args:
        message_type: The message class.
        fields: The fields to read, as for ``find_layout``.
        remembered: Number of layouts to cache; beyond it, the oldest are dropped. A topic with
            several publishers has a few, tf on a cart some dozens.
    """

    def __init__(
        self,
        message_type: type[MessageT],
        fields: Sequence[str],
        remembered: int = _REMEMBERED_LAYOUTS,
    ) -> None:
        self._type = message_type
        self._fields = tuple(fields)
        self._remembered = remembered
        self._known: list[tuple[Layout, MessageT]] = []
        self.learnt = 0
        """Number of messages that had to be deserialised."""

    def read(self, data: bytes) -> RawMessage[MessageT]:
        """View one message, without copying.

        Raises:
            LayoutError: If the bytes are not what the message type serialises to.
        """
        for layout, template in self._known:
            if _has_layout(data, layout):
                return RawMessage(data, layout, template)
        try:
            template = deserialize_message(data, self._type)
        except (rclpy_implementation.RMWError, ValueError) as error:
            raise LayoutError(self._type, f"{len(data)} bytes are none") from error
        layout = self._learn(data, template)
        if len(data) <= _REMEMBERED_BYTES:
            self._known = [(layout, template), *self._known][: self._remembered]
        self.learnt += 1
        return RawMessage(data, layout, template)

    def _learn(self, data: bytes, template: MessageT) -> Layout:
        """Find the layout of a received message, whose padding differs from ours."""
        own = find_layout(template, self._fields)
        # A text that is not UTF-8, or holds a zero, changes when it is read. We would then
        # search for the fields after it in the wrong place.
        if len(data) < len(own.data) or any(data[a:b] != own.data[a:b] for a, b in own.fixed):
            raise LayoutError(self._type, "is not what it serialises to here")
        numbers, arrived = see_numbers(own.data, np.float64), see_numbers(data, np.float64)
        for field, index in own.doubles.items():
            if numbers[index].tobytes() != arrived[index].tobytes():
                raise LayoutError(self._type, f"{field} does not lie where it is serialised here")
        return replace(own, data=data)


def _has_layout(data: bytes, layout: Layout) -> bool:
    known = layout.data
    return len(data) == len(known) and all(data[a:b] == known[a:b] for a, b in layout.fixed)

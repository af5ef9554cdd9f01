"""Where the numbers of a message lie in its serialised bytes.

A message is serialised as plain CDR: after a header of 4 bytes every float64 is aligned to 8 bytes
and every part of a stamp to 4. So all its doubles are elements of one float64 view that starts
behind the header, and all its stamps elements of one uint32 view. The places are found by writing
sentinels into a copy of the message and looking for them in its bytes: nothing here knows a
message type.
"""

from __future__ import annotations

import copy
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rclpy.serialization import serialize_message

from dvrk_kinematics.errors import LayoutError

__all__ = ["Layout", "find_layout", "see_numbers"]

_HEADER_BYTES = 4
_LITTLE_ENDIAN_CDR = 1

Index = slice | NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Layout:
    """Places of the named fields of one message.

    Attributes:
        data: The message as it was serialised.
        doubles: For each field, the elements of the float64 view that hold its numbers, in order.
        seconds: Elements of the uint32 view that hold the seconds of every stamp.
        nanoseconds: Elements of the uint32 view that hold the nanoseconds of every stamp.
        fixed: Stretches (first, behind last) of the data that hold neither, such as lengths and
            names.
    """

    data: bytes
    doubles: dict[str, Index]
    seconds: Index
    nanoseconds: Index
    fixed: tuple[tuple[int, int], ...]


def find_layout(message: Any, fields: Sequence[str]) -> Layout:
    """Find where the numbers of some fields lie, and the stamps.

    Args:
        message: A message with all its names and array lengths as they are going to be.
        fields: Dotted names of fields made of float64 only: numbers, arrays of them, or messages
            of them such as ``pose``. ``transforms[].transform`` means that field of every element.

    Raises:
        LayoutError: If a field holds something else, or the bytes are not plain CDR.
    """
    kind = type(message)
    data = serialize_message(message)
    if len(data) < _HEADER_BYTES or data[1] != _LITTLE_ENDIAN_CDR:
        raise LayoutError(
            kind, f"serialised as {data[:_HEADER_BYTES].hex()}, not as little-endian CDR"
        )
    marked = copy.deepcopy(message)
    sentinel = _Sentinels()
    marks = {
        field: [m for owner in _resolve(marked, field) for m in sentinel.mark(*owner)]
        for field in fields
    }
    stamp_marks = [sentinel.mark_stamp(stamp) for stamp in _stamps(marked)]

    marked_data = serialize_message(marked)
    place = _places(see_numbers(marked_data, np.float64))
    int_place = _places(see_numbers(marked_data, np.uint32))
    try:
        doubles = {field: [place[mark] for mark in ms] for field, ms in marks.items()}
        seconds = [int_place[sec] for sec, _ in stamp_marks]
        nanoseconds = [int_place[nanosec] for _, nanosec in stamp_marks]
    except KeyError as error:
        raise LayoutError(
            kind, f"a number is not aligned as in plain CDR (sentinel {error})"
        ) from error
    layout = Layout(
        data=data,
        doubles={field: _as_index(elements) for field, elements in doubles.items()},
        seconds=_as_index(seconds),
        nanoseconds=_as_index(nanoseconds),
        fixed=_fixed_stretches(len(data), list(chain(*doubles.values())), seconds + nanoseconds),
    )
    _check(layout, marks, stamp_marks, marked_data, kind)
    return layout


def see_numbers(data: bytes | bytearray, dtype: type[np.generic]) -> NDArray[Any]:
    """See all that lies behind the header as numbers of one size, without copying."""
    size = np.dtype(dtype).itemsize
    return np.frombuffer(data, dtype, (len(data) - _HEADER_BYTES) // size, _HEADER_BYTES)


def _places(numbers: NDArray[Any]) -> dict[float, int]:
    return {number: element for element, number in enumerate(numbers.tolist())}


def _check(
    layout: Layout,
    marks: dict[str, list[float]],
    stamp_marks: list[tuple[int, int]],
    marked_data: bytes,
    kind: type,
) -> None:
    """Patching the sentinels in must give what serialising them gave, byte for byte."""
    patched = bytearray(layout.data)
    doubles, ints = see_numbers(patched, np.float64), see_numbers(patched, np.uint32)
    for field, index in layout.doubles.items():
        doubles[index] = marks[field]
    ints[layout.seconds] = [sec for sec, _ in stamp_marks]
    ints[layout.nanoseconds] = [nanosec for _, nanosec in stamp_marks]
    if bytes(patched) != marked_data:
        raise LayoutError(kind, "its numbers do not lie where they were found")


class _Sentinels:
    """Numbers that appear nowhere else, written into a message one by one."""

    def __init__(self) -> None:
        self._count = 0

    def mark(self, owner: Any, name: str) -> Iterator[float]:
        """Overwrite every double of one attribute, and give each number written."""
        value = getattr(owner, name)
        if isinstance(value, float):
            setattr(owner, name, self._next())
            yield getattr(owner, name)
        elif isinstance(value, array) and value.typecode == "d":
            setattr(owner, name, array("d", [self._next() for _ in value]))
            yield from getattr(owner, name)
        elif isinstance(value, np.ndarray) and value.dtype == np.float64:
            value[:] = [self._next() for _ in value]
            yield from value.tolist()
        elif _is_message(value):
            for inner in value.get_fields_and_field_types():
                yield from self.mark(value, inner)
        else:
            raise LayoutError(type(owner), f"{name} is not made of float64 only")

    def mark_stamp(self, stamp: Any) -> tuple[int, int]:
        """Overwrite a stamp, and give the two numbers written."""
        self._count += 1
        stamp.sec, stamp.nanosec = 0x5AC00000 + self._count, 0x3BE00000 + self._count
        return stamp.sec, stamp.nanosec

    def _next(self) -> float:
        # The high bits are those of no ordinary length, text or number; the low ones count.
        self._count += 1
        return -1.2345678912345e-203 * self._count


def _is_message(value: Any) -> bool:
    return hasattr(value, "get_fields_and_field_types")


def _resolve(message: Any, field: str) -> Iterator[tuple[Any, str]]:
    """The owners of a dotted field, with its name there; ``name[]`` is every element."""
    head, _, rest = field.partition(".")
    if not rest:
        yield message, head
        return
    inner = getattr(message, head.removesuffix("[]"))
    for element in inner if head.endswith("[]") else [inner]:
        yield from _resolve(element, rest)


def _stamps(message: Any) -> Iterator[Any]:
    """Every builtin_interfaces Time inside a message, in order."""
    for name, kind in message.get_fields_and_field_types().items():
        value = getattr(message, name)
        if kind == "builtin_interfaces/Time":
            yield value
        elif _is_message(value):
            yield from _stamps(value)
        elif isinstance(value, list):
            for element in value:
                if _is_message(element):
                    yield from _stamps(element)


def _as_index(elements: Sequence[int]) -> Index:
    """A slice where the elements follow each other: read without a copy, written faster."""
    if not elements:
        return slice(0, 0)
    first, behind = elements[0], elements[0] + len(elements)
    if list(elements) == list(range(first, behind)):
        return slice(first, behind)
    return np.array(elements, dtype=np.intp)


def _fixed_stretches(
    length: int, doubles: Sequence[int], ints: Sequence[int]
) -> tuple[tuple[int, int], ...]:
    """Stretches of bytes that hold no number, the header among them."""
    is_fixed = np.ones(length, dtype=np.int8)
    for size, elements in ((8, doubles), (4, ints)):
        for element in elements:
            start = _HEADER_BYTES + size * element
            is_fixed[start : start + size] = 0
    edges = np.flatnonzero(np.diff(is_fixed, prepend=0, append=0))
    return tuple((int(first), int(behind)) for first, behind in edges.reshape(-1, 2))

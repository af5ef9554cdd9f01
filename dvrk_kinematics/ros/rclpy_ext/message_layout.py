"""Finds where the numbers of a message lie in its serialised bytes.

A message is serialised as plain CDR: a header of 4 bytes, then field after field, each primitive
aligned to its own size counted from the end of the header. So all doubles of a message are
elements of one float64 view that starts after the header, and all its stamps are elements of one
uint32 view.
The padding that aligns fields holds whatever was in memory, so every comparison must leave it out.
The positions follow from the message class alone; the only type known here by name is that of a
stamp.

Answers rclpy 7.1, whose ``serialize_message`` does not report these positions and reserves bytes
after the last field. Needed while this passes:
``test_patched.py::test_nothing_lies_behind_the_last_field``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from rclpy.serialization import deserialize_message, serialize_message
from rosidl_parser.definition import (
    AbstractNestedType,
    AbstractSequence,
    BasicType,
    NamespacedType,
    UnboundedString,
)

from dvrk_kinematics.errors import LayoutError

__all__ = ["HEADER_BYTES", "Layout", "find_layout", "see_numbers"]

HEADER_BYTES = 4
_LITTLE_ENDIAN_CDR = 1
_STAMP = ["builtin_interfaces", "msg", "Time"]
_SIZES = {
    **dict.fromkeys(("boolean", "octet", "char", "uint8", "int8"), 1),
    **dict.fromkeys(("uint16", "int16"), 2),
    **dict.fromkeys(("uint32", "int32", "float"), 4),
    **dict.fromkeys(("uint64", "int64", "double"), 8),
}

Index: TypeAlias = slice | NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Layout:
    """Positions of the named fields of one message.

    Attributes:
        data: The serialised message.
        doubles: For each field, the elements of the float64 view that hold its numbers, in order.
        seconds: Elements of the uint32 view that hold the seconds of every stamp.
        nanoseconds: Elements of the uint32 view that hold the nanoseconds of every stamp.
        fixed: Ranges (first, one past last) of the data that hold anything else, such as lengths
            and names, except padding.
    """

    data: bytes
    doubles: dict[str, Index]
    seconds: Index
    nanoseconds: Index
    fixed: tuple[tuple[int, int], ...]


class _Leaf(NamedTuple):
    """A run of primitives of one type; ``path`` has ``[]`` for the elements of an array."""

    path: str
    kind: str
    start: int
    size: int
    length: int
    value: Any

    @property
    def stop(self) -> int:
        return self.start + self.size * self.length

    @property
    def elements(self) -> range:
        """Its elements in a view of numbers of its size that starts after the header."""
        first = (self.start - HEADER_BYTES) // self.size
        return range(first, first + self.length)


def find_layout(message: Any, fields: Sequence[str]) -> Layout:
    """Find where the numbers of some fields and the stamps lie.

    Args:
        message: A message with its final names and array lengths.
        fields: Dotted names of fields made of float64 only: numbers, arrays of them, or messages
            of them such as ``pose``. ``transforms[].transform`` is that field of every element.

    Raises:
        LayoutError: If a field holds something else, or the bytes are not plain CDR.
    """
    kind = type(message)
    data = serialize_message(message)
    if len(data) < HEADER_BYTES or data[1] != _LITTLE_ENDIAN_CDR:
        raise LayoutError(kind, f"serialised as {data[:4].hex()}, not as little-endian CDR")
    leaves = list(_Walk().message(message, ""))
    # With empty arrays, more is reserved than is filled; strict readers refuse the excess.
    data = data[: max(leaf.stop for leaf in leaves)]
    named = {field: _under(leaves, field) for field in fields}
    for field, found in named.items():
        # In a list without elements there is nothing to find.
        is_missing = not found and "[]" not in field
        if is_missing or any(leaf.kind != "double" for leaf in found):
            raise LayoutError(kind, f"{field} is not made of float64 only")
    seconds = [leaf for leaf in leaves if leaf.kind == "stamp.sec"]
    nanoseconds = [leaf for leaf in leaves if leaf.kind == "stamp.nanosec"]
    numbers = [leaf for found in named.values() for leaf in found]
    free = {leaf.start for leaf in [*seconds, *nanoseconds, *numbers] if leaf.length}
    layout = Layout(
        data=data,
        doubles={field: _index(found) for field, found in named.items()},
        seconds=_index(seconds),
        nanoseconds=_index(nanoseconds),
        fixed=_join(
            (0, 2), *((leaf.start, leaf.stop) for leaf in leaves if leaf.start not in free)
        ),
    )
    _check(layout, kind)
    return layout


def see_numbers(data: bytes | bytearray, dtype: type[np.generic]) -> NDArray[Any]:
    """View everything after the header as numbers of one size, without copying."""
    size = np.dtype(dtype).itemsize
    return np.frombuffer(data, dtype, (len(data) - HEADER_BYTES) // size, HEADER_BYTES)


def _check(layout: Layout, kind: type) -> None:
    """Check that the message then holds the numbers written to the layout's positions."""
    data = bytearray(layout.data)
    doubles, ints = see_numbers(data, np.float64), see_numbers(data, np.uint32)
    try:
        for start, index in enumerate(layout.doubles.values()):
            doubles[index] = start + np.arange(1, doubles[index].size + 1) / 1024.0
        ints[layout.seconds], ints[layout.nanoseconds] = 12345, 67890
        leaves = list(_Walk().message(deserialize_message(bytes(data), kind), ""))
    except IndexError as error:
        raise LayoutError(kind, f"shorter than plain CDR ({error})") from error
    for start, field in enumerate(layout.doubles):
        numbers = [number for leaf in _under(leaves, field) for number in leaf.value]
        if numbers != [start + place / 1024.0 for place in range(1, len(numbers) + 1)]:
            raise LayoutError(kind, f"{field} does not lie where plain CDR has it")
    for part, number in (("sec", 12345), ("nanosec", 67890)):
        if any(leaf.value != [number] for leaf in leaves if leaf.kind == f"stamp.{part}"):
            raise LayoutError(kind, "a stamp does not lie where plain CDR has it")


class _Walk:
    """Goes through a message in the order of its bytes."""

    def __init__(self) -> None:
        self._at = HEADER_BYTES

    def message(self, message: Any, path: str) -> Iterator[_Leaf]:
        for name, kind in zip(
            message.get_fields_and_field_types(), message.SLOT_TYPES, strict=True
        ):
            yield from self._value(getattr(message, name), kind, f"{path}.{name}".lstrip("."))

    def _value(self, value: Any, kind: Any, path: str) -> Iterator[_Leaf]:
        if isinstance(kind, AbstractNestedType):
            yield from self._values(value, kind, path)
        elif isinstance(kind, BasicType):
            yield self._take(path, kind.typename, 1, [value])
        elif isinstance(kind, UnboundedString):
            text = value.encode()
            yield self._take(path, "uint32", 1, [len(text)])
            yield self._take(path, "char", len(text) + 1, text)
        elif isinstance(kind, NamespacedType):
            is_stamp = [*kind.namespaces, kind.name] == _STAMP
            for leaf in self.message(value, path):
                part = leaf.path.rpartition(".")[2]
                yield leaf._replace(kind=f"stamp.{part}") if is_stamp else leaf
        else:
            raise LayoutError(
                type(value), f"{path} is of a type that is not laid out here: {kind}"
            )

    def _values(self, values: Any, kind: Any, path: str) -> Iterator[_Leaf]:
        if isinstance(kind, AbstractSequence):
            yield self._take(f"{path}[length]", "uint32", 1, [len(values)])
        if isinstance(kind.value_type, BasicType):
            yield self._take(path, kind.value_type.typename, len(values), values)
        else:
            for value in values:
                yield from self._value(value, kind.value_type, f"{path}[]")

    def _take(self, path: str, kind: str, length: int, value: Any) -> _Leaf:
        size = _SIZES[kind]
        if length:
            self._at += -(self._at - HEADER_BYTES) % size
        leaf = _Leaf(path, kind, self._at, size, length, value)
        self._at = leaf.stop
        return leaf


def _under(leaves: Sequence[_Leaf], field: str) -> list[_Leaf]:
    return [leaf for leaf in leaves if leaf.path == field or leaf.path.startswith(f"{field}.")]


def _index(leaves: Sequence[_Leaf]) -> Index:
    """Return a slice if the elements are contiguous: read without a copy, written faster."""
    elements = [element for leaf in leaves for element in leaf.elements]
    if not elements:
        return slice(0, 0)
    if elements == list(range(elements[0], elements[0] + len(elements))):
        return slice(elements[0], elements[0] + len(elements))
    return np.array(elements, dtype=np.intp)


def _join(*stretches: tuple[int, int]) -> tuple[tuple[int, int], ...]:
    """Sort ranges, and merge those that touch."""
    joined: list[tuple[int, int]] = []
    for first, behind in stretches:
        if joined and joined[-1][1] == first:
            joined[-1] = (joined[-1][0], behind)
        elif behind > first:
            joined.append((first, behind))
    return tuple(joined)

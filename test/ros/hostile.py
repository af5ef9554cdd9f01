"""Messages that nobody in his right mind would send, made from the class of any message."""

from __future__ import annotations

import copy
import os
import random
from collections.abc import Iterator
from typing import Any

from rclpy.serialization import serialize_message
from rosidl_parser.definition import (
    AbstractNestedType,
    AbstractSequence,
    AbstractString,
    AbstractWString,
    BasicType,
    BoundedSequence,
    NamespacedType,
)

CAMPAIGN = float(os.environ.get("DVRK_CAMPAIGN", "1"))
"""How many times as much as usual is sent; for long runs by hand."""

_BITS = {
    **{f"int{bits}": bits for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": bits for bits in (8, 16, 32, 64)},
}
_DOUBLES = (
    *(float("nan"), float("inf"), float("-inf"), 0.0, -0.0, 1.0, -1.0),
    *(1e308, -1e308, 1e200, 1e20, 5e-324, -5e-324, 1e-308, 1e-170, 1e-20),
)
_FLOATS = (float("nan"), float("inf"), 0.0, 3e38, -3e38, 1e-45)
_TEXTS = (
    "",
    "x" * 10_000,
    "tool",
    "PSM1_base",
    "../../..",
    "%s{}$\\",
    "\u00fc\U0001f916",
    "a b\n",
)
_LENGTHS = (0, 1, 2, 6, 7, 50)


def scaled(count: int) -> int:
    """So many times, or as many more as the campaign asks for."""
    return max(1, round(count * CAMPAIGN))


def extremes(kind: Any, rng: random.Random, count: int) -> Iterator[Any]:
    """Messages with extremes in a part of their fields: in one, in some, or in all.

    Args:
        kind: The class of the message.
        rng: Where chance comes from.
        count: How many.
    """
    yield kind()
    for _ in range(count):
        yield _fill(kind, rng, rng.choice((0.1, 0.5, 1.0)))


def damaged(message: Any, rng: random.Random, count: int) -> Iterator[bytes]:
    """The bytes of a message, cut short, with bits turned, or with more behind them."""
    whole = bytes(serialize_message(message))
    yield whole[:9]
    yield b""
    for _ in range(count):
        data = bytearray(whole)
        choice = rng.randrange(3)
        if choice == 0:
            del data[rng.randrange(len(data)) :]
        elif choice == 1:
            for _ in range(rng.randint(1, 6)):
                data[rng.randrange(len(data))] = rng.choice((0, 1, 127, 128, 255))
        else:
            data += rng.randbytes(rng.randint(1, 50))
        yield bytes(data)


def _fill(kind: Any, rng: random.Random, part: float) -> Any:
    message = kind()
    fields = list(message.get_fields_and_field_types())
    for name, slot in zip(fields, message.SLOT_TYPES, strict=True):
        if isinstance(slot, NamespacedType):
            setattr(message, name, _fill(type(getattr(message, name)), rng, part))
        elif rng.random() < part:
            setattr(message, name, _value(slot, rng, part))
    return message


def _value(slot: Any, rng: random.Random, part: float) -> Any:
    if isinstance(slot, AbstractNestedType):
        if isinstance(slot, AbstractSequence):
            most = slot.maximum_size if isinstance(slot, BoundedSequence) else max(_LENGTHS)
            length = min(rng.choice(_LENGTHS), most)
        else:
            length = slot.size
        # Alike but for a few: a hundred messages of their own would take a second to make.
        some = [_value(slot.value_type, rng, part) for _ in range(min(length, 4))]
        return [copy.copy(rng.choice(some)) for _ in range(length)]
    if isinstance(slot, NamespacedType):
        return _fill(_class_of(slot), rng, part)
    if isinstance(slot, AbstractString | AbstractWString):
        return rng.choice(_TEXTS)
    assert isinstance(slot, BasicType), slot
    return _number(slot.typename, rng)


def _number(kind: str, rng: random.Random) -> Any:
    if kind == "boolean":
        return rng.random() < 0.5
    if kind == "double":
        return rng.choice(_DOUBLES)
    if kind == "float":
        return rng.choice(_FLOATS)
    if kind == "octet":
        return bytes([rng.choice((0, 1, 255))])
    bits = _BITS.get(kind, 8)
    low, high = (
        (0, 2**bits - 1) if kind.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    )
    return rng.choice((low, high, max(low, -1), 0, 1, 2, 3))


def _class_of(slot: Any) -> Any:
    module = __import__(".".join(slot.namespaces), fromlist=[slot.name])
    return getattr(module, slot.name)

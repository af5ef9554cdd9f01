"""Strict reading of model files: every complaint names the file and the place in it."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dvrk_kinematics.errors import ModelError
from dvrk_kinematics.geometry import so3
from dvrk_kinematics.geometry.arrays import Array, frozen
from dvrk_kinematics.models.yaml_text import parse_yaml

__all__ = ["Node", "merge", "read_text", "read_yaml"]

_LARGEST = 64 << 20
"""Bytes that are read of a file: a device or a pipe may never end."""

_SHOWN = reprlib.Repr()
"""Shows values in complaints, however long or deep they are."""
_SHOWN.maxstring = _SHOWN.maxother = _SHOWN.maxlong = 80


def read_yaml(path: Path) -> Node:
    """Reads a YAML file.

    Raises:
        ModelError: If it cannot be read, is not YAML that ``parse_yaml`` takes, or is no mapping.
    """
    node = Node(parse_yaml(read_text(path), str(path)), path.name, "")
    node.mapping()
    return node


def read_text(path: Path) -> str:
    """Reads a file of text, of at most 64 MiB.

    Raises:
        ModelError: If it cannot be read, is larger or is not UTF-8; names the file.
    """
    try:
        with path.open("rb") as stream:
            data = stream.read(_LARGEST + 1)
        if len(data) > _LARGEST:
            raise ModelError(str(path), f"cannot be read: is larger than {_LARGEST >> 20} MiB")
        return data.decode()
    except (OSError, ValueError) as error:
        # A path may itself be none: with a null character, or one that has no UTF-8.
        raise ModelError(ascii(str(path))[1:-1], f"cannot be read: {error}") from error


def merge(base: dict[str, Any], override: dict[str, Any]) -> dict[str, Any]:
    """Lays one mapping over another: mappings key by key, anything else is replaced."""
    result = dict(base)
    for key, value in override.items():
        old = result.get(key)
        both = isinstance(old, dict) and isinstance(value, dict)
        result[key] = merge(old, value) if both else value  # type: ignore[arg-type]
    return result


class Node:
    """One value of a model file, together with its place.

    Args:
        value: What YAML read there.
        file: Name of the file.
        place: Path of keys, such as ``joints.yaw.lower``; empty for the whole file.
    """

    __slots__ = ("file", "place", "value")

    def __init__(self, value: Any, file: str, place: str) -> None:
        self.value = value
        self.file = file
        self.place = place

    def error(self, reason: str) -> ModelError:
        """An error about this place, to be raised."""
        source = f"{self.file}: {self.place}" if self.place else self.file
        return ModelError(source, reason)

    def _child(self, key: str, value: Any) -> Node:
        return Node(value, self.file, f"{self.place}.{key}" if self.place else key)

    def mapping(self) -> dict[str, Any]:
        """The value as a mapping with text keys."""
        if not isinstance(self.value, dict):
            raise self.error(f"must be a mapping, is {_kind(self.value)}")
        for key in self.value:
            if not isinstance(key, str):
                raise self.error(f"key {_shown(key)} must be text")
        return self.value

    def keys(self, required: Collection[str], optional: Collection[str] = ()) -> None:
        """Refuses missing and unknown keys."""
        present = self.mapping().keys()
        missing = [key for key in required if key not in present]
        if missing:
            raise self.error(f"missing: {', '.join(missing)}")
        allowed = {*required, *optional}
        unknown = [key for key in present if key not in allowed]
        if unknown:
            raise self.error(
                f"unknown: {', '.join(unknown)}; allowed: {', '.join(sorted(allowed))}"
            )

    def items(self) -> Iterator[tuple[str, Node]]:
        """The entries of a mapping, in the order of the file."""
        for key, value in self.mapping().items():
            yield key, self._child(key, value)

    def elements(self) -> list[Node]:
        """The entries of a list."""
        if not isinstance(self.value, list):
            raise self.error(f"must be a list, is {_kind(self.value)}")
        return [self._child(str(i), value) for i, value in enumerate(self.value)]

    def __contains__(self, key: str) -> bool:
        return key in self.mapping()

    def __getitem__(self, key: str) -> Node:
        value = self.mapping()
        if key not in value:
            raise self.error(f"missing: {key}")
        return self._child(key, value[key])

    def number(self) -> float:
        """The value as a finite number; text is refused, 1e-7 too, which YAML reads as text."""
        if isinstance(self.value, bool) or not isinstance(self.value, (int, float)):
            hint = " (write 1.0e-7, not 1e-7)" if _looks_like_number(self.value) else ""
            raise self.error(
                f"must be a number, is {_kind(self.value)} {_shown(self.value)}{hint}"
            )
        try:
            number = float(self.value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise self.error(f"must be finite, is {_shown(self.value)}")
        return number

    def text(self) -> str:
        """The value as text."""
        if not isinstance(self.value, str):
            raise self.error(f"must be text, is {_kind(self.value)} {_shown(self.value)}")
        return self.value

    def flag(self) -> bool:
        """The value as true or false."""
        if not isinstance(self.value, bool):
            raise self.error(f"must be true or false, is {_shown(self.value)}")
        return self.value

    def numbers(self, count: int) -> list[float]:
        """The value as a list of so many numbers."""
        elements = self.elements()
        if len(elements) != count:
            raise self.error(f"needs {count} numbers, has {len(elements)}")
        return [element.number() for element in elements]

    def matrix(self, rows: int, columns: int) -> Array:
        """The value as a matrix, row by row; read-only."""
        elements = self.elements()
        if len(elements) != rows:
            raise self.error(f"needs {rows} rows, has {len(elements)}")
        return frozen([element.numbers(columns) for element in elements])

    def pose(self) -> Array:
        """The value as ``{translation: [x, y, z], rotation: 3 rows}``; (4, 4), read-only."""
        self.keys(("translation", "rotation"))
        T = np.eye(4)
        T[:3, :3] = self["rotation"].matrix(3, 3)
        T[:3, 3] = self["translation"].numbers(3)
        off = float(so3.deviation(T[:3, :3]))
        # Numbers whose squares overflow have no deviation that could be compared.
        if not off <= 1e-12:
            raise self["rotation"].error(f"is no rotation: |R^T R - I| is {off:.3g}")
        return frozen(T)


def _shown(value: Any) -> str:
    return _SHOWN.repr(value)


def _kind(value: Any) -> str:
    names = {dict: "a mapping", list: "a list", str: "text", bool: "a truth value"}
    return "empty" if value is None else names.get(type(value), type(value).__name__)


def _looks_like_number(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    try:
        float(value)
    except ValueError:
        return False
    return True

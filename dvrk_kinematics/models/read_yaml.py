"""Strict reading of model files: every error names the file and the place in it."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from dvrk_kinematics.errors import ModelError
from dvrk_kinematics.geometry import so3
from dvrk_kinematics.geometry.arrays import Array, frozen

__all__ = ["Node", "merge", "parse_yaml", "read_text", "read_yaml"]

# The parser in C is ten times faster, but not installed everywhere.
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_DEEPEST = 64
"""Nesting depth of lists and mappings; no file of this project needs ten."""
_LONGEST_NUMBER = 400
"""Maximum characters of a number: more digits than any float has."""
_MOST_REPEATED = 100_000
"""Values that aliases may repeat in one file; unbounded, a few lines could mean billions."""

_TAG = "tag:yaml.org,2002:"
_TEXT, _MERGE = f"{_TAG}str", f"{_TAG}merge"
_NUMBERS = (f"{_TAG}int", f"{_TAG}float")
_SCALARS = (_TEXT, *_NUMBERS, f"{_TAG}bool", f"{_TAG}null")


class _Merge:
    """The key ``<<``: its value is merged under the mapping that contains it."""


_MERGE_KEY = _Merge()
_NO_KEY = object()


@dataclass(slots=True, eq=False)
class _Open:
    """A list or mapping that is being read.

    Attributes:
        is_mapping: Which of the two it is.
        anchor: Its name for aliases; None without one.
        line: Where it begins, counted from 1.
        size: Values in it so far, itself and what aliases repeat included.
        elements: What a list holds.
        entries: What a mapping holds.
        merged: What ``<<`` merges under the mapping, highest priority first.
        key: The key whose value comes next.
    """

    is_mapping: bool
    anchor: str | None
    line: int
    size: int = 1
    elements: list[Any] = field(default_factory=list)
    entries: dict[Any, Any] = field(default_factory=dict)
    merged: list[dict[Any, Any]] | None = None
    key: Any = _NO_KEY

    def data(self) -> list[Any] | dict[Any, Any]:
        """The value once all of it has been read."""
        if not self.is_mapping:
            return self.elements
        if self.merged is None:
            return self.entries
        result: dict[Any, Any] = {}
        for below in reversed(self.merged):
            result |= below
        return result | self.entries


def parse_yaml(text: str, source: str) -> Any:
    """The data of a YAML text; None if it is empty.

    Dates are text: no file of this project contains one.

    Args:
        text: The whole file.
        source: Its name, for errors.

    Raises:
        ModelError: If it is not YAML, repeats a key, is nested too deep, repeats too much through
            aliases, or has a tag or a number that cannot be used; names file and line.
    """
    return _Builder(source).build(text)


class _Builder:
    """Builds the data of one text from the parser's events."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._open: list[_Open] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._repeated = 0
        self._root: Any = None

    def build(self, text: str) -> Any:
        documents = 0
        for event, loader in self._events(text):
            line = event.start_mark.line + 1
            if isinstance(event, yaml.ScalarEvent):
                self._add(self._scalar(event, loader, line), 1, event.anchor, line)
            elif isinstance(event, yaml.AliasEvent):
                self._add(*self._aliased(str(event.anchor), line), None, line)
            elif isinstance(event, yaml.CollectionStartEvent):
                self._begin(event, line)
            elif isinstance(event, yaml.CollectionEndEvent):
                ended = self._open.pop()
                self._add(ended.data(), ended.size, ended.anchor, ended.line)
            elif isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise self._error(line, "a second document begins; a file holds one")
        return self._root

    def _events(self, text: str) -> Iterator[tuple[Any, Any]]:
        try:
            loader = _Loader(text)
            try:
                while loader.check_event():
                    yield loader.get_event(), loader
            finally:
                loader.dispose()
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line = mark.line + 1 if mark else 1
            raise self._error(line, f"is not valid YAML: {error.problem}") from error
        except (yaml.YAMLError, UnicodeError) as error:
            reason = " ".join(str(error).split())
            raise ModelError(self._source, f"is not valid YAML: {reason}") from error

    def _begin(self, event: Any, line: int) -> None:
        is_mapping = isinstance(event, yaml.MappingStartEvent)
        usual = f"{_TAG}map" if is_mapping else f"{_TAG}seq"
        if event.tag not in (None, "!", usual):
            raise self._error(line, f"tag {event.tag!r} is not supported")
        if len(self._open) == _DEEPEST:
            raise self._error(line, f"is nested deeper than {_DEEPEST} lists and mappings")
        if self._open and self._open[-1].is_mapping and self._open[-1].key is _NO_KEY:
            raise self._error(line, "a key must be text, not a list or a mapping")
        self._open.append(_Open(is_mapping, event.anchor, line))

    def _add(self, value: Any, size: int, anchor: str | None, line: int) -> None:
        """Puts a value where it belongs: the root, a list, a key or the value of a key."""
        if anchor is not None:
            self._anchors[anchor] = (value, size)
        if not self._open:
            self._root = value
            return
        parent = self._open[-1]
        parent.size += size
        if not parent.is_mapping:
            parent.elements.append(value)
        elif parent.key is _NO_KEY:
            self._add_key(parent, value, line)
        elif parent.key is _MERGE_KEY:
            parent.merged = self._below(value, line)
            parent.key = _NO_KEY
        else:
            parent.entries[parent.key] = value
            parent.key = _NO_KEY

    def _add_key(self, parent: _Open, key: Any, line: int) -> None:
        if isinstance(key, (dict, list)):
            raise self._error(line, "a key must be text, not a list or a mapping")
        if key in parent.entries or (key is _MERGE_KEY and parent.merged is not None):
            name = "<<" if key is _MERGE_KEY else key
            raise self._error(line, f"key {name!r} is given twice")
        parent.key = key

    def _below(self, value: Any, line: int) -> list[dict[Any, Any]]:
        """The mappings that ``<<`` names."""
        below = value if isinstance(value, list) else [value]
        if not all(isinstance(one, dict) for one in below):
            raise self._error(line, "<< needs a mapping or a list of mappings")
        return below

    def _aliased(self, name: str, line: int) -> tuple[Any, int]:
        """The value of an alias, and how many values it contains."""
        if any(parent.anchor == name for parent in self._open):
            raise self._error(line, f"alias *{name} stands inside of what it repeats")
        if name not in self._anchors:
            raise self._error(line, f"alias *{name} repeats nothing: there is no &{name} above")
        value, size = self._anchors[name]
        self._repeated += size
        if self._repeated > _MOST_REPEATED:
            raise self._error(line, f"aliases repeat more than {_MOST_REPEATED} values")
        return value, size

    def _scalar(self, event: Any, loader: Any, line: int) -> Any:
        value: str = event.value
        tag = event.tag
        if tag in (None, "!"):
            tag = loader.resolve(yaml.ScalarNode, value, event.implicit)
            if tag == _MERGE and self._open and self._open[-1].is_mapping:
                return _MERGE_KEY if self._open[-1].key is _NO_KEY else value
            if tag not in _SCALARS:
                return value
        elif tag not in _SCALARS:
            raise self._error(line, f"tag {tag!r} is not supported")
        if tag == _TEXT:
            return value
        if tag in _NUMBERS and len(value) > _LONGEST_NUMBER:
            raise self._error(line, f"a number has {len(value)} characters: too long")
        try:
            return _Loader.yaml_constructors[tag](loader, yaml.ScalarNode(tag, value))
        except (ValueError, LookupError, ArithmeticError) as error:
            kind = tag.removeprefix(_TAG)
            raise self._error(line, f"{value[:40]!r} is not a valid {kind}") from error

    def _error(self, line: int, reason: str) -> ModelError:
        return ModelError(f"{self._source}: line {line}", reason)


_LARGEST = 64 << 20
"""Maximum bytes to read from a file: a device or a pipe may never end."""

_SHOWN = reprlib.Repr()
"""Shows values in error messages, however long or deep they are."""
_SHOWN.maxstring = _SHOWN.maxother = _SHOWN.maxlong = 80


def read_yaml(path: Path) -> Node:
    """Reads a YAML file.

    Raises:
        ModelError: If it cannot be read, is not YAML that ``parse_yaml`` accepts, or is not a
            mapping.
    """
    node = Node(parse_yaml(read_text(path), str(path)), path.name, "")
    node.mapping()
    return node


def read_text(path: Path) -> str:
    """Reads a text file of at most 64 MiB.

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
        # The path itself may be invalid: with a null character, or one without UTF-8.
        raise ModelError(ascii(str(path))[1:-1], f"cannot be read: {error}") from error


def merge(base: dict[str, Any], override: dict[str, Any]) -> dict[str, Any]:
    """Merges one mapping over another: mappings key by key, anything else is replaced."""
    result = dict(base)
    for key, value in override.items():
        old = result.get(key)
        both = isinstance(old, dict) and isinstance(value, dict)
        result[key] = merge(old, value) if both else value  # type: ignore[arg-type]
    return result


class Node:
    """One value of a model file, together with its place.

    Args:
        value: The value that YAML read there.
        file: Name of the file.
        place: Path of keys, such as ``joints.yaw.lower``; empty for the whole file.
    """

    __slots__ = ("file", "place", "value")

    def __init__(self, value: Any, file: str, place: str) -> None:
        self.value = value
        self.file = file
        self.place = place

    def error(self, reason: str) -> ModelError:
        """An error about this place, to raise."""
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
        """The value as a finite number; text is refused, even 1e-7, which YAML reads as text."""
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
        """The value as a list of this many numbers."""
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
        # Numbers whose squares overflow have no comparable deviation.
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

"""Reads an MCAP file record by record, so that it can read one without its end as well.

It ignores the index at the end of a file. It leaves out and reports damaged parts: a chunk with a
wrong checksum, and everything after a record with an impossible length.
"""

from __future__ import annotations

import importlib
import mmap
import os
import struct
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from dvrk_kinematics.bags.mcap_records import MAGIC, RECORD_HEAD, Op
from dvrk_kinematics.errors import BagError, MissingExtra, shorten

__all__ = ["LATEST_NS", "McapReader", "McapTopic"]

_LARGEST_CHUNK = 2**28
"""Largest size of an unpacked chunk (bytes)."""

LATEST_NS = 2**62
"""A message that arrived later than this (in the year 2116) has a wrong time."""

_MESSAGE = struct.Struct("<HIQQ")
_CHUNK = struct.Struct("<QQQI")


class _DamageError(Exception):
    """Invalid bytes; the text explains why."""


class _Chunk(NamedTuple):
    """The place of messages: packed bytes of the file, or the file itself.

    Attributes:
        begin: Where its packed content begins in the file.
        end: Where it ends.
        packing: How it is packed; "" if it is not.
        size: Its unpacked size (bytes).
    """

    begin: int
    end: int
    packing: str
    size: int


@dataclass
class McapTopic:
    """The messages of one topic and one type.

    Attributes:
        name: The topic.
        type_name: The type of its messages.
        times_ns: When each arrived (ns, system time).
        chunks: In which chunk each is.
        begins: Where each begins in its chunk.
        ends: Where each ends.
    """

    name: str
    type_name: str
    times_ns: array[int] = field(default_factory=lambda: array("Q"))
    chunks: array[int] = field(default_factory=lambda: array("Q"))
    begins: array[int] = field(default_factory=lambda: array("Q"))
    ends: array[int] = field(default_factory=lambda: array("Q"))


class McapReader:
    """An open MCAP file.

    Args:
        file: The file.

    Attributes:
        is_closed: Whether it ends like an MCAP file; the file of a killed recorder ends anywhere.
        damages: Descriptions of what could not be read; a missing end is not among them.

    Raises:
        BagError: If it is not an MCAP file.
        MissingExtra: If it is packed, and the library that unpacks it is not installed.
    """

    def __init__(self, file: Path) -> None:
        self.damages: list[str] = []
        self._name = file.name
        self._schemas: dict[int, str] = {}
        self._channels: dict[int, McapTopic] = {}
        self._known: dict[tuple[str, str], McapTopic] = {}
        self._chunks: list[_Chunk] = []
        self._unpacked: tuple[int, bytes] = (-1, b"")
        self._bytes = _map(file)
        if self._bytes[: len(MAGIC)] != MAGIC:
            self.close()
            raise BagError(str(file), "cannot be read: it does not begin as an MCAP file does")
        self.is_closed = self._bytes[len(MAGIC) :][-len(MAGIC) :] == MAGIC
        try:
            self._scan()
        except _DamageError as damage:
            if self.is_closed:
                self.damages.append(f"{self._name} is not read to its end: {damage}")

    @property
    def topics(self) -> list[McapTopic]:
        """Its topics, in the order in which they were announced."""
        return list(self._known.values())

    def close(self) -> None:
        """Close the file."""
        if isinstance(self._bytes, mmap.mmap):
            self._bytes.close()

    def messages(self, topic: McapTopic) -> Iterator[tuple[int, bytes]]:
        """Time (ns, system time) and bytes of each message of a topic, in the file's order."""
        rows = zip(topic.times_ns, topic.chunks, topic.begins, topic.ends, strict=True)
        for time_ns, chunk, begin, end in rows:
            yield time_ns, bytes(self._content(chunk)[begin:end])

    def _content(self, number: int) -> Any:
        """The bytes that contain a chunk's messages; those of the whole file if not packed."""
        chunk = self._chunks[number]
        if not chunk.packing:
            return self._bytes
        if self._unpacked[0] != number:
            packed = self._bytes[chunk.begin : chunk.end]
            self._unpacked = number, _unpack(packed, chunk.packing, chunk.size)
        return self._unpacked[1]

    def _scan(self) -> None:
        """Find all messages of the file."""
        # Messages outside chunks are in the file itself.
        self._chunks.append(_Chunk(0, len(self._bytes), "", len(self._bytes)))
        for op, begin, end in _records(self._bytes, len(MAGIC), len(self._bytes)):
            if op in (Op.DATA_END, Op.FOOTER):
                return
            if op == Op.CHUNK:
                self._scan_chunk(begin, end)
            else:
                self._see(self._bytes, 0, op, begin, end)

    def _scan_chunk(self, begin: int, end: int) -> None:
        number = len(self._chunks)
        try:
            if end - begin < _CHUNK.size:
                raise _DamageError("it is too short")
            _, _, size, crc = _CHUNK.unpack_from(self._bytes, begin)
            packing, at = _text(self._bytes, begin + _CHUNK.size, end)
            if end - at < 8:
                raise _DamageError("it is too short")
            at += 8
            if packing and size > _LARGEST_CHUNK:
                raise _DamageError(f"it is to have {size} bytes, allowed are {_LARGEST_CHUNK}")
            self._chunks.append(_Chunk(at, end, packing, size))
            content = self._content(number)
            first, last = (0, len(content)) if packing else (at, end)
            is_wrong = bool(crc) and crc32(memoryview(content)[first:last]) != crc
            for op, inner_begin, inner_end in _records(content, first, last):
                # Still read what the messages of other chunks need.
                if op != Op.MESSAGE or not is_wrong:
                    self._see(content, number, op, inner_begin, inner_end)
            if is_wrong:
                raise _DamageError("its checksum is wrong")
        except _DamageError as damage:
            self.damages.append(f"the chunk at byte {begin} of {self._name} is damaged: {damage}")
        if len(self._chunks) == number:
            # Its number must stay unused: the next one gets another.
            self._chunks.append(_Chunk(begin, begin, "", 0))

    def _see(self, data: Any, chunk: int, op: int, begin: int, end: int) -> None:
        if op == Op.MESSAGE:
            self._see_message(data, chunk, begin, end)
        elif op == Op.SCHEMA:
            if end - begin < 2:
                raise _DamageError("a schema is too short")
            (number,) = struct.unpack_from("<H", data, begin)
            self._schemas[number], _ = _text(data, begin + 2, end)
        elif op == Op.CHANNEL:
            if end - begin < 4:
                raise _DamageError("a channel is too short")
            number, schema = struct.unpack_from("<HH", data, begin)
            name, _ = _text(data, begin + 4, end)
            self._channels[number] = self._topic(name, self._schemas.get(schema, "not known"))
        elif op == Op.CHUNK:
            raise _DamageError("there is a chunk inside of it")

    def _see_message(self, data: Any, chunk: int, begin: int, end: int) -> None:
        if end - begin < _MESSAGE.size:
            raise _DamageError("a message is too short")
        number, _, time_ns, _ = _MESSAGE.unpack_from(data, begin)
        topic = self._channels.get(number)
        if topic is None:
            raise _DamageError(f"a message is of channel {number}, which was not announced")
        if time_ns > LATEST_NS:
            raise _DamageError(f"a message of {shorten(topic.name)} arrived at {time_ns} ns")
        topic.times_ns.append(time_ns)
        topic.chunks.append(chunk)
        topic.begins.append(begin + _MESSAGE.size)
        topic.ends.append(end)

    def _topic(self, name: str, type_name: str) -> McapTopic:
        """The topic with a name and a type; several channels may share it."""
        if (name, type_name) not in self._known:
            self._known[name, type_name] = McapTopic(name, type_name)
        return self._known[name, type_name]


def _map(file: Path) -> mmap.mmap | bytes:
    try:
        with file.open("rb") as stream:
            if not os.fstat(stream.fileno()).st_size:
                return b""
            return mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise BagError(str(file), f"cannot be read: {error}") from error


def _records(data: Any, begin: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Kind, begin and end of the content of each record between two places."""
    at = begin
    while at < end:
        if end - at < RECORD_HEAD.size:
            raise _DamageError(f"the record at byte {at} is cut off")
        op, length = RECORD_HEAD.unpack_from(data, at)
        if op == 0:
            raise _DamageError(f"there is no record at byte {at}")
        first = at + RECORD_HEAD.size
        if length > end - first:
            raise _DamageError(f"the record at byte {at} is cut off, or its length is wrong")
        yield op, first, first + length
        at = first + length


def _text(data: Any, begin: int, end: int) -> tuple[str, int]:
    """A text, and where it ends."""
    if end - begin < 4:
        raise _DamageError("a text is cut off")
    (length,) = struct.unpack_from("<I", data, begin)
    if length > end - begin - 4:
        raise _DamageError("a text is cut off")
    last = begin + 4 + length
    try:
        return bytes(data[begin + 4 : last]).decode(), last
    except UnicodeDecodeError as error:
        raise _DamageError(f"a text is no UTF-8: {error}") from error


def _unpack(packed: bytes, packing: str, size: int) -> bytes:
    """Unpack bytes; never to more than the stated size, however large they would become."""
    if packing == "lz4":
        unpacker = _import("lz4.frame").LZ4FrameDecompressor()
    elif packing == "zstd":
        unpacker = _import_zstd().ZstdDecompressor()
    else:
        raise _DamageError(f"it is packed as {shorten(packing)!r}; lz4 and zstd are known")
    try:
        data = bytes(unpacker.decompress(packed, max_length=size + 1))
    except Exception as error:
        # Each library has its own errors.
        raise _DamageError(f"it cannot be unpacked: {shorten(str(error))}") from error
    if len(data) != size:
        raise _DamageError(f"it is to have {size} bytes when unpacked, and does not")
    return data


def _import_zstd() -> Any:
    try:
        return importlib.import_module("compression.zstd")
    except ImportError:
        return _import("backports.zstd")


def _import(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtra(module, "install requirements/bags.txt") from error

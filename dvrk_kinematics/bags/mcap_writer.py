"""Writes an MCAP file that can be closed at any moment, even when the disk is full.

It collects messages in memory and writes them to the file as whole chunks. When one no longer
fits, it truncates the file to the end of the last whole chunk and closes it there; if even the
summary does not fit, it drops more chunks. A killed process leaves whole chunks as well.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from dvrk_kinematics.bags.mcap_records import MAGIC, Op, record, text

__all__ = ["McapWriter"]

_PROFILE, _LIBRARY = "ros2", "dvrk_kinematics"
_CHUNK_BYTES = 2**20
_CHUNK_NS = 2_000_000_000
"""A chunk ends after this many bytes, or when its messages span this much time (ns): messages that
a killed process has collected but not yet written are lost."""

_ENCODING, _SCHEMA_ENCODING = "cdr", "ros2msg"


@dataclass
class _Chunk:
    """Messages that are not in the file yet."""

    data: bytearray = field(default_factory=bytearray)
    rows: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    """Time (ns) and place in the chunk of each message, by channel."""
    first_ns: int = 2**63 - 1
    last_ns: int = 0


class _WrittenChunk(NamedTuple):
    entry: bytes
    """Its record in the summary."""
    end: int
    """Where it and its indexes end in the file."""
    first_ns: int
    last_ns: int
    counts: Counter[int]
    """Number of its messages on each channel."""


class McapWriter:
    """An MCAP file being written.

    Args:
        file: The file; must not exist yet.

    Raises:
        OSError: If it cannot be created.
    """

    def __init__(self, file: Path) -> None:
        self._schemas: dict[str, tuple[int, bytes]] = {}
        self._channels: list[bytes] = []
        self._chunk = _Chunk()
        self._written: list[_WrittenChunk] = []
        self.failure: OSError | None = None
        """Why the file ends before the last message passed to it."""
        # Without a buffer: after a failure we could not know how much of it is in the file.
        self._file = file.open("xb", buffering=0)
        try:
            self._put(MAGIC + record(Op.HEADER, text(_PROFILE), text(_LIBRARY)))
        except OSError:
            self._file.close()
            raise
        self._begin = self._end = self._file.tell()

    @property
    def counts(self) -> Counter[int]:
        """How many messages of each channel are in the file, by the channel's number."""
        return sum((chunk.counts for chunk in self._written), Counter())

    @property
    def span_ns(self) -> tuple[int, int]:
        """Times of the first and the last message in the file (ns); both 0 if there is none."""
        if not self._written:
            return 0, 0
        chunks = self._written
        return min(c.first_ns for c in chunks), max(c.last_ns for c in chunks)

    def add_channel(
        self, topic: str, type_name: str, definition: str, metadata: Mapping[str, str]
    ) -> int:
        """Announce a topic.

        Args:
            topic: Its name.
            type_name: Its type.
            definition: Definition of the type and of all its parts.
            metadata: Further data about it.

        Returns:
            The channel's number.
        """
        if type_name not in self._schemas:
            number = len(self._schemas) + 1
            words = (text(type_name), text(_SCHEMA_ENCODING), text(definition))
            made = record(Op.SCHEMA, struct.pack("<H", number), *words)
            self._schemas[type_name] = number, made
            self._chunk.data += made
        number = len(self._channels) + 1
        numbers = struct.pack("<HH", number, self._schemas[type_name][0])
        words = (text(topic), text(_ENCODING), _pairs(metadata))
        made = record(Op.CHANNEL, numbers, *words)
        self._channels.append(made)
        self._chunk.data += made
        return number

    def write(self, channel: int, time_ns: int, data: bytes) -> None:
        """Write one message.

        Args:
            channel: Number of its channel.
            time_ns: When it arrived (ns, system time).
            data: The message as it was serialised.

        Raises:
            OSError: If its chunk does not fit in the file. The file then ends with the previous
                chunk, and the messages of this one are lost; :meth:`close` completes the file.
        """
        chunk = self._chunk
        chunk.rows.setdefault(channel, []).append((time_ns, len(chunk.data)))
        chunk.data += record(Op.MESSAGE, struct.pack("<HIQQ", channel, 0, time_ns, time_ns), data)
        chunk.first_ns = min(chunk.first_ns, time_ns)
        chunk.last_ns = max(chunk.last_ns, time_ns)
        if len(chunk.data) > _CHUNK_BYTES or chunk.last_ns - chunk.first_ns > _CHUNK_NS:
            self.flush()

    def flush(self) -> None:
        """Write the collected messages to the file.

        Raises:
            OSError: As :meth:`write`.
        """
        chunk, self._chunk = self._chunk, _Chunk()
        if not chunk.rows:
            # Schemas and channels alone do not make a chunk; they go with the next message.
            self._chunk.data = chunk.data
            return
        try:
            self._written.append(self._put_chunk(chunk))
        except OSError as error:
            self.failure = error
            self._cut_back()
            raise

    def close(self, name: str, notes: Callable[[], Mapping[str, str]]) -> None:
        """Write the collected messages and the summary; this completes the file.

        It leaves out what does not fit, and :attr:`failure` explains why.

        Args:
            name: Name of a record with notes.
            notes: Makes the notes; it may use :attr:`counts` and :attr:`span_ns`.

        Raises:
            OSError: If there is not even room for a summary without messages.
        """
        with suppress(OSError):
            self.flush()
        try:
            while not self._put_summary(name, notes()):
                # It needs less room than a chunk, unless the bag has thousands of them.
                self._written.pop()
                self._cut_back()
        finally:
            self._file.close()

    def _put_summary(self, name: str, notes: Mapping[str, str]) -> bool:
        """Write the summary of the remaining chunks; return whether there was room for it."""
        try:
            self._put(self._summary(name, notes))
        except OSError as error:
            self.failure = error
            self._cut_back()
            if not self._written:
                raise
            return False
        return True

    def _put(self, data: bytes | bytearray) -> None:
        """Append to the file, all of it."""
        rest = memoryview(data)
        while rest:
            rest = rest[self._file.write(rest) :]

    def _put_chunk(self, chunk: _Chunk) -> _WrittenChunk:
        begin = self._end
        times = struct.pack("<QQ", chunk.first_ns, chunk.last_ns)
        size = struct.pack("<Q", len(chunk.data))
        crc = struct.pack("<I", crc32(chunk.data))
        made = record(Op.CHUNK, times, size, crc, text(""), size, bytes(chunk.data))
        at, indexes, offsets = begin + len(made), bytearray(), bytearray()
        for channel, rows in chunk.rows.items():
            offsets += struct.pack("<HQ", channel, at + len(indexes))
            places = b"".join(struct.pack("<QQ", *row) for row in rows)
            indexes += record(Op.MESSAGE_INDEX, struct.pack("<H", channel), text(places))
        self._put(made + indexes)
        self._end = at + len(indexes)
        entry = record(
            Op.CHUNK_INDEX,
            times,
            struct.pack("<QQ", begin, len(made)),
            text(bytes(offsets)),
            struct.pack("<Q", len(indexes)),
            text(""),
            size,
            size,
        )
        counts = Counter({channel: len(rows) for channel, rows in chunk.rows.items()})
        return _WrittenChunk(entry, self._end, chunk.first_ns, chunk.last_ns, counts)

    def _cut_back(self) -> None:
        """Truncate the file to the end of its last whole chunk."""
        self._end = self._written[-1].end if self._written else self._begin
        self._file.truncate(self._end)
        self._file.seek(self._end)

    def _summary(self, name: str, notes: Mapping[str, str]) -> bytes:
        """Everything after the chunks."""
        noted = record(Op.METADATA, text(name), _pairs(notes))
        data = noted + record(Op.DATA_END, struct.pack("<I", 0))
        groups = [
            (Op.SCHEMA, b"".join(made for _, made in self._schemas.values())),
            (Op.CHANNEL, b"".join(self._channels)),
            (Op.CHUNK_INDEX, b"".join(chunk.entry for chunk in self._written)),
            (
                Op.METADATA_INDEX,
                record(
                    Op.METADATA_INDEX,
                    struct.pack("<QQ", self._end, len(noted)),
                    text(name),
                ),
            ),
            (Op.STATISTICS, self._statistics()),
        ]
        start = at = self._end + len(data)
        offsets = b""
        for op, part in groups:
            if part:
                offsets += record(Op.SUMMARY_OFFSET, struct.pack("<BQQ", op, at, len(part)))
            at += len(part)
        footer = record(Op.FOOTER, struct.pack("<QQI", start, at, 0))
        return data + b"".join(part for _, part in groups) + offsets + footer + MAGIC

    def _statistics(self) -> bytes:
        counts = self.counts
        rows = b"".join(
            struct.pack("<HQ", number, counts[number])
            for number in range(1, len(self._channels) + 1)
        )
        numbers = struct.pack(
            "<QHIIIIQQ",
            counts.total(),
            len(self._schemas),
            len(self._channels),
            0,
            1,
            len(self._written),
            *self.span_ns,
        )
        return record(Op.STATISTICS, numbers, text(rows))


def _pairs(words: Mapping[str, str]) -> bytes:
    return text(b"".join(text(key) + text(value) for key, value in words.items()))

"""The records that an MCAP file is made of (https://mcap.dev/spec).

A file is the magic, a header, the data (chunks with schemas, channels and messages, each followed
by its indexes), the end of the data, a summary, a footer with the place where the summary begins,
and the magic again. A record is a byte for its kind, the length of the rest in eight bytes, and
the rest. Numbers are little-endian; texts and lists have their length in bytes before them.
"""

from __future__ import annotations

import struct
from enum import IntEnum

__all__ = ["MAGIC", "RECORD_HEAD", "Op", "record", "text"]

MAGIC = b"\x89MCAP0\r\n"
RECORD_HEAD = struct.Struct("<BQ")
"""The header before the content of a record: its kind and its length (bytes)."""

_LENGTH = struct.Struct("<I")


class Op(IntEnum):
    """Kinds of records."""

    HEADER = 0x01
    FOOTER = 0x02
    SCHEMA = 0x03
    CHANNEL = 0x04
    MESSAGE = 0x05
    CHUNK = 0x06
    MESSAGE_INDEX = 0x07
    CHUNK_INDEX = 0x08
    STATISTICS = 0x0B
    METADATA = 0x0C
    METADATA_INDEX = 0x0D
    SUMMARY_OFFSET = 0x0E
    DATA_END = 0x0F


def record(op: Op, *parts: bytes) -> bytes:
    """A record with its content."""
    content = b"".join(parts)
    return RECORD_HEAD.pack(op, len(content)) + content


def text(words: str | bytes) -> bytes:
    """A text, or a list in bytes, with its length before it."""
    data = words.encode() if isinstance(words, str) else words
    return _LENGTH.pack(len(data)) + data

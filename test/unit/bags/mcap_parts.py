"""Small MCAP files, and limits on what may be written."""

from __future__ import annotations

import resource
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dvrk_kinematics.bags.mcap_reader import McapReader
from dvrk_kinematics.bags.mcap_records import MAGIC, Op, record, text
from dvrk_kinematics.bags.mcap_writer import McapWriter

START_NS = 1_800_000_000_000_000_000
TYPE = "std_msgs/msg/String"


@contextmanager
def file_limit(size: int) -> Iterator[None]:
    """No file may grow beyond some bytes, as on a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def write_numbers(file: Path, count: int, size: int = 1000, period_ns: int = 1000) -> int:
    """Write numbered messages until they do not fit any more; gives how many were accepted."""
    writer = McapWriter(file)
    channel = writer.add_channel("/numbers", TYPE, "string data\n", {"note": "none"})
    done = 0
    try:
        for number in range(count):
            writer.write(channel, START_NS + number * period_ns, payload(number, size))
            done += 1
    except OSError:
        pass
    writer.close("test", lambda: {"messages": str(writer.counts.total())})
    return done


def payload(number: int, size: int = 1000) -> bytes:
    """A message of a number."""
    return struct.pack("<Q", number).ljust(size, b".")


def read_numbers(file: Path) -> tuple[list[int], McapReader]:
    """The numbers of a file, and what its reader says of it."""
    reader = McapReader(file)
    found = [
        struct.unpack_from("<Q", data)[0]
        for topic in reader.topics
        for _, data in reader.messages(topic)
    ]
    reader.close()
    return found, reader


def channel_records() -> bytes:
    """A schema and a channel 1."""
    schema = record(Op.SCHEMA, struct.pack("<H", 1), text(TYPE), text("ros2msg"), text(""))
    numbers = struct.pack("<HH", 1, 1)
    return schema + record(Op.CHANNEL, numbers, text("/numbers"), text("cdr"), text(b""))


def message_record(number: int, channel: int = 1, time_ns: int = START_NS) -> bytes:
    """A message of a number."""
    head = struct.pack("<HIQQ", channel, 0, time_ns, time_ns)
    return record(Op.MESSAGE, head, payload(number, 8))


def chunk_record(packed: bytes, packing: str, size: int, crc: int = 0) -> bytes:
    """A chunk of any packing; the sizes need not be true."""
    numbers = struct.pack("<QQQI", START_NS, START_NS, size, crc)
    return record(Op.CHUNK, numbers, text(packing), struct.pack("<Q", len(packed)), packed)


def whole_file(data: bytes) -> bytes:
    """A file around some records."""
    head = record(Op.HEADER, text("ros2"), text("test"))
    end = record(Op.DATA_END, struct.pack("<I", 0)) + record(
        Op.FOOTER, struct.pack("<QQI", 0, 0, 0)
    )
    return MAGIC + head + data + end + MAGIC

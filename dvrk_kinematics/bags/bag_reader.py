"""Reads a bag: from our recorder or from rosbag2, in MCAP or SQLite, closed or not.

Our own reader reads MCAP, even without the end of the file. rosbags reads SQLite and packed bags.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from dvrk_kinematics.bags.bag_metadata import FILE_NAME, BagMetadata, read_metadata
from dvrk_kinematics.bags.mcap_reader import LATEST_NS, McapReader
from dvrk_kinematics.bags.rosbags_import import rosbags_import
from dvrk_kinematics.errors import BagError, shorten

__all__ = ["BagReader", "BagTopic"]

_NOT_CLOSED = "the bag was not closed: its recorder was killed, or still runs"
_CUT_OFF = "a file of the bag has no end: it was cut off, or its recorder was killed"


@dataclass(frozen=True, slots=True)
class BagTopic:
    """The messages of one topic and one type in one file.

    Attributes:
        name: The topic.
        type_name: The type of its messages.
        count: How many there are.
        lost: How many are missing; None if the recorder did not count them.
        span_ns: When the first and the last arrived (ns, system time); None if it has none.
        messages: Yields time (ns, system time) and bytes of each.
    """

    name: str
    type_name: str
    count: int
    lost: int | None
    span_ns: tuple[int, int] | None
    messages: Callable[[], Iterator[tuple[int, bytes]]]


class BagReader:
    """An open bag.

    Args:
        bag: Its folder, or one file of it.

    Attributes:
        name: Where it is.
        topics: Its topics.
        notes: Problems of the bag, as sentences.

    Raises:
        BagError: If it is not a bag, or cannot be read at all.
        MissingExtra: If the library that reads it is not installed.
    """

    def __init__(self, bag: Path) -> None:
        self.name = str(bag)
        self.topics: list[BagTopic] = []
        self.notes: list[str] = []
        self._bag = bag
        self._lost: dict[str, int | None] = {}
        self._open: list[Any] = []
        try:
            self._read(bag)
        except OSError as error:
            # Also for names that no file can have.
            raise BagError(self.name, f"cannot be read: {error.strerror or error}") from error
        except ValueError as error:
            raise BagError(self.name, f"cannot be read: {error}") from error
        except BaseException:
            self.close()
            raise

    @property
    def count(self) -> int:
        """How many messages it holds."""
        return sum(topic.count for topic in self.topics)

    @property
    def span_ns(self) -> tuple[int, int]:
        """When the first and the last message arrived (ns, system time)."""
        spans = [topic.span_ns for topic in self.topics if topic.span_ns is not None]
        return min(first for first, _ in spans), max(last for _, last in spans)

    def close(self) -> None:
        """Close the files."""
        for reader in self._open:
            reader.close()
        self._open.clear()

    def messages(self, name: str, type_name: str) -> list[tuple[int, bytes]]:
        """Time (ns, system time) and bytes of all messages of a topic, oldest first.

        Raises:
            BagError: If a file can no longer be read.
        """
        found = [t for t in self.topics if (t.name, t.type_name) == (name, type_name)]
        try:
            rows = [row for topic in found for row in topic.messages()]
        except Exception as error:
            # rosbags raises its own errors and those of its libraries, without a common base.
            raise BagError(self.name, f"{name} cannot be read: {_one_line(error)}") from error
        return sorted(rows, key=lambda row: row[0])

    def _read(self, bag: Path) -> None:
        if not bag.exists():
            raise BagError(self.name, "does not exist")
        if bag.is_dir():
            self._read_folder(bag)
        elif bag.suffix == ".mcap":
            self._read_mcap([bag], _CUT_OFF)
        elif bag.suffix == ".db3":
            self._read_by_rosbags(bag)
        else:
            raise BagError(self.name, "cannot be read: it is neither a folder nor .mcap nor .db3")

    def _read_folder(self, folder: Path) -> None:
        is_missing = not (folder / FILE_NAME).exists()
        metadata = None if is_missing else self._metadata(folder)
        if metadata is not None and not metadata.is_plain_mcap:
            self._lost = metadata.lost
            self._read_by_rosbags(folder)
            return
        files = sorted(folder.glob("*.mcap"))
        if metadata is not None:
            self._lost = metadata.lost
            named = [folder / name for name in metadata.files]
            missing = [file.name for file in named if not file.exists()]
            if missing:
                self.notes.append(f"files of the bag are missing: {shorten(', '.join(missing))}")
            files = [file for file in named if file.exists()]
        if files:
            self._read_mcap(files, _NOT_CLOSED if is_missing else _CUT_OFF)
            return
        others = sorted(folder.glob("*.db3"))
        if not others:
            what = FILE_NAME if metadata is None else "a file"
            raise BagError(self.name, f"is no bag: it has neither {what} nor messages")
        if is_missing:
            self.notes.append(f"{_NOT_CLOSED}; {FILE_NAME} is missing")
        for file in others:
            self._read_by_rosbags(file)

    def _metadata(self, folder: Path) -> BagMetadata | None:
        """The content of metadata.yaml; None, and a note, if it cannot be used."""
        try:
            metadata = read_metadata(folder)
        except BagError as error:
            self.notes.append(f"{error.reason}; the files are read without it")
            return None
        if metadata.complaint:
            self.notes.append(metadata.complaint)
        return metadata

    def _read_mcap(self, files: list[Path], no_end: str) -> None:
        readers = []
        for file in files:
            try:
                readers.append(McapReader(file))
            except BagError as error:
                if len(files) == 1:
                    raise
                self.notes.append(str(error))
        self._open += readers
        for reader in readers:
            for topic in reader.topics:
                times = topic.times_ns
                self.topics.append(
                    BagTopic(
                        name=topic.name,
                        type_name=topic.type_name,
                        count=len(times),
                        lost=self._lost.get(topic.name),
                        span_ns=(min(times), max(times)) if times else None,
                        messages=partial(reader.messages, topic),
                    )
                )
        self._tell_damages(readers, no_end)

    def _tell_damages(self, readers: list[McapReader], no_end: str) -> None:
        if no_end == _NOT_CLOSED or not all(reader.is_closed for reader in readers):
            self.notes.append(f"{no_end}; {self.count} messages were recovered")
        damages = [damage for reader in readers for damage in reader.damages]
        if damages:
            more = f", and {len(damages) - 1} more" if len(damages) > 1 else ""
            self.notes.append(f"{damages[0]}{more}; {self.count} messages are left")

    def _read_by_rosbags(self, bag: Path) -> None:
        rosbag2 = rosbags_import("rosbags.rosbag2")
        try:
            reader = rosbag2.Reader(bag)
            reader.open()
            self._open.append(reader)
            self.topics += [self._rosbags_topic(reader, found) for found in reader.connections]
        except Exception as error:
            # rosbags raises its own errors and those of its libraries, without a common base.
            raise BagError(self.name, f"cannot be read: {_one_line(error)}") from error

    def _rosbags_topic(self, reader: Any, connection: Any) -> BagTopic:
        count = int(connection.msgcount)
        span_ns = _checked(reader.start_time), _checked(reader.end_time - 1)
        return BagTopic(
            name=str(connection.topic),
            type_name=str(connection.msgtype),
            count=count,
            lost=self._lost.get(str(connection.topic)),
            span_ns=span_ns if count else None,
            messages=partial(_messages_of, reader, connection),
        )


def _messages_of(reader: Any, connection: Any) -> Iterator[tuple[int, bytes]]:
    for _, time_ns, data in reader.messages([connection]):
        yield _checked(time_ns), bytes(data)


def _checked(time_ns: Any) -> int:
    """Return a time if it is possible; a damaged database may hold anything."""
    if not isinstance(time_ns, int) or not 0 <= time_ns <= LATEST_NS:
        raise ValueError(f"a message arrived at {time_ns} ns")
    return time_ns


def _one_line(error: Exception) -> str:
    return shorten(" ".join(str(error).split()) or type(error).__name__)

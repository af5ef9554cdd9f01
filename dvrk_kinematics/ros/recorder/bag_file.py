"""Writes a bag: an MCAP file in a rosbag2 folder, from serialised messages."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml
from rclpy.qos import QoSDurabilityPolicy, QoSProfile, QoSReliabilityPolicy

from dvrk_kinematics.bags.bag_metadata import FILE_NAME, ROOT
from dvrk_kinematics.bags.mcap_writer import McapWriter
from dvrk_kinematics.errors import BagError, InvalidInput, OutputError
from dvrk_kinematics.ros.recorder.type_definition import find_definition

__all__ = ["BagFile"]

_VERSION = 9
"""Version of metadata.yaml: that of rosbag2 in Jazzy."""

_UNBOUNDED = {"sec": 9223372036, "nsec": 854775807}
"""The value for "no bound", as rosbag2 writes it."""


class BagFile:
    """Writes messages as they came from the wire.

    Until :meth:`close`, the bag is incomplete: its index and metadata.yaml are missing.

    Args:
        folder: Folder for the bag; must not exist yet.

    Raises:
        InvalidInput: If the folder exists.
        OutputError: If the folder cannot be made.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.messages: dict[str, int] = {}
        """Number of messages written for each topic."""
        self._channels: dict[str, int] = {}
        self._topics: dict[str, dict[str, Any]] = {}
        """The entries of metadata.yaml for each topic."""
        self._file = folder / f"{folder.name}.mcap"
        try:
            if folder.exists():
                raise InvalidInput("output", f"{folder} exists already; name another folder")
            folder.mkdir(parents=True)
            self._writer = McapWriter(self._file)
        except OSError as error:
            # Otherwise a second try, with enough space, would find an existing folder.
            with suppress(OSError):
                self._file.unlink(missing_ok=True)
                folder.rmdir()
            raise OutputError(str(folder), error.strerror or str(error)) from error

    def add_topic(self, name: str, type_name: str, qos: QoSProfile, depth: int) -> None:
        """Announce a topic.

        Args:
            name: Its absolute name.
            type_name: Its type.
            qos: How reliable it is, and whether it is latched.
            depth: Queue depth for publishing it when the bag is played.

        Raises:
            InvalidInput: If the definition of its type is not installed.
        """
        definition = find_definition(type_name)
        offered = [_offered(qos, depth)]
        self._channels[name] = self._writer.add_channel(
            name, type_name, definition.text, {"offered_qos_profiles": yaml.safe_dump(offered)}
        )
        self._topics[name] = {
            "name": name,
            "type": type_name,
            "serialization_format": "cdr",
            "offered_qos_profiles": offered,
            "type_description_hash": definition.hash,
        }
        self.messages[name] = 0

    def write(self, name: str, received_ns: int, data: bytes) -> None:
        """Write one message.

        Args:
            name: An announced topic.
            received_ns: When the message arrived (ns, system time).
            data: The serialised message.

        Raises:
            OSError: If it cannot be written; :meth:`close` then keeps the earlier messages.
        """
        self._writer.write(self._channels[name], received_ns, data)
        self.messages[name] += 1

    def close(self, notes: Mapping[str, str]) -> None:
        """Write index and metadata; this completes the bag.

        Args:
            notes: Additional content for metadata.yaml, as custom data.

        Raises:
            BagError: If not everything fits on the disk. The part that fits is a complete bag, as
                far as possible, and :attr:`messages` counts the messages that it holds.
        """
        file = self.folder / FILE_NAME
        part = file.with_suffix(".yaml.part")
        try:
            self._writer.close(
                "rosbag2", lambda: {"serialized_metadata": _dump(self._metadata(notes))}
            )
            part.write_text(_dump({ROOT: self._metadata(notes)}), encoding="utf-8")
            part.replace(file)
        except OSError as error:
            part.unlink(missing_ok=True)
            self._count()
            reason = f"it cannot be closed: {error.strerror}; `./dvrk report` reads what is there"
            raise BagError(str(self.folder), reason) from error
        self._count()
        if self._writer.failure is not None:
            kept = f"the bag is closed and holds the first {sum(self.messages.values())} messages"
            reason = f"cannot be written any more: {self._writer.failure.strerror}; {kept}"
            raise BagError(str(self.folder), reason) from self._writer.failure

    def _count(self) -> None:
        counts = self._writer.counts
        self.messages = {name: counts[number] for name, number in self._channels.items()}

    def _metadata(self, notes: Mapping[str, str]) -> dict[str, Any]:
        counts = self._writer.counts
        first, last = self._writer.span_ns
        total = {
            "starting_time": {"nanoseconds_since_epoch": first},
            "duration": {"nanoseconds": last - first},
            "message_count": counts.total(),
        }
        return {
            "version": _VERSION,
            "storage_identifier": "mcap",
            "relative_file_paths": [self._file.name],
            **total,
            "topics_with_message_count": [
                {"topic_metadata": topic, "message_count": counts[self._channels[name]]}
                for name, topic in self._topics.items()
            ],
            "compression_format": "",
            "compression_mode": "",
            "files": [{"path": self._file.name, **total}],
            "custom_data": dict(notes) or None,
            "ros_distro": os.environ.get("ROS_DISTRO", "jazzy"),
        }


def _offered(qos: QoSProfile, depth: int) -> dict[str, Any]:
    """Format a quality of service as in metadata.yaml."""
    latched = qos.durability == QoSDurabilityPolicy.TRANSIENT_LOCAL
    reliable = qos.reliability == QoSReliabilityPolicy.RELIABLE
    return {
        "history": "keep_last",
        "depth": depth,
        "reliability": "reliable" if reliable else "best_effort",
        "durability": "transient_local" if latched else "volatile",
        "deadline": dict(_UNBOUNDED),
        "lifespan": dict(_UNBOUNDED),
        "liveliness": "automatic",
        "liveliness_lease_duration": dict(_UNBOUNDED),
        "avoid_ros_namespace_conventions": False,
    }


def _dump(data: Any) -> str:
    return yaml.dump(data, Dumper=_PlainDumper, sort_keys=False)


class _PlainDumper(yaml.SafeDumper):
    """Writes repeated values in full, without references, as rosbag2 does."""

    def ignore_aliases(self, _: Any) -> bool:
        return True

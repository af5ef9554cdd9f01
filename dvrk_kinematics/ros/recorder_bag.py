"""A bag that is being written: an MCAP file in a rosbag2 folder, from serialised messages."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rclpy.qos import QoSDurabilityPolicy, QoSProfile, QoSReliabilityPolicy

from dvrk_kinematics.errors import InvalidInput, MissingExtra
from dvrk_kinematics.ros.recorder_types import find_definition

__all__ = ["BagFile"]

_VERSION = 9
"""Version of metadata.yaml: that of rosbag2 in Jazzy."""


class BagFile:
    """Writes messages as they came from the wire.

    Until :meth:`close`, what was written is not a whole bag: its index and metadata.yaml are
    missing.

    Args:
        folder: Where the bag goes; must not exist yet.

    Raises:
        InvalidInput: If the folder exists or cannot be made.
        MissingExtra: If rosbags is not installed.
    """

    def __init__(self, folder: Path) -> None:
        self._rosbag2, self._interfaces = _import("rosbags.rosbag2"), _import("rosbags.interfaces")
        if folder.exists():
            raise InvalidInput("output", f"{folder} exists already; name another folder")
        self.folder = folder
        self.messages: dict[str, int] = {}
        """How many messages of each topic were written."""
        self._connections: dict[str, Any] = {}
        self._writer = self._rosbag2.Writer(
            folder, version=_VERSION, storage_plugin=self._rosbag2.StoragePlugin.MCAP
        )
        try:
            self._writer.open()
        except OSError as error:
            raise InvalidInput("output", f"{folder} cannot be made: {error}") from error

    def add_topic(self, name: str, type_name: str, qos: QoSProfile, depth: int) -> None:
        """Announce a topic.

        Args:
            name: Its absolute name.
            type_name: Its type.
            qos: How reliable it is, and whether it is latched.
            depth: Depth with which it is to be published when the bag is played.

        Raises:
            InvalidInput: If the definition of its type is not installed.
        """
        definition = find_definition(type_name)
        self._connections[name] = self._writer.add_connection(
            name,
            type_name,
            msgdef=definition.text,
            rihs01=definition.hash,
            offered_qos_profiles=[self._offered(qos, depth)],
        )
        self.messages[name] = 0

    def write(self, name: str, received_ns: int, data: bytes) -> None:
        """Write one message.

        Args:
            name: Topic that was announced.
            received_ns: When it arrived (ns, system time).
            data: The message as it was serialised.
        """
        self._writer.write(self._connections[name], received_ns, data)
        self.messages[name] += 1

    def close(self, notes: Mapping[str, str]) -> None:
        """Write index and metadata; the bag is whole.

        Args:
            notes: What else metadata.yaml shall say, as custom data.
        """
        for key, text in notes.items():
            self._writer.set_custom_data(key, text)
        self._writer.close()

    def _offered(self, qos: QoSProfile, depth: int) -> Any:
        kinds = self._interfaces
        latched = qos.durability == QoSDurabilityPolicy.TRANSIENT_LOCAL
        reliable = qos.reliability == QoSReliabilityPolicy.RELIABLE
        durability, reliability = kinds.QosDurability, kinds.QosReliability
        # Seconds and nanoseconds that stand for "no bound", as rosbag2 writes them.
        unbounded = kinds.QosTime(9223372036, 854775807)
        return kinds.Qos(
            history=kinds.QosHistory.KEEP_LAST,
            depth=depth,
            reliability=reliability.RELIABLE if reliable else reliability.BEST_EFFORT,
            durability=durability.TRANSIENT_LOCAL if latched else durability.VOLATILE,
            deadline=unbounded,
            lifespan=unbounded,
            liveliness=kinds.QosLiveliness.AUTOMATIC,
            liveliness_lease_duration=unbounded,
            avoid_ros_namespace_conventions=False,
        )


def _import(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtra(
            "rosbags", "install requirements/bags.txt, or start with ./dvrk record"
        ) from error

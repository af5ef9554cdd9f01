"""Reads a bag, of our recorder or of rosbag2, in MCAP or SQLite."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from dvrk_kinematics.cli.report_messages import (
    NS,
    Message,
    joint_stream,
    planned_paths,
    tip_stream,
)
from dvrk_kinematics.cli.report_recording import ArmRecording, Recording, TopicCount
from dvrk_kinematics.errors import BagError, MissingExtra

__all__ = ["read_recording"]

_JOINTS = "sensor_msgs/msg/JointState"
_POSE = "geometry_msgs/msg/PoseStamped"
_TEXT = "std_msgs/msg/String"
_PATH = "trajectory_msgs/msg/JointTrajectory"
_MEASURED = "/measured_js"


class _Bag:
    """An open bag.

    Args:
        bag: Its folder, or one file of it.
    """

    def __init__(self, bag: Path) -> None:
        self.name = str(bag)
        _check_is_bag(bag)
        self._rosbag2, typesys = _import("rosbags.rosbag2"), _import("rosbags.typesys")
        self._types = typesys.get_typestore(typesys.Stores.ROS2_JAZZY)
        try:
            self.reader = self._rosbag2.Reader(bag)
            self.reader.open()
        except Exception as error:
            # rosbags raises its own errors and those of the libraries beneath, without a root.
            raise BagError(self.name, f"cannot be read: {error}") from error

    def close(self) -> None:
        """Close the files."""
        self.reader.close()

    @property
    def topics(self) -> dict[str, str]:
        """Types by topic, of topics that hold something."""
        return {c.topic: c.msgtype for c in self.reader.connections if c.msgcount}

    def read(self, topic: str, type_name: str) -> list[Message]:
        """All messages of a topic, none if there is no such topic.

        Raises:
            BagError: If it is of another type.
        """
        found = self.topics.get(topic)
        if found is None:
            return []
        if found != type_name:
            raise BagError(self.name, f"{topic} is of type {found}; a report reads {type_name}")
        return list(self._messages(topic, type_name))

    def _messages(self, topic: str, type_name: str) -> Iterator[Message]:
        connections = [c for c in self.reader.connections if c.topic == topic]
        for _, time_ns, data in self.reader.messages(connections):
            try:
                yield Message(time_ns, self._decode(data, type_name))
            except Exception as error:
                raise BagError(self.name, f"a message of {topic} is broken: {error}") from error

    def _decode(self, data: bytes, type_name: str) -> Any:
        """The message; bytes behind its end do not matter, as to every ROS node."""
        definition = self._types.get_msgdef(type_name)
        is_little = bool(data[1])
        read = definition.deserialize_cdr_le if is_little else definition.deserialize_cdr_be
        message, _ = read(data[4:], 0, definition.cls, self._types)
        return message


def read_recording(bag: Path) -> Recording:
    """Read what a report needs.

    Args:
        bag: Folder of the bag.

    Raises:
        BagError: If it is no bag, not whole, empty, or of an arm's topics with other types.
        MissingExtra: If rosbags is not installed.
    """
    opened = _Bag(bag)
    try:
        reader = opened.reader
        if reader.message_count == 0:
            raise BagError(opened.name, "is empty; was anything running while it was recorded?")
        lost = _read_losses(bag)
        topics = tuple(
            TopicCount(c.topic, c.msgtype, c.msgcount, lost.get(c.topic))
            for c in sorted(reader.connections, key=lambda c: c.topic)
        )
        arms = [_read_arm(opened, name) for name in _arm_names(opened)]
        return Recording(
            bag=opened.name,
            start_ns=reader.start_time,
            duration=(reader.duration - 1) / NS,
            topics=topics,
            arms=tuple(arm for arm in arms if arm is not None),
        )
    finally:
        opened.close()


def _arm_names(bag: _Bag) -> list[str]:
    """Arms whose joints were recorded; the jaw is not an arm."""
    names = [topic.removesuffix(_MEASURED) for topic in bag.topics if topic.endswith(_MEASURED)]
    return sorted(name for name in names if not name.endswith("/jaw"))


def _read_arm(bag: _Bag, name: str) -> ArmRecording | None:
    """One arm; None if it never told where its joints are."""
    start_ns = bag.reader.start_time
    measured = joint_stream(bag.read(f"{name}{_MEASURED}", _JOINTS), start_ns)
    if measured is None:
        return None
    space, _, arm = name.rpartition("/")
    return ArmRecording(
        name=name.lstrip("/"),
        tool_type=_last_text(bag, f"{name}/tool_type"),
        description=_last_text(bag, f"{name}/robot_description"),
        measured=measured,
        setpoint=joint_stream(bag.read(f"{name}/setpoint_js", _JOINTS), start_ns),
        command=joint_stream(bag.read(f"{name}/servo_jp", _JOINTS), start_ns),
        tip=tip_stream(bag.read(f"{name}/measured_cp", _POSE), start_ns),
        paths=planned_paths(bag.read(f"{space}/trajectory/{arm}/planned_path", _PATH), start_ns),
    )


def _last_text(bag: _Bag, topic: str) -> str:
    texts = bag.read(topic, _TEXT)
    return str(texts[-1].content.data) if texts else ""


def _check_is_bag(bag: Path) -> None:
    if not bag.exists():
        raise BagError(str(bag), "does not exist")
    if bag.is_dir() and not (bag / "metadata.yaml").exists():
        files = sorted(file.name for file in bag.iterdir() if file.suffix in (".mcap", ".db3"))
        if files:
            rescue = "`ros2 bag reindex` or `mcap recover` rescue what reached the disk"
            raise BagError(
                str(bag),
                f"was not closed: {files[0]} is there and metadata.yaml is not, so its recorder "
                f"was killed or still runs; {rescue}",
            )
        raise BagError(str(bag), "is no bag: it has neither metadata.yaml nor messages")


def _read_losses(bag: Path) -> dict[str, int | None]:
    """What our recorder noted in the metadata; rosbag2 notes nothing."""
    file = bag / "metadata.yaml"
    if not file.exists():
        return {}
    metadata = yaml.safe_load(file.read_text(encoding="utf-8"))["rosbag2_bagfile_information"]
    noted = (metadata.get("custom_data") or {}).get("lost", "{}")
    return dict(json.loads(noted))


def _import(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtra(
            "rosbags", "install requirements/bags.txt, or start with ./dvrk report"
        ) from error

"""Reads a report's data from a bag, by our recorder or rosbag2, in MCAP or SQLite."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from dvrk_kinematics.bags.bag_reader import BagReader
from dvrk_kinematics.bags.rosbags_import import rosbags_import
from dvrk_kinematics.cli.report.messages import (
    NS,
    Message,
    flight_plans,
    joint_stream,
    planned_paths,
    speed_scaling,
    tip_stream,
)
from dvrk_kinematics.cli.report.recording import ArmRecording, Recording, TopicCount
from dvrk_kinematics.errors import BagError, shorten

__all__ = ["read_recording"]

_JOINTS = "sensor_msgs/msg/JointState"
_POSE = "geometry_msgs/msg/PoseStamped"
_TEXT = "std_msgs/msg/String"
_PATH = "trajectory_msgs/msg/JointTrajectory"
_SCALING = "control_msgs/msg/SpeedScalingFactor"
_FLIGHT_PLAN = "dvrk_kinematics_interfaces/msg/FlightPlan"
_FLIGHT_PLAN_FIELDS = """
bool ok
string reason
float64 duration
float64 length
uint32 samples
uint32 knots
float64 position_deviation
float64 rotation_deviation
"""
"""The first fields of a flight plan; we do not read the rest."""
_DIAGNOSTICS = "diagnostic_msgs/msg/DiagnosticArray"
_MEASURED = "/measured_js"

_HARDWARE = ("simulated", "dvrk")
_MOST_ARMS = 32
_LONGEST_DESCRIPTION = 2**20
"""Longest robot_description that we read (characters); that of the patient cart has 60 000."""


class _Decoder:
    """Reads messages of a bag.

    Args:
        bag: The bag.
    """

    def __init__(self, bag: BagReader) -> None:
        self.bag = bag
        self.remarks = list(bag.notes)
        typesys = rosbags_import("rosbags.typesys")
        self._types = typesys.get_typestore(typesys.Stores.ROS2_JAZZY)
        self._types.register(typesys.get_types_from_msg("float64 factor", _SCALING))
        self._types.register(typesys.get_types_from_msg(_FLIGHT_PLAN_FIELDS, _FLIGHT_PLAN))

    def read(self, topic: str, type_name: str) -> list[Message]:
        """All readable messages of a topic, none if the topic does not exist.

        Raises:
            BagError: If it has another type, or its messages cannot be found in the bag.
        """
        found = {t.type_name for t in self.bag.topics if t.name == topic and t.count}
        if found and type_name not in found:
            others = shorten(", ".join(sorted(found)))
            reason = f"{shorten(topic)} is of type {others}; a report reads {type_name}"
            raise BagError(self.bag.name, reason)
        messages, broken = [], []
        for time_ns, data in self.bag.messages(topic, type_name):
            try:
                messages.append(Message(time_ns, self._decode(data, type_name)))
            except Exception as error:
                # From whatever reads the bytes: numpy, struct, the text decoder.
                broken.append(shorten(f"{type(error).__name__}, {error}"))
        if broken:
            count = f"{len(broken)} of {len(broken) + len(messages)}"
            self.remarks.append(f"{shorten(topic)}: {count} messages are broken: {broken[0]}")
        return messages

    def read_if(self, topic: str, type_name: str) -> list[Message]:
        """Like read, for topics that a report can do without; none if it cannot be read."""
        try:
            return self.read(topic, type_name)
        except BagError as error:
            self.remarks.append(error.reason)
            return []

    def _decode(self, data: bytes, type_name: str) -> Any:
        """The message; ignores bytes after its end, like every ROS node."""
        definition = self._types.get_msgdef(type_name)
        is_little = bool(data[1])
        read = definition.deserialize_cdr_le if is_little else definition.deserialize_cdr_be
        message, _ = read(data[4:], 0, definition.cls, self._types)
        return message


def read_recording(bag: Path) -> Recording:
    """Read the data that a report needs.

    Args:
        bag: Folder of the bag, or one file of it.

    Raises:
        BagError: If it is not a bag, is empty, or has an arm's topics with other types.
        MissingExtra: If rosbags is not installed.
    """
    opened = BagReader(bag)
    try:
        decoder = _Decoder(opened)
        if not opened.count:
            words = "; ".join(opened.notes) or "was anything running while it was recorded?"
            raise BagError(opened.name, f"is empty; {words}")
        first_ns, last_ns = opened.span_ns
        told = _read_diagnostics(decoder)
        arms = [_read_arm(decoder, name, first_ns, told) for name in _arm_names(decoder)]
        return Recording(
            bag=opened.name,
            start_ns=first_ns,
            duration=(last_ns - first_ns) / NS,
            topics=_count_topics(opened),
            arms=tuple(arm for arm in arms if arm is not None),
            remarks=tuple(decoder.remarks),
        )
    finally:
        opened.close()


def _count_topics(bag: BagReader) -> tuple[TopicCount, ...]:
    """Topics of a bag; they may be spread over several files."""
    counts: Counter[tuple[str, str]] = Counter()
    for topic in bag.topics:
        counts[topic.name, topic.type_name] += topic.count
    lost = {topic.name: topic.lost for topic in bag.topics}
    return tuple(
        TopicCount(name, type_name, count, lost[name])
        for (name, type_name), count in sorted(counts.items())
    )


def _arm_names(decoder: _Decoder) -> list[str]:
    """Arms whose joints were recorded; the jaw is not an arm."""
    topics = {topic.name for topic in decoder.bag.topics if topic.count}
    names = {topic.removesuffix(_MEASURED) for topic in topics if topic.endswith(_MEASURED)}
    arms = sorted(name for name in names if not name.endswith("/jaw"))
    if len(arms) > _MOST_ARMS:
        decoder.remarks.append(f"the bag has {len(arms)} arms; {_MOST_ARMS} are looked at")
    return arms[:_MOST_ARMS]


class _Told(NamedTuple):
    """The bridges' reports on /diagnostics, by the name of the arm.

    Attributes:
        hardware: "simulated" or "dvrk".
        slow_downs: How often lateness slowed motions, from the first line to the last.
    """

    hardware: Mapping[str, str]
    slow_downs: Mapping[str, int]


def _read_diagnostics(decoder: _Decoder) -> _Told:
    hardware: dict[str, str] = {}
    counts: dict[str, list[int]] = {}
    for message in decoder.read_if("/diagnostics", _DIAGNOSTICS):
        for status in message.content.status:
            arm, values = str(status.hardware_id), {p.key: p.value for p in status.values}
            if values.get("hardware") in _HARDWARE:
                hardware[arm] = values["hardware"]
            if re.fullmatch(r"[0-9]{1,9}", values.get("slow_downs", "")):
                counts.setdefault(arm, []).append(int(values["slow_downs"]))
    # A restarted bridge counts from 0.
    slow_downs = {arm: max(told[-1] - told[0], 0) for arm, told in counts.items()}
    return _Told(hardware, slow_downs)


def _read_arm(decoder: _Decoder, name: str, start_ns: int, told: _Told) -> ArmRecording | None:
    """One arm; None if it never reported where its joints are."""

    def read(make: Any, topic: str, type_name: str) -> Any:
        return make(decoder.read_if(topic, type_name), start_ns, topic, decoder.remarks)

    measured_js = f"{name}{_MEASURED}"
    messages = decoder.read(measured_js, _JOINTS)
    measured = joint_stream(messages, start_ns, measured_js, decoder.remarks)
    if measured is None:
        return None
    space, _, arm = name.rpartition("/")
    return ArmRecording(
        name=name.lstrip("/"),
        tool_type=_last_text(decoder, f"{name}/tool_type"),
        description=_last_text(decoder, f"{name}/robot_description"),
        measured=measured,
        setpoint=read(joint_stream, f"{name}/setpoint_js", _JOINTS),
        command=read(joint_stream, f"{name}/servo_jp", _JOINTS),
        tip=read(tip_stream, f"{name}/measured_cp", _POSE),
        paths=read(planned_paths, f"{space}/trajectory/{arm}/planned_path", _PATH),
        scaling=read(speed_scaling, f"{space}/bridge/{arm}/speed_scaling", _SCALING),
        flight_plans=read(flight_plans, f"{space}/trajectory/{arm}/flight_plan", _FLIGHT_PLAN),
        hardware=told.hardware.get(arm, ""),
        slow_downs=told.slow_downs.get(arm),
    )


def _last_text(decoder: _Decoder, topic: str) -> str:
    texts = decoder.read_if(topic, _TEXT)
    last = str(texts[-1].content.data) if texts else ""
    if len(last) > _LONGEST_DESCRIPTION:
        decoder.remarks.append(f"{shorten(topic)}: a text of {len(last)} characters is left out")
        return ""
    return last

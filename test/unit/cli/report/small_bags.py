"""Messages of small bags, and how they are written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from dvrk_kinematics.cli.report.figures import ReportFigures, compute_figures
from dvrk_kinematics.cli.report.page import make_page
from dvrk_kinematics.cli.report.read_recording import read_recording
from dvrk_kinematics.geometry.arrays import Array

START_NS = 1_800_000_000_000_000_000
NS = 1_000_000_000
PSM_JOINTS = ("yaw", "pitch", "insertion", "roll", "wrist_pitch", "wrist_yaw")
TYPES = get_typestore(Stores.ROS2_JAZZY)
TYPES.register(get_types_from_msg("float64 factor", "control_msgs/msg/SpeedScalingFactor"))
TYPES.register(
    get_types_from_msg(
        "bool ok\nstring reason\nfloat64 duration\nfloat64 length\nuint32 samples\nuint32 knots\n"
        "float64 position_deviation\nfloat64 rotation_deviation",
        "dvrk_kinematics_interfaces/msg/FlightPlan",
    )
)

Rows = list[tuple[str, float, Any]]
"""Topic, time of arrival in seconds since the start, message."""


def at(time_s: float) -> int:
    """Nanoseconds of a time since the start of a bag."""
    return START_NS + round(time_s * NS)


def _header(stamp_ns: int, frame_id: str = "") -> Any:
    stamp = TYPES.types["builtin_interfaces/msg/Time"](stamp_ns // NS, stamp_ns % NS)
    return TYPES.types["std_msgs/msg/Header"](stamp, frame_id)


def joints(
    position: Array,
    stamp_ns: int = 0,
    velocity: Array | None = None,
    names: tuple[str, ...] = PSM_JOINTS,
) -> Any:
    """A JointState."""
    none = np.empty(0)
    speeds = none if velocity is None else velocity
    kind = TYPES.types["sensor_msgs/msg/JointState"]
    return kind(_header(stamp_ns), list(names), np.asarray(position), speeds, none)


def pose(position: Array, stamp_ns: int, frame_id: str) -> Any:
    """A PoseStamped."""
    point = TYPES.types["geometry_msgs/msg/Point"](*map(float, position))
    turn = TYPES.types["geometry_msgs/msg/Quaternion"](0.0, 0.0, 0.0, 1.0)
    made = TYPES.types["geometry_msgs/msg/Pose"](point, turn)
    return TYPES.types["geometry_msgs/msg/PoseStamped"](_header(stamp_ns, frame_id), made)


def text(words: str) -> Any:
    """A String."""
    return TYPES.types["std_msgs/msg/String"](words)


def scaling(factor: float) -> Any:
    """A SpeedScalingFactor."""
    return TYPES.types["control_msgs/msg/SpeedScalingFactor"](factor)


def flight_plan(duration: float, position: float, rotation: float) -> Any:
    """A FlightPlan of which is written what a report reads."""
    kind = TYPES.types["dvrk_kinematics_interfaces/msg/FlightPlan"]
    return kind(True, "", duration, 0.1, 10, 5, position, rotation)


def bridge_line(arm: str, name: str, values: dict[str, str]) -> Any:
    """A DiagnosticArray with one line of a bridge."""
    pair = TYPES.types["diagnostic_msgs/msg/KeyValue"]
    status = TYPES.types["diagnostic_msgs/msg/DiagnosticStatus"](
        0, f"bridge_{arm}: {arm} {name}", "ok", arm, [pair(*one) for one in values.items()]
    )
    return TYPES.types["diagnostic_msgs/msg/DiagnosticArray"](_header(START_NS), [status])


def path(
    times: Array,
    position: Array,
    stamp_ns: int,
    names: tuple[str, ...] = PSM_JOINTS,
    velocity: Array | None = None,
) -> Any:
    """A JointTrajectory: cubics, or straight lines without velocities."""
    none = np.empty(0)
    duration = TYPES.types["builtin_interfaces/msg/Duration"]
    point = TYPES.types["trajectory_msgs/msg/JointTrajectoryPoint"]
    rates = [none] * len(position) if velocity is None else velocity
    stamps = np.round(times * NS).astype(int).tolist()
    points = [
        point(row, rate, none, none, duration(ns // NS, ns % NS))
        for row, rate, ns in zip(position, rates, stamps, strict=True)
    ]
    return TYPES.types["trajectory_msgs/msg/JointTrajectory"](
        _header(stamp_ns), list(names), points
    )


def write_bag(folder: Path, rows: Rows, lost: str | None = None) -> Path:
    """Write a bag.

    Args:
        folder: Where it goes.
        rows: The messages.
        lost: What the recorder noted of its losses.
    """
    writer = Writer(folder, version=9, storage_plugin=StoragePlugin.MCAP)
    if lost is not None:
        writer.set_custom_data("lost", lost)
    with writer:
        connections = {
            topic: writer.add_connection(topic, message.__msgtype__, typestore=TYPES)
            for topic, _, message in {row[0]: row for row in rows}.values()
        }
        for topic, time_s, message in sorted(rows, key=lambda row: row[1]):
            data = TYPES.serialize_cdr(message, message.__msgtype__)
            writer.write(connections[topic], at(time_s), data)
    return folder


def figures_of(bag: Path) -> ReportFigures:
    """The figures of a bag's report."""
    return compute_figures(read_recording(bag))[0]


def page_of(bag: Path) -> str:
    """The page of a bag without its plots, which take most of the time."""
    figures = figures_of(bag)
    return make_page(figures, [[] for _ in figures.arms], "recorded some day")

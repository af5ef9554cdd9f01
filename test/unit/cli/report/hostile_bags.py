"""Bags that were damaged, and bags whose messages say what no robot would."""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from rosbags.rosbag2 import StoragePlugin, Writer
from small_bags import NS, TYPES, Rows, at, joints, path, pose, scaling, text

from dvrk_kinematics.bags.mcap_writer import McapWriter

NUMBERS = (
    *(float("nan"), float("inf"), -float("inf"), 1e308, -1e308, 5e-324, 1e-170),
    *(1e6, 1.0000001e6, -0.0, 0.0, 3.4e38, 1e154, -1e5),
)
WORDS = (
    *("$", "$x^{", r"\frac{", "<script>alert(1)</script>", "a\nb", "\x00", "", "\u540d\u524d"),
    *("%s%n", "..", "../../etc/passwd", "~nosuchuser", "x" * 300, "y" * 20_000, "\u202e\u0301"),
)
TOOLS = ("", ":::", "X:../../x[", "LARGE:400006[", ":999999", "LARGE_NEEDLE_DRIVER:400006[8-9]")
ENTITIES = "".join(f'<!ENTITY e{k + 1} "{f"&e{k};" * 10}">' for k in range(12))
DESCRIPTIONS = (
    *("<robot", "<robot/>", "no xml", '<robot name="a"><link name="b"/></robot>', "<r>" * 200),
    f'<!DOCTYPE r [<!ENTITY e0 "x">{ENTITIES}]><robot name="&e12;"/>',
)
SECONDS = (0, 1, -1, -(2**31), 2**31 - 1, 1_800_000_000, 1_800_000_000 + 31_536_000)
METADATA = (
    *("", "a", "[]", "null", "rosbag2_bagfile_information: 3", "\x00", "{" * 500, "[" * 100_000),
    *("rosbag2_bagfile_information: {relative_file_paths: 5}", "a: &a [*a]", "a: 2001-99-99"),
    *("rosbag2_bagfile_information: {relative_file_paths: [../../../etc/passwd]}", "x" * 2**21),
    "rosbag2_bagfile_information: {storage_identifier: rocks, relative_file_paths: []}",
    "rosbag2_bagfile_information: {storage_identifier: mcap, relative_file_paths: [bag.mcap], "
    "compression_mode: file, compression_format: zstd}",
)
LOSSES = (
    "",
    "{",
    "[]",
    '{"/PSM1/measured_js": "many"}',
    "null",
    '{"a": -1}',
    '{"a": 1e400}',
    "[" * 9000,
)


def good_rows() -> Rows:
    """All that a report reads, of one arm that swings for a second."""
    rows: Rows = [
        ("/PSM1/tool_type", 0.0, text("LARGE_NEEDLE_DRIVER:400006[8-9]")),
        ("/PSM1/robot_description", 0.0, text(DESCRIPTIONS[3])),
        ("/bridge/PSM1/speed_scaling", 0.0, scaling(1.0)),
        ("/bridge/PSM1/speed_scaling", 0.9, scaling(0.5)),
        ("/bridge/PSM1/speed_scaling", 1.1, scaling(1.0)),
    ]
    times = np.arange(0.0, 1.6, 0.02)
    u = np.clip(times - 0.3, 0.0, 1.0)
    q = np.tile([0.0, 0.0, 0.12, 0.0, 0.0, 0.0], (len(u), 1))
    q[:, 0] = 0.2 * (3.0 * u**2 - 2.0 * u**3)
    for t, row in zip(times.tolist(), q, strict=True):
        stamp = at(t)
        rows.append(("/PSM1/measured_js", t, joints(row, stamp, 0.1 * row)))
        rows.append(("/PSM1/setpoint_js", t, joints(row, stamp)))
        rows.append(("/PSM1/servo_jp", t, joints(row, stamp)))
        rows.append(("/PSM1/measured_cp", t, pose(row[:3], stamp, "PSM1_base")))
    knots = np.arange(15, 66)
    plan = path(times[knots] - times[15], q[knots], at(0.3))
    return [*rows, ("/trajectory/PSM1/planned_path", 0.2, plan)]


def hostile_rows(pick: random.Random) -> Rows:
    """Good rows, of which some say what no robot would."""
    rows = good_rows()
    for _ in range(pick.randint(1, 3)):
        topic = pick.choice(sorted({row[0] for row in rows} or {"/none"}))
        change = pick.choice(_CHANGES)
        rows = change(pick, topic, rows)
    return rows


def _some(pick: random.Random, topic: str, rows: Rows) -> list[Any]:
    """One, some or all messages of a topic."""
    found = [message for name, _, message in rows if name == topic]
    return (
        found if pick.random() < 0.5 else pick.sample(found, min(len(found), pick.randint(1, 3)))
    )


def _spoil(pick: random.Random, topic: str, rows: Rows) -> Rows:
    """Spoil the content of messages."""
    number = pick.randrange(1000)
    for message in _some(pick, topic, rows):
        spoilers = _SPOILERS[message.__msgtype__]
        spoilers[number % len(spoilers)](pick, message)
    return rows


def _spoil_stamps(pick: random.Random, topic: str, rows: Rows) -> Rows:
    second, nano = pick.choice(SECONDS), pick.choice((0, 1, 999_999_999, 2**32 - 1))
    for message in _some(pick, topic, rows):
        if hasattr(message, "header"):
            message.header.stamp.sec, message.header.stamp.nanosec = second, nano
    return rows


def _turn_back(pick: random.Random, topic: str, rows: Rows) -> Rows:
    """Let stamps go back, a little or much."""
    back = pick.choice((10_000, 15_000, 999_999, 1_000_001, 50_000_000, 10**9))
    for message in _some(pick, topic, rows):
        if hasattr(message, "header"):
            stamp = message.header.stamp
            whole = stamp.sec * NS + stamp.nanosec - back
            stamp.sec, stamp.nanosec = divmod(whole, NS)
    return rows


def _leave_few(pick: random.Random, topic: str, rows: Rows) -> Rows:
    count = pick.randint(0, 3)
    kept = [row for row in rows if row[0] == topic][:count]
    return [row for row in rows if row[0] != topic] + kept


def _repeat(pick: random.Random, topic: str, rows: Rows) -> Rows:
    found = [row for row in rows if row[0] == topic]
    return rows + found * pick.randint(1, 3)


def _arrive(pick: random.Random, topic: str, rows: Rows) -> Rows:
    """Let messages arrive at once, in bursts, or in other years."""
    late = pick.choice((0.0, 1e-9, 3600.0, 3.15e7, 1e9))
    scale = pick.choice((0.0, 1e-9, 1.0, 1e6))
    return [(n, scale * t + late if n == topic else t, m) for n, t, m in rows]


def _rename(pick: random.Random, topic: str, rows: Rows) -> Rows:
    """Let an arm have a name that none would."""
    arm = pick.choice(["/" + word for word in WORDS] + ["", "/jaw", "/SUJ/PSM1", "/lab/PSM1"])
    return [(n.replace("/PSM1", arm) if topic.count("/") > 1 else n, t, m) for n, t, m in rows]


def _retype(pick: random.Random, topic: str, rows: Rows) -> Rows:
    """Let a topic be of another type."""
    other = pick.choice([row[2] for row in rows] or [text("")])
    return [(n, t, other if n == topic else m) for n, t, m in rows]


_CHANGES: tuple[Callable[[random.Random, str, Rows], Rows], ...] = (
    *(_spoil,) * 8,
    *(_spoil_stamps, _turn_back, _leave_few, _repeat, _arrive, _rename, _retype),
)


def _wrong_row(pick: random.Random, row: Any) -> Any:
    values = np.array(row, dtype=float)
    if pick.random() < 0.3 or not values.size:
        return np.resize(values if values.size else [0.0], pick.choice((0, 1, 2, 5, 7, 40)))
    values[pick.randrange(values.size)] = pick.choice(NUMBERS)
    return values


def _joint_names(pick: random.Random, message: Any) -> None:
    message.name = list(message.name)
    if pick.random() < 0.4:
        message.name = message.name[: pick.randint(0, 5)] + ["b"] * pick.choice((0, 1, 2, 40))
    else:
        message.name[pick.randrange(6) % max(len(message.name), 1) :][:1] = [pick.choice(WORDS)]


def _many_joints(_: random.Random, message: Any) -> None:
    message.name = [f"j{k}" for k in range(5000)]
    message.position = np.zeros(5000)


def _joint_positions(pick: random.Random, message: Any) -> None:
    message.position = _wrong_row(pick, message.position)


def _joint_velocities(pick: random.Random, message: Any) -> None:
    message.velocity = _wrong_row(pick, message.velocity)


def _pose(pick: random.Random, message: Any) -> None:
    setattr(message.pose.position, pick.choice("xyz"), pick.choice(NUMBERS))
    message.header.frame_id = pick.choice(WORDS)


def _text(pick: random.Random, message: Any) -> None:
    message.data = pick.choice((*WORDS, *TOOLS, *DESCRIPTIONS, "z" * 2_000_000))


def _factor(pick: random.Random, message: Any) -> None:
    message.factor = pick.choice((*NUMBERS, 0.0, 0.5, 1.0, -1e-9, 1.0000001))


def _plan_times(pick: random.Random, message: Any) -> None:
    point = pick.choice(message.points)
    point.time_from_start.sec = pick.choice((*SECONDS, 31_536_000, 3599, 3601))
    point.time_from_start.nanosec = pick.choice((0, 1, 2**32 - 1))


def _plan_long(pick: random.Random, message: Any) -> None:
    """A plan that is stretched: up to a year, or to a nanosecond a point."""
    step = pick.choice((1, 1000, 60 * NS, 70 * NS, 7 * 86400 * NS))
    for number, point in enumerate(message.points):
        point.time_from_start.sec, point.time_from_start.nanosec = divmod(number * step, NS)


def _plan_points(pick: random.Random, message: Any) -> None:
    for point in pick.sample(message.points, 3):
        field = pick.choice(("positions", "velocities", "accelerations"))
        setattr(point, field, _wrong_row(pick, getattr(point, field)))


def _plan_velocities(pick: random.Random, message: Any) -> None:
    for point in message.points:
        point.velocities = np.full(6, pick.choice((0.1, -1e6, 1e6)))


def _plan_names(pick: random.Random, message: Any) -> None:
    names = list(message.joint_names)
    names[pick.randrange(6)] = pick.choice((*WORDS, "yaw", "pitch"))
    message.joint_names = names[: pick.choice((0, 3, 6, 6, 6))]


_SPOILERS: dict[str, tuple[Callable[[random.Random, Any], None], ...]] = {
    "sensor_msgs/msg/JointState": (
        *(_joint_names, _joint_positions, _joint_velocities, _many_joints),
    ),
    "geometry_msgs/msg/PoseStamped": (_pose,),
    "std_msgs/msg/String": (_text,),
    "control_msgs/msg/SpeedScalingFactor": (_factor,),
    "trajectory_msgs/msg/JointTrajectory": (
        *(_plan_times, _plan_long, _plan_points, _plan_velocities, _plan_names),
    ),
}


def encode(rows: Rows) -> list[tuple[str, str, int, bytes]]:
    """Topic, type, time (ns) and bytes of rows; what cannot be encoded is left out."""
    made = []
    for topic, time_s, message in sorted(rows, key=lambda row: row[1]):
        try:
            data = bytes(TYPES.serialize_cdr(message, message.__msgtype__))
        except (ValueError, struct.error, UnicodeEncodeError, AssertionError, OverflowError):
            continue
        made.append((topic, message.__msgtype__, at(time_s), data))
    return made


@lru_cache(maxsize=1)
def good_messages() -> tuple[tuple[str, str, int, bytes], ...]:
    """The encoded good rows."""
    return tuple(encode(good_rows()))


def write_messages(folder: Path, messages: Any, pick: random.Random) -> Path:
    """Write encoded messages as our recorder or another writer does, in several chunks."""
    if pick.random() < 0.7:
        return _write_ours(folder, messages)
    plugin = StoragePlugin.MCAP if pick.random() < 0.7 else StoragePlugin.SQLITE3
    with Writer(folder, version=9, storage_plugin=plugin) as writer:
        connections: dict[tuple[str, str], Any] = {}
        for topic, kind, time_ns, data in messages:
            key = topic, kind
            if key not in connections:
                connections[key] = writer.add_connection(topic, kind, typestore=TYPES)
            writer.write(connections[key], time_ns, data)
    return folder


def _write_ours(folder: Path, messages: Any) -> Path:
    folder.mkdir()
    writer = McapWriter(folder / f"{folder.name}.mcap")
    channels: dict[tuple[str, str], int] = {}
    for number, (topic, kind, time_ns, data) in enumerate(messages):
        key = topic, kind
        if key not in channels:
            channels[key] = writer.add_channel(topic, kind, "", {})
        writer.write(channels[key], time_ns, data)
        if number % 40 == 39:
            writer.flush()
    writer.close("rosbag2", dict)
    lines = {
        "version": 9,
        "storage_identifier": "mcap",
        "relative_file_paths": [f"{folder.name}.mcap"],
        "custom_data": {"lost": json.dumps({"/PSM1/measured_js": 0})},
    }
    (folder / "metadata.yaml").write_text(json.dumps({"rosbag2_bagfile_information": lines}))
    return folder


def spoil_messages(pick: random.Random) -> list[tuple[str, str, int, bytes]]:
    """Good messages, of which some have other bytes, as after a truncated packet."""
    messages = list(good_messages())
    for _ in range(pick.randint(1, 30)):
        row = pick.randrange(len(messages))
        topic, kind, time_ns, data = messages[row]
        messages[row] = topic, kind, time_ns, damage(pick, data)
    return messages


def damage(pick: random.Random, data: bytes) -> bytes:
    """Bytes of which some are gone, others, doubled or swapped."""
    if not data:
        return b"\x00"
    spoiled = bytearray(data)
    begin = pick.randrange(len(spoiled))
    end = min(len(spoiled), begin + pick.choice((1, 4, 8, 9, 100, 10_000)))
    how = pick.randrange(7)
    if how == 0:
        return bytes(spoiled[:begin])
    if how == 1:
        for _ in range(pick.choice((1, 1, 3, 50))):
            spoiled[pick.randrange(len(spoiled))] ^= 1 << pick.randrange(8)
    elif how == 2:
        del spoiled[begin:end]
    elif how == 3:
        spoiled[begin:begin] = spoiled[begin:end]
    elif how == 4:
        spoiled[begin:end] = bytes(end - begin)
    elif how == 5:
        spoiled[begin:end] = pick.randbytes(end - begin)
    else:
        # A length that is near a limit.
        width = pick.choice((4, 8))
        value = pick.choice((2**31 - 1, 2**31, 2**32 - 1, 2**20, 0))
        spoiled[begin : begin + width] = value.to_bytes(width, "little")
    return bytes(spoiled)


def rearrange(pick: random.Random, data: bytes) -> bytes:
    """An MCAP file of which records are gone, doubled or in another order."""
    head, records = data[:8], []
    at_ = 8
    while at_ + 9 <= len(data) - 8:
        length = int.from_bytes(data[at_ + 1 : at_ + 9], "little")
        records.append(data[at_ : at_ + 9 + length])
        at_ += 9 + length
    for _ in range(pick.randint(1, 4)):
        row = pick.randrange(len(records))
        how = pick.randrange(3)
        if how == 0 and len(records) > 1:
            del records[row]
        elif how == 1:
            records.insert(pick.randrange(len(records)), records[row])
        else:
            other = pick.randrange(len(records))
            records[row], records[other] = records[other], records[row]
    return head + b"".join(records) + data[-8:]


def spoil_metadata(pick: random.Random, folder: Path) -> None:
    """Spoil metadata.yaml."""
    file = folder / "metadata.yaml"
    how = pick.randrange(4)
    if how == 0:
        file.unlink()
    elif how == 1:
        file.write_bytes(damage(pick, file.read_bytes()))
    elif how == 2:
        file.write_text(pick.choice(METADATA))
    else:
        name = next(f.name for f in sorted(folder.iterdir()) if f != file)
        lines = {"storage_identifier": name[-4:], "relative_file_paths": [name]}
        lines["custom_data"] = pick.choice(
            ({"lost": pick.choice(LOSSES)}, [], 5, "x", {"lost": 5})
        )
        file.write_text(json.dumps({"rosbag2_bagfile_information": lines}))


def make_bag(folder: Path, seed: int) -> Path:
    """The bag of a seed."""
    pick = random.Random(seed)
    kind = seed % 5
    if kind < 2:
        bag = write_messages(folder, encode(hostile_rows(pick)), pick)
    elif kind == 2:
        bag = write_messages(folder, spoil_messages(pick), pick)
    else:
        bag = write_messages(folder, good_messages(), pick)
        file = next(f for f in sorted(bag.iterdir()) if f.name != "metadata.yaml")
        data = file.read_bytes()
        is_mcap = file.suffix == ".mcap" and kind == 4
        file.write_bytes(rearrange(pick, data) if is_mcap else damage(pick, data))
    if pick.random() < 0.2:
        spoil_metadata(pick, bag)
    return bag

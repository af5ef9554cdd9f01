"""Messages of a bag as arrays: joint states, poses, planned paths, speeds.

We check every message before using it. We leave out unusable ones, and a remark says how many of
which topic, and why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dvrk_kinematics.cli.report.recording import (
    PlannedPath,
    RecordedFlightPlan,
    RecordedJoints,
    RecordedSpeed,
    TipStream,
)
from dvrk_kinematics.errors import shorten
from dvrk_kinematics.geometry.arrays import Array

__all__ = [
    "NS",
    "Message",
    "flight_plans",
    "joint_stream",
    "planned_paths",
    "speed_scaling",
    "tip_stream",
]

NS = 1e9
"""Nanoseconds in a second."""

_OTHER_CLOCK_S = 0.1
"""Stamps farther than this from the arrival are from another machine's clock."""

_NO_NEWS_NS = 1_000_000
"""A stamp that falls back by no more than this (ns) belongs to the same datum: the dVRK recomputes
the stamp whenever it publishes a datum."""

_MOST_REPEATED = 0.5
"""Fraction of the messages that may repeat a datum."""

_LATEST_S = 60.0
"""Stamps that drift farther than this from the arrival are not from one clock."""

_LARGEST = 1e6
"""Joints and tips beyond this (rad, m, per s) are not measurements."""

_MOST_JOINTS = 32
_SHORTEST_PLAN_S, _LONGEST_PLAN_S = 1e-3, 3600.0
"""The planner refuses a longer motion; a shorter one does not count."""


class Message(NamedTuple):
    """One message.

    Attributes:
        received_ns: When it arrived (ns, system time).
        content: The message.
    """

    received_ns: int
    content: Any


def joint_stream(
    messages: Sequence[Message], start_ns: int, topic: str, remarks: list[str]
) -> RecordedJoints | None:
    """Joint states as arrays; None if none are usable.

    A stamp of 0 marks invalid content: we leave out such messages if others have stamps. We also
    leave out messages with joints other than those of the last one: the tool changed.

    Args:
        messages: The messages.
        start_ns: Time of the bag's first message (ns, system time).
        topic: Their topic.
        remarks: Receives what is left out.
    """
    told = [m for m in messages if len(m.content.name) or len(m.content.position)]
    sound = _leave_out(told, _complain_of_joints, topic, remarks)
    if not sound:
        return None
    names = tuple(sound[-1].content.name)
    same = [m for m in sound if tuple(m.content.name) == names]
    times, rows, is_stamped = _times(same, start_ns, topic, remarks)
    kept = [same[row].content for row in rows]
    return RecordedJoints(
        times=times,
        names=names,
        position=np.array([content.position for content in kept]),
        velocity=_velocities(kept, len(names), topic, remarks),
        is_stamped=is_stamped,
    )


def tip_stream(
    messages: Sequence[Message], start_ns: int, topic: str, remarks: list[str]
) -> TipStream | None:
    """Poses as arrays; None if none are usable; arguments like joint_stream."""
    sound = _leave_out(messages, _complain_of_tip, topic, remarks)
    if not sound:
        return None
    times, rows, _ = _times(sound, start_ns, topic, remarks)
    return TipStream(
        times=times,
        position=np.array([_point(sound[row].content) for row in rows]),
        frame_id=str(sound[-1].content.header.frame_id),
    )


def planned_paths(
    messages: Sequence[Message], start_ns: int, topic: str, remarks: list[str]
) -> tuple[PlannedPath, ...]:
    """Planned motions, except those without knots; arguments like joint_stream."""
    plans = [message for message in messages if len(message.content.points) > 1]
    sound = _leave_out(plans, _complain_of_plan, topic, remarks)
    return tuple(_planned_path(message, start_ns) for message in sound)


def speed_scaling(
    messages: Sequence[Message], start_ns: int, topic: str, remarks: list[str]
) -> RecordedSpeed | None:
    """Speed as a fraction of the planned one; None if not usable; arguments like joint_stream."""
    sound = _leave_out(messages, _complain_of_factor, topic, remarks)
    if not sound:
        return None
    return RecordedSpeed(
        times=np.array([(message.received_ns - start_ns) / NS for message in sound]),
        factor=np.array([float(message.content.factor) for message in sound]),
    )


def flight_plans(
    messages: Sequence[Message], start_ns: int, topic: str, remarks: list[str]
) -> tuple[RecordedFlightPlan, ...]:
    """Flight plans of motions, except refused ones; arguments like joint_stream."""
    proven = [message for message in messages if message.content.ok]
    sound = _leave_out(proven, _complain_of_flight_plan, topic, remarks)
    return tuple(
        RecordedFlightPlan(
            announced=(message.received_ns - start_ns) / NS,
            duration=float(message.content.duration),
            position_deviation=float(message.content.position_deviation),
            rotation_deviation=float(message.content.rotation_deviation),
        )
        for message in sound
    )


def _leave_out(
    messages: Sequence[Message], complain: Any, topic: str, remarks: list[str]
) -> list[Message]:
    """The usable messages; the others become a remark for each reason."""
    complaints = [complain(message.content) for message in messages]
    for reason, count in Counter(filter(None, complaints)).most_common():
        remarks.append(
            f"{shorten(topic)}: {count} of {len(messages)} messages are left out: {reason}"
        )
    return [m for m, complaint in zip(messages, complaints, strict=True) if not complaint]


def _complain_of_joints(content: Any) -> str:
    if len(content.name) != len(content.position):
        return "they do not have as many positions as names"
    if len(content.name) > _MOST_JOINTS:
        return f"they have more than {_MOST_JOINTS} joints"
    return "" if _is_sound(content.position) else _not_numbers("joints")


def _complain_of_tip(content: Any) -> str:
    return "" if _is_sound(_point(content)) else _not_numbers("positions")


def _complain_of_factor(content: Any) -> str:
    return "" if 0.0 <= content.factor <= 1.0 else "a speed scaling is not within 0 to 1"


def _complain_of_flight_plan(content: Any) -> str:
    told = (content.duration, content.position_deviation, content.rotation_deviation)
    return "" if _is_sound(told) else _not_numbers("durations or deviations")


def _complain_of_plan(content: Any) -> str:
    points, width = content.points, len(content.joint_names)
    times = np.array([_stamp_ns(point.time_from_start) for point in points], dtype=np.int64)
    if not width or any(len(point.positions) != width for point in points):
        return "their points do not have a position for each joint"
    if len(set(content.joint_names)) != width:
        return "they name a joint twice"
    if not all(_is_sound(point.positions) for point in points):
        return _not_numbers("positions")
    rows = [r for p in points for r in (p.velocities, p.accelerations)]
    if not all(_is_sound(row) for row in rows):
        return _not_numbers("velocities or accelerations")
    if times[0] < 0 or (np.diff(times) <= 0).any():
        return "the times of their points do not increase from 0 on"
    if not _SHORTEST_PLAN_S * NS <= times[-1] <= _LONGEST_PLAN_S * NS:
        return f"motions take {_SHORTEST_PLAN_S:g} to {_LONGEST_PLAN_S:.0f} s, and they do not"
    return ""


def _not_numbers(what: str) -> str:
    return f"{what} are not numbers, or beyond {_LARGEST:.0e} rad or m"


def _is_sound(values: Any) -> bool:
    array = np.asarray(values, dtype=float)
    # A comparison with NaN is false.
    return bool((np.abs(array) <= _LARGEST).all())


def _point(content: Any) -> tuple[float, float, float]:
    point = content.pose.position
    return point.x, point.y, point.z


def _velocities(kept: Sequence[Any], width: int, topic: str, remarks: list[str]) -> Array | None:
    """Velocities, shape (N, n); None if not all messages have usable ones."""
    if not all(len(content.velocity) == width for content in kept):
        return None
    velocity = np.array([content.velocity for content in kept])
    if _is_sound(velocity):
        return velocity
    reason = f"velocities are differences of the positions: {_not_numbers('some')}"
    remarks.append(f"{shorten(topic)}: {reason}")
    return None


def _planned_path(message: Message, start_ns: int) -> PlannedPath:
    trajectory = message.content
    stamp_ns = _stamp_ns(trajectory.header.stamp)
    points = trajectory.points
    return PlannedPath(
        start=(stamp_ns - start_ns) / NS if stamp_ns else None,
        announced=(message.received_ns - start_ns) / NS,
        names=tuple(trajectory.joint_names),
        times=np.array([_stamp_ns(point.time_from_start) / NS for point in points]),
        position=np.array([point.positions for point in points]),
        velocity=_rows(points, "velocities"),
        acceleration=_rows(points, "accelerations"),
    )


def _rows(points: Sequence[Any], field: str) -> Array | None:
    width = len(points[0].positions)
    rows = [getattr(point, field) for point in points]
    return np.array(rows) if all(len(row) == width for row in rows) else None


def _stamp_ns(stamp: Any) -> int:
    return int(stamp.sec) * int(NS) + int(stamp.nanosec)


def _times(
    messages: Sequence[Message], start_ns: int, topic: str, remarks: list[str]
) -> tuple[Array, NDArray[np.intp], bool]:
    """Increasing times of messages (s), which messages they belong to, and whether by stamps."""
    received = np.array([message.received_ns for message in messages], dtype=np.int64)
    stamps = np.array([_stamp_ns(m.content.header.stamp) for m in messages], dtype=np.int64)
    rows = np.flatnonzero(stamps)
    complaint = _complain_of_stamps(stamps[rows], received[rows]) if rows.size else ""
    if complaint:
        remarks.append(f"{shorten(topic)}: {complaint}; times of arrival are taken instead")
    is_stamped = rows.size > 0 and not complaint
    if is_stamped:
        chosen = stamps[rows]
        # The quickest message shows how far apart the two clocks are.
        apart = int((received[rows] - chosen).min())
        chosen = chosen + (apart if abs(apart) > _OTHER_CLOCK_S * NS else 0)
    else:
        rows = rows if rows.size else np.arange(len(messages))
        chosen = received[rows]
    times = (chosen - start_ns) / NS
    is_later = np.r_[True, times[1:] > np.maximum.accumulate(times)[:-1]]
    return times[is_later], rows[is_later], is_stamped


def _complain_of_stamps(stamps: NDArray[np.int64], received: NDArray[np.int64]) -> str:
    """Find what is wrong with stamps (ns) of messages in order of arrival; "" if nothing."""
    falls = np.maximum.accumulate(stamps)[:-1] - stamps[1:]
    back = int((falls > _NO_NEWS_NS).sum())
    if back:
        return f"stamps fall back, {back} times, by up to {falls.max() / NS:.6g} s"
    repeated = int((falls >= 0).sum())
    if repeated > _MOST_REPEATED * len(stamps):
        return f"{repeated} of {len(stamps)} messages have a stamp that was there before"
    late = received - stamps
    apart = float(late.max() - late.min()) / NS
    if apart > _LATEST_S:
        return f"stamps drift from the arrival by {apart:.6g} s"
    return ""

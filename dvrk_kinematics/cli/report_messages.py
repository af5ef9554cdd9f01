"""Messages of a bag as arrays: joint states, poses, planned paths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dvrk_kinematics.cli.report_recording import JointStream, PlannedPath, TipStream
from dvrk_kinematics.geometry.arrays import Array

__all__ = ["NS", "Message", "joint_stream", "planned_paths", "tip_stream"]

NS = 1e9
"""Nanoseconds in a second."""

_OTHER_CLOCK_S = 0.1
"""Stamps that are farther than this from the arrival are of another machine's clock."""


class Message(NamedTuple):
    """One message.

    Attributes:
        received_ns: When it arrived (ns, system time).
        content: The message.
    """

    received_ns: int
    content: Any


def joint_stream(messages: Sequence[Message], start_ns: int) -> JointStream | None:
    """Joint states as arrays; None if there are none.

    A stamp of 0 says that the content is not valid: such messages are left out where others have
    stamps. What names other joints than the last message is left out as well: the tool changed.
    """
    if not messages:
        return None
    names = tuple(messages[-1].content.name)
    width = len(messages[-1].content.position)
    same = [
        m
        for m in messages
        if tuple(m.content.name) == names and len(m.content.position) == width > 0
    ]
    if not same:
        return None
    times, rows, is_stamped = _times(same, start_ns)
    kept = [same[row].content for row in rows]
    has_velocity = all(len(content.velocity) == width for content in kept)
    return JointStream(
        times=times,
        names=names,
        position=np.array([content.position for content in kept]),
        velocity=np.array([content.velocity for content in kept]) if has_velocity else None,
        is_stamped=is_stamped,
    )


def tip_stream(messages: Sequence[Message], start_ns: int) -> TipStream | None:
    """Poses as arrays; None if there are none."""
    if not messages:
        return None
    times, rows, _ = _times(messages, start_ns)
    points = [messages[row].content.pose.position for row in rows]
    return TipStream(
        times=times,
        position=np.array([(p.x, p.y, p.z) for p in points]),
        frame_id=str(messages[-1].content.header.frame_id),
    )


def planned_paths(messages: Sequence[Message], start_ns: int) -> tuple[PlannedPath, ...]:
    """Planned motions, those without knots left out."""
    return tuple(
        _planned_path(message, start_ns) for message in messages if len(message.content.points) > 1
    )


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


def _times(messages: Sequence[Message], start_ns: int) -> tuple[Array, NDArray[np.intp], bool]:
    """Increasing times of messages (s), which messages they belong to, and whether by stamps."""
    received = np.array([message.received_ns for message in messages], dtype=np.int64)
    stamps = np.array([_stamp_ns(m.content.header.stamp) for m in messages], dtype=np.int64)
    rows = np.flatnonzero(stamps)
    is_stamped = rows.size > 0
    if is_stamped:
        chosen = stamps[rows]
        # The quickest message tells how far the two clocks are apart.
        apart = int((received[rows] - chosen).min())
        chosen = chosen + (apart if abs(apart) > _OTHER_CLOCK_S * NS else 0)
    else:
        rows, chosen = np.arange(len(messages)), received
    latest = np.maximum.accumulate(chosen)
    is_later = np.r_[True, chosen[1:] > latest[:-1]]
    return (chosen[is_later] - start_ns) / NS, rows[is_later], is_stamped

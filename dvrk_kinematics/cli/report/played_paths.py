"""Which of the planned paths in a bag were played, and when they started."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dvrk_kinematics.cli.report.motion import moving_times
from dvrk_kinematics.cli.report.recording import ArmRecording, PlannedPath
from dvrk_kinematics.cli.report.slow_downs import scaled_end
from dvrk_kinematics.geometry.arrays import Array

__all__ = ["PlayedPath", "find_played"]

_NEAR = 0.02
"""How far from its first knot (rad, m) an arm may be for a path to have been played."""


_REST_S = 0.5
"""A motion has ended when the arm stands still for longer than this (s) after its planned end."""


class PlayedPath(NamedTuple):
    """A planned path that was played.

    Attributes:
        path: The path, its columns in the order of the arm's joints.
        start: Its planned start (s).
        end: Its planned end (s), or its real end if that was later: stalls and slow-downs make a
            motion late.
    """

    path: PlannedPath
    start: float
    end: float


def find_played(arm: ArmRecording) -> tuple[PlayedPath, ...]:
    """The planned paths that were played, oldest first.

    A plan is latched, so a bag may begin with one that was over before. We leave it out: the arm
    is not where the plan begins, or the plan had not begun when the next one came.
    """
    ordered = [_in_order(path, arm.measured.names) for path in arm.paths]
    known = _without_repeats([path for path in ordered if path is not None])
    moving = moving_times(arm)
    nexts = [*(path.announced for path in known[1:]), np.inf]
    played = []
    for path, next_announced in zip(known, nexts, strict=False):
        start = _start_of(arm, moving, path)
        if start < next_announced and _is_near(arm, path, start):
            end = _end_of(arm, moving, path, start, next_announced)
            played.append(PlayedPath(path, start, end))
    return tuple(played)


def _without_repeats(paths: Sequence[PlannedPath]) -> list[PlannedPath]:
    """Paths, without those that are repeated with the time at which they began."""
    return [
        path
        for number, path in enumerate(paths)
        if path.start is not None or not any(_is_same(path, x) for x in paths[number + 1 :][:1])
    ]


def _is_same(path: PlannedPath, later: PlannedPath) -> bool:
    return (
        later.start is not None
        and np.array_equal(path.times, later.times)
        and np.array_equal(path.position, later.position)
    )


def _end_of(
    arm: ArmRecording, moving: Array, path: PlannedPath, start: float, next_announced: float
) -> float:
    """When a path that began at a given time ended (s)."""
    end = start + float(path.times[-1])
    if arm.scaling is not None:
        latest = min(float(arm.measured.times[-1]), next_announced)
        end = max(end, min(scaled_end(arm.scaling, start, float(path.times[-1])), latest))
    # From one moment of motion to the next, until the arm rests.
    later = moving[np.searchsorted(moving, end, side="right") :]
    gaps = np.diff(np.r_[end, later])
    rests = np.flatnonzero(gaps > _REST_S)
    last = int(rests[0]) if rests.size else len(later)
    return float(later[last - 1]) if last else end


def _start_of(arm: ArmRecording, moving: Array, path: PlannedPath) -> float:
    """Planned start of a path (s): as it states, or else when it was first commanded."""
    if path.start is not None:
        return path.start
    for times in (np.empty(0) if arm.command is None else arm.command.times, moving):
        row = int(np.searchsorted(times, path.announced))
        if row < len(times):
            return float(times[row])
    return path.announced


def _is_near(arm: ArmRecording, path: PlannedPath, start: float) -> bool:
    row = min(int(np.searchsorted(arm.measured.times, start)), len(arm.measured.times) - 1)
    return bool(np.abs(arm.measured.position[row] - path.position[0]).max() < _NEAR)


def _in_order(path: PlannedPath, names: tuple[str, ...]) -> PlannedPath | None:
    """A path in the order of the arm's joints; None if it is for different joints.

    Joints on the graph may carry a prefix, as in ``PSM1_yaw``.
    """
    prefixes = {path.names[0].removesuffix(name) for name in names}
    for prefix in prefixes:
        wanted = [f"{prefix}{name}" for name in names]
        if sorted(wanted) == sorted(path.names):
            return _pick(path, names, [path.names.index(name) for name in wanted])
    return None


def _pick(path: PlannedPath, names: tuple[str, ...], columns: list[int]) -> PlannedPath:
    def pick(rows: Array | None) -> Array | None:
        return None if rows is None else rows[:, columns]

    return PlannedPath(
        path.start,
        path.announced,
        names,
        path.times,
        path.position[:, columns],
        pick(path.velocity),
        pick(path.acceleration),
    )

"""How well a tip followed its planned path: aside of it (contour), and behind it in time (lag).

The two have different causes and are told apart: a motion that was held up for a moment lies on
its path exactly and is late; a drive that gives way under load is in time and aside.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dvrk_kinematics.cli.report_recording import PlannedPath
from dvrk_kinematics.geometry import so3
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.arm import Arm
from dvrk_kinematics.motion.spline import Spline

__all__ = ["STEP_S", "Contour", "JointPath", "follow_path"]

STEP_S = 0.002
"""How finely a path is looked at before the nearest point is found between two of its points."""

_CATCH_UP = 3.0
"""How many times faster than planned a motion is still recognised."""

_LOOK_BACK_S = 0.05
_REST_M = 1e-9
_OFF_M = 1e-5
_MUCH_NEARER = 0.01
_LEVER_M = 0.05
"""The distance that weighs as much as a radian in what "nearest" means."""

_TIE = 1e-5
"""Metres of distance that a second of path time is worth, so that a path at rest has an order."""

_MOVING = 0.1
"""Share of the path's top speed below which its time says nothing."""


class JointPath:
    """A planned path that can be asked for many times at once.

    Args:
        path: The plan.
    """

    def __init__(self, path: PlannedPath) -> None:
        self.duration = float(path.times[-1])
        self._times, self._position = path.times, path.position
        self._spline = (
            None
            if path.velocity is None
            else Spline(path.times, path.position, path.velocity, path.acceleration)
        )

    def position(self, times: Array) -> Array:
        """Joint positions at times along the path (s); (N,) -> (N, n)."""
        if self._spline is None:
            columns = self._position.T
            return np.stack([np.interp(times, self._times, column) for column in columns], axis=1)
        last = len(self._times) - 1
        row = np.clip(np.searchsorted(self._times, times, side="right") - 1, 0, last - 1)
        width = self._times[row + 1] - self._times[row]
        u = np.clip((times - self._times[row]) / width, 0.0, 1.0)[:, None]
        coefficients = self._spline.segments(0, last)[:, row]
        q = coefficients[-1]
        for part in coefficients[-2::-1]:
            q = q * u + part
        return np.asarray(q)


@dataclass(frozen=True, slots=True)
class Contour:
    """How a tip followed one path.

    Attributes:
        times: When (s), shape (N,).
        position_error: Distance of the tip from the nearest point of the path (m), shape (N,).
        rotation_error: Angle to the orientation at that point (rad), shape (N,).
        lag: How much later than planned it was there (s), shape (N,); NaN where the path rests.
        planned_times: Times of the whole path (s), shape (M,).
        planned_q: Its joint positions (rad, m), shape (M, n).
        planned_tip: Its tip (m), shape (M, 3).
    """

    times: Array
    position_error: Array
    rotation_error: Array
    lag: Array
    planned_times: Array
    planned_q: Array
    planned_tip: Array


def follow_path(
    arm: Arm,
    path: JointPath,
    start: float,
    times: Array,
    q_measured: Array,
    step_s: float = STEP_S,
) -> Contour:
    """Compare measured joints with a path.

    "Nearest" weighs a radian as 50 mm, as the planner does, so that it is defined where the tip
    turns in place.

    Args:
        arm: The arm, whose tip is compared.
        path: The path.
        start: When it was to begin (s).
        times: Times of the measurements (s), shape (N,).
        q_measured: Joint positions (rad, m), shape (N, n).
        step_s: How finely the path is looked at (s).
    """
    grid = np.linspace(0.0, path.duration, int(np.ceil(path.duration / step_s)) + 2)
    q_planned = path.position(grid)
    T_grid, T_measured = arm.forward(q_planned), arm.forward(q_measured)
    points, way = _weigh(T_measured), _weigh(T_grid)
    along = _nearest_times(grid, way, times - start, points)
    along = _refine(arm, path, along, points, step_s)
    T_planned = arm.forward(path.position(along))
    speed = np.linalg.norm(np.gradient(way, grid, axis=0), axis=1)
    is_moving = np.interp(along, grid, speed) > _MOVING * speed.max()
    return Contour(
        times=times,
        position_error=np.linalg.norm(T_measured[:, :3, 3] - T_planned[:, :3, 3], axis=1),
        rotation_error=so3.angle_between(T_measured[:, :3, :3], T_planned[:, :3, :3]),
        lag=np.where(is_moving, times - start - along, np.nan),
        planned_times=start + grid,
        planned_q=q_planned,
        planned_tip=T_grid[:, :3, 3],
    )


def _weigh(T: Array) -> Array:
    """Poses as points (m) whose distances count both position and angle; (N, 4, 4) -> (N, 12)."""
    # The norm of a difference of rotations is nearly the angle times the root of 2.
    turns = T[:, :3, :3].reshape(-1, 9) * (_LEVER_M / np.sqrt(2.0))
    return np.concatenate([T[:, :3, 3], turns], axis=1)


def _refine(arm: Arm, path: JointPath, along: Array, points: Array, step_s: float) -> Array:
    """One step of Newton's method on the path itself, which is curved between two grid points."""
    ends = np.clip(along[:, None] + [-0.5 * step_s, 0.0, 0.5 * step_s], 0.0, path.duration)
    way = _weigh(arm.forward(path.position(ends.ravel()))).reshape(len(along), 3, -1)
    slope = (way[:, 2] - way[:, 0]) / np.maximum(ends[:, 2] - ends[:, 0], 1e-12)[:, None]
    square = (slope**2).sum(axis=1)
    step = ((points - way[:, 1]) * slope).sum(axis=1) / np.where(square > 0.0, square, 1.0)
    nearer = along + np.clip(step, -step_s, step_s)
    return np.asarray(np.clip(nearer, 0.0, path.duration))


def _nearest_times(grid: Array, way: Array, times: Array, points: Array) -> Array:
    """Where on the path each point is nearest, following the path from its begin.

    A path may cross or repeat itself, so that the nearest point anywhere could belong to another
    time. So each search is about where the last one ended; only a point that is off the path there
    is looked for up to where the plan would be by now, as after a state that came late.
    """
    step = float(grid[1] - grid[0])
    along = np.empty(len(times))
    here, before = 0.0, float(times[0])
    for k, (now, point) in enumerate(zip(times.tolist(), points, strict=True)):
        expected = here + now - before
        first = max(0, int((here - _LOOK_BACK_S) / step))
        ahead = here + _CATCH_UP * (now - before)
        row, off = _search(grid, way, first, ahead, point, expected)
        if off > _OFF_M**2 and now > ahead:
            far, far_off = _search(grid, way, first, now, point, expected)
            row = far if far_off < _MUCH_NEARER * off else row
        here = _between(grid, way, row, point, expected)
        along[k], before = here, now
    return along


def _search(
    grid: Array, way: Array, first: int, ahead: float, point: Array, expected: float
) -> tuple[int, float]:
    """The nearest row from a first one until a time ahead (s), and its squared distance (m^2)."""
    step = float(grid[1] - grid[0])
    last = min(len(grid), max(int((ahead + _LOOK_BACK_S) / step) + 2, first + 1))
    first = min(first, last - 1)
    squares = ((way[first:last] - point) ** 2).sum(axis=1)
    tie = _TIE * (grid[first:last] - expected)
    best = int(np.argmin(squares + tie * tie))
    return first + best, float(squares[best])


def _between(grid: Array, way: Array, row: int, point: Array, expected: float) -> float:
    """The time of the nearest point of the two pieces beside a row.

    Where the path rests many times are as near, and the one expected is taken.
    """
    best, best_distance = float(grid[row]), float(((way[row] - point) ** 2).sum())
    for a, b in ((row - 1, row), (row, row + 1)):
        if a < 0 or b >= len(grid):
            continue
        piece = way[b] - way[a]
        length = float(piece @ piece)
        if length == 0.0:
            continue
        share = min(max(float((point - way[a]) @ piece) / length, 0.0), 1.0)
        off = way[a] + share * piece - point
        if float(off @ off) < best_distance:
            best, best_distance = float(grid[a] + share * (grid[b] - grid[a])), float(off @ off)
    step = float(grid[1] - grid[0])
    near = min(max(round(expected / step), 0), len(grid) - 1)
    is_as_near = float(((way[near] - point) ** 2).sum()) <= best_distance + _REST_M**2
    return min(max(expected, 0.0), float(grid[-1])) if is_as_near else best

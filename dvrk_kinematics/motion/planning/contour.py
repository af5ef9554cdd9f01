"""The nearest point of a path: where we measure a contour error, on any path of poses in time.

"Nearest" weighs a radian as 50 mm, so that it is defined where the tip turns in place. A path may
cross or repeat itself, and the nearest point overall could belong to another time. So each search
is limited in time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dvrk_kinematics.geometry import se3
from dvrk_kinematics.geometry.arrays import Array, ArrayLike, as_floats
from dvrk_kinematics.kinematics.interruptible import check_in

__all__ = ["MOST_POINTS", "ContourErrors", "ContourSearch", "search_grid"]

_STEP_S = 0.002
"""How finely a path is sampled before we search for the nearest point between two samples."""
MOST_POINTS = 250_000
"""Maximum number of points at which a path is sampled."""

_CATCH_UP = 3.0
"""How many times faster than planned a motion may be and still be recognised."""

_HEAD_START_S = 1.0
"""How much further than the time since it began a motion may be at its first state (s). We know
when it began from its player's first report, which a busy machine may have delayed."""

_LOOK_BACK_S = 0.05
"""How far before the last nearest point (s) the next search starts, because of noise."""
_REST_M = 1e-9
"""Path points whose distances differ by less than this (m) are equally near."""
_OFF_M = 1e-5
"""For a point farther than this (m) from the last place on the path, we search farther ahead."""
_MUCH_NEARER = 0.01
"""We accept a place ahead if the squared distance there is below this fraction of the first."""
_CORNER_S = 0.01
"""How near to a corner (s) we check both of its sides."""
_SAME_M = 1e-8
"""Once a point is this near (m), the search ends."""
_LEVER_M = 0.05
"""The distance that weighs as much as a radian in "nearest", as for the planner."""

_TIE = 1e-5
"""Metres of distance that a second of path time counts as, so that a path at rest has an order."""

_ROUNDS = 8
"""Maximum steps of Newton's method between two points of the path."""
_SLOPE_S = 1e-4
"""Half of the interval (s) over which the path's slope is computed."""
_FINE_S = 1e-7
_ON_M = 1e-12
"""Steps (s) and distances (m) small enough to stop at."""


class ContourErrors(NamedTuple):
    """How far measured poses are from a path, shape (N,) each.

    Attributes:
        position: Distance to the nearest point of the path (m).
        rotation: Angle to the orientation there (rad).
        lag_s: How much later than planned the pose was reached (s); negative if earlier.
    """

    position: Array
    rotation: Array
    lag_s: Array


def search_grid(duration_s: float, most_points: int = MOST_POINTS) -> Array:
    """Times (s) at which a path is sampled before a search, shape (M,)."""
    step_s = max(_STEP_S, duration_s / most_points)
    return np.linspace(0.0, duration_s, int(np.ceil(duration_s / step_s)) + 2)


class ContourSearch:
    """Finds the nearest points of one path.

    Args:
        poses_at: The path's poses at times from 0 to its end (s), shape (N,) -> (N, 4, 4).
        grid: Increasing times (s), from 0 to its end, shape (M,).
        T: Its poses there, shape (M, 4, 4).
        corners: Times at which it may turn sharply (s), increasing, shape (C,).

    Attributes:
        speed: Its speed at the grid times, in metres that count angles too (m/s).
    """

    def __init__(
        self, poses_at: Callable[[Array], Array], grid: Array, T: Array, corners: ArrayLike = ()
    ) -> None:
        self._poses_at = poses_at
        self._grid = grid
        self._corners = as_floats(corners, "corners")
        self._way = _weigh(T)
        slope = np.gradient(self._way, self._step(), axis=0)
        self.speed: Array = np.linalg.norm(slope, axis=1)

    def follow(self, times: Array, T: Array) -> Array:
        """The place on the path nearest to each pose, following the path from its start.

        Each search starts around the last result. Only if the point is off the path there, as
        after a late state, does the search extend to where the plan would be by now.

        Args:
            times: When the poses were measured (s since the path began), increasing, shape (N,).
            T: The poses, shape (N, 4, 4).

        Returns:
            Times of the path (s), shape (N,).
        """
        points = _weigh(T)
        return self._refine(self._nearest_times(times, points), points)

    def find_near(self, times: Array, T: Array, window_s: float) -> Array:
        """The place on the path nearest to each pose, close to a given time.

        Args:
            times: Times of the path (s), shape (N,).
            T: The poses, shape (N, 4, 4).
            window_s: How much earlier or later the nearest point may be (s).

        Returns:
            Times of the path (s), shape (N,).
        """
        points = _weigh(T)
        along = np.empty(len(times))
        for k, (here, point) in enumerate(zip(times.tolist(), points, strict=True)):
            check_in()
            first = max(0, int((here - window_s) / self._step()))
            along[k], _ = self._search(first, here + window_s, point, here)
        return self._look_beyond_corners(self._refine(along, points), points)

    def _look_beyond_corners(self, along: Array, points: Array) -> Array:
        """The same, where the nearer point lies beyond a corner, which chords of the path cut."""
        if not len(self._corners):
            return along
        best: Array = along.copy()
        away = along[:, None] - self._corners
        near = np.take_along_axis(away, np.abs(away).argmin(axis=1)[:, None], axis=1)[:, 0]
        off = _squares(self._points_at(along) - points)
        rows = np.flatnonzero((np.abs(near) < _CORNER_S) & (off > _SAME_M**2))
        start = np.clip(along[rows] - 2.0 * near[rows], 0.0, self._grid[-1])
        other = self._refine(start, points[rows])
        is_nearer = _squares(self._points_at(other) - points[rows]) < off[rows]
        best[rows[is_nearer]] = other[is_nearer]
        return best

    def errors_at(self, along: Array, T: Array) -> tuple[Array, Array]:
        """Distances (m) and angles (rad) between poses and the path at times (s), shape (N,)."""
        return se3.pose_error(T, self._poses_at(along))

    def _step(self) -> float:
        # A path with zero duration has steps too.
        return max(float(self._grid[1] - self._grid[0]), _FINE_S)

    def _points_at(self, times: Array) -> Array:
        return _weigh(self._poses_at(np.clip(times, 0.0, self._grid[-1])))

    def _refine(self, along: Array, points: Array) -> Array:
        """Newton's method on the path itself, which is curved between two points of the grid."""
        best = along.copy()
        off = _squares(self._points_at(best) - points)
        rows, reach = np.arange(len(best)), np.full(len(best), self._step())
        for _ in range(_ROUNDS):
            here, wanted = best[rows], points[rows]
            before, after = self._points_at(here - _SLOPE_S), self._points_at(here + _SLOPE_S)
            slope = (after - before) / (2.0 * _SLOPE_S)
            square = _squares(slope)
            miss = ((wanted - self._points_at(here)) * slope).sum(axis=1)
            step = miss / np.where(square > 0.0, square, 1.0)
            step = np.clip(step, -reach[rows], reach[rows])
            there = np.clip(here + step, 0.0, self._grid[-1])
            gap = _squares(self._points_at(there) - wanted)
            is_nearer = gap < off[rows]
            best[rows[is_nearer]], off[rows[is_nearer]] = there[is_nearer], gap[is_nearer]
            # Rows that overshot try a shorter step.
            reach[rows] = np.where(is_nearer, reach[rows], 0.25 * np.abs(step))
            rows = rows[(np.abs(step) > _FINE_S) & (off[rows] > _ON_M**2)]
            if not len(rows):
                break
        return np.asarray(best)

    def _nearest_times(self, times: Array, points: Array) -> Array:
        along = np.empty(len(times))
        here = before = 0.0
        for k, (now, point) in enumerate(zip(times.tolist(), points, strict=True)):
            expected = here + now - before
            first = max(0, int((here - _LOOK_BACK_S) / self._step()))
            ahead = here + _CATCH_UP * (now - before) + (_HEAD_START_S if k == 0 else 0.0)
            here, off = self._search(first, ahead, point, expected)
            if off > _OFF_M**2 and now > ahead:
                far, far_off = self._search(first, now, point, expected)
                here = far if far_off < _MUCH_NEARER * off else here
            along[k], before = here, now
        return along

    def _search(
        self, first: int, ahead: float, point: Array, expected: float
    ) -> tuple[float, float]:
        """The nearest time from a row up to a time ahead (s), and its squared distance (m^2)."""
        grid, way = self._grid, self._way
        last = min(len(grid), max(int((ahead + _LOOK_BACK_S) / self._step()) + 2, first + 1))
        first = min(first, last - 1)
        squares = _squares(way[first:last] - point)
        tie = _TIE * (grid[first:last] - expected)
        return self._between(first + int(np.argmin(squares + tie * tie)), point, expected)

    def _between(self, row: int, point: Array, expected: float) -> tuple[float, float]:
        """The same, for the two pieces beside a row.

        Where the path rests, many times are equally near, and we take the expected one.
        """
        grid, way = self._grid, self._way
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
                best = float(grid[a] + share * (grid[b] - grid[a]))
                best_distance = float(off @ off)
        near = min(max(round(expected / self._step()), 0), len(grid) - 1)
        is_as_near = float(((way[near] - point) ** 2).sum()) <= best_distance + _REST_M**2
        return min(max(expected, 0.0), float(grid[-1])) if is_as_near else best, best_distance


def _squares(rows: Array) -> Array:
    return np.asarray(np.einsum("nv,nv->n", rows, rows))


def _weigh(T: Array) -> Array:
    """Poses as points (m) whose distances count both position and angle; (N, 4, 4) -> (N, 12)."""
    # The norm of a difference of rotations is nearly the angle times the root of 2.
    turns = T[:, :3, :3].reshape(-1, 9) * (_LEVER_M / np.sqrt(2.0))
    return np.concatenate([T[:, :3, 3], turns], axis=1)

"""How well a tip followed its planned path: aside of it (contour), and behind it in time (lag).

The one definition of both, for the result of an action as for the report of a bag. They need what
is on record: the planned path as it was sent to be played, when it began, and the states that the
arm measured, by their stamps.

* The *contour error* of a state is the distance of its tip from the nearest point of the planned
  path, whatever the time, and the angle to the orientation there. How far the planned path itself
  is from the exact figure is told by its flight plan, and is no part of it.
* The *lag* of a state is its time since the path began, less the time for which that nearest point
  was planned. It is told where the path moves, since a time means nothing where it rests.

The two have different causes and are told apart: a motion that was held up for a moment lies on
its path exactly and is late; a drive that gives way under load is in time and aside.

States count by how far they went on along the path. So a mean or a root mean square is one over
the path, and a pause, a stall or the rest after the end has no part in it, however long it lasts
and however many states tell of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan, nan

import numpy as np

from dvrk_kinematics.geometry import so3
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.serial_arm import SerialArm
from dvrk_kinematics.motion.joint_path import JointPath

__all__ = [
    "EXACT",
    "FINEST",
    "Following",
    "FollowingFigures",
    "TipFollower",
    "describe_contour",
    "describe_lag",
    "describe_off",
    "summarise_following",
]

FINEST = 1e-9
"""Errors below this (m, rad) are the rounding of numbers, not of arms."""

EXACT = "a simulated arm follows its setpoints exactly"
"""What errors below that tell."""


def describe_contour(figures: FollowingFigures, micro: str = "u") -> str:
    """Contour errors, max and RMS.

    Args:
        figures: The figures.
        micro: How a millionth is written.
    """
    return (
        f"{describe_off(figures.position_max, figures.position_rms, f'{micro}m')}, "
        f"{describe_off(figures.rotation_max, figures.rotation_rms, f'{micro}rad')}"
    )


def describe_off(largest: float, rms: float, unit: str) -> str:
    """Two errors (m, rad) in millionths, with three digits; or that they are too small for it."""
    if isnan(largest):
        return "not known"
    if largest < FINEST:
        return f"under {1e6 * FINEST:g} {unit}"
    return f"{1e6 * largest:.3g} / {1e6 * rms:.3g} {unit}"


def describe_lag(figures: FollowingFigures) -> str:
    """Mean and largest lag."""
    if isnan(figures.lag_mean):
        return "not known"
    return f"{1e3 * figures.lag_mean:.1f} / {1e3 * figures.lag_max:.1f} ms"


_STEP_S = 0.002
"""How finely a path is looked at before the nearest point is found between two of its points."""
_MOST_POINTS = 250_000
"""Points at which a path is looked at, at most."""

_CATCH_UP = 3.0
"""How many times faster than planned a motion is still recognised."""

_HEAD_START_S = 1.0
"""How much further than the time since it began a motion may be at its first state (s). When it
began is known by what its player said first, which a busy machine may have slowed by then."""

_LOOK_BACK_S = 0.05
_REST_M = 1e-9
_OFF_M = 1e-5
_MUCH_NEARER = 0.01
_LEVER_M = 0.05
"""The distance that weighs as much as a radian in what "nearest" means, as for the planner."""

_TIE = 1e-5
"""Metres of distance that a second of path time is worth, so that a path at rest has an order."""

_MOVING = 0.1
"""Share of the path's top speed below which its time says nothing."""

_ROUNDS = 8
"""Steps of Newton's method between two points of the path, at most."""
_SLOPE_S = 1e-4
"""Half of the stretch (s) over which the path's slope is taken."""
_FINE_S = 1e-7
_ON_M = 1e-12
"""Steps (s) and distances (m) that need no further one."""
_FIRST_S = 1e-9
"""How much the first state weighs (s), of which is not known how far it went."""


@dataclass(frozen=True, slots=True)
class Following:
    """How a tip followed one path.

    Attributes:
        times: When its states were measured (s since the path began), shape (N,).
        along: For when the nearest point of the path is planned (s), shape (N,).
        position_error: Distance of the tip from that point (m), shape (N,).
        rotation_error: Angle to the orientation there (rad), shape (N,).
        lag: How much later than planned it was there (s), shape (N,); NaN where the path rests.
    """

    times: Array
    along: Array
    position_error: Array
    rotation_error: Array
    lag: Array

    @property
    def weights(self) -> Array:
        """How far each state went on along the path (s), shape (N,); 0 where it did not."""
        reached = np.maximum.accumulate(self.along)
        return np.diff(reached, prepend=reached[:1] - _FIRST_S)


@dataclass(frozen=True, slots=True)
class FollowingFigures:
    """How a tip followed its path, in figures over the path; NaN if nothing was measured.

    Attributes:
        position_max: Largest contour error (m).
        position_rms: Its root mean square (m).
        rotation_max: Largest contour error of the orientation (rad).
        rotation_rms: Its root mean square (rad).
        lag_max: Largest lag (s).
        lag_mean: Mean lag (s).
        samples: States that went on along the path, and were compared.
    """

    position_max: float = nan
    position_rms: float = nan
    rotation_max: float = nan
    rotation_rms: float = nan
    lag_max: float = nan
    lag_mean: float = nan
    samples: int = 0


def summarise_following(parts: Sequence[Following]) -> FollowingFigures:
    """The figures of a motion, or of several together."""
    weights = np.concatenate([np.empty(0), *(part.weights for part in parts)])
    counted = weights > 0.0
    if not counted.any():
        return FollowingFigures()

    def gather(name: str) -> Array:
        return np.asarray(np.concatenate([getattr(part, name) for part in parts])[counted])

    weights = weights[counted]

    def rms(values: Array) -> float:
        # Of equal values rounding may make it larger than each.
        return min(float(np.sqrt(np.average(values**2, weights=weights))), float(values.max()))

    position, rotation, lag = map(gather, ("position_error", "rotation_error", "lag"))
    told = np.isfinite(lag)
    return FollowingFigures(
        position_max=float(position.max()),
        position_rms=rms(position),
        rotation_max=float(rotation.max()),
        rotation_rms=rms(rotation),
        lag_max=float(lag[told].max()) if told.any() else nan,
        lag_mean=float(np.average(lag[told], weights=weights[told])) if told.any() else nan,
        samples=int(counted.sum()),
    )


class TipFollower:
    """Compares measured joints with one path.

    "Nearest" weighs a radian as 50 mm, as for the planner, so that it is defined where the tip
    turns in place.

    Args:
        arm: The arm, whose tip is compared.
        path: The path.
        most_points: At how many points it is looked at, at most.

    Attributes:
        grid: The times at which it is looked at (s), shape (M,).
        planned_q: Its joint positions there (rad, m), shape (M, n).
        planned_tip: Its tip there (m), shape (M, 3).
    """

    def __init__(self, arm: SerialArm, path: JointPath, most_points: int = _MOST_POINTS) -> None:
        self._arm, self._path = arm, path
        step_s = max(_STEP_S, path.duration_s / most_points)
        count = int(np.ceil(path.duration_s / step_s)) + 2
        self.grid = np.linspace(0.0, path.duration_s, count)
        self.planned_q = path.position(self.grid)
        self._way = _weigh(arm.forward(self.planned_q))
        self.planned_tip = self._way[:, :3]
        slope = np.gradient(self._way, self._step(), axis=0)
        self._speed = np.linalg.norm(slope, axis=1)

    def follow(self, times: Array, q: Array) -> Following:
        """Compare the states of a motion, in their order.

        Args:
            times: When they were measured (s since the path began), shape (N,). What was measured
                before, or is no later than another, is left out.
            q: Joint positions (rad, m), shape (N, n).
        """
        is_later = times > np.maximum.accumulate(np.r_[-np.inf, times])[:-1]
        kept = (times >= 0.0) & is_later
        times, q = times[kept], q[kept]
        if not len(times):
            return Following(*(np.empty(0) for _ in range(5)))
        T = self._arm.forward(q)
        points = _weigh(T)
        along = self._refine(self._nearest_times(times, points), points)
        position, rotation = self._errors(along, T)
        is_moving = np.interp(along, self.grid, self._speed) > _MOVING * self._speed.max()
        lag = np.where(is_moving, times - along, np.nan)
        return Following(times, along, position, rotation, lag)

    def find_errors(self, time_s: float, q: Array, window_s: float = 0.5) -> tuple[float, float]:
        """Contour errors (m, rad) of one state that is near a place on the path.

        Args:
            time_s: For when that place is planned (s).
            q: Joint positions (rad, m), shape (n,).
            window_s: How much earlier or later the nearest point may be planned (s).
        """
        T = self._arm.forward(q[None])
        points = _weigh(T)
        here = min(max(time_s, 0.0), self._path.duration_s)
        first = max(0, int((here - window_s) / self._step()))
        near, _ = self._search(first, here + window_s, points[0], here)
        along = self._refine(np.array([near]), points)
        position, rotation = self._errors(along, T)
        return float(position[0]), float(rotation[0])

    def _errors(self, along: Array, T: Array) -> tuple[Array, Array]:
        planned = self._arm.forward(self._path.position(along))
        position = np.linalg.norm(T[:, :3, 3] - planned[:, :3, 3], axis=1)
        return position, so3.angle_between(T[:, :3, :3], planned[:, :3, :3])

    def _step(self) -> float:
        # A path of no duration has steps too.
        return max(float(self.grid[1] - self.grid[0]), _FINE_S)

    def _points_at(self, times: Array) -> Array:
        clipped = np.clip(times, 0.0, self._path.duration_s)
        return _weigh(self._arm.forward(self._path.position(clipped)))

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
            there = np.clip(here + step, 0.0, self._path.duration_s)
            gap = _squares(self._points_at(there) - wanted)
            is_nearer = gap < off[rows]
            best[rows[is_nearer]], off[rows[is_nearer]] = there[is_nearer], gap[is_nearer]
            # What overshot tries a shorter step.
            reach[rows] = np.where(is_nearer, reach[rows], 0.25 * np.abs(step))
            rows = rows[(np.abs(step) > _FINE_S) & (off[rows] > _ON_M**2)]
            if not len(rows):
                break
        return np.asarray(best)

    def _nearest_times(self, times: Array, points: Array) -> Array:
        """Where on the path each point is nearest, following the path from its start.

        A path may cross or repeat itself, so that the nearest point anywhere could belong to
        another time. So each search is about where the last one ended; only a point that is off
        the path there is looked for up to where the plan would be by now, as after a state that
        came late.
        """
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
        """The nearest time from a row until a time ahead (s), and its distance squared (m^2)."""
        grid, way = self.grid, self._way
        last = min(len(grid), max(int((ahead + _LOOK_BACK_S) / self._step()) + 2, first + 1))
        first = min(first, last - 1)
        squares = _squares(way[first:last] - point)
        tie = _TIE * (grid[first:last] - expected)
        return self._between(first + int(np.argmin(squares + tie * tie)), point, expected)

    def _between(self, row: int, point: Array, expected: float) -> tuple[float, float]:
        """The same, of the two pieces beside a row.

        Where the path rests many times are as near, and the one expected is taken.
        """
        grid, way = self.grid, self._way
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

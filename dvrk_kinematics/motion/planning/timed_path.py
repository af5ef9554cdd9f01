"""The exact path of a planned motion, to compare measured poses with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.geometry import se3
from dvrk_kinematics.geometry.arrays import Array, ArrayLike, as_floats, frozen
from dvrk_kinematics.kinematics.interruptible import check_in
from dvrk_kinematics.motion.planning.knots import SAMPLE_S
from dvrk_kinematics.motion.segments import Segment

__all__ = ["ContourErrors", "TimedPath"]

Rows = npt.NDArray[np.intp]

_LEVER_M = 0.05
"""The distance that weighs as much as a radian in what "nearest" means."""
_STRIDE = 4
"""Samples between two places of the coarse search."""
_STEPS_S = (2.5e-3, 5e-4, 1e-4, 2e-5)
"""Steps of the search between samples (s)."""
_ROUNDS = 4
"""How often the search between samples is repeated near a corner."""
_SAME_M = 1e-8
"""A place as near as this (m) is not looked for any further."""
_DRIFT = 1e-8
"""Speed (m/s) of a path that counts as at rest."""
_CHUNK = 512
"""Measured poses that are compared at once."""


class ContourErrors(NamedTuple):
    """How far measured poses are from a path, shape (N,) each.

    Attributes:
        position: Distance to the nearest point of the path (m).
        rotation: Angle to the orientation there (rad).
        lag_s: How much later than planned it was reached (s); negative if earlier.
    """

    position: Array
    rotation: Array
    lag_s: Array


class TimedPath:
    """Segments one after the other.

    Args:
        segments: The segments, in order.
        starts_s: When each begins and the last one ends (s), shape (S + 1,).
        T_rest: Where the tip is if there are no segments, shape (4, 4).
    """

    def __init__(self, segments: Sequence[Segment], starts_s: ArrayLike, T_rest: Array) -> None:
        self.segments = tuple(segments)
        self._starts = frozen(starts_s)
        self._T_rest = frozen(T_rest)

    @property
    def duration_s(self) -> float:
        """How long it takes (s)."""
        return float(self._starts[-1])

    @property
    def length(self) -> float:
        """How far the tip travels (m)."""
        return sum(segment.length for segment in self.segments)

    def pose_at(self, time_s: float) -> Array:
        """The tip's pose at a time (s), shape (4, 4); it rests before and after."""
        pose: Array = self.poses_at(np.array([time_s]))[0]
        return pose

    def poses_at(self, times_s: ArrayLike) -> Array:
        """The tip's poses at many times (s), shape (N,) -> (N, 4, 4)."""
        times = as_floats(times_s, "times_s")
        T = np.empty((len(times), 4, 4))
        if not self.segments:
            T[:] = self._T_rest
            return T
        which = np.searchsorted(self._starts, times, side="right") - 1
        which = np.clip(which, 0, len(self.segments) - 1)
        for k in np.unique(which):
            rows = which == k
            T[rows] = self.segments[k].pose(times[rows] - self._starts[k])
        return T

    def place(self, time_s: float) -> tuple[int, float, float]:
        """Where a time is: step, metres of tip travel, and fraction of the path."""
        check_in()
        if not self.segments:
            return 0, 0.0, 0.0
        k = int(np.searchsorted(self._starts, time_s, side="right")) - 1
        k = min(max(k, 0), len(self.segments) - 1)
        inner = self.segments[k].travel(np.array([time_s - self._starts[k]]))
        distance = sum(s.length for s in self.segments[:k]) + float(inner[0])
        if self.length > 1e-9:
            return self.segments[k].step, distance, min(distance / self.length, 1.0)
        return self.segments[k].step, distance, min(time_s / self.duration_s, 1.0)

    def contour_errors(
        self, times_s: ArrayLike, T: ArrayLike, window_s: float = 0.5
    ) -> ContourErrors:
        """Compare measured poses with the nearest points of the path.

        "Nearest" weighs a radian as 50 mm, so that it is defined where the tip turns in place. The
        search is limited in time: a path that comes by twice is not mistaken for itself.

        Args:
            times_s: When each pose was measured, on the path's time (s), shape (N,).
            T: Measured poses, base to tip, shape (N, 4, 4).
            window_s: How much earlier or later the nearest point may be planned (s).

        Raises:
            InvalidInput: Shapes differ, or a pose is none.
        """
        times, poses = as_floats(times_s, "times_s"), se3.check(T, "T")
        if times.ndim != 1 or poses.shape != (len(times), 4, 4):
            raise InvalidInput("T", f"needs shape ({len(times)}, 4, 4), got {poses.shape}")
        parts = [
            self._compare(times[first : first + _CHUNK], poses[first : first + _CHUNK], window_s)
            for first in range(0, len(times), _CHUNK)
        ]
        if not parts:
            return ContourErrors(np.empty(0), np.empty(0), np.empty(0))
        return ContourErrors(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    def _compare(self, times: Array, T: Array, window_s: float) -> ContourErrors:
        """Coarsely along chords of the path, finely along short ones, and then exactly."""
        now = np.clip(times, 0.0, self.duration_s)
        first = int((now.min() - window_s) / SAMPLE_S) - _STRIDE
        last = int((now.max() + window_s) / SAMPLE_S) + 2 * _STRIDE + 2
        instants = np.clip(np.arange(first, last) * SAMPLE_S, 0.0, self.duration_s)
        path, wanted = _vectors(self.poses_at(instants)), _vectors(T)
        here = now / SAMPLE_S - first
        reach = int(np.ceil(window_s / (_STRIDE * SAMPLE_S)))
        shifts = np.arange(-reach, reach + 1) * _STRIDE
        best = _search(path, wanted, here, np.rint(here)[:, None] + shifts, _STRIDE)
        near = np.floor(best)[:, None] + np.arange(-_STRIDE, _STRIDE + 1)
        best = _search(path, wanted, here, near, 1)
        found = self._descend(np.clip((best + first) * SAMPLE_S, 0.0, self.duration_s), T)
        position, rotation = se3.pose_error(self.poses_at(found), T)
        return ContourErrors(position, rotation, now - found)

    def _descend(self, times: Array, T: Array) -> Array:
        """The nearest place around each time (s), on both sides of a corner if one is near."""
        if not self.segments:
            return times
        last = len(self.segments) - 1
        at = np.clip(np.searchsorted(self._starts, times, side="right") - 1, 0, last)
        found = self._descend_in(at, times, T)
        to_begin, to_end = times - self._starts[at], self._starts[at + 1] - times
        beside = np.clip(np.where(to_begin < to_end, at - 1, at + 1), 0, last)
        is_near = np.minimum(to_begin, to_end) < 2.0 * SAMPLE_S
        rows = np.flatnonzero(is_near & (self._gap(found, T) > _SAME_M**2))
        for side in (at[rows], beside[rows]) if len(rows) else ():
            other = times[rows]
            # Near a corner the path is slow, and parabolas come near its lowest point by and by.
            for _ in range(_ROUNDS):
                other = self._descend_in(side, other, T[rows])
            is_lower = self._gap(other, T[rows]) < self._gap(found[rows], T[rows])
            found[rows] = np.where(is_lower, other, found[rows])
        return found

    def _descend_in(self, at: Rows, times: Array, T: Array) -> Array:
        """The lowest points of ever smaller parabolas inside segments, where these are lower."""
        low, high = self._starts[at], self._starts[at + 1]
        found = np.clip(times, low, high)
        for step in _STEPS_S:
            # Near an end the parabola is laid inside it.
            middle = np.clip(found, low + step, np.maximum(high - step, low + step))
            gaps = [self._gap(middle + k * step, T) for k in (-1.0, 0.0, 1.0)]
            curvature = gaps[0] - 2.0 * gaps[1] + gaps[2]
            is_bowl = curvature > 0.0
            shift = 0.5 * (gaps[0] - gaps[2]) / np.where(is_bowl, curvature, 1.0)
            lowest = middle + np.where(is_bowl, np.clip(shift, -1.0, 1.0), 0.0) * step
            lowest = np.clip(lowest, low, high)
            found = np.where(self._gap(lowest, T) < self._gap(found, T), lowest, found)
        return found

    def _gap(self, times: Array, T: Array) -> Array:
        miss = _vectors(self.poses_at(np.clip(times, 0.0, self.duration_s))) - _vectors(T)
        gaps: Array = np.einsum("nv,nv->n", miss, miss)
        return gaps


def _search(path: Array, wanted: Array, here: Array, rows: Array, stride: int) -> Array:
    """The nearest place on some chords of a path, for each of N vectors.

    Chords and not samples: at a corner a sample beyond it can be nearer than any before it.

    Args:
        path: Samples of the path, shape (M, 12).
        wanted: What to come near to, shape (N, 12).
        here: Where on the path it is now, in rows, shape (N,).
        rows: Where the chords begin, whole numbers, shape (N, k).
        stride: How many rows a chord spans.

    Returns:
        Places between the rows, shape (N,).
    """
    begins = np.clip(rows, 0, len(path) - 1 - stride).astype(np.intp)
    chords = path[begins + stride] - path[begins]
    away = wanted[:, None] - path[begins]
    squares = np.einsum("nkv,nkv->nk", chords, chords)
    along = np.einsum("nkv,nkv->nk", away, chords) / np.where(squares > 0.0, squares, 1.0)
    part = np.clip(along, 0.0, 1.0)
    places = begins + part * stride
    miss = away - part[..., None] * chords
    # Where the path rests all places are as near: then it is the one that was planned for now.
    late = _DRIFT * SAMPLE_S * (places - here[:, None])
    gaps = np.einsum("nkv,nkv->nk", miss, miss) + late * late
    best: Array = places[np.arange(len(places)), np.argmin(gaps, axis=1)]
    return best


def _vectors(T: Array) -> Array:
    """Poses as vectors whose distances are those that "nearest" means, (N, 4, 4) -> (N, 12)."""
    # The squared norm of a difference of rotations is nearly twice the squared angle.
    scales = np.array([_LEVER_M / np.sqrt(2.0)] * 3 + [1.0])
    return np.asarray((T[:, :3, :] * scales).reshape(-1, 12))

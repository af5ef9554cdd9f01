"""The exact path of a planned motion, to compare measured poses with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.geometry import se3
from dvrk_kinematics.geometry.arrays import Array, ArrayLike, as_floats, frozen
from dvrk_kinematics.kinematics.interruptible import check_in
from dvrk_kinematics.motion.planning.contour import ContourErrors, ContourSearch, search_grid
from dvrk_kinematics.motion.segments import Segment

__all__ = ["TimedPath"]


class TimedPath:
    """Segments one after the other.

    Args:
        segments: The segments, in order.
        starts_s: When each begins, and when the last one ends (s), shape (S + 1,).
        T_rest: Pose of the tip if there are no segments, shape (4, 4).
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
        """The place at a time: step, metres of tip travel, and fraction of the path."""
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
        search is limited in time, so two passes at the same place are not confused.

        Args:
            times_s: When each pose was measured, on the path's time (s), shape (N,).
            T: Measured poses, base to tip, shape (N, 4, 4).
            window_s: How much earlier or later the nearest point may be planned (s).

        Raises:
            InvalidInput: Shapes differ, or a pose is invalid.
        """
        times, poses = as_floats(times_s, "times_s"), se3.check(T, "T")
        if times.ndim != 1 or poses.shape != (len(times), 4, 4):
            raise InvalidInput("T", f"needs shape ({len(times)}, 4, 4), got {poses.shape}")
        now = np.clip(times, 0.0, self.duration_s)
        grid = search_grid(self.duration_s)
        search = ContourSearch(self.poses_at, grid, self.poses_at(grid), self._starts)
        found = search.find_near(now, poses, window_s)
        return ContourErrors(*search.errors_at(found, poses), now - found)

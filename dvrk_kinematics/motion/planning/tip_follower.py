"""How well a tip followed its planned path: off to the side (contour), and late (lag).

This is the one definition of both, for action results and bag reports. They need recorded data:
the planned path as sent for playback, its start time, and the states that the arm measured, by
their stamps.

* The *contour error* of a state is the distance of its tip from the nearest point of the planned
  path, whatever the time, and the angle to the orientation there. The distance of the planned path
  from the exact figure is in its flight plan, and is not part of this error.
* The *lag* of a state is its time since the path began, less the time for which that nearest point
  was planned. It is reported only where the path moves, since a time means nothing where it rests.

The two have different causes and are kept apart: a motion that was held up for a moment is exactly
on its path but late; a drive that gives way under load is on time but off the path.

States are weighted by how far they advanced along the path. So a mean or a root mean square is
over the path. A pause, a stall or the rest after the end does not count, however long it lasts and
however many states report it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan, nan

import numpy as np

from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.serial_arm import SerialArm
from dvrk_kinematics.motion.joint_path import JointPath
from dvrk_kinematics.motion.planning.contour import MOST_POINTS, ContourSearch, search_grid

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
"""Errors below this (m, rad) come from rounding, not from arms."""

EXACT = "a simulated arm follows its setpoints exactly"
"""What to report for errors below that."""


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
    """Two errors (m, rad) in millionths, with three digits; or a note that they are too small."""
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


_MOVING = 0.1
"""Fraction of the path's top speed below which its lag means nothing."""

_FIRST_S = 1e-9
"""Weight of the first state (s), whose advance is unknown."""


@dataclass(frozen=True, slots=True)
class Following:
    """How a tip followed one path.

    Attributes:
        times: When its states were measured (s since the path began), shape (N,).
        along: Planned time of the nearest point of the path (s), shape (N,).
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
        """How far each state advanced along the path (s), shape (N,); 0 where it did not."""
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
        samples: States that advanced along the path, and were compared.
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
        # For equal values, rounding may make it larger than each of them.
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
        most_points: Maximum number of points at which it is sampled.

    Attributes:
        grid: The times at which it is sampled (s), shape (M,).
        planned_q: Its joint positions there (rad, m), shape (M, n).
        planned_tip: Its tip there (m), shape (M, 3).
    """

    def __init__(self, arm: SerialArm, path: JointPath, most_points: int = MOST_POINTS) -> None:
        self._arm, self._path = arm, path
        self.grid = search_grid(path.duration_s, most_points)
        self.planned_q = path.position(self.grid)
        planned = arm.forward(self.planned_q)
        self.planned_tip = planned[:, :3, 3]
        self._search = ContourSearch(self._poses_at, self.grid, planned)

    def follow(self, times: Array, q: Array) -> Following:
        """Compare the states of a motion, in their order.

        Args:
            times: When they were measured (s since the path began), shape (N,). States from
            before, or no later than another, are left out.
            q: Joint positions (rad, m), shape (N, n).
        """
        is_later = times > np.maximum.accumulate(np.r_[-np.inf, times])[:-1]
        kept = (times >= 0.0) & is_later
        times, q = times[kept], q[kept]
        if not len(times):
            return Following(*(np.empty(0) for _ in range(5)))
        T = self._arm.forward(q)
        along = self._search.follow(times, T)
        position, rotation = self._search.errors_at(along, T)
        speed = self._search.speed
        is_moving = np.interp(along, self.grid, speed) > _MOVING * speed.max()
        lag = np.where(is_moving, times - along, np.nan)
        return Following(times, along, position, rotation, lag)

    def find_errors(self, time_s: float, q: Array, window_s: float = 0.5) -> tuple[float, float]:
        """Contour errors (m, rad) of one state near a place on the path.

        Args:
            time_s: Planned time of that place (s).
            q: Joint positions (rad, m), shape (n,).
            window_s: How much earlier or later the nearest point may be planned (s).
        """
        T = self._arm.forward(q[None])
        here = min(max(time_s, 0.0), self._path.duration_s)
        along = self._search.find_near(np.array([here]), T, window_s)
        position, rotation = self._search.errors_at(along, T)
        return float(position[0]), float(rotation[0])

    def _poses_at(self, times: Array) -> Array:
        return self._arm.forward(self._path.position(times))

"""The content of a goal: knots as arrays, and the checks that need only them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dvrk_kinematics.driver.reasons import Finding, Reason
from dvrk_kinematics.driver.tolerances import REST_SPEED
from dvrk_kinematics.geometry.arrays import Array, frozen

__all__ = ["Knots", "find_bad_knots"]

_TIME_SLACK = 1e-3
"""Largest relative error of the time between two knots, as a difference of seconds."""


@dataclass(frozen=True, slots=True)
class Knots:
    """The points of a joint trajectory, columns in the order of the arm's joints.

    Without velocities, segments are straight; with velocities cubic; with accelerations too,
    quintic. Accelerations without velocities do not count, as in joint_trajectory_controller.

    Attributes:
        times_ns: Time from start of each knot (ns), shape (K,).
        position: Positions (rad, m), shape (K, n).
        velocity: Velocities, shape (K, n); None if the goal carries none.
        acceleration: Accelerations, shape (K, n); None if the goal carries none.
    """

    times_ns: NDArray[np.int64]
    position: Array
    velocity: Array | None = None
    acceleration: Array | None = None

    def __post_init__(self) -> None:
        times = np.array(self.times_ns, dtype=np.int64)
        times.setflags(write=False)
        object.__setattr__(self, "times_ns", times)
        for field in ("position", "velocity", "acceleration"):
            values = getattr(self, field)
            if values is not None:
                object.__setattr__(self, field, frozen(values))

    @property
    def times_s(self) -> Array:
        """Time from start of each knot (s), shape (K,)."""
        return self.times_ns.astype(np.float64) * 1e-9

    @property
    def steps_s(self) -> Array:
        """Time from each knot to the next (s), shape (K - 1,); exact, however late they are."""
        return np.diff(self.times_ns).astype(np.float64) * 1e-9

    @property
    def starts_at_zero(self) -> bool:
        """Whether the first knot is where the arm is, rather than where it should go."""
        return bool(self.times_ns[0] == 0)


def find_bad_knots(knots: Knots, names: tuple[str, ...], max_points: int) -> Finding | None:
    """Find what makes knots invalid for any arm.

    Args:
        knots: The knots as received.
        names: The arm's joints.
        max_points: Largest number of knots.
    """
    count = len(knots.times_ns)
    if count == 0:
        return Finding(Reason.EMPTY_GOAL)
    if count > max_points:
        return Finding(Reason.TOO_MANY_POINTS, "", "", count, max_points)
    wanted = (count, len(names))
    for field in ("position", "velocity", "acceleration"):
        values = getattr(knots, field)
        if values is None:
            continue
        if values.shape != wanted:
            return Finding(
                Reason.WRONG_SHAPE, f"{field} has shape {values.shape}, must have {wanted}"
            )
        bad = np.argwhere(~np.isfinite(values))
        if len(bad):
            k, j = bad[0].tolist()
            return Finding(Reason.NOT_FINITE_GOAL, f"{field} of point {k}", names[j])
    return _find_bad_times(knots) or _find_end_velocity(knots, names)


def _find_bad_times(knots: Knots) -> Finding | None:
    if knots.times_ns[0] < 0:
        return Finding(Reason.TIMES_NOT_INCREASING, "point 0 is before the start")
    steps = np.diff(knots.times_ns)
    if (steps <= 0).any():
        k = int(np.argmax(steps <= 0))
        return Finding(
            Reason.TIMES_NOT_INCREASING,
            f"point {k + 1} is at {knots.times_ns[k + 1]} ns, point {k} at {knots.times_ns[k]} ns",
        )
    # Motions are played in seconds, as floating-point numbers.
    error = np.abs(np.diff(knots.times_s) - knots.steps_s) - _TIME_SLACK * knots.steps_s
    if (error > 0.0).any():
        k = int(np.argmax(error > 0.0))
        return Finding(
            Reason.TIMES_TOO_CLOSE,
            f"points {k} and {k + 1} are {steps[k]} ns apart, {knots.times_s[k]:.6g} s from start",
        )
    return None


def _find_end_velocity(knots: Knots, names: tuple[str, ...]) -> Finding | None:
    if knots.velocity is None:
        return None
    speeds = np.abs(knots.velocity[-1])
    j = int(np.argmax(speeds))
    if speeds[j] > REST_SPEED:
        return Finding(Reason.END_VELOCITY, "", names[j], float(knots.velocity[-1, j]), 0.0)
    return None

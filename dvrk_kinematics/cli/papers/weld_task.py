"""The weld task of the RV-M1 paper: a straight line down at constant speed, hand held level.

The true line is solved sample by sample. The arm's own controller only approximates it: its
command MS (move straight) puts n points on the line and interpolates the joints between them.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from operator import index
from typing import NamedTuple

import numpy as np

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.geometry.arrays import Array, as_floats
from dvrk_kinematics.kinematics.arm import Arm

__all__ = [
    "LinkRates",
    "Motion",
    "WeldTask",
    "approximate_weld",
    "link_rates",
    "off_the_line",
    "sample_weld",
]

LEVEL = np.array([[0.0, 0.0, 1.0], [0.0, -1.0, 0.0], [1.0, 0.0, 0.0]])
"""The hand's rotation: its axis forward, along x of the base."""
_MOST_POINTS = 98
"""The command takes 1 < n < 99 points."""


@dataclass(frozen=True, slots=True)
class WeldTask:
    """A straight seam.

    Attributes:
        start: Where it begins (m), in the arm's base.
        end: Where it ends (m).
        speed: Speed of the tip (m/s).
        samples: How many samples, both ends included.

    Raises:
        InvalidInput: Not two distinct points, a speed above 0 and at least two samples.
    """

    start: tuple[float, float, float] = (0.5, 0.0, 0.45)
    end: tuple[float, float, float] = (0.5, 0.0, 0.2)
    speed: float = 0.03589
    samples: int = 70

    def __post_init__(self) -> None:
        for name in ("start", "end"):
            point = as_floats(getattr(self, name), name)
            if point.shape != (3,) or not np.isfinite(point).all():
                raise InvalidInput(name, f"must be three finite numbers (m), is {point.tolist()}")
        if self.length == 0.0:
            raise InvalidInput("end", f"is {self.end} m, as the start; a seam needs two points")
        if not 0.0 < self.speed < inf:
            raise InvalidInput("speed", f"must be finite and above 0 m/s, is {self.speed:g}")
        _check_count("samples", self.samples, 2, None)

    @property
    def length(self) -> float:
        """How long the seam is (m)."""
        return float(np.linalg.norm(np.subtract(self.end, self.start)))

    @property
    def velocity(self) -> Array:
        """Twist of the tip (m/s, rad/s), shape (6,)."""
        along = np.subtract(self.end, self.start) / self.length
        return np.concatenate([self.speed * along, np.zeros(3)])

    @property
    def times(self) -> Array:
        """When the samples are (s), shape (samples,)."""
        return np.linspace(0.0, self.length / self.speed, self.samples)

    def poses(self, fractions: Array) -> Array:
        """Poses of the tip at fractions of the seam, shape (N, 4, 4)."""
        T = np.tile(np.eye(4), (len(fractions), 1, 1))
        T[:, :3, :3] = LEVEL
        T[:, :3, 3] = self.start + fractions[:, None] * np.subtract(self.end, self.start)
        return T


class Motion(NamedTuple):
    """Joints along the seam.

    Attributes:
        t: Times (s), shape (N,).
        q: Joint positions (rad), shape (N, n).
        qd: Joint velocities (rad/s), shape (N, n).
        qdd: Joint accelerations (rad/s^2), shape (N, n).
    """

    t: Array
    q: Array
    qd: Array
    qdd: Array


class LinkRates(NamedTuple):
    """How links turn, along the axes of the base; shape (N, n, 3) each, one link per joint.

    Attributes:
        velocity: Angular velocities (rad/s).
        acceleration: Angular accelerations (rad/s^2).
    """

    velocity: Array
    acceleration: Array


def sample_weld(arm: Arm, task: WeldTask) -> Motion:
    """The true line, by inverse kinematics of position, velocity and acceleration.

    Raises:
        InvalidInput: The seam is not within the arm's reach; the text says where.
    """
    t = task.times
    q = _joints(arm, task, t / t[-1])
    V = np.tile(task.velocity, (len(t), 1))
    qd = arm.joint_velocity(q, V)
    return Motion(t, q, qd, arm.joint_acceleration(q, qd, np.zeros_like(V)))


def approximate_weld(arm: Arm, task: WeldTask, points: int) -> Motion:
    """The line as the command MS approximates it: joints interpolated between points on it.

    Args:
        arm: The arm.
        task: The seam.
        points: How many points between its ends; each piece takes the same time.

    Raises:
        InvalidInput: The command does not accept that many points, or the seam is out of reach.
    """
    _check_count("points", points, 2, _MOST_POINTS)
    knots = np.linspace(0.0, 1.0, points + 2)
    q = _joints(arm, task, knots)
    t = task.times
    fractions = t / t[-1]
    piece = np.clip(np.searchsorted(knots, fractions, side="right") - 1, 0, points)
    rate = np.diff(q, axis=0) * (points + 1) / t[-1]
    along = (fractions - knots[piece]) * t[-1]
    return Motion(
        t, q[piece] + along[:, None] * rate[piece], rate[piece], np.zeros((len(t), q.shape[1]))
    )


def _check_count(name: str, count: int, least: int, most: int | None) -> None:
    """Refuse all but whole numbers from ``least`` to ``most``; None means no upper bound."""
    allowed = f"{least} or more" if most is None else f"{least} to {most}"
    try:
        whole = index(count)
    except TypeError:
        raise InvalidInput(name, f"must be a whole number, {allowed}, is {count!r}") from None
    if whole < least or (most is not None and whole > most):
        raise InvalidInput(name, f"must be {allowed}, is {whole}")


def _joints(arm: Arm, task: WeldTask, fractions: Array) -> Array:
    found = arm.inverse_batch(task.poses(fractions))
    if not found.ok.all():
        worst = int(np.flatnonzero(~found.ok)[0])
        why = arm.inverse(task.poses(fractions[worst : worst + 1])[0]).reason
        raise InvalidInput("task", f"out of reach at {fractions[worst]:.3f} of the seam: {why}")
    return found.q


def link_rates(arm: Arm, motion: Motion) -> LinkRates:
    """How the links of a serial arm turn in the fixed frame."""
    frames = arm.frames(motion.q)
    velocity, acceleration = np.zeros((2, len(motion.t), 3))
    found: list[tuple[Array, Array]] = []
    for k, joint in enumerate(arm.joint_names):
        axis = frames[f"{joint}_link"][:, :3, 2]
        rate, second = motion.qd[:, k, None], motion.qdd[:, k, None]
        # The links before the axis carry it round.
        acceleration = acceleration + second * axis + rate * np.cross(velocity, axis)
        velocity = velocity + rate * axis
        found.append((velocity, acceleration))
    return LinkRates(*(np.stack(parts, axis=1) for parts in zip(*found, strict=True)))


def off_the_line(arm: Arm, task: WeldTask, points: int) -> float:
    """The largest distance of the approximation from the line (m), between its points too."""
    fine = WeldTask(task.start, task.end, task.speed, 20 * (points + 1) + 1)
    tip = arm.forward(approximate_weld(arm, fine, points).q)[:, :3, 3]
    along = np.subtract(task.end, task.start) / task.length
    return float(np.linalg.norm(np.cross(tip - task.start, along), axis=1).max())

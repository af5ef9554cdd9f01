"""Parts of a motion in time, each from rest to rest: along a tip path, or in joint space."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

import numpy as np

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.geometry.arrays import Array, frozen
from dvrk_kinematics.kinematics.serial_arm import SerialArm
from dvrk_kinematics.motion.paths.path import Path
from dvrk_kinematics.motion.timing.scalings import Scaling, stretch
from dvrk_kinematics.motion.timing.speeds import TipSpeeds, time_path

__all__ = [
    "JointMotion",
    "JointSegment",
    "Segment",
    "TipMotion",
    "TipSegment",
    "make_segments",
]

_HALVINGS = 60
"""Iterations, enough to find a time to the last bit."""
_TRAVEL_POINTS = 129
"""Places at which the tip of a joint move is sampled for its travel."""


class TipMotion(NamedTuple):
    """A motion of the tip at given times.

    Attributes:
        T: Poses, base to tip, shape (N, 4, 4).
        V: Twists (m/s, rad/s), shape (N, 6).
        A: Accelerations (m/s^2, rad/s^2), shape (N, 6).
    """

    T: Array
    V: Array
    A: Array


class JointMotion(NamedTuple):
    """A motion of the joints at given times, shape (N, n) each.

    Attributes:
        q: Positions (rad, m).
        qd: Velocities.
        qdd: Accelerations.
    """

    q: Array
    qd: Array
    qdd: Array


@dataclass(frozen=True, eq=False)
class TipSegment:
    """The tip along a path.

    Attributes:
        path: The path.
        scaling: When; its way divided by its length is the path's fraction.
        step: The index of its move.
        slowed_by: How many times longer it takes than requested.
    """

    path: Path
    scaling: Scaling
    step: int = 0
    slowed_by: float = 1.0

    @property
    def duration_s(self) -> float:
        """How long it takes (s)."""
        return self.scaling.duration_s

    @property
    def is_smooth(self) -> bool:
        """Whether its acceleration never jumps."""
        return self.scaling.is_smooth and not len(self.path.breaks)

    @property
    def breaks(self) -> Array:
        """Times strictly inside at which its acceleration jumps (s), shape (B,)."""
        ways = self.path.breaks * self.scaling.length
        low, high = np.zeros(len(ways)), np.full(len(ways), self.duration_s)
        for _ in range(_HALVINGS if len(ways) else 0):
            middle = 0.5 * (low + high)
            is_before = self.scaling.sample(middle).s < ways
            low, high = np.where(is_before, middle, low), np.where(is_before, high, middle)
        return np.unique(np.concatenate([self.scaling.breaks, high]))

    def motion(self, t: Array) -> TipMotion:
        """The tip at times t (s), shape (N,)."""
        s, sd, sdd = self.scaling.sample(t)
        scale = 1.0 / self.scaling.length
        # Rounding must not take the way off the path.
        u = np.clip(s * scale, 0.0, 1.0)
        rate, gain = (sd * scale)[:, None], (sdd * scale)[:, None]
        twist = self.path.twist(u)
        return TipMotion(
            self.path.pose(u), twist * rate, twist * gain + self.path.bend(u) * rate * rate
        )

    def pose(self, t: Array) -> Array:
        """Poses at times t (s), shape (N,) -> (N, 4, 4)."""
        return self.path.pose(self._fraction(t))

    def travel(self, t: Array) -> Array:
        """How far the tip has travelled at times t (s), shape (N,) -> (N,) (m)."""
        return self.path.length * self._fraction(t)

    @property
    def length(self) -> float:
        """How far the tip travels (m)."""
        return self.path.length

    def _fraction(self, t: Array) -> Array:
        return np.clip(self.scaling.sample(t).s / self.scaling.length, 0.0, 1.0)

    def slowed(self, factor: float) -> TipSegment:
        """The same in a longer time."""
        return replace(
            self,
            scaling=stretch(self.scaling, factor),
            slowed_by=self.slowed_by * max(factor, 1.0),
        )


@dataclass(frozen=True, eq=False)
class JointSegment:
    """The joints from one place to another.

    Attributes:
        arm: Whose joints.
        q_start: Positions at the start (rad, m), shape (n,).
        q_end: Positions at the end.
        scalings: One for all joints, or one per joint; all take the same time.
        step: The index of its move.
        slowed_by: How many times longer it takes than requested.

    Raises:
        InvalidInput: There is neither one scaling nor one per joint, or they take different times.
    """

    arm: SerialArm
    q_start: Array
    q_end: Array
    scalings: tuple[Scaling, ...]
    step: int = 0
    slowed_by: float = 1.0
    _way: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if len(self.scalings) not in (1, len(self.q_start)):
            raise InvalidInput(
                "scalings", f"needs 1 or {len(self.q_start)}, got {len(self.scalings)}"
            )
        if len({scaling.duration_s for scaling in self.scalings}) != 1:
            raise InvalidInput("scalings", "must all take the same time")
        for name in ("q_start", "q_end"):
            object.__setattr__(self, name, frozen(getattr(self, name)))
        t = np.linspace(0.0, self.duration_s, _TRAVEL_POINTS)
        p = self.arm.forward(self.motion(t).q)[:, :3, 3]
        steps = np.linalg.norm(np.diff(p, axis=0), axis=1)
        object.__setattr__(self, "_way", frozen(np.concatenate([[0.0], np.cumsum(steps)])))

    @property
    def duration_s(self) -> float:
        """How long it takes (s)."""
        return self.scalings[0].duration_s

    @property
    def is_smooth(self) -> bool:
        """Whether its acceleration never jumps."""
        return all(scaling.is_smooth for scaling in self.scalings)

    @property
    def breaks(self) -> Array:
        """Times strictly inside at which its acceleration jumps (s), shape (B,)."""
        return np.unique(np.concatenate([scaling.breaks for scaling in self.scalings]))

    def motion(self, t: Array) -> JointMotion:
        """The joints at times t (s), shape (N,)."""
        columns = [
            [part / scaling.length for part in scaling.sample(t)] for scaling in self.scalings
        ]
        s, sd, sdd = (np.stack(part, axis=1) for part in zip(*columns, strict=True))
        delta = self.q_end - self.q_start
        # Measured from the nearer end, so that both ends are met to the last bit.
        q = np.where(s > 0.5, self.q_end - (1.0 - s) * delta, self.q_start + s * delta)
        return JointMotion(q, sd * delta, sdd * delta)

    def pose(self, t: Array) -> Array:
        """Poses of the tip at times t (s), shape (N,) -> (N, 4, 4)."""
        return self.arm.forward(self.motion(t).q)

    def travel(self, t: Array) -> Array:
        """How far the tip has travelled at times t (s), shape (N,) -> (N,) (m)."""
        places = np.linspace(0.0, self.duration_s, _TRAVEL_POINTS)
        return np.interp(t, places, self._way)

    @property
    def length(self) -> float:
        """How far the tip travels (m), to about 1e-4 of it."""
        return float(self._way[-1])

    def slowed(self, factor: float) -> JointSegment:
        """The same in a longer time."""
        return replace(
            self,
            scalings=tuple(stretch(scaling, factor) for scaling in self.scalings),
            slowed_by=self.slowed_by * max(factor, 1.0),
        )


Segment: TypeAlias = TipSegment | JointSegment


def make_segments(
    paths: Iterable[Path], speeds: TipSpeeds, scaling: str = "trapezoid", repeat: int = 1
) -> tuple[TipSegment, ...]:
    """Time paths one after the other, each from rest to rest.

    Args:
        paths: Paths of the tip, such as the pieces of a :class:`Polyline`.
        speeds: How fast it may go.
        scaling: Name of the time scaling.
        repeat: How many times; a path that is repeated must end where it begins.

    Raises:
        UnknownName: The scaling is unknown.
        InvalidInput: A path goes nowhere, or is repeated less than once.
    """
    if repeat < 1:
        raise InvalidInput("repeat", f"must be at least 1, is {repeat}")
    once: Sequence[Path] = tuple(paths)
    timed = [(path, time_path(scaling, path, speeds)) for path in once] * repeat
    return tuple(TipSegment(path, when, step) for step, (path, when) in enumerate(timed))

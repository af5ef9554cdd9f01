"""How a motion goes along its path in time: rest to rest, in true units.

A scaling is the way s done at a time t: metres along a line, radians of a turn, or the fraction of
a path that does both. Trapezoids jump in acceleration at their ``breaks``; the other curves are
smooth. ``hyperbolic`` is in logistic.py, slowing down in stretching.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, sqrt
from typing import NamedTuple, Protocol

import numpy as np

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.geometry.arrays import Array, frozen

__all__ = [
    "PathProgress",
    "Quintic",
    "Scaling",
    "Stretched",
    "Trapezoid",
    "check_positive",
    "normalised",
    "quintic",
    "stretch",
    "trapezoid",
]


@dataclass(frozen=True, slots=True)
class Stretched:
    """Another scaling, slower.

    Attributes:
        inner: The scaling as it was.
        factor: How many times longer it takes, at least 1.
    """

    inner: Scaling
    factor: float

    @property
    def length(self) -> float:
        """The whole way, unchanged."""
        return self.inner.length

    @property
    def duration_s(self) -> float:
        """How long it takes now (s)."""
        return self.inner.duration_s * self.factor

    @property
    def breaks(self) -> Array:
        """Where the acceleration jumps now (s)."""
        return frozen(self.inner.breaks * self.factor)

    @property
    def is_smooth(self) -> bool:
        """As it was."""
        return self.inner.is_smooth

    def sample(self, t: Array) -> PathProgress:
        """The way at times t (s), shape (N,)."""
        k = self.factor
        s, sd, sdd = self.inner.sample(t / k)
        return PathProgress(s, sd / k, sdd / (k * k))


def stretch(scaling: Scaling, factor: float) -> Scaling:
    """Slow a scaling down by a factor of at least 1; stretching twice multiplies."""
    if factor <= 1.0:
        return scaling
    if isinstance(scaling, Stretched):
        return Stretched(scaling.inner, scaling.factor * factor)
    return Stretched(scaling, factor)


_QUINTIC_SPEED = 15.0 / 8.0
"""Largest speed of 10 x^3 - 15 x^4 + 6 x^5, at its middle."""
_QUINTIC_ACCELERATION = 10.0 / sqrt(3.0)
"""Its largest acceleration, at (1 - 1/sqrt(3)) / 2."""


class PathProgress(NamedTuple):
    """The way at given times, shape (N,) each.

    Attributes:
        s: The way done (m, rad, or a fraction).
        sd: Its speed (per s).
        sdd: Its acceleration (per s^2).
    """

    s: Array
    sd: Array
    sdd: Array


class Scaling(Protocol):
    """A way from 0 to ``length``, at rest at both ends.

    Attributes:
        length: The whole way (m, rad, or 1 for a fraction).
        duration_s: How long it takes (s).
        breaks: Times strictly inside where the acceleration jumps (s), increasing, shape (B,).
        is_smooth: Whether the acceleration is continuous, also from and to rest.
    """

    @property
    def length(self) -> float: ...  # noqa: D102
    @property
    def duration_s(self) -> float: ...  # noqa: D102
    @property
    def breaks(self) -> Array: ...  # noqa: D102
    @property
    def is_smooth(self) -> bool: ...  # noqa: D102

    def sample(self, t: Array) -> PathProgress:
        """The way at times t (s), shape (N,); at rest before 0 and after the end."""
        ...


def check_positive(**values: float) -> None:
    """Refuse numbers that are not positive and finite, by name.

    Raises:
        InvalidInput: With the first name and its value.
    """
    for name, value in values.items():
        if not (isfinite(value) and value > 0.0):
            raise InvalidInput(name, f"must be positive and finite, is {value}")


@dataclass(frozen=True, slots=True)
class Trapezoid:
    """Constant acceleration, constant speed, constant deceleration (LSPB).

    Attributes:
        length: The whole way.
        speed: The speed reached (per s).
        acceleration: Acceleration and deceleration (per s^2).
    """

    length: float
    speed: float
    acceleration: float

    @property
    def ramp_s(self) -> float:
        """How long the speed takes to build up (s)."""
        return self.speed / self.acceleration

    @property
    def duration_s(self) -> float:
        """Length / speed + speed / acceleration."""
        return self.length / self.speed + self.ramp_s

    @property
    def breaks(self) -> Array:
        """The two ends of cruising; one if there is none."""
        inner = [self.ramp_s, self.duration_s - self.ramp_s]
        return frozen(inner if inner[1] - inner[0] > 1e-9 * self.duration_s else inner[:1])

    @property
    def is_smooth(self) -> bool:
        """Never: the acceleration jumps."""
        return False

    def sample(self, t: Array) -> PathProgress:
        """The way at times t (s), shape (N,)."""
        ramp, end = self.ramp_s, self.duration_s
        t = np.clip(t, 0.0, end)
        up = np.minimum(t, ramp)
        down = np.maximum(t - (end - ramp), 0.0)
        cruise = t - up - down
        a = self.acceleration
        # Backwards from the end while decelerating, so that the last sample lands on the end.
        left = np.where(down > 0.0, end - t, 0.0)
        s = np.where(
            down > 0.0,
            self.length - 0.5 * a * left * left,
            0.5 * a * up * up + self.speed * cruise,
        )
        sd = np.where(down > 0.0, a * left, a * up)
        sdd = np.where(t < ramp, a, np.where(down > 0.0, -a, 0.0))
        return PathProgress(s, sd, sdd)


def trapezoid(length: float, speed: float, acceleration: float) -> Trapezoid:
    """T = L/v + v/a; a triangle, which does not reach the speed, where L < v^2/a.

    Args:
        length: The whole way (m, rad, or 1 for a fraction).
        speed: Largest speed (per s).
        acceleration: Largest acceleration (per s^2).

    Raises:
        InvalidInput: A number is not positive and finite.
    """
    check_positive(length=length, speed=speed, acceleration=acceleration)
    return Trapezoid(length, min(speed, sqrt(length * acceleration)), acceleration)


def normalised(speed: float, acceleration: float) -> Trapezoid:
    """The rule T = (a + v^2) / (v a) on a fraction in [0, 1], as students traced the Block-O.

    Speed and acceleration are rates of the fraction: a segment takes the same time whatever its
    length, and "0.005 m/s" means 0.5 % of the segment a second.

    Args:
        speed: Largest rate of the fraction (1/s).
        acceleration: Its largest change (1/s^2).
    """
    return trapezoid(1.0, speed, acceleration)


@dataclass(frozen=True, slots=True)
class Quintic:
    """The curve 10 x^3 - 15 x^4 + 6 x^5, x = t/T: zero acceleration at both ends.

    Attributes:
        length: The whole way.
        duration_s: How long it takes (s).
    """

    length: float
    duration_s: float

    @property
    def breaks(self) -> Array:
        """None."""
        return frozen([])

    @property
    def is_smooth(self) -> bool:
        """Always."""
        return True

    def sample(self, t: Array) -> PathProgress:
        """The way at times t (s), shape (N,)."""
        x = np.clip(t / self.duration_s, 0.0, 1.0)
        y = 1.0 - x
        rate = self.length / self.duration_s
        # The smaller half, measured from the nearer end, so that the end is met to the last bit.
        near = np.minimum(x, y)
        part = near * near * near * (10.0 - 15.0 * near + 6.0 * near * near)
        s = self.length * np.where(x > 0.5, 1.0 - part, part)
        sd = rate * 30.0 * x * x * y * y
        sdd = rate / self.duration_s * 60.0 * x * y * (y - x)
        return PathProgress(s, sd, sdd)


def quintic(length: float, speed: float, acceleration: float) -> Quintic:
    """T = max(15 L / (8 v), sqrt(10 L / (sqrt(3) a))): the quicker of the two bounds is met.

    Args:
        length: The whole way (m, rad, or 1 for a fraction).
        speed: Largest speed (per s).
        acceleration: Largest acceleration (per s^2).

    Raises:
        InvalidInput: A number is not positive and finite.
    """
    check_positive(length=length, speed=speed, acceleration=acceleration)
    by_speed = _QUINTIC_SPEED * length / speed
    return Quintic(length, max(by_speed, sqrt(_QUINTIC_ACCELERATION * length / acceleration)))

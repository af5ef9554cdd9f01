r"""The "hyperbolic" scaling: a logistic curve whose derivatives all vanish at both ends.

With tau = t/T and x = 1/(1 - tau) - 1/tau, which takes (0, 1) to the whole line,

    Y = 1 / (1 + exp(-alpha (x - a) / b)),   alpha = ln((1 - D) / D),

so that Y = 1/2 at a and 1 - D at a + b. A user sets the centre A and the half width B on the scale
of tau: a = x(A), and b is how far x goes over B towards the middle of the move, which is always
inside it. Joints with different A move one after the other, which bends the tip's path around an
obstacle.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import log, sqrt

import numpy as np

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.geometry.arrays import Array, frozen
from dvrk_kinematics.motion.timing.scalings import PathProgress, check_positive

__all__ = ["Curve", "Logistic", "hyperbolic", "hyperbolic_within"]

_EDGE = 1e-9
"""Closer than this (of tau) to an end, the curve is at its end value and x overflows."""
_REST = 1e-12
"""How far from its end value, and how fast, a curve may be there: more is a jump."""
_GRID = 20_001
"""Places at which we search for the largest derivatives of a curve."""
_GRID_SLACK = 1.0 + 1e-6
"""How far the true peak may exceed the grid's."""


@dataclass(frozen=True, slots=True)
class Curve:
    """The shape of a logistic move.

    Attributes:
        centre: A, the time when half of the way is done, as a fraction of the duration, in (0, 1).
        half_width: B, over which the curve goes from 1/2 to all but D, as such a fraction.
        delta: D, the part of the way that is left then, in (0, 1/2).

    Raises:
        InvalidInput: A number is outside its range, the half width leaves the move, or the curve
            is so flat that it does not rest at its ends.
    """

    centre: float = 0.5
    half_width: float = 0.2
    delta: float = 0.005

    def __post_init__(self) -> None:
        for name, value, upper in (
            ("centre", self.centre, 1.0),
            ("half_width", self.half_width, 1.0),
            ("delta", self.delta, 0.5),
        ):
            if not 0.0 < value < upper:
                raise InvalidInput(name, f"must be within (0, {upper:g}), is {value}")
        room = max(self.centre, 1.0 - self.centre)
        if self.half_width >= room:
            raise InvalidInput(
                "half_width",
                f"must be below {room:g} with centre {self.centre:g}, is {self.half_width:g}",
            )
        self._check_ends()

    def _check_ends(self) -> None:
        ends = self.sample(np.array([0.0, 1.0]))
        off = np.abs([ends.s - [0.0, 1.0], ends.sd, ends.sdd]).max()
        if not off <= _REST:
            raise InvalidInput(
                "half_width",
                f"{self.half_width:g} with centre {self.centre:g} and delta {self.delta:g} makes "
                "a curve without rest at its ends: done are "
                f"{100.0 * float(ends.s[0]):.3g} % at its begin, "
                f"{100.0 * float(ends.s[1]):.3g} % at its end",
            )

    @property
    def slope(self) -> float:
        """The formula's alpha / b."""
        inward = -self.half_width if self.centre >= 0.5 else self.half_width
        b = abs(_place(self.centre + inward) - _place(self.centre))
        return log((1.0 - self.delta) / self.delta) / b

    def sample(self, tau: Array) -> PathProgress:
        """Fraction of the way with its first two derivatives by tau, shape (N,) each."""
        inside = np.clip(tau, _EDGE, 1.0 - _EDGE)
        rest = 1.0 - inside
        slope = self.slope
        z = slope * (1.0 / rest - 1.0 / inside - _place(self.centre))
        # Both halves use the same small number, so that neither 1 - Y nor Y loses digits.
        small = np.exp(-np.abs(z))
        low, high = small / (1.0 + small), 1.0 / (1.0 + small)
        y = np.where(z < 0.0, low, high)
        zd = slope * (1.0 / (rest * rest) + 1.0 / (inside * inside))
        zdd = slope * 2.0 * (1.0 / rest**3 - 1.0 / inside**3)
        bell = low * high
        skew = np.where(z < 0.0, high - low, low - high)
        # A bell that is 0 stays 0, however large the derivatives of x are there.
        return PathProgress(y, bell * zd, bell * (skew * zd * zd + zdd))


def _place(tau: float) -> float:
    return 1.0 / (1.0 - tau) - 1.0 / tau


@lru_cache(maxsize=256)
def _peaks(curve: Curve) -> tuple[float, float]:
    """The largest first and second derivatives by tau."""
    _, first, second = curve.sample(np.linspace(0.0, 1.0, _GRID))
    return float(first.max()) * _GRID_SLACK, float(np.abs(second).max()) * _GRID_SLACK


@dataclass(frozen=True, slots=True)
class Logistic:
    """A logistic curve in time.

    Attributes:
        length: The whole way.
        duration_s: How long it takes (s).
        curve: Its shape.
    """

    length: float
    duration_s: float
    curve: Curve

    @property
    def breaks(self) -> Array:
        """None."""
        return frozen([])

    @property
    def is_smooth(self) -> bool:
        """Always: it is infinitely differentiable."""
        return True

    def sample(self, t: Array) -> PathProgress:
        """The way at times t (s), shape (N,)."""
        y, yd, ydd = self.curve.sample(t / self.duration_s)
        rate = self.length / self.duration_s
        return PathProgress(self.length * y, rate * yd, rate / self.duration_s * ydd)


def hyperbolic(duration: float, centre: float, half_width: float, delta: float) -> Logistic:
    """A logistic curve on a fraction in [0, 1], in a given time.

    Args:
        duration: How long it takes (s).
        centre: A of :class:`Curve`.
        half_width: B.
        delta: D.

    Raises:
        InvalidInput: A number is outside its range.
    """
    check_positive(duration=duration)
    return Logistic(1.0, duration, Curve(centre, half_width, delta))


def hyperbolic_within(
    length: float, speed: float, acceleration: float, curve: Curve | None = None
) -> Logistic:
    """The quickest logistic curve within a speed and an acceleration.

    Args:
        length: The whole way (m, rad, or 1 for a fraction).
        speed: Largest speed (per s).
        acceleration: Largest acceleration (per s^2).
        curve: Its shape; that of ``Curve()`` by default.

    Raises:
        InvalidInput: A number is not positive and finite.
    """
    check_positive(length=length, speed=speed, acceleration=acceleration)
    shape = Curve() if curve is None else curve
    first, second = _peaks(shape)
    return Logistic(
        length, max(first * length / speed, sqrt(second * length / acceleration)), shape
    )

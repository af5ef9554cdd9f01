"""Scalings that are slowed down."""

from __future__ import annotations

from dataclasses import dataclass

from dvrk_kinematics.geometry.arrays import Array, frozen
from dvrk_kinematics.motion.scaling import Progress, Scaling

__all__ = ["Stretched", "stretch"]


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

    def sample(self, t: Array) -> Progress:
        """The way at times t (s), shape (N,)."""
        k = self.factor
        s, sd, sdd = self.inner.sample(t / k)
        return Progress(s, sd / k, sdd / (k * k))


def stretch(scaling: Scaling, factor: float) -> Scaling:
    """Slow a scaling down by a factor of at least 1; stretching twice multiplies."""
    if factor <= 1.0:
        return scaling
    if isinstance(scaling, Stretched):
        return Stretched(scaling.inner, scaling.factor * factor)
    return Stretched(scaling, factor)

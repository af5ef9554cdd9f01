"""A jog's place, and where a velocity leads from there."""

from __future__ import annotations

from math import inf
from typing import Protocol

import numpy as np

from dvrk_kinematics.geometry.arrays import Array

__all__ = ["JointWalk", "Walk"]


class Walk(Protocol):
    """A place, and how to go on from there.

    Attributes:
        q: Joint positions at the place (rad, m), shape (n,).
    """

    q: Array

    def understand(self, velocity: Array) -> tuple[Array, float]:
        """Express a commanded velocity in the walk's own terms.

        Returns:
            The part of it that the arm can do, and how much turning (rad/s) it cannot.
        """
        ...

    def rates(self, velocity: Array) -> Array:
        """Joint velocities (rad/s, m/s) that a velocity means at the place, shape (n,)."""
        ...

    def ahead(self, velocity: Array, rates: Array, spacing_s: float, count: int) -> Array:
        """Joint positions on the way from here, shape (k + 1, n) with k <= count.

        Args:
            velocity: Velocity of the walk.
            rates: Joint velocities that it means here.
            spacing_s: Time between two rows (s).
            count: How many rows beyond the first, which is the place itself. There are fewer
                where the arm cannot go on.
        """
        ...

    def advance(self, velocity: Array, rates: Array, step_s: float) -> bool:
        """Go on for a time (s); False, and nothing changes, if the arm cannot.

        Args:
            velocity: Velocity of the walk.
            rates: Approximate joint velocities that it means here.
            step_s: Time (s).
        """
        ...

    def singular_values(self, rows: Array) -> list[float]:
        """Smallest singular value at each row of joint positions, shape (k, n)."""
        ...


class JointWalk:
    """A walk in joint positions.

    Args:
        q: Where it begins (rad, m), shape (n,).
    """

    def __init__(self, q: Array) -> None:
        self.q = q

    def understand(self, velocity: Array) -> tuple[Array, float]:
        """Joints can do everything."""
        return velocity, 0.0

    def rates(self, velocity: Array) -> Array:
        """The velocity itself."""
        return velocity

    def ahead(self, velocity: Array, rates: Array, spacing_s: float, count: int) -> Array:
        """Positions on a straight way."""
        return self.q + velocity * (spacing_s * np.arange(count + 1.0)[:, None])

    def advance(self, velocity: Array, rates: Array, step_s: float) -> bool:
        """Go straight on."""
        self.q = self.q + velocity * step_s
        return True

    def singular_values(self, rows: Array) -> list[float]:
        """Joints have no singularities."""
        return [inf] * len(rows)

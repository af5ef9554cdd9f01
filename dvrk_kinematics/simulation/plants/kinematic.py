"""Joints that follow their set-points on their own, without masses and forces."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp

__all__ = ["KinematicPlant"]


class KinematicPlant:
    """Joints that follow their set-points: at once, or with the lag of a first-order servo.

    Args:
        lag_s: Time constant of the lag (s); 0 follows exactly, like the dVRK's own simulation.
    """

    def __init__(self, lag_s: float = 0.0) -> None:
        self._lag_s = lag_s
        self._position: list[float] = []

    def reset(self, position: Sequence[float]) -> None:
        """Puts the joints somewhere at rest."""
        self._position = list(position)

    def step(self, setpoint: Sequence[float], dt: float) -> tuple[list[float], list[float]]:
        """Follows the set-point for dt seconds; see ``Plant``."""
        before = self._position
        if self._lag_s > 0.0:
            share = 1.0 - exp(-dt / self._lag_s)
            after = [p + share * (s - p) for p, s in zip(before, setpoint, strict=True)]
        else:
            after = list(setpoint)
        self._position = after
        if dt <= 0.0:
            return after, [0.0] * len(after)
        return after, [(a - b) / dt for a, b in zip(after, before, strict=True)]

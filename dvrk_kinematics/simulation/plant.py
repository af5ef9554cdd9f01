"""What a controller's set-points drive: the mechanics behind a small Protocol."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import Protocol

__all__ = ["KinematicPlant", "Plant"]


class Plant(Protocol):
    """The mechanics of one arm: joints and, last, the jaw if there is one.

    All vectors are lists of n floats (rad, m); n is that of the last ``reset``.
    """

    def reset(self, position: Sequence[float]) -> None:
        """Puts the joints somewhere at rest, also when a new tool changes their number."""

    def step(self, setpoint: Sequence[float], dt: float) -> tuple[list[float], list[float]]:
        """Lets time pass.

        Args:
            setpoint: What the controller wants (rad, m).
            dt: How long (s), 0 or more.

        Returns:
            Measured positions (rad, m) and velocities (rad/s, m/s).
        """


class KinematicPlant:
    """Joints that follow their set-points: at once, or with the lag of a first order servo.

    Args:
        lag_s: Time constant of the lag (s); 0 follows exactly, as the dVRK's own simulation.
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

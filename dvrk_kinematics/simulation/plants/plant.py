"""The mechanics that a controller's set-points drive, behind a small Protocol."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

__all__ = ["Plant"]


class Plant(Protocol):
    """The mechanics of one arm: joints and, last, the jaw if there is one.

    All vectors are lists of n floats (rad, m); n is that of the last ``reset``.
    """

    def reset(self, position: Sequence[float]) -> None:
        """Puts the joints somewhere at rest, even when a new tool changes their number."""

    def step(self, setpoint: Sequence[float], dt: float) -> tuple[list[float], list[float]]:
        """Lets time pass.

        Args:
            setpoint: The controller's set-points (rad, m).
            dt: How long (s), 0 or more.

        Returns:
            Measured positions (rad, m) and velocities (rad/s, m/s).
        """

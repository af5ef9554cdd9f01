"""How late a tick may be and still be made up for."""

from __future__ import annotations

__all__ = ["made_up_s"]

_MADE_UP_S = 0.05


def made_up_s(period_s: float) -> float:
    """Longest time between two ticks (s) over which a motion goes on as if there had been more.

    Standing still instead would be a kink, but after a longer time the arm has come to rest by
    itself where it was told to be, and a setpoint farther on would be a jump.

    Args:
        period_s: Period of the ticks (s).
    """
    return max(_MADE_UP_S, 2.0 * period_s)

"""What the campaigns share: how long they look, and what every motion must keep to.

Each campaign is a test that plays seeded random cases for a few seconds. To look for longer::

    DVRK_CAMPAIGN=50 ./dvrk test test/unit/driver -k campaign
"""

from __future__ import annotations

import os

import numpy as np

from dvrk_kinematics.driver import MotionLimits

__all__ = ["PERIOD_NS", "Track", "seeds"]

PERIOD_NS = 5_000_000
_SLACK = 1.01
"""How much of an acceleration limit the second differences of the positions may be."""
_ROUNDING = 1e-10
"""Rounding (rad, m) of a position as it is sent."""


def seeds(count: int) -> range:
    """Seeds of a campaign: a few by default, as many times more as DVRK_CAMPAIGN says."""
    return range(max(1, round(count * float(os.environ.get("DVRK_CAMPAIGN", "1")))))


class Track:
    """The positions that were sent to an arm, in pieces that begin at rest.

    A piece ends where nothing was sent for so long that the arm has come to rest by itself, and
    where the driver fell silent or froze: there the next one begins, from where this one ended.

    Args:
        rest: Where the arm rests at first (rad, m), shape (n,).
    """

    def __init__(self, rest: np.ndarray) -> None:
        self._last = np.array(rest)
        self._pieces: list[tuple[list[int], list[np.ndarray]]] = []

    def begin(self, now_ns: int) -> None:
        """Begin a piece at rest at the last position."""
        self._pieces.append(([now_ns - PERIOD_NS, now_ns], [self._last, self._last]))

    def add(self, now_ns: int, q: np.ndarray) -> None:
        """Add a position (rad, m) that was sent, shape (n,)."""
        if not self._pieces:
            self.begin(now_ns - PERIOD_NS)
        times, positions = self._pieces[-1]
        self._last = np.array(q)
        if times[-1] == now_ns:
            positions[-1] = self._last
        else:
            times.append(now_ns)
            positions.append(self._last)

    def check(self, limits: MotionLimits) -> float:
        """Check limits of position, velocity and acceleration; gives the largest part of the last.

        Velocities are first differences of the positions by the times at which they were sent, and
        accelerations second ones.
        """
        worst = 0.0
        for times_ns, positions in self._pieces:
            t, q = np.array(times_ns) * 1e-9, np.array(positions)
            assert np.isfinite(q).all()
            lower = np.minimum(limits.position.lower, q[0]) - 1e-9
            upper = np.maximum(limits.position.upper, q[0]) + 1e-9
            assert ((q >= lower) & (q <= upper)).all()
            dt = np.diff(t)[:, None]
            rates = np.diff(q, axis=0) / dt
            assert (np.abs(rates) <= limits.velocity * 1.001 + _ROUNDING / dt).all()
            change, span = np.abs(np.diff(rates, axis=0)), 0.5 * (dt[1:] + dt[:-1])
            noise = 2.0 * _ROUNDING * (1.0 / dt[1:] + 1.0 / dt[:-1])
            part = (change - noise) / (limits.acceleration * span)
            worst = max(worst, float(part.max(initial=0.0)))
            k = int(np.argmax(part.max(axis=1, initial=0.0))) if len(part) else 0
            assert worst <= _SLACK, f"{worst:.4g} of the acceleration, {k + 1} after {times_ns[0]}"
        return worst

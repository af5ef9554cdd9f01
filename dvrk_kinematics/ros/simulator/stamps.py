"""Stamps of simulated arms: those of events, and those of states as the dVRK makes them."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from dvrk_kinematics.simulation import ClockReadings

__all__ = ["DatumStamps", "EventStamps", "random_of"]

_CLOSE_NS = 10_000
_TRIES = 5
"""``ClockReadings`` models the time between two readings: if this process is suspended just
between them, :class:`DatumStamps` reads again."""


def random_of(seed: int, purpose: str) -> np.random.Generator:
    """Make a random generator for one purpose: its numbers depend only on the seed and purpose."""
    return np.random.default_rng([seed, *purpose.encode()])


class EventStamps:
    """Stamps that strictly increase, whatever the clock does.

    Clients tell a new event from an old one by its stamp, and one cycle can have several events.

    Args:
        read_clock: The node's clock (ns).
    """

    def __init__(self, read_clock: Callable[[], int]) -> None:
        self._read_clock = read_clock
        self._last = 0

    def next(self) -> int:
        """Return a stamp (ns) later than all before; never 0, which means invalid."""
        self._last = max(self._read_clock(), self._last + 1)
        return self._last


class DatumStamps:
    """Stamps of the messages of one datum: *now* minus its age, each read anew.

    They differ by the time between two clock readings, so the same datum published again can have
    an earlier stamp.

    Args:
        read_clock: The node's clock (ns).
        readings: The time between two readings.
        read_monotonic: The clock on which data are made (ns).
        is_simulated: Whether the node's clock advances in steps, over /clock. An age on another
            clock is then meaningless: a datum is stamped once, with the time of its creation.
    """

    def __init__(
        self,
        read_clock: Callable[[], int],
        readings: ClockReadings,
        read_monotonic: Callable[[], int] = time.monotonic_ns,
        *,
        is_simulated: bool = False,
    ) -> None:
        self._read_clock = read_clock
        self._readings = readings
        self._read_monotonic = read_monotonic
        self._is_simulated = is_simulated
        self._datum_ns: int | None = None
        self._made_ns = 0

    def begin(self, datum_ns: int) -> None:
        """Set the datum to publish now.

        Args:
            datum_ns: When it was made (ns, monotonic).
        """
        is_new, self._datum_ns = datum_ns != self._datum_ns, datum_ns
        if self._is_simulated:
            self._made_ns = self._read_clock() if is_new else self._made_ns
            return
        for _ in range(_TRIES):
            before = self._read_monotonic()
            now = self._read_clock()
            after = self._read_monotonic()
            if after - before <= _CLOSE_NS:
                break
        self._made_ns = now - (before - datum_ns)

    def next(self) -> int:
        """Return the stamp (ns) of its next message; never 0, which means invalid."""
        error_ns = 0 if self._is_simulated else self._readings.error_ns()
        return max(self._made_ns - error_ns, 1)

"""The effect of two clock readings on a stamp.

A stamp of the dVRK is *now* minus the age of the datum, read from two clocks one after the other.
So the stamps of two messages with the same datum differ by the time between the readings, and the
later message can have the earlier stamp.
"""

from __future__ import annotations

import numpy as np

__all__ = ["ClockReadings"]

_MEDIAN_NS = 150.0
_SPREAD = 1.6
_LONGEST_NS = 15_000
_GRAIN_NS = 10
"""Recorded differences of two stamps of one datum: 0 to 15 us, half of them below 0.3 us, in steps
of 10 ns."""

_BLOCK = 4096


class ClockReadings:
    """The errors of stamps, one after the other.

    Args:
        random: Their source.
    """

    def __init__(self, random: np.random.Generator) -> None:
        self._random = random
        self._block: list[int] = []

    def error_ns(self) -> int:
        """How much too early the next stamp is (ns): 0 to 15 000."""
        if not self._block:
            drawn = self._random.lognormal(np.log(_MEDIAN_NS), _SPREAD, _BLOCK)
            grains = np.minimum(drawn, _LONGEST_NS) // _GRAIN_NS
            self._block = (grains.astype(np.int64) * _GRAIN_NS).tolist()
        return self._block.pop()

"""How steady a loop is: its periods, kept for a while and summed up on request."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["PeriodLog", "PeriodSummary"]

_KEPT = 1 << 16
"""Periods kept: more than five minutes at 200 Hz."""


class PeriodSummary(NamedTuple):
    """Periods of a loop, in seconds.

    Attributes:
        ticks: Ticks made since the start.
        missed: Ticks that went by since the start.
        p50: Median period of those kept.
        p99: 99 of 100 periods are at most this.
        longest: The longest period of those kept.
    """

    ticks: int
    missed: int
    p50: float
    p99: float
    longest: float


class PeriodLog:
    """Begins of the latest ticks, written by the loop's thread and read by any other.

    Args:
        period_ns: The period aimed at, in nanoseconds.
    """

    def __init__(self, period_ns: int) -> None:
        self.period_ns = period_ns
        self._begins = np.zeros(_KEPT, dtype=np.int64)
        self.ticks = 0
        self.missed = 0

    def add(self, begin_ns: int, missed: int) -> None:
        """Note the begin of a tick and how many went by before it."""
        self._begins[self.ticks % _KEPT] = begin_ns
        self.ticks += 1
        self.missed += missed

    def periods_ns(self) -> NDArray[np.int64]:
        """The periods kept, oldest first, in nanoseconds."""
        ticks = self.ticks
        if ticks <= _KEPT:
            begins = self._begins[:ticks].copy()
        else:
            begins = np.roll(self._begins, -(ticks % _KEPT))
        return np.diff(begins)

    def summary(self) -> PeriodSummary:
        """Sum up; NaN where there are fewer than two ticks."""
        periods = self.periods_ns() * 1e-9
        if not periods.size:
            return PeriodSummary(self.ticks, self.missed, np.nan, np.nan, np.nan)
        p50, p99 = np.percentile(periods, [50, 99])
        return PeriodSummary(self.ticks, self.missed, float(p50), float(p99), float(periods.max()))

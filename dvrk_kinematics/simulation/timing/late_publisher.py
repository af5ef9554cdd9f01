"""A publisher that a loaded machine keeps from running: gaps, bursts and pauses.

The gaps are those between the messages of a loaded dvrk_system at ``-p 0.005``, as recorded: five
a second are longer than 10 ms, half of these are longer than 15 ms, one in a hundred longer than
57 ms. Most of them end with the messages of the gap in one burst; after one in five there are
none, since the publisher itself had paused.
"""

from __future__ import annotations

from enum import Enum

import numpy as np

__all__ = ["LatePublisher", "Lateness"]

_SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0)
_GAPS_S = (0.0100, 0.0104, 0.0115, 0.0150, 0.0215, 0.0320, 0.0395, 0.0570)
"""Gaps at these quantiles of all gaps above 10 ms; the last is the longest, which can be set."""

_PAUSES = 0.2

_RUNS_NS = 1e7
"""It runs at least this long between two gaps, which would otherwise be one."""


class Lateness(Enum):
    """The fate of a message."""

    SENT = "sent"
    HELD = "held"
    """Sent when the gap ends, in one burst."""
    PAUSED = "paused"
    """Never made."""


class LatePublisher:
    """When a publisher runs.

    Args:
        random: Source of the gaps.
        gaps_per_s: How often it pauses for more than 10 ms; 5.3 were recorded. At most 100.
        longest_s: The longest gap (s); 0.12 was recorded. Longer ones are cut.

    Attributes:
        until_ns: When the last reported gap ends (ns).
    """

    def __init__(self, random: np.random.Generator, gaps_per_s: float, longest_s: float) -> None:
        self._random = random
        self._between_ns = 1e9 / gaps_per_s
        self._longest_s = longest_s
        self._gaps = (*_GAPS_S, max(longest_s, _GAPS_S[-1]))
        self._kind = Lateness.SENT
        self._sent_ns: int | None = None
        self._from = self._gap_ns = self.until_ns = 0

    def at(self, now_ns: int) -> Lateness:
        """The fate of a message made now.

        Args:
            now_ns: A monotonic time (ns), not before that of the last call.
        """
        if self._sent_ns is None:
            self._sent_ns = now_ns
            self._plan(now_ns)
        if self._kind is Lateness.SENT and now_ns >= self._from:
            # A gap counts from the last message before it.
            self._kind = Lateness.PAUSED if self._random.random() < _PAUSES else Lateness.HELD
            self.until_ns = self._sent_ns + self._gap_ns
        if self._kind is not Lateness.SENT and now_ns >= self.until_ns:
            self._plan(now_ns)
        if self._kind is Lateness.SENT:
            self._sent_ns = now_ns
        return self._kind

    def _plan(self, after_ns: int) -> None:
        self._kind = Lateness.SENT
        runs_ns = _RUNS_NS + self._random.exponential(self._between_ns - _RUNS_NS)
        self._from = after_ns + round(runs_ns)
        gap = float(np.interp(self._random.random(), _SHARES, self._gaps))
        self._gap_ns = round(1e9 * min(gap, self._longest_s))

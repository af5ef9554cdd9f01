"""A publisher that a loaded machine does not let run: gaps, bursts and pauses.

The gaps are those with which the messages of a loaded dvrk_system arrived at ``-p 0.005``, as
recorded: five a second are longer than 10 ms, half of these than 15 ms, one in a hundred than
57 ms. Most of them end with the messages of the gap in one burst; after one in five there are
none, since the publisher itself had paused.
"""

from __future__ import annotations

from enum import Enum

import numpy as np

__all__ = ["LatePublisher", "Lateness"]

_SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0)
_GAPS_S = (0.0100, 0.0104, 0.0115, 0.0150, 0.0215, 0.0320, 0.0395, 0.0570)
"""Gaps at these shares of all gaps above 10 ms; the last is the longest, which is chosen."""

_PAUSES = 0.2

_RUNS_NS = 1e7
"""It runs at least so long between two gaps, which else would be one."""


class Lateness(Enum):
    """What becomes of a message."""

    SENT = "sent"
    HELD = "held"
    """Sent when the gap ends, in one burst."""
    PAUSED = "paused"
    """Never made."""


class LatePublisher:
    """When a publisher runs.

    Args:
        random: Where the gaps come from.
        gaps_per_s: How often it does not run for more than 10 ms; 5.3 were recorded. At most 100.
        longest_s: The longest gap (s); 0.12 was recorded. Longer ones are cut.

    Attributes:
        until_ns: When the gap that was told last ends (ns).
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
        """What becomes of a message that is made now.

        Args:
            now_ns: A monotonic time (ns); that of the last call or later.
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

"""When the arms' own thread made the newest datum, beside a publisher that runs at its own rate.

The dVRK's arms run in a thread at some 1.3 kHz; another thread publishes the newest datum at its
own rate and does not check whether it is new. Now and then the arms' thread is not scheduled for
some milliseconds, and the same datum is published twice or more.
"""

from __future__ import annotations

import numpy as np

__all__ = ["ArmThread"]

_PERIOD_NS = 750_000
"""Period of the arms' thread: 0.73 to 0.80 ms were recorded."""

_STALL_MEAN_NS = 5e6
_LONGEST_STALL_NS = 27_500_000
"""Stalls follow a truncated exponential law: one datum is in up to 6 messages 5 ms apart, as
recorded."""


class ArmThread:
    """The times of the data that a thread makes: each period, with stalls.

    Args:
        random: Source of the stalls.
        stalls_per_s: How often the thread stalls; 0 for never. With two a second, 0.15 to 0.28 %
            of the stamps of a publisher at 200 Hz do not increase, as recorded.
    """

    def __init__(self, random: np.random.Generator, stalls_per_s: float) -> None:
        self._random = random
        self._between_ns = 1e9 / stalls_per_s if stalls_per_s > 0.0 else 0.0
        self._run_from: int | None = None
        self._stall_from = self._stall_until = 0

    def newest_ns(self, now_ns: int) -> int:
        """When the newest datum was made.

        Args:
            now_ns: A monotonic time (ns), not before that of the last call.

        Returns:
            At most ``now_ns``, and never earlier than at the last call (ns, same clock).
        """
        if self._run_from is None:
            self._run_from = now_ns
            self._plan_stall(now_ns)
        if self._between_ns > 0.0:
            while now_ns >= self._stall_until:
                self._run_from = self._stall_until
                self._plan_stall(self._stall_until)
            now_ns = min(now_ns, self._stall_from)
        return now_ns - (now_ns - self._run_from) % _PERIOD_NS

    def _plan_stall(self, after_ns: int) -> None:
        self._stall_from = after_ns + round(self._random.exponential(self._between_ns))
        length = min(round(self._random.exponential(_STALL_MEAN_NS)), _LONGEST_STALL_NS)
        self._stall_until = self._stall_from + max(length, 1)

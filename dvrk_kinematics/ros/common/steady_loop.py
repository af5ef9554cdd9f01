"""A steady loop: a thread on an absolute schedule, beside an executor in the same process.

A timer of rclpy waits behind every other callback of its executor. This loop has its own thread
and wakes at multiples of its period counted from its start, however long a tick took. A late tick
does not shift the following ones; whole periods that passed count as missed and are not made up
for.
"""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from dvrk_kinematics.errors import InvalidInput

__all__ = ["Clock", "MonotonicClock", "PeriodLog", "PeriodSummary", "SteadyLoop", "Tick"]

_KEPT = 1 << 16
"""Periods kept: more than five minutes at 200 Hz."""


class PeriodSummary(NamedTuple):
    """Statistics of a loop's periods, in seconds.

    Attributes:
        ticks: Ticks made since the start.
        missed: Ticks missed since the start.
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
    """Start times of the latest ticks, written by the loop's thread and read by any other.

    Args:
        period_ns: The target period, in nanoseconds.
    """

    def __init__(self, period_ns: int) -> None:
        self.period_ns = period_ns
        self._begins = np.zeros(_KEPT, dtype=np.int64)
        self.ticks = 0
        self.missed = 0

    def add(self, begin_ns: int, missed: int) -> None:
        """Record the start of a tick and how many were missed before it."""
        self._begins[self.ticks % _KEPT] = begin_ns
        self.ticks += 1
        self.missed += missed

    def periods_ns(self) -> NDArray[np.int64]:
        """Return the periods kept, oldest first, in nanoseconds."""
        ticks = self.ticks
        if ticks <= _KEPT:
            begins = self._begins[:ticks].copy()
        else:
            begins = np.roll(self._begins, -(ticks % _KEPT))
        return np.diff(begins)

    def summary(self) -> PeriodSummary:
        """Summarise; NaN if there are fewer than two ticks."""
        periods = self.periods_ns() * 1e-9
        if not periods.size:
            return PeriodSummary(self.ticks, self.missed, np.nan, np.nan, np.nan)
        p50, p99 = np.percentile(periods, [50, 99])
        return PeriodSummary(self.ticks, self.missed, float(p50), float(p99), float(periods.max()))


_SWITCH_INTERVAL_S = 0.0005
"""Longest time that another Python thread keeps the interpreter once the loop wants it;
Python's default is 5 ms.
"""

_COLLECT_EVERY_S = 5.0
"""At rest, garbage is collected this often."""


class Tick(NamedTuple):
    """One turn of the loop.

    Attributes:
        number: Number of the tick on the schedule; skipped ones are counted.
        due_ns: When it was due, on the loop's clock.
        now_ns: When it began, on the loop's clock.
        missed: Ticks missed since the one before.
    """

    number: int
    due_ns: int
    now_ns: int
    missed: int


class Clock(Protocol):
    """The clock functions that the loop needs."""

    def now_ns(self) -> int:
        """Return nanoseconds that never go backwards."""

    def sleep_until(self, deadline_ns: int) -> None:
        """Return at the deadline or a little later; at once if it has passed."""


class MonotonicClock:
    """The machine's monotonic clock."""

    def now_ns(self) -> int:
        """Return the nanoseconds since some moment in the past."""
        return time.monotonic_ns()

    def sleep_until(self, deadline_ns: int) -> None:
        """Sleep; a signal or an early wake-up does not shorten it."""
        remaining = deadline_ns - time.monotonic_ns()
        if remaining > 0:
            time.sleep(remaining * 1e-9)


class SteadyLoop:
    """Calls a function at a steady rate from its own thread.

    While any loop runs, Python's garbage collector is off, since one pass over a large message
    stops all threads for up to 200 ms. The loop runs it by hand when its owner reports that it is
    at rest.

    Args:
        period_s: Seconds between two ticks.
        on_tick: Called in the loop's thread. An exception ends the loop and goes to on_error.
        is_at_rest: Called in the loop's thread; returns whether a late tick would do no harm
            now.
        on_error: Called in the loop's thread with the exception that ended it.
        name: Name of the thread.
        clock: The clock to use.

    Raises:
        InvalidInput: If the period is not positive.
    """

    def __init__(
        self,
        period_s: float,
        on_tick: Callable[[Tick], None],
        *,
        is_at_rest: Callable[[], bool] = lambda: False,
        on_error: Callable[[BaseException], None] | None = None,
        name: str = "steady_loop",
        clock: Clock | None = None,
    ) -> None:
        if not period_s > 0.0:
            raise InvalidInput("period_s", f"{period_s} is not positive")
        self._period_ns = round(period_s * 1e9)
        self._on_tick = on_tick
        self._is_at_rest = is_at_rest
        self._on_error = on_error
        self._clock = clock or MonotonicClock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self.log = PeriodLog(self._period_ns)
        self.error: BaseException | None = None

    @property
    def is_running(self) -> bool:
        """Whether the loop is ticking."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Make the first tick one period from now."""
        self._thread.start()

    def join(self, timeout_s: float) -> bool:
        """Wait for the loop to end on its own (s), and return whether it has."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def stop(self, timeout_s: float = 5.0) -> bool:
        """Stop ticking, and wait for the current tick.

        Args:
            timeout_s: How long to wait (s).

        Returns:
            Whether the thread has ended. If called from a tick, this only requests the end.
        """
        self._stop.set()
        if threading.current_thread() is self._thread:
            return False
        return self._thread.ident is None or self.join(timeout_s)

    def _run(self) -> None:
        try:
            with _undisturbed():
                self._turn()
        except BaseException as error:
            self.error = error
            if self._on_error is None:
                raise
            self._on_error(error)

    def _turn(self) -> None:
        clock, period = self._clock, self._period_ns
        begin = clock.now_ns()
        index, missed = 1, 0
        collected = begin
        while not self._stop.is_set():
            due = begin + index * period
            clock.sleep_until(due)
            now = clock.now_ns()
            self.log.add(now, missed)
            self._on_tick(Tick(index, due, now, missed))
            after = clock.now_ns()
            if after - collected > _COLLECT_EVERY_S * 1e9 and self._is_at_rest():
                gc.collect()
                collected = after = clock.now_ns()
            # The next tick still to come; those in between are skipped, and the phase stays.
            following = max(index + 1, (after - begin) // period + 1)
            missed = following - index - 1
            index = following


_running = 0
_running_lock = threading.Lock()


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Keep the interpreter responsive, from the first loop of the process to the last."""
    global _running
    with _running_lock:
        _running += 1
        if _running == 1:
            _settings[:] = [gc.isenabled(), sys.getswitchinterval()]
            gc.collect()
            gc.disable()
            sys.setswitchinterval(_SWITCH_INTERVAL_S)
    try:
        yield
    finally:
        with _running_lock:
            _running -= 1
            if _running == 0:
                was_enabled, interval = _settings
                sys.setswitchinterval(interval)
                if was_enabled:
                    gc.enable()


_settings: list[float] = [True, 0.005]
"""State of the collector, and the switch interval, before the first loop."""

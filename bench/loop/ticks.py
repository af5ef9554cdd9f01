"""How the processes of this benchmark report their ticks. No ROS."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dvrk_kinematics.ros.common.steady_loop import Tick

__all__ = ["PERIOD_S", "TickFigures", "TickRecorder", "parse_arguments", "sum_up"]

PERIOD_S = 0.005
_KEPT = 100_000


class TickRecorder:
    """Notes when each tick began and how much processor time the process had used by then.

    Args:
        file: Where to write the notes at the end.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._notes = np.zeros((_KEPT, 3), dtype=np.int64)
        self._count = 0

    def note(self, tick: Tick) -> None:
        """Note one tick."""
        if self._count < _KEPT:
            self._notes[self._count] = tick.now_ns, tick.missed, time.process_time_ns()
            self._count += 1

    def save(self) -> None:
        """Write the notes: begin (ns, monotonic), ticks missed before it, processor time (ns)."""
        np.save(self._file, self._notes[: self._count])


class TickFigures(NamedTuple):
    """Figures of a stretch of ticks.

    Attributes:
        ticks: Ticks made.
        missed: Ticks that were missed.
        p50_ms: Median period.
        p99_ms: 99 of 100 periods are at most this.
        max_ms: Longest period.
        cpu_percent: Processor time of the whole process, in percent of one core.
    """

    ticks: int
    missed: int
    p50_ms: float
    p99_ms: float
    max_ms: float
    cpu_percent: float


def sum_up(notes: NDArray[np.int64], begin_ns: int, end_ns: int) -> TickFigures:
    """Sum up the ticks between two moments of the monotonic clock."""
    part = notes[(notes[:, 0] >= begin_ns) & (notes[:, 0] < end_ns)]
    periods = np.diff(part[:, 0]) * 1e-6
    p50, p99 = np.percentile(periods, [50, 99])
    used = (part[-1, 2] - part[0, 2]) / (part[-1, 0] - part[0, 0])
    return TickFigures(
        len(part),
        int(part[1:, 1].sum()),
        float(p50),
        float(p99),
        float(periods.max()),
        float(100.0 * used),
    )


def parse_arguments(description: str) -> argparse.Namespace:
    """Read the command line of one process of the benchmark."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--arms", nargs="*", default=["PSM1"], help="namespaces of the arms")
    parser.add_argument("--edge", default="polled", help="ordinary, patched or polled")
    parser.add_argument("--ticks", type=Path, required=True, help="file for the ticks")
    return parser.parse_args()

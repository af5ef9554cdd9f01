"""How often, how far and how long a motion ran slower than planned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dvrk_kinematics.cli.report.recording import RecordedSpeed
from dvrk_kinematics.geometry.arrays import Array

__all__ = ["SlowDowns", "factor_at", "measure_slow_downs", "scaled_end"]


@dataclass(frozen=True, slots=True)
class SlowDowns:
    """The speed scaling while an arm moved.

    Its count differs from the bridge's, which counts slow-downs by lateness, and counts once
    however often that comes and goes within a moment.

    Attributes:
        count: How often the factor fell below 1; once more if a motion began below it.
        lowest: The smallest factor; 1 if it was never below.
        below_s: How long it was below 1 (s).
    """

    count: int
    lowest: float
    below_s: float


def factor_at(scaling: RecordedSpeed, times: Array) -> Array:
    """The factor at given times (s); 1 before the first reported one; (N,) -> (N,)."""
    rows = np.searchsorted(scaling.times, times, side="right") - 1
    return np.where(rows >= 0, scaling.factor[np.maximum(rows, 0)], 1.0)


def measure_slow_downs(
    scaling: RecordedSpeed, motions: Sequence[tuple[float, float]]
) -> SlowDowns:
    """Measure the speed scaling during given motions.

    Args:
        scaling: The speed scaling.
        motions: Begin and end of each (s); they do not overlap.
    """
    count, lowest, below = 0, 1.0, 0.0
    for begin, end in motions:
        edges = _edges(scaling, begin, end)
        factor = factor_at(scaling, edges[:-1])
        is_below = factor < 1.0
        count += int((is_below & ~np.r_[False, is_below[:-1]]).sum())
        lowest = min(lowest, float(factor.min()))
        below += float(np.diff(edges)[is_below].sum())
    return SlowDowns(count, lowest, below)


def scaled_end(scaling: RecordedSpeed, begin: float, duration: float) -> float:
    """End of a motion with a given duration at full speed (s); inf if it stays paused."""
    edges = _edges(scaling, begin, np.inf)
    factor = factor_at(scaling, edges[:-1])
    played = np.r_[0.0, np.cumsum(np.diff(edges[:-1]) * factor[:-1])]
    row = int(np.searchsorted(played, duration, side="right")) - 1
    rest = duration - float(played[row])
    if rest == 0.0:
        return float(edges[row])
    speed = float(factor[row])
    return float(edges[row]) + rest / speed if speed > 0.0 else float("inf")


def _edges(scaling: RecordedSpeed, begin: float, end: float) -> Array:
    """Begin and end of a motion and the changes in between (s); at least two."""
    inside = scaling.times[(scaling.times > begin) & (scaling.times < end)]
    return np.asarray(np.r_[begin, inside, end])

"""The times of a segment's knots, and of the samples between them."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.motion.segments import Segment

__all__ = [
    "KNOT_SPACING_S",
    "LONGEST_S",
    "SAMPLE_S",
    "Grid",
    "check_duration",
    "make_grid",
    "make_knot_times",
    "split_knots",
]

KNOT_SPACING_S = 0.05
"""Longest time between two knots, unless a goal would have too many."""
SAMPLE_S = 0.005
"""Longest time between two samples: 200 Hz."""
LONGEST_S = 3600.0
"""How long a motion may take. We check every sample, so planning time and memory grow with the
duration: an hour is 720 000 samples, some seconds and a few hundred megabytes."""

_SHORTEST_S = 1e-4
"""Changes of phase closer than this count as one: nothing moves in between."""

Nanoseconds = npt.NDArray[np.int64]
Rows = npt.NDArray[np.intp]


class Grid(NamedTuple):
    """The samples of a segment: every knot, and even steps in between, including the middle.

    Attributes:
        t: Times on the segment's own clock (s), shape (N,).
        interval: The knot before each sample, shape (N,); the last one for the last sample is the
            knot before the end.
        u: How far between the knots it is, from 0 to 1, shape (N,).
        knots: The rows that are knots, shape (K,).
    """

    t: Array
    interval: Rows
    u: Array
    knots: Rows


def check_duration(duration_s: float) -> None:
    """Refuse a motion that takes too long to be checked everywhere.

    Args:
        duration_s: Its total duration (s).

    Raises:
        InvalidInput: Longer than ``LONGEST_S``.
    """
    # Written so that NaN is refused too.
    if not duration_s <= LONGEST_S:
        reason = f"takes {duration_s:.6g} s, more than the {LONGEST_S:g} s that can be planned"
        raise InvalidInput("motion", f"{reason}; make it faster or shorter, or repeat it less")


def make_knot_times(segment: Segment, spacing_s: float = KNOT_SPACING_S) -> Nanoseconds:
    """Whole nanoseconds from the segment's start: its ends, changes of phase, and between.

    The last one is not before the segment's end, so that it is at rest.

    Args:
        segment: The segment.
        spacing_s: Longest time between two knots (s).
    """
    end = segment.duration_s
    gap = min(_SHORTEST_S, 0.01 * end)
    inner = [b for b in segment.breaks.tolist() if gap < b < end - gap]
    phases = [0.0]
    for b in inner:
        if b - phases[-1] > gap:
            phases.append(b)
    phases.append(end)
    parts = [np.zeros(1)]
    for begin, until in pairwise(phases):
        count = max(1, int(np.ceil((until - begin) / spacing_s - 1e-9)))
        parts.append(np.linspace(begin, until, count + 1)[1:])
    times = np.rint(np.concatenate(parts) * 1e9).astype(np.int64)
    times[-1] = np.ceil(end * 1e9).astype(np.int64)
    return np.unique(times)


def split_knots(
    times_ns: Nanoseconds, pieces: npt.NDArray[np.int64], shortest_s: float
) -> Nanoseconds | None:
    """Add knots to some intervals.

    Args:
        times_ns: The knots, shape (K,).
        pieces: Into how many to split each interval, shape (K - 1,).
        shortest_s: Intervals are not made shorter than this (s).

    Returns:
        The knots, or None if nothing more could be split.
    """
    lengths = np.diff(times_ns)
    most = np.maximum(lengths // int(shortest_s * 1e9), 1)
    pieces = np.minimum(pieces, most)
    if (pieces <= 1).all():
        return None
    index = np.repeat(np.arange(len(lengths)), pieces)
    part = np.arange(len(index)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    split = times_ns[index] + lengths[index] * part // pieces[index]
    return np.append(split, times_ns[-1])


def make_grid(times_ns: Nanoseconds) -> Grid:
    """The samples for some knots."""
    t = times_ns * 1e-9
    h = np.diff(t)
    # An even number, so that we check the middle, where a cubic is farthest from its curve.
    count = 2 * np.ceil(h / (2.0 * SAMPLE_S) - 1e-6).astype(np.intp)
    count = np.maximum(count, 2)
    interval = np.repeat(np.arange(len(h)), count)
    first = np.cumsum(count) - count
    u = (np.arange(len(interval)) - first[interval]) / count[interval]
    times = t[interval] + u * h[interval]
    return Grid(
        np.append(times, t[-1]),
        np.append(interval, len(h) - 1),
        np.append(u, 1.0),
        np.append(first, len(times)),
    )

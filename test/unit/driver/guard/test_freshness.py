"""What counts as news, and for how long none may come: the rule, and recorded stamps."""

from __future__ import annotations

import numpy as np
import pytest

from dvrk_kinematics.driver.guard.freshness import SAME_DATUM_NS, StreamWatch
from dvrk_kinematics.driver.reasons import Reason

MS = 1_000_000


def _reason(watch: StreamWatch, arrival_ns: int, stamp_ns: int) -> Reason | None:
    found = watch.observe(arrival_ns, stamp_ns)
    return None if found is None else found.reason


@pytest.mark.parametrize("difference", [-MS, -15_000, -10, 0, 10, 56_000, MS])
def test_a_stamp_within_a_millisecond_of_the_newest_is_no_news(difference: int) -> None:
    watch = StreamWatch("measured_js")
    assert _reason(watch, 100, 50 * MS) is None
    assert _reason(watch, 200, 50 * MS + difference) is None
    assert watch.news_arrival_ns == 100
    assert _reason(watch, 300, 55 * MS) is None
    assert watch.news_arrival_ns == 300


def test_stamps_that_creep_up_by_less_than_a_millisecond_are_news_in_the_end() -> None:
    """A publisher of 1 kHz: each stamp is near the one before, and the arm lives."""
    watch = StreamWatch("measured_js")
    for k in range(100):
        assert _reason(watch, k * MS, 50 * MS + k * (SAME_DATUM_NS - 1)) is None
        assert k * MS - watch.news_arrival_ns <= 2 * MS


def test_a_fall_of_more_than_a_millisecond_is_a_fault_until_the_next_message() -> None:
    watch = StreamWatch("measured_js")
    assert _reason(watch, 100, 50 * MS) is None
    assert _reason(watch, 200, 48 * MS) is Reason.STAMP_WENT_BACK
    assert _reason(watch, 200, 48 * MS) is Reason.STAMP_WENT_BACK
    assert _reason(watch, 300, 53 * MS) is None


def test_no_stamp_is_a_fault_and_no_news() -> None:
    watch = StreamWatch("measured_js")
    assert _reason(watch, 100, 50 * MS) is None
    assert _reason(watch, 200, 0) is Reason.STAMP_ZERO
    assert watch.news_arrival_ns == 100
    assert _reason(watch, 300, 60 * MS) is None


@pytest.mark.parametrize("topic", ["measured_js", "setpoint_js"])
@pytest.mark.parametrize("period_ns", [5 * MS, 10 * MS])
def test_the_recorded_stamps_are_never_a_fault(
    recorded_stamps: dict[str, np.ndarray], topic: str, period_ns: int
) -> None:
    """Read as a loop does: the newest message of each tick."""
    arrivals, stamps = recorded_stamps[topic].T
    watch = StreamWatch(topic)
    now_ns = int(arrivals[0])
    assert (np.diff(stamps) <= 0).any(), "the recording has stamps that do not increase"
    while now_ns < arrivals[-1]:
        k = int(np.searchsorted(arrivals, now_ns, side="right")) - 1
        assert _reason(watch, int(arrivals[k]), 10**18 + int(stamps[k])) is None
        now_ns += period_ns

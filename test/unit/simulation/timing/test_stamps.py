"""The simulated threads and clocks stamp as the recorded ones did."""

from __future__ import annotations

import numpy as np
import pytest

from dvrk_kinematics.simulation import ArmThread, ClockReadings, Lateness, LatePublisher

PERIOD_NS = 5_000_000
MINUTE_NS = 60_000_000_000
SAME_NS = 100_000
"""Stamps nearer than this are of one datum."""


def publish(
    seed: int, period_ns: int = PERIOD_NS, stalls_per_s: float = 2.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """When data were made, and two topics' stamps of them, in a minute."""
    random = np.random.default_rng(seed)
    thread = ArmThread(random, stalls_per_s)
    readings = ClockReadings(random)
    late = np.abs(random.normal(0.0, 2e5, MINUTE_NS // period_ns)).astype(int)
    data = np.array([thread.newest_ns(k * period_ns + int(late[k])) for k in range(len(late))])
    measured = np.array([datum - readings.error_ns() for datum in data.tolist()])
    setpoint = np.array([datum - readings.error_ns() for datum in data.tolist()])
    return data, measured, setpoint


def runs(stamps: np.ndarray) -> np.ndarray:
    """How many messages in a row were of one datum, for each datum."""
    starts = np.flatnonzero(np.diff(stamps) > SAME_NS) + 1
    return np.diff([0, *starts, len(stamps)])


def share_not_increasing(stamps: np.ndarray) -> float:
    return float(np.mean(np.diff(stamps) <= 0))


def test_stamps_fail_to_increase_as_often_as_recorded(
    recorded_stamps: dict[str, np.ndarray],
) -> None:
    recorded = [share_not_increasing(rows[:, 1]) for rows in recorded_stamps.values()]
    simulated = [share_not_increasing(stamps) for k in range(6) for stamps in publish(k)[1:]]
    assert 0.0015 <= min(recorded) <= np.mean(simulated) <= 0.0028
    assert 0.0005 < min(simulated) < max(simulated) < 0.004


def test_one_datum_is_published_as_often_as_recorded(
    recorded_stamps: dict[str, np.ndarray],
) -> None:
    simulated = np.concatenate([runs(publish(seed)[1]) for seed in range(6)])
    for rows in recorded_stamps.values():
        repeats = np.mean(runs(rows[:, 1]) > 1)
        assert 0.4 < np.mean(simulated > 1) / repeats < 2.5
    assert 5 <= simulated.max() <= 7


def test_stamps_go_back_by_no_more_than_was_recorded() -> None:
    back = np.concatenate([-np.diff(stamps) for k in range(6) for stamps in publish(k)[1:]])
    back = back[back > 0]
    assert 10 <= back.min() < 200 < np.median(back) * 2
    assert back.max() <= 15_000


def test_messages_of_one_datum_agree() -> None:
    data, measured, setpoint = publish(3)
    assert np.abs(measured - setpoint).max() <= 15_000
    assert (data - measured).min() >= 0
    assert (np.diff(data) >= 0).all()


def test_data_are_never_from_the_future_nor_older_than_a_stall() -> None:
    thread = ArmThread(np.random.default_rng(5), 2.0)
    now = np.arange(0, MINUTE_NS, 1_300_000)
    age = now - np.array([thread.newest_ns(int(time)) for time in now])
    assert age.min() >= 0
    assert age.max() < 27_500_000 + 750_000


def test_without_stalls_every_datum_is_new() -> None:
    data, measured, _ = publish(1, stalls_per_s=0.0)
    assert (np.diff(data) > 0).all() and (np.diff(measured) > 0).all()


def test_the_same_seed_gives_the_same_stamps() -> None:
    for one, two in zip(publish(7), publish(7), strict=True):
        np.testing.assert_array_equal(one, two)


def arrivals(
    seed: int, gaps_per_s: float = 5.3, longest_s: float = 0.12
) -> tuple[np.ndarray, np.ndarray, int]:
    """When messages of a late publisher arrive, and when they were made; and how many never do."""
    late = LatePublisher(np.random.default_rng(seed), gaps_per_s, longest_s)
    arrived, made, waiting, lost = [], [], 0, 0
    for now in range(0, MINUTE_NS, PERIOD_NS):
        lateness = late.at(now)
        lost += lateness is Lateness.PAUSED
        if lateness is not Lateness.PAUSED:
            made.append(now)
            waiting += 1
        if lateness is Lateness.SENT:
            # Those that were held go out first, at the same time.
            arrived += [now] * waiting
            waiting = 0
    return np.array(arrived), np.array(made[: len(arrived)]), lost


def test_a_late_publisher_has_the_gaps_that_were_recorded(
    recorded_stamps: dict[str, np.ndarray],
) -> None:
    gaps = np.concatenate([np.diff(arrivals(seed)[0]) for seed in range(4)])
    gaps = gaps[gaps > 0]
    for rows in recorded_stamps.values():
        recorded = np.diff(rows[:, 0])
        minutes = np.ptp(rows[:, 0]) / MINUTE_NS
        for gap_ns, least, most in ((15e6, 0.6, 1.6), (25e6, 0.5, 2.0), (40e6, 0.3, 3.0)):
            ratio = np.sum(gaps > gap_ns) / 4 / (np.sum(recorded > gap_ns) / minutes)
            assert least < ratio < most, gap_ns
    assert 60e6 < gaps.max() <= 120e6 + PERIOD_NS


def test_a_late_publisher_sends_bursts_and_pauses() -> None:
    arrived, made, lost = arrivals(1)
    assert (np.diff(arrived) >= 0).all()
    burst = np.diff(np.flatnonzero(np.diff([-1, *arrived, MINUTE_NS + 1]) > 0))
    assert burst.max() >= 5
    assert 0.2 < lost / np.sum(arrived > made) / 0.25 < 5.0


@pytest.mark.parametrize("longest_s", [0.02, 0.3])
def test_the_longest_gap_is_chosen(longest_s: float) -> None:
    arrived, _, _ = arrivals(1, gaps_per_s=20.0, longest_s=longest_s)
    gap_s = np.diff(arrived).max() * 1e-9
    assert 0.7 * longest_s < gap_s <= longest_s + 0.005

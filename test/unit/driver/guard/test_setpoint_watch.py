"""Echoes of our own setpoints, and setpoints of others that look like them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dvrk_kinematics.driver.guard.setpoint_watch import SetpointWatch
from dvrk_kinematics.driver.reasons import Reason

PERIOD_NS = 5_000_000
MEMORY_NS = 1_000_000_000
TOLERANCE = 1e-5


class Watched:
    """A watch of one joint, and the time."""

    def __init__(self) -> None:
        self.watch = SetpointWatch(("yaw",), TOLERANCE, MEMORY_NS)
        self.now_ns = 10 * MEMORY_NS

    def send(self, q: float) -> None:
        self.now_ns += PERIOD_NS
        self.watch.sent(np.array([q]), self.now_ns)

    def report(self, q: float) -> Reason | None:
        self.now_ns += PERIOD_NS
        found = self.watch.observe(np.array([q]), self.now_ns, self.now_ns)
        return None if found is None else found.reason

    def begin(self, q: float) -> None:
        assert self.report(q) is None
        self.watch.begin(np.array([q]), self.now_ns)


@given(
    path=st.lists(st.floats(-1.0, 1.0), min_size=1, max_size=60),
    delay=st.integers(0, 5),
    heard=st.sets(st.integers(0, 59)),
)
def test_our_own_setpoints_are_never_taken_for_those_of_others(path, delay, heard) -> None:
    """However late they are reported, whatever is missed, wherever the path comes by again."""
    watched = Watched()
    watched.begin(path[0])
    for k, q in enumerate(path):
        watched.send(q)
        if k in heard:
            assert watched.report(path[max(k - delay, 0)]) is None
    watched.watch.end()
    for k in range(len(path) - delay, len(path) + 500):
        assert watched.report(path[min(max(k, 0), len(path) - 1)]) is None


@pytest.mark.parametrize("fraction", [0.0, 0.37])
def test_an_arm_that_is_homed_along_our_path_rests_at_its_end(fraction: float) -> None:
    """The way home comes by where the arm was sent just before, and ends where it began."""
    watched = Watched()
    step = 2e-3
    watched.begin(0.0)
    path = [k * step for k in range(50)]
    for q in path:
        watched.send(q)
        assert watched.report(q) is None
    watched.watch.end()
    found = [watched.report(max(q - fraction * step, 0.0)) for q in reversed(path[:-1])]
    assert Reason.FOREIGN_SETPOINT in found
    # From here on it rests, also when what was sent is long forgotten.
    assert {watched.report(0.0) for _ in range(500)} == {None}
    assert watched.watch.rest == (0.0,)


def test_one_who_takes_the_arm_back_along_our_path_is_noticed() -> None:
    watched = Watched()
    watched.begin(0.0)
    for k in range(50):
        watched.send(0.01 * k)
        assert watched.report(0.01 * k) is None
    watched.send(0.5)
    assert watched.report(0.2) is Reason.FOREIGN_SETPOINT


def test_a_place_that_is_left_and_come_back_to_by_others_is_theirs() -> None:
    watched = Watched()
    watched.begin(0.0)
    watched.send(0.1)
    watched.watch.end()
    assert [watched.report(q) for q in (0.0, 0.1, 0.1)] == [None] * 3
    foreign = Reason.FOREIGN_SETPOINT
    assert [watched.report(q) for q in (0.2, 0.1, 0.1)] == [foreign, foreign, None]


@pytest.mark.parametrize("back", [1, 2])
def test_a_hold_lets_the_arm_fall_back_to_one_of_the_last_setpoints(back: int) -> None:
    """The arm's own hold takes the setpoint of its last cycle: that is nobody else's."""
    watched = Watched()
    watched.begin(0.0)
    path = [0.01 * k for k in range(50)]
    for q in path:
        watched.send(q)
        assert watched.report(q) is None
    watched.watch.held(watched.now_ns)
    watched.watch.end()
    fallen = path[-1 - back]
    assert {watched.report(fallen) for _ in range(500)} == {None}
    assert watched.watch.rest == (fallen,)
    assert watched.report(0.1) is Reason.FOREIGN_SETPOINT


def test_without_a_hold_the_same_fall_is_somebody_elses() -> None:
    watched = Watched()
    watched.begin(0.0)
    for k in range(50):
        watched.send(0.01 * k)
        assert watched.report(0.01 * k) is None
    watched.watch.end()
    assert watched.report(0.48) is Reason.FOREIGN_SETPOINT


@pytest.mark.parametrize("dropped", [1, 3, 12])
def test_an_arm_that_dropped_the_last_setpoints_rests_at_the_last_that_it_took(
    dropped: int,
) -> None:
    """A paused arm drops what is on its way. It was taken for somebody else's a second later."""
    watched = Watched()
    watched.begin(0.0)
    path = [0.01 * k for k in range(50)]
    taken = path[-1 - dropped]
    for q in path:
        watched.send(q)
        assert watched.report(min(q, taken)) is None
    watched.watch.end(may_have_dropped=True)
    assert {watched.report(taken) for _ in range(500)} == {None}
    assert watched.watch.rest == (taken,)
    assert watched.report(0.1) is Reason.FOREIGN_SETPOINT


def test_what_an_arm_took_after_all_is_where_it_rests() -> None:
    watched = Watched()
    watched.begin(0.0)
    for k in range(10):
        watched.send(0.01 * k)
    watched.watch.end(may_have_dropped=True)
    assert [watched.report(q) for q in (0.07, 0.08, 0.09)] == [None] * 3
    assert {watched.report(0.09) for _ in range(500)} == {None}
    assert watched.watch.rest == (0.09,)


def test_what_a_silent_arm_could_not_report_is_still_ours() -> None:
    """Longer than the memory without a word, and then a setpoint from the time of the silence."""
    watched = Watched()
    watched.begin(0.0)
    for k in range(20):
        watched.send(0.01 * k)
        assert watched.report(0.01 * k) is None
    for k in range(20, 40):
        watched.send(0.01 * k)
    watched.now_ns += MEMORY_NS + MEMORY_NS // 2
    assert watched.report(0.3) is None


def test_a_setpoint_that_was_in_force_for_long_may_still_be_reported_after_the_next() -> None:
    """Our own loop stood still for longer than an echo may take."""
    watched = Watched()
    watched.begin(0.0)
    for k in range(20):
        watched.send(0.01 * k)
        assert watched.report(0.01 * k) is None
    watched.now_ns += 2 * MEMORY_NS
    assert watched.report(0.19) is None
    watched.send(0.2)
    assert watched.report(0.19) is None
    assert watched.report(0.2) is None

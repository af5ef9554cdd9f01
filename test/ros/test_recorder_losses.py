"""Losses are counted from the numbers of the messages that arrived."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dvrk_kinematics.ros.recorder_losses import LossCounter


def count(numbers: list[int | None], publishers: int = 1) -> int | None:
    counter = LossCounter(lambda: publishers)
    for number in numbers:
        counter.see(number)
    return counter.lost


@given(st.sets(st.integers(min_value=1, max_value=500), min_size=1))
def test_of_one_publisher_every_gap_is_a_loss(arrived: set[int]) -> None:
    sent_since_first = max(arrived) - min(arrived) + 1
    assert count(sorted(arrived)) == sent_since_first - len(arrived)


@given(st.lists(st.booleans(), min_size=1, max_size=200), st.integers(0, 100), st.integers(0, 100))
def test_two_publishers_without_a_loss_have_none(
    turns: list[bool], first: int, second: int
) -> None:
    numbers = [first, 1000 + second]
    arrived: list[int | None] = []
    for turn in turns:
        numbers[turn] += 1
        arrived.append(numbers[turn])
    assert count(arrived, publishers=2) == 0


def test_a_gap_is_told_beside_a_second_publisher() -> None:
    assert count([5, 501, 6, 502, 9, 503], publishers=2) == 2


def test_what_was_sent_before_the_first_is_not_lost() -> None:
    assert count([4711, 4712]) == 0


def test_a_publisher_that_starts_anew_has_lost_nothing() -> None:
    assert count([1, 2, 3, 1, 2, 3]) == 0


def test_without_numbers_nobody_knows() -> None:
    assert count([None, None]) is None

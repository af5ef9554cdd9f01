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


@given(st.sets(st.integers(min_value=1, max_value=500), min_size=1), st.integers(2, 4))
def test_a_gap_beside_idle_publishers_is_a_loss_once_its_row_has_gone_on(
    arrived: set[int], publishers: int
) -> None:
    last = max(arrived)
    gone_on = [*sorted(arrived), *range(last + 1, last + 4)]
    assert count(gone_on, publishers) == last - min(arrived) + 1 - len(arrived)


@given(
    st.lists(st.integers(0, 2), max_size=200),
    st.tuples(st.integers(0, 100), st.integers(1000, 1100), st.integers(2000, 2100)),
)
def test_publishers_that_all_go_on_without_a_loss_have_none(
    turns: list[int], first: tuple[int, int, int]
) -> None:
    numbers = list(first)
    arrived: list[int | None] = []
    for turn in (*turns, 0, 1, 2):
        numbers[turn] += 1
        arrived.append(numbers[turn])
    assert count(arrived, publishers=3) == 0


def test_what_an_idle_publisher_says_later_is_no_gap_and_forgets_none() -> None:
    after_a_gap: list[int | None] = [5, 9, 10, 11, 12]
    assert count(after_a_gap, publishers=2) == 3
    assert count([*after_a_gap, 400, 13, 401], publishers=2) == 3
    assert count([*after_a_gap, 400, 401, 402, 403, 13], publishers=2) == 3


def test_two_publishers_of_which_none_goes_on_have_lost_nothing() -> None:
    assert count([3, 7], publishers=2) == 0


def test_a_gap_is_told_beside_a_second_publisher() -> None:
    assert count([5, 501, 6, 502, 9, 503], publishers=2) == 2


def test_what_was_sent_before_the_first_is_not_lost() -> None:
    assert count([4711, 4712]) == 0


def test_a_publisher_that_starts_anew_has_lost_nothing() -> None:
    assert count([1, 2, 3, 1, 2, 3]) == 0


def test_without_numbers_nobody_knows() -> None:
    assert count([None, None]) is None

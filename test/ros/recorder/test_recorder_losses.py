"""Losses are counted from the numbers of the messages that one publisher sent."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dvrk_kinematics.ros.recorder.loss_counter import NO_NUMBERS, SEVERAL, LossCounter


class Topic:
    """A topic whose publishers come and go."""

    def __init__(self, *publishers: str) -> None:
        self.publishers = set(publishers)
        self.asked = 0
        self.counter = LossCounter(self._find)

    def hear(self, *numbers: int | None) -> int | None:
        """Let messages arrive; gives how many are missing."""
        for number in numbers:
            self.counter.see(number)
        return self.counter.lost

    def _find(self) -> set[str]:
        self.asked += 1
        return self.publishers


@given(st.sets(st.integers(min_value=1, max_value=500), min_size=1))
def test_of_one_publisher_every_gap_is_a_loss(arrived: set[int]) -> None:
    sent_since_first = max(arrived) - min(arrived) + 1
    assert Topic("a").hear(*sorted(arrived)) == sent_since_first - len(arrived)


def test_what_was_sent_before_the_first_is_not_lost() -> None:
    assert Topic("a").hear(4711, 4712) == 0


def test_who_publishes_is_asked_only_at_the_first_message_and_at_a_gap() -> None:
    topic = Topic("a")
    assert topic.hear(*range(1, 1000), *range(1002, 2000)) == 2
    assert topic.asked == 2


def test_a_publisher_that_follows_another_has_lost_nothing() -> None:
    topic = Topic("a")
    topic.hear(1, 2, 3)
    topic.publishers = {"b"}
    assert topic.hear(1, 2, 3) == 0
    topic.publishers = {"c"}
    assert topic.hear(700, 701, 703) == 1


def test_a_publisher_that_is_gone_has_lost_what_is_missing() -> None:
    topic = Topic("a")
    topic.hear(1, 2)
    topic.publishers = set()
    assert topic.hear(5, 6) == 2


def test_messages_that_come_again_to_a_new_subscription_are_no_losses() -> None:
    assert Topic("a").hear(1, 2, 3, 1, 2, 3, 4) == 0


def test_beside_another_publisher_nothing_is_counted_from_then_on_and_before() -> None:
    topic = Topic("a")
    assert topic.hear(1, 3) == 1
    topic.publishers = {"a", "b"}
    topic.counter.see_publishers(topic.publishers)
    assert topic.counter.lost is None and topic.counter.not_counted == SEVERAL
    topic.publishers = {"a"}
    assert topic.hear(10, 20, None) is None
    assert topic.counter.not_counted == SEVERAL


def test_a_second_publisher_that_comes_between_two_looks_is_seen_at_its_first_message() -> None:
    topic = Topic("a")
    topic.hear(1, 2)
    topic.publishers = {"a", "b"}
    assert topic.hear(77) is None


def test_without_numbers_nothing_is_counted() -> None:
    topic = Topic("a")
    assert topic.hear(None, None) is None
    assert topic.counter.not_counted == NO_NUMBERS

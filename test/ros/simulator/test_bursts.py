"""Of a burst of commands the newest is acted on, of a stream each."""

from __future__ import annotations

from typing import NamedTuple

from dvrk_kinematics.ros.rclpy_ext.polled_subscription import Arrival
from dvrk_kinematics.ros.simulator.command_queue import newest_of_bursts

MS = 1_000_000


class Command(NamedTuple):
    """As far as bursts are concerned."""

    topic: str
    is_stream: bool = False


WORDS, MOVES, SERVO = Command("words"), Command("moves"), Command("servo", is_stream=True)


def names(*arrived: tuple[float, Command, str]) -> list[str]:
    """Which of some messages, at milliseconds, of a topic, are seen."""
    made = [Arrival(round(at * MS), name, "", topic) for at, topic, name in arrived]
    return [arrival.message for arrival in newest_of_bursts(made)]


def test_of_words_sent_back_to_back_the_last_is_acted_on() -> None:
    burst = ((0.0, WORDS, "disable"), (0.1, WORDS, "enable"), (0.2, WORDS, "home"))
    assert names(*burst) == ["home"]


def test_words_that_come_one_after_the_other_are_all_acted_on() -> None:
    assert names((0.0, WORDS, "disable"), (1.0, WORDS, "enable"), (4.0, WORDS, "home")) == [
        *("disable", "enable", "home")
    ]


def test_bursts_are_those_of_one_topic() -> None:
    mixed = ((0.0, WORDS, "enable"), (0.1, MOVES, "a"), (0.2, WORDS, "home"), (0.3, MOVES, "b"))
    assert names(*mixed) == ["home", "b"]
    assert names((0.0, WORDS, "enable"), (0.1, MOVES, "a")) == ["enable", "a"]


def test_of_a_stream_all_are_applied() -> None:
    assert names((0.0, SERVO, "a"), (0.1, WORDS, "home"), (0.2, SERVO, "b")) == ["a", "home", "b"]


def test_nothing_arrived() -> None:
    assert names() == []

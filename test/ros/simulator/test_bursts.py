"""Of a burst of commands the newest is acted on, of a stream each."""

from __future__ import annotations

from dvrk_kinematics.ros.polled import Arrival
from dvrk_kinematics.ros.simulator_commands import newest_of_bursts

MS = 1_000_000
WORDS, JOINTS = object(), object()


def names(*arrived: tuple[float, object, str]) -> list[str]:
    """Which of some messages, at milliseconds, of a topic, are seen."""
    made = [Arrival(round(at * MS), name, topic) for at, topic, name in arrived]
    return [name for _, name, _ in newest_of_bursts(made)]


def test_of_words_sent_back_to_back_the_last_is_acted_on() -> None:
    burst = ((0.0, WORDS, "disable"), (0.1, WORDS, "enable"), (0.2, WORDS, "home"))
    assert names(*burst) == ["home"]


def test_words_that_come_one_after_the_other_are_all_acted_on() -> None:
    assert names((0.0, WORDS, "disable"), (1.0, WORDS, "enable"), (4.0, WORDS, "home")) == [
        *("disable", "enable", "home")
    ]


def test_bursts_are_those_of_one_topic() -> None:
    mixed = ((0.0, WORDS, "enable"), (0.1, JOINTS, "a"), (0.2, WORDS, "home"), (0.3, JOINTS, "b"))
    assert names(*mixed) == ["home", "b"]
    assert names((0.0, WORDS, "enable"), (0.1, JOINTS, "a")) == ["enable", "a"]


def test_nothing_arrived() -> None:
    assert names() == []

"""The contract is what the dVRK's own software was seen to offer, but for what is left out."""

from __future__ import annotations

import pytest
from rclpy.qos import QoSDurabilityPolicy
from recorded_graph import (
    OF_EVERY_NODE,
    RECORDINGS,
    SERVICES_OF_EVERY_NODE,
    contracted,
    is_left_out,
    recorded,
    without_left_out,
)

from dvrk_kinematics.ros.crtk.contract import CONTRACT, LEFT_OUT, Direction, Frame, Rate


@pytest.mark.parametrize("file", RECORDINGS)
@pytest.mark.parametrize("side", ["publishers", "subscribers"])
def test_topics_are_those_recorded(file: str, side: str) -> None:
    seen = {e for e in without_left_out(recorded(file)[side]) if e[0] not in OF_EVERY_NODE}
    assert contracted(*RECORDINGS[file])[side] == seen


@pytest.mark.parametrize("file", RECORDINGS)
def test_services_are_those_recorded(file: str) -> None:
    seen = {
        e
        for e in without_left_out(recorded(file)["services"])
        if e[1].split("/")[0] not in SERVICES_OF_EVERY_NODE
    }
    assert contracted(*RECORDINGS[file])["services"] == seen


def test_everything_left_out_has_a_reason_and_is_nowhere_in_the_contract() -> None:
    assert all(rule.reason for rule in LEFT_OUT)
    for file in RECORDINGS:
        for entries in contracted(*RECORDINGS[file]).values():
            assert not [e for e in entries for rule in LEFT_OUT if is_left_out(e, rule)]


def test_events_are_kept_for_late_subscribers_and_commands_never() -> None:
    topics = [topic for interface in CONTRACT.values() for topic in interface.topics]
    for topic in topics:
        is_latched = topic.qos.durability is QoSDurabilityPolicy.TRANSIENT_LOCAL
        assert is_latched == (topic.rate is Rate.EVENT), topic.name
        assert topic.qos.depth == (1 if topic.direction is Direction.SUBSCRIBED else 100)
        if topic.frame is Frame.IGNORED:
            assert topic.direction is Direction.SUBSCRIBED
        assert topic.meaning


def test_names_of_a_kind_are_told_apart() -> None:
    for interface in CONTRACT.values():
        names = [topic.name for topic in interface.topics]
        assert len(names) == len(set(names))
        assert all(interface.topic(name).name == name for name in names)

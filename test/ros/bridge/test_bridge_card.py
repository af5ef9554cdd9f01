"""The node card says what the code does, and the code does what a running bridge shows."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
from bridge_client import BridgeClient
from graph_watch import settled
from rclpy.node import Node

import dvrk_kinematics.ros
from docs.tools.node_cards.bridge_tables import TABLES
from docs.tools.node_cards.card_tables import rewrite
from dvrk_kinematics.ros.bridge.contract import ACTIONS, PUBLISHED, SUBSCRIBED, BridgeTopic
from dvrk_kinematics.ros.bridge.state_commands import COMMANDS
from dvrk_kinematics.ros.bringup.processes import Process
from dvrk_kinematics.ros.crtk.contract import type_name

CARD = Path(__file__).parents[3] / "docs" / "nodes" / "arm_bridge.md"
OF_EVERY_NODE = {"/rosout", "/parameter_events"}
HAS = {"PSM1": {"", "jaw", "tool"}, "ECM": {""}}


def test_tables_of_the_card_are_those_of_the_code() -> None:
    card = CARD.read_text(encoding="utf-8")
    assert rewrite(card) == card, "run ./dvrk python -m docs.tools.node_cards on the card"


MADE_BY = {"create_publisher", "RawPublisher", "create_subscription", "PolledSubscription"} | {
    *("subscribe", "DeferredActionServer", "ActionClient", "_States")
}
"""What makes a topic or an action."""


@pytest.mark.parametrize("room", ["bridge", "servers"])
def test_topics_and_actions_are_made_from_the_table(room: str) -> None:
    """Names, types and qualities of service stood a second time where each was made."""
    from_table, others = 0, set()
    for file in (Path(dvrk_kinematics.ros.__file__).parent / room).glob("*.py"):
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(call, ast.Call):
                continue
            made = getattr(call.func, "attr", getattr(call.func, "id", ""))
            if made not in MADE_BY:
                continue
            given = [a.value for a in call.args if isinstance(a, ast.Starred)]
            if any(isinstance(g, ast.Call) and ast.unparse(g.func).endswith(".of") for g in given):
                from_table += 1
            else:
                others.add(f"{file.name}: {made}")
    assert from_table > 5
    # It looks at what others publish, on the topics that its bridge hears already.
    assert others <= {"frames_watch.py: PolledSubscription"}


def test_every_table_is_in_the_card() -> None:
    card = CARD.read_text(encoding="utf-8")
    assert [name for name in TABLES if f"<!-- table: {name} -->" not in card] == []


@pytest.fixture(scope="module")
def bridges(run: Any, node: Node) -> None:
    for arm in HAS:
        run(Process("arm_bridge", name=f"bridge_{arm}", parameters={"arm": arm}))
    for arm in HAS:
        client = BridgeClient(node, arm)
        client.wait_diagnosed("connection")


def _name(topic: Any, arm: str) -> str:
    name = topic.name.replace("<arm>", arm)
    return name if name.startswith("/") else f"/{name}"


def _wanted(topics: tuple[BridgeTopic, ...], arm: str) -> dict[str, list[str]]:
    return {
        _name(topic, arm): [type_name(topic.message)] for topic in topics if topic.only in HAS[arm]
    }


def _own(found: list[tuple[str, list[str]]]) -> dict[str, list[str]]:
    return {
        name: kinds
        for name, kinds in found
        if name not in OF_EVERY_NODE and "/_action/" not in name
    }


@pytest.mark.parametrize("arm", list(HAS))
def test_the_topics_of_a_running_bridge_are_those_of_the_table(
    bridges: None, node: Node, arm: str
) -> None:
    bridge = (f"bridge_{arm}", "/")

    def published() -> dict[str, list[str]]:
        return _own(node.get_publisher_names_and_types_by_node(*bridge))

    def subscribed() -> dict[str, list[str]]:
        return _own(node.get_subscriber_names_and_types_by_node(*bridge))

    for look, topics in ((published, PUBLISHED), (subscribed, SUBSCRIBED)):
        wanted = _wanted(topics, arm)
        assert settled(look, wanted) == wanted


@pytest.mark.parametrize("arm", list(HAS))
def test_its_profiles_are_those_of_the_table(bridges: None, node: Node, arm: str) -> None:
    for topics, find in (
        (PUBLISHED, node.get_publishers_info_by_topic),
        (SUBSCRIBED, node.get_subscriptions_info_by_topic),
    ):
        for topic in topics:

            def look(name: str = _name(topic, arm), find: Any = find) -> list[Any]:
                return [info for info in find(name) if info.node_name == f"bridge_{arm}"]

            is_wanted = topic.only in HAS[arm]
            is_there = settled(lambda look=look: bool(look()), is_wanted)
            assert is_there == is_wanted, topic.name
            for info in look():
                profile = info.qos_profile
                assert profile.reliability == topic.profile.reliability, topic.name
                assert profile.durability == topic.profile.durability, topic.name


@pytest.mark.parametrize("arm", list(HAS))
def test_its_services_and_actions_are_those_of_the_table(
    bridges: None, node: Node, arm: str
) -> None:
    def services() -> dict[str, list[str]]:
        return dict(node.get_service_names_and_types_by_node(f"bridge_{arm}", "/"))

    def ours() -> dict[str, list[str]]:
        return {n: k for n, k in services().items() if "/bridge/" in n and "/_action/" not in n}

    def actions() -> set[str]:
        return {name.partition("/_action/")[0] for name in services() if "/_action/" in name}

    wanted = {f"/bridge/{arm}/{name}": ["std_srvs/srv/Trigger"] for name in COMMANDS}
    assert settled(ours, wanted) == wanted
    names = {_name(action, arm) for action in ACTIONS if action.only in HAS[arm]}
    assert settled(actions, names) == names

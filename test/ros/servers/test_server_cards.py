"""The node cards say what the code does, and the code does what running servers show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from dvrk_kinematics_interfaces.action import Move
from dvrk_kinematics_interfaces.msg import MotionStep
from graph_watch import settled
from motion_client import TIMEOUT_S
from rclpy.action.client import ActionClient
from rclpy.node import Node

from docs.tools.node_cards.card_tables import rewrite
from docs.tools.node_cards.server_tables import TABLES
from dvrk_kinematics.ros.bridge.contract import BridgeTopic
from dvrk_kinematics.ros.bringup.processes import Process
from dvrk_kinematics.ros.client.calls import send_goal
from dvrk_kinematics.ros.crtk.contract import type_name
from dvrk_kinematics.ros.servers.contract import ACTIONS, FRAMES, PUBLISHED, SERVICES, SUBSCRIBED

CARDS = Path(__file__).parents[3] / "docs" / "nodes"
ARM = "PSM2"
OF_EVERY_NODE = {"/rosout", "/parameter_events"}


@pytest.fixture(scope="module")
def servers(run: Any, node: Node) -> None:
    for server in TABLES:
        run(Process(server, parameters={"arms": [ARM]}))
    last = list(SERVICES)[-1]
    client = node.create_client(SERVICES[last].service, f"kinematics/{ARM}/{last}")
    assert client.wait_for_service(TIMEOUT_S)
    assert ActionClient(node, ACTIONS[-1].action, _name(ACTIONS[-1])).wait_for_server(TIMEOUT_S)


def _name(topic: Any) -> str:
    name = topic.name.replace("<arm>", ARM)
    return name if name.startswith("/") else f"/{name}"


def _own(found: list[tuple[str, list[str]]]) -> dict[str, list[str]]:
    return {
        name: kinds
        for name, kinds in found
        if name not in OF_EVERY_NODE and "/_action/" not in name
    }


def _wanted(topics: tuple[BridgeTopic, ...]) -> dict[str, list[str]]:
    return {_name(topic): [type_name(topic.message)] for topic in topics}


@pytest.mark.parametrize("server", TABLES)
def test_tables_of_the_cards_are_those_of_the_code(server: str) -> None:
    card = (CARDS / f"{server}.md").read_text(encoding="utf-8")
    assert rewrite(card) == card, "run ./dvrk python -m docs.tools.node_cards on the card"
    assert [name for name in TABLES[server] if f"<!-- table: {name} -->" not in card] == []


def wake_up(node: Node) -> None:
    """Send a goal that asks where the arm is: only then is the arm heard."""
    client = ActionClient(node, Move, f"trajectory/{ARM}/move")
    send_goal(client, Move.Goal(steps=[MotionStep(kind=MotionStep.MOVE_L)]), TIMEOUT_S)


def test_topics_of_running_servers_are_those_of_the_tables(servers: None, node: Node) -> None:
    wake_up(node)
    for server, subscribed, published in (
        ("kinematics_server", FRAMES, ()),
        ("trajectory_server", (*SUBSCRIBED, *FRAMES), PUBLISHED),
    ):
        for find, topics in (
            (node.get_subscriber_names_and_types_by_node, subscribed),
            (node.get_publisher_names_and_types_by_node, published),
        ):
            wanted = _wanted(topics)
            assert settled(lambda f=find, s=server: _own(f(s, "/")), wanted) == wanted


def test_profiles_of_running_servers_are_those_of_the_tables(servers: None, node: Node) -> None:
    wake_up(node)
    for topics, find in (
        (PUBLISHED, node.get_publishers_info_by_topic),
        ((*SUBSCRIBED, *FRAMES), node.get_subscriptions_info_by_topic),
    ):
        for topic in topics:

            def look(name: str = _name(topic), find: Any = find) -> list[Any]:
                return [info.qos_profile for info in find(name) if info.node_name in TABLES]

            assert settled(lambda look=look: bool(look()), True), topic.name
            for profile in look():
                assert profile.reliability == topic.profile.reliability, topic.name
                assert profile.durability == topic.profile.durability, topic.name


def test_services_and_actions_of_running_servers_are_those_of_the_tables(
    servers: None, node: Node
) -> None:
    find = node.get_service_names_and_types_by_node
    wanted = {
        f"/kinematics/{ARM}/{name}": [type_name(one.service)] for name, one in SERVICES.items()
    }

    def services() -> dict[str, list[str]]:
        found = find("kinematics_server", "/")
        return {name: kinds for name, kinds in found if "/kinematics/" in name}

    def actions() -> set[str]:
        names = [name for name, _ in find("trajectory_server", "/")]
        return {name.partition("/_action/")[0] for name in names if "/_action/" in name}

    assert settled(services, wanted) == wanted
    names = {_name(action) for action in ACTIONS}
    assert settled(actions, names) == names

"""On the graph the simulator is the dVRK's own process: same names, types and QoS."""

from __future__ import annotations

from typing import Any

import pytest
from graph_watch import settled
from rclpy.node import Node
from recorded_graph import OF_EVERY_NODE, RECORDINGS, describe, recorded, without_left_out

from dvrk_kinematics.ros.bringup.processes import simulated_arms


@pytest.fixture(scope="module", params=RECORDINGS)
def recording(request: pytest.FixtureRequest, run: Any) -> Any:
    """A recording, with a simulator of the same arms in a namespace of its own."""
    arms, with_suj = RECORDINGS[request.param]
    namespace = request.param.partition(".")[0]
    run(simulated_arms(arms, namespace, setup_joints=with_suj, rate=100.0))
    return request.param, namespace


def seen(node: Node, namespace: str) -> dict[str, set[tuple[str, ...]]]:
    """What the simulator of a namespace offers now, its namespace taken off."""
    there = f"/{namespace}"
    own = (node, "dvrk", there)
    publishers = Node.get_publisher_names_and_types_by_node(*own)
    subscribers = Node.get_subscriber_names_and_types_by_node(*own)
    services = Node.get_service_names_and_types_by_node(*own)
    return {
        "publishers": _endpoints(publishers, node.get_publishers_info_by_topic, there),
        "subscribers": _endpoints(subscribers, node.get_subscriptions_info_by_topic, there),
        "services": {(n.removeprefix(there), t) for n, types in services for t in types},
    }


def _endpoints(names: Any, look: Any, there: str) -> set[tuple[str, ...]]:
    return {
        (name.removeprefix(there), info.topic_type, *describe(info.qos_profile))
        for name, _ in names
        for info in look(name)
        if (info.node_namespace, info.node_name) == (there, "dvrk") and name not in OF_EVERY_NODE
    }


@pytest.mark.parametrize("side", ["publishers", "subscribers", "services"])
def test_graph_is_the_recorded_one(recording: Any, node: Node, side: str) -> None:
    file, namespace = recording
    expected = {e for e in without_left_out(recorded(file)[side]) if e[0] not in OF_EVERY_NODE}
    assert settled(lambda: seen(node, namespace)[side], expected) == expected

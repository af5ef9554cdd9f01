"""The tables of the arm bridge's node card, made from what the code declares."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rclpy.qos import QoSDurabilityPolicy, QoSProfile, QoSReliabilityPolicy

from docs.tools.node_cards.markdown_tables import make_table, parameter_table
from dvrk_kinematics.ros.bridge.contract import (
    ACTIONS,
    PUBLISHED,
    SUBSCRIBED,
    BridgeAction,
    BridgeTopic,
)
from dvrk_kinematics.ros.bridge.settings import BridgeSettings
from dvrk_kinematics.ros.bridge.state_commands import COMMANDS
from dvrk_kinematics.ros.crtk.contract import type_name

__all__ = ["TABLES", "action_table", "topic_table"]


def topic_table(topics: Sequence[BridgeTopic]) -> str:
    """Topics with their types and qualities of service."""
    rows = (
        (
            f"`{topic.name}`",
            type_name(topic.message).replace("/msg/", "/"),
            _show_profile(topic.profile),
            _with_condition(topic.meaning, topic.only),
        )
        for topic in topics
    )
    return make_table(("topic", "type", "QoS", "meaning"), rows)


def _show_profile(profile: QoSProfile) -> str:
    is_reliable = profile.reliability is QoSReliabilityPolicy.RELIABLE
    is_latched = profile.durability is QoSDurabilityPolicy.TRANSIENT_LOCAL
    kind = "reliable" if is_reliable else "best effort"
    return f"{kind}{', latched' if is_latched else ''}, {profile.depth}"


def _with_condition(meaning: str, only: str) -> str:
    return f"{meaning}; arms with a {only}" if only else meaning


def _services() -> str:
    rows = ((f"`bridge/<arm>/{name}`", meaning) for name, meaning in COMMANDS.items())
    return make_table(("service (std_srvs/Trigger)", "what it does"), rows)


def action_table(actions: Sequence[BridgeAction]) -> str:
    """Actions with their types."""
    rows = (
        (
            f"`{action.name}`",
            f"{action.action.__module__.split('.')[0]}/{action.action.__name__}",
            _with_condition(action.meaning, action.only),
        )
        for action in actions
    )
    return make_table(("action", "type", "what it does"), rows)


TABLES: dict[str, Callable[[], str]] = {
    "bridge published": lambda: topic_table(PUBLISHED),
    "bridge subscribed": lambda: topic_table(SUBSCRIBED),
    "bridge services": _services,
    "bridge actions": lambda: action_table(ACTIONS),
    "bridge parameters": lambda: parameter_table(BridgeSettings),
}
"""Every table by the name in its mark."""

"""The tables of the servers' node cards, made from what the code declares."""

from __future__ import annotations

from collections.abc import Callable

from docs.tools.node_cards.bridge_tables import action_table, topic_table
from docs.tools.node_cards.markdown_tables import make_table, parameter_table
from dvrk_kinematics.ros.crtk.contract import type_name
from dvrk_kinematics.ros.servers.contract import ACTIONS, FRAMES, PUBLISHED, SERVICES, SUBSCRIBED
from dvrk_kinematics.ros.servers.kinematics_server import KinematicsSettings
from dvrk_kinematics.ros.servers.trajectory_server import TrajectorySettings

__all__ = ["TABLES"]


def _services() -> str:
    rows = (
        (
            f"`kinematics/<arm>/{name}`",
            type_name(one.service).replace("/srv/", "/"),
            one.meaning,
        )
        for name, one in SERVICES.items()
    )
    return make_table(("service", "type", "answers"), rows)


TABLES: dict[str, dict[str, Callable[[], str]]] = {
    "kinematics_server": {
        "kinematics services": _services,
        "kinematics subscribed": lambda: topic_table(FRAMES),
        "kinematics parameters": lambda: parameter_table(KinematicsSettings),
    },
    "trajectory_server": {
        "trajectory actions": lambda: action_table(ACTIONS),
        "trajectory published": lambda: topic_table(PUBLISHED),
        "trajectory subscribed": lambda: topic_table((*SUBSCRIBED, *FRAMES)),
        "trajectory parameters": lambda: parameter_table(TrajectorySettings),
    },
}
"""For each server, every table by the name in its mark."""

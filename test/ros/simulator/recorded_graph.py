"""The graph of the dVRK's own software as it was recorded, and that of a set of arms of ours."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from rclpy.qos import QoSProfile

from dvrk_kinematics.ros.crtk.contract import CONTRACT, LEFT_OUT, Kind, namespace_of, type_name

TRUTH = Path(__file__).parents[2] / "data" / "dvrk_truth"

# Recording, its arms, and whether it has setup joints.
RECORDINGS = {
    "topics_PSM1.json": (["PSM1"], False),
    "topics_ECM.json": (["ECM"], False),
    "topics_patient_cart.json": (["PSM1", "PSM2", "PSM3", "ECM"], True),
}

# What every rclpy and rclcpp node brings along.
OF_EVERY_NODE = {"/rosout", "/parameter_events"}
SERVICES_OF_EVERY_NODE = {"rcl_interfaces", "type_description_interfaces"}

Endpoint = tuple[str, str, str, str]


def recorded(file: str) -> dict[str, set[tuple[str, ...]]]:
    """Publishers and subscribers as (name, type, reliability, durability); services by type."""
    graph = json.loads((TRUTH / file).read_text())
    endpoints = {
        side: {
            (e["topic"], e["type"], e["qos"]["reliability"], e["qos"]["durability"])
            for e in graph[side]
        }
        for side in ("publishers", "subscribers")
    }
    services = {(e["service"], t) for e in graph["services"] for t in e["types"]}
    return {**endpoints, "services": services}


def without_left_out(entries: Iterable[tuple[str, ...]]) -> set[tuple[str, ...]]:
    return {entry for entry in entries if not any(is_left_out(entry, rule) for rule in LEFT_OUT)}


def is_left_out(entry: tuple[str, ...], rule: Any) -> bool:
    return fnmatch(entry[0], rule.what) and fnmatch(entry[1], rule.types)


def describe(qos: QoSProfile) -> tuple[str, str]:
    return qos.reliability.name, qos.durability.name


def contracted(arms: Sequence[str], with_suj: bool) -> dict[str, set[tuple[str, ...]]]:
    """The graph that the contract promises for some arms."""
    groups = [(Kind(arm.rstrip("0123456789")), arm) for arm in arms]
    groups += [(Kind.SYSTEM, ""), (Kind.PROCESS, "")]
    if with_suj:
        groups += [(Kind.SETUP, ""), *((Kind.SUJ, arm) for arm in arms)]
    graph: dict[str, set[tuple[str, ...]]] = {
        "publishers": set(),
        "subscribers": set(),
        "services": set(),
    }
    for kind, arm in groups:
        start = "/" + namespace_of(kind, arm).lstrip("/")
        for topic in CONTRACT[kind].topics:
            side = "publishers" if topic.is_published else "subscribers"
            entry = (start + topic.name, type_name(topic.message), *describe(topic.qos))
            graph[side].add(entry)
        for service in CONTRACT[kind].services:
            graph["services"].add((start + service.name, type_name(service.service)))
    return graph

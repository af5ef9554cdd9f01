"""The tables of the arm simulator's node card, made from what the code declares."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.qos import QoSDurabilityPolicy

from docs.tools.node_cards.markdown_tables import make_table, parameter_table
from docs.tools.node_cards.process_deviations import PROCESS_DEVIATIONS
from dvrk_kinematics.ros.crtk.contract import (
    CONTRACT,
    LEFT_OUT,
    Kind,
    Rate,
    Topic,
    namespace_of,
    type_name,
)
from dvrk_kinematics.ros.simulator.faults import FAULT_SERVICES
from dvrk_kinematics.ros.simulator.settings import SimulatorSettings
from dvrk_kinematics.simulation.deviations import DEVIATIONS

__all__ = ["TABLES"]


def _topics(kind: Kind, is_published: bool) -> str:
    head = ("topic", "type", "when" if is_published else "depth", "frame_id", "meaning")
    return make_table(
        head,
        (
            (
                f"`{namespace_of(kind, '<arm>')}{topic.name}`",
                type_name(topic.message).replace("/msg/", "/"),
                _when(topic) if is_published else str(topic.qos.depth),
                f"`{topic.frame.value}`" if "<" in topic.frame.value else topic.frame.value,
                topic.meaning,
            )
            for topic in CONTRACT[kind].topics
            if topic.is_published == is_published
        ),
    )


def _when(topic: Topic) -> str:
    is_latched = topic.qos.durability is QoSDurabilityPolicy.TRANSIENT_LOCAL
    when = "at once" if topic.rate is Rate.EVENT else f"`{topic.rate.value}`"
    return f"{when}{', latched' if is_latched else ''}"


def _services(kind: Kind) -> str:
    return make_table(
        ("service", "type", "meaning"),
        (
            (
                f"`{namespace_of(kind, '<arm>')}{service.name}`",
                type_name(service.service).replace("/srv/", "/"),
                service.meaning,
            )
            for service in CONTRACT[kind].services
        ),
    )


def _faults() -> str:
    return make_table(
        ("service (std_srvs/Trigger)", "what happens"),
        ((f"`~/faults/<arm>/{name}`", text) for name, text in FAULT_SERVICES.items()),
    )


def _left_out() -> str:
    return make_table(
        ("name", "types", "why"),
        ((f"`{rule.what}`", f"`{rule.types}`", rule.reason) for rule in LEFT_OUT),
    )


def _deviations() -> str:
    return make_table(
        ("when", "the dVRK", "here"),
        ((one.when, one.dvrk, one.here) for one in (*DEVIATIONS, *PROCESS_DEVIATIONS)),
    )


TABLES: dict[str, Callable[[], str]] = {
    "PSM published": lambda: _topics(Kind.PSM, True),
    "PSM subscribed": lambda: _topics(Kind.PSM, False),
    "ECM published": lambda: _topics(Kind.ECM, True),
    "ECM subscribed": lambda: _topics(Kind.ECM, False),
    "arm services": lambda: _services(Kind.PSM),
    "SUJ published": lambda: _topics(Kind.SUJ, True),
    "SUJ subscribed": lambda: _topics(Kind.SUJ, False),
    "SETUP subscribed": lambda: _topics(Kind.SETUP, False),
    "SYSTEM published": lambda: _topics(Kind.SYSTEM, True),
    "SYSTEM subscribed": lambda: _topics(Kind.SYSTEM, False),
    "PROCESS published": lambda: _topics(Kind.PROCESS, True),
    "parameters": lambda: parameter_table(SimulatorSettings),
    "faults": _faults,
    "left out": _left_out,
    "deviations": _deviations,
}
"""Every table of the simulator's card by the name in its mark."""

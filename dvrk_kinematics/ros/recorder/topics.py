"""Which topics to record, and with which quality of service.

The list is config/recording/topics.yaml. It also yields the overrides file that ``ros2 bag
record`` needs; without it, that command would miss messages latched before it started.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

import yaml
from rclpy.qos import QoSDurabilityPolicy, QoSProfile, QoSReliabilityPolicy

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.models.model_files import find_models_dir
from dvrk_kinematics.models.read_yaml import Node, read_yaml

__all__ = [
    "STANDARD",
    "RecordedTopic",
    "choose_topics",
    "find_topics_file",
    "find_unheard",
    "qos_overrides",
    "resolve",
    "standard_topics",
]

STANDARD = "standard"
"""The word for all topics of the file."""

_QUEUE = 1000
"""Messages that may wait to be written: 5 s of a topic at 200 Hz."""

_ARM = "<arm>"

_OWN = ("measured_js", "operating_state")
"""Topics that only the arm itself publishes."""


@dataclass(frozen=True, slots=True)
class RecordedTopic:
    """One topic to record.

    Attributes:
        name: Its name on the graph, absolute.
        type_name: Its type, such as ``std_msgs/msg/String``; "" if only its publisher knows.
        latched: How many messages it keeps for late subscribers; 0 if it is not latched.
    """

    name: str
    type_name: str = ""
    latched: int = 0

    @property
    def qos(self) -> QoSProfile:
        """The QoS to request: all messages, and the latched ones if there may be any."""
        latched = QoSDurabilityPolicy.TRANSIENT_LOCAL
        may_be_latched = self.latched or not self.type_name
        return QoSProfile(
            depth=max(self.latched, _QUEUE),
            reliability=QoSReliabilityPolicy.RELIABLE,
            durability=latched if may_be_latched else QoSDurabilityPolicy.VOLATILE,
        )

    @property
    def played_depth(self) -> int:
        """Queue depth for publishing it when the bag is played."""
        return self.latched or _QUEUE


def find_topics_file() -> Path:
    """Return the file with the standard topics."""
    return find_models_dir().parent / "recording" / "topics.yaml"


def standard_topics(
    arms: Iterable[str], namespace: str = "", file: Path | None = None
) -> list[RecordedTopic]:
    """Return the topics of the file for some arms.

    Args:
        arms: Their names, such as ``PSM1`` or ``SUJ/PSM1``.
        namespace: Where relative names begin; "" for the root.
        file: The file; the project's own by default.

    Raises:
        ModelError: If the file is wrong.
    """
    root = read_yaml(file or find_topics_file())
    root.keys(("arm", "everywhere"))
    found = [(name.replace(_ARM, arm), node) for arm in arms for name, node in root["arm"].items()]
    found += root["everywhere"].items()
    return [_read(resolve(name, namespace), node) for name, node in found]


def _read(name: str, node: Node) -> RecordedTopic:
    node.keys(("type",), ("latched",))
    latched = node["latched"].number() if "latched" in node else 0.0
    if latched < 0 or latched != int(latched):
        raise node.error(f"latched must be a whole number of messages, is {latched:g}")
    return RecordedTopic(name, node["type"].text(), int(latched))


def choose_topics(
    arms: Iterable[str], names: Iterable[str], namespace: str = ""
) -> list[RecordedTopic]:
    """Return the topics that a user requests, the latched ones first.

    Args:
        arms: Arms whose standard topics are meant.
        names: Names of topics; the word "standard" stands for those of the file.
        namespace: Where relative names begin; "" for the root.

    Raises:
        InvalidInput: If nothing is left to record.
        ModelError: If the file is wrong.
    """
    standard = {topic.name: topic for topic in standard_topics(arms, namespace)}
    chosen: dict[str, RecordedTopic] = {}
    for name in names:
        full = resolve(name, namespace)
        chosen |= standard if name == STANDARD else {full: standard.get(full, RecordedTopic(full))}
    if not chosen:
        raise InvalidInput("topics", f"none given; name some, or {STANDARD!r}")
    return sorted(chosen.values(), key=lambda topic: not topic.latched)


def find_unheard(
    arms: Iterable[str], names: Iterable[str], namespace: str, recorded: Collection[str]
) -> list[str]:
    """Return the arms that a user requested and that were never heard.

    Only topics that the arm alone publishes count; its description comes from its bridge, and
    commands from anybody.

    Args:
        arms: Arms whose standard topics are meant.
        names: Names of topics; arms count only where "standard" is among them.
        namespace: Where relative names begin; "" for the root.
        recorded: Absolute names of the topics with recorded messages.
    """
    if STANDARD not in names:
        return []
    return [
        arm
        for arm in dict.fromkeys(arms)
        if not any(resolve(f"{arm}/{own}", namespace) in recorded for own in _OWN)
    ]


def resolve(name: str, namespace: str) -> str:
    """Return the absolute name of a topic.

    Args:
        name: Relative or absolute.
        namespace: Where relative names begin; "" for the root.
    """
    if name.startswith("/"):
        return name
    start = namespace.strip("/")
    return f"/{start}/{name}" if start else f"/{name}"


def qos_overrides(topics: Iterable[RecordedTopic]) -> str:
    """Return the YAML that ``ros2 bag record --qos-profile-overrides-path`` reads.

    Topics whose type only the publisher knows are left to rosbag2, which then adopts the
    publisher's QoS.
    """
    profiles = {
        topic.name: {
            "history": "keep_last",
            "depth": topic.qos.depth,
            "reliability": "reliable",
            "durability": "transient_local" if topic.latched else "volatile",
        }
        for topic in topics
        if topic.type_name
    }
    return yaml.safe_dump(profiles, sort_keys=False)

"""The words in which the contract is written: kinds of arms, topics, services, frames."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from rclpy.qos import QoSProfile

__all__ = ["Direction", "Frame", "Interface", "Kind", "LeftOut", "Rate", "Service", "Topic"]


class Kind(str, Enum):
    """What a group of topics belongs to."""

    PSM = "PSM"
    ECM = "ECM"
    ARM = "ARM"
    """A plain serial arm, without a tool that comes and goes and without a cannula."""
    SUJ = "SUJ"
    """One setup joint arm, named for the arm that it carries."""
    SETUP = "SETUP"
    """All setup joints together."""
    SYSTEM = "SYSTEM"
    PROCESS = "PROCESS"
    """What the process publishes outside of any namespace."""


class Direction(Enum):
    """Who sends, seen from the robot."""

    PUBLISHED = "published"
    SUBSCRIBED = "subscribed"


class Rate(Enum):
    """When a message is sent."""

    STATE = "rate"
    """Periodically; skipped while nobody subscribes."""
    SETUP = "setup_joint_rate"
    """Periodically, as setup joints do; skipped while nobody subscribes."""
    TF = "tf_rate"
    """Periodically; skipped while nobody subscribes."""
    EVENT = "event"
    """At once when something happens, and kept for those who come later."""
    COMMAND = "command"
    """When a client likes."""


class Frame(Enum):
    """What stands in header.frame_id."""

    NONE = "none"
    """The message has no header, or its frame_id is empty."""
    LOCAL = "<arm>_base"
    """The arm's own base, whatever it stands on."""
    BASE = "base frame"
    """The frame that the base frame was given in; ``<arm>_base`` if nobody gave one."""
    IGNORED = "ignored"
    """A command: read as in BASE, whatever the client writes."""


@dataclass(frozen=True, slots=True)
class Topic:
    """One topic.

    Attributes:
        name: Name relative to the namespace.
        message: The message class.
        direction: Who sends.
        rate: When.
        qos: Quality of service at the robot's end.
        frame: Rule of header.frame_id.
        meaning: What it says, in a few words.
    """

    name: str
    message: Any
    direction: Direction
    rate: Rate
    qos: QoSProfile
    frame: Frame
    meaning: str

    @property
    def is_published(self) -> bool:
        """Whether the robot sends it."""
        return self.direction is Direction.PUBLISHED


@dataclass(frozen=True, slots=True)
class Service:
    """One service; name and meaning as in a Topic."""

    name: str
    service: Any
    meaning: str


@dataclass(frozen=True, slots=True)
class Interface:
    """All topics and services of one kind."""

    topics: tuple[Topic, ...]
    services: tuple[Service, ...] = ()

    @property
    def published(self) -> Iterator[Topic]:
        """Topics that the robot sends."""
        return (topic for topic in self.topics if topic.is_published)

    @property
    def subscribed(self) -> Iterator[Topic]:
        """Topics that the robot hears."""
        return (topic for topic in self.topics if not topic.is_published)

    def topic(self, name: str) -> Topic:
        """The topic of that name."""
        return next(topic for topic in self.topics if topic.name == name)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something of the dVRK's own graph that is not in the contract.

    Attributes:
        what: Its name, or a pattern of names (``*`` for anything).
        types: A pattern of the types' names.
        reason: Why.
    """

    what: str
    types: str
    reason: str

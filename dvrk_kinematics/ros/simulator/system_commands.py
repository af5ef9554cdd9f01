"""Commands to the system as a whole: power, homing, and sounds that are only told."""

from __future__ import annotations

from collections.abc import Callable
from math import isnan
from typing import Any

from dvrk_kinematics.ros.simulator.event_publishers import EventPublishers
from dvrk_kinematics.simulation import Event, SimulatedSystem

__all__ = ["SystemCommands"]


class SystemCommands:
    """What the topics below ``system/`` do.

    Args:
        system: The arms.
        events: Where the volume is told.
        logger: Where a text to be spoken is written.

    Attributes:
        by_topic: The method behind every topic.
    """

    def __init__(self, system: SimulatedSystem, events: EventPublishers, logger: Any) -> None:
        self._events = events
        self._logger = logger
        self.by_topic: dict[str, Callable[..., None]] = {
            "power_on": system.power_on,
            "power_off": system.power_off,
            "home": system.home,
            "set_volume": self.set_volume,
            "beep": self.beep,
            "string_to_speech": self.string_to_speech,
        }

    def set_volume(self, volume: float) -> None:
        """Take a volume, kept between 0 and 1; what is not a number changes nothing."""
        if isnan(volume):
            return
        self._events.publish([Event("volume", min(max(volume, 0.0), 1.0))])

    def beep(self, _: list[float]) -> None:
        """Heard, and nothing more: a simulated arm has no loudspeaker."""

    def string_to_speech(self, text: str) -> None:
        """Write what the dVRK would say."""
        self._logger.info(f"says: {text}")

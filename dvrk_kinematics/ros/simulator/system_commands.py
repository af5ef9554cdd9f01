"""Commands to the system as a whole: power, homing, and sounds that are only reported."""

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
        events: Publishes the volume.
        logger: Logs the text to be spoken.

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
        """Set the volume, limited to between 0 and 1; NaN changes nothing."""
        if isnan(volume):
            return
        self._events.publish([Event("volume", min(max(volume, 0.0), 1.0))])

    def beep(self, _: list[float]) -> None:
        """Do nothing: a simulated arm has no loudspeaker."""

    def string_to_speech(self, text: str) -> None:
        """Log what the dVRK would say."""
        self._logger.info(f"says: {text}")

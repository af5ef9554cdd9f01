"""Collects an arm's events, and limits how often it warns."""

from __future__ import annotations

from dvrk_kinematics.simulation.readings import Event, EventValue

__all__ = ["Reporter"]

_SILENCE_S = 2.0
"""How long the dVRK stays silent about further refused commands (ArmIsReady)."""


class Reporter:
    """Collects the events of one arm.

    Args:
        speaker: The prefix of texts: "PSM1", or "PSM1 SUJ" for setup joints.
    """

    def __init__(self, speaker: str) -> None:
        self.speaker = speaker
        self._events: list[Event] = []
        self._refused = 0
        self._last_refusal_s: float | None = None

    def event(self, topic: str, value: EventValue) -> None:
        """Adds an event."""
        self._events.append(Event(topic, value))

    def status(self, text: str) -> None:
        """Adds a status text, prefixed with the speaker's name."""
        self._events.append(Event("status", f"{self.speaker}: {text}"))

    def warning(self, text: str) -> None:
        """Adds a warning, prefixed with the speaker's name."""
        self._events.append(Event("warning", f"{self.speaker}: {text}"))

    def error(self, text: str) -> None:
        """Adds an error, prefixed with the speaker's name."""
        self._events.append(Event("error", f"{self.speaker}: {text}"))

    def refuse(self, command: str, now_s: float) -> None:
        """Warns that the arm is not ready: once in two seconds, with the number of refusals.

        Args:
            command: The command as the dVRK names it ("jaw_servo_jp").
            now_s: The time (s).
        """
        last = self._last_refusal_s
        if last is None or now_s - last > _SILENCE_S:
            count = f" ({self._refused} errors)" if self._refused > 1 else ""
            self.warning(f"{command}, arm not ready{count}")
            self._last_refusal_s = now_s
        self._refused += 1

    def accepted(self) -> None:
        """A command was accepted: the next refusal is reported at once again."""
        self._refused = 0
        self._last_refusal_s = None

    def take(self) -> list[Event]:
        """The events since the last call."""
        events, self._events = self._events, []
        return events

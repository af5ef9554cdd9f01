"""Deliberate faults, for tests and teaching."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

__all__ = ["Fault", "FaultInjector", "FaultKind"]


class FaultKind(str, Enum):
    """The faults that can be injected."""

    POWER_LOSS = "power_loss"
    """Motor power is lost, as when the safety chain opens."""
    STALLED_JOINT = "stalled_joint"
    """A joint stops following its set-point, for ``duration_s`` or until cleared."""
    ENCODER_JUMP = "encoder_jump"
    """A measured position is off by ``value`` until the arm is homed again."""
    TOOL_REMOVED = "tool_removed"
    """The tool is taken off (PSM)."""
    NONE = "none"
    """Ends all injected faults; puts back a tool that was taken off."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault.

    Attributes:
        kind: What goes wrong.
        joint: Name of the joint ("jaw" too), for a stalled joint or an encoder jump; empty for the
            first.
        value: Size of an encoder jump (rad, m).
        duration_s: How long a joint stalls (s); 0 until cleared with NONE.
    """

    kind: FaultKind
    joint: str = ""
    value: float = 0.0
    duration_s: float = 0.0


class FaultInjector:
    """Changes the measurement according to the injected faults."""

    def __init__(self) -> None:
        self._stalled: dict[int, tuple[float, float]] = {}
        self._offsets: dict[int, float] = {}

    def stall(self, joint: int, position: float, until_s: float) -> None:
        """Keeps a joint where it is until a time (s).

        Args:
            joint: Index of the joint.
            position: Its measured position (rad, m), encoder jumps included.
            until_s: When it follows again (s).
        """
        self._stalled[joint] = (position - self._offsets.get(joint, 0.0), until_s)

    def offset(self, joint: int, value: float) -> None:
        """Adds an offset to a joint's measured position (rad, m)."""
        self._offsets[joint] = self._offsets.get(joint, 0.0) + value

    def clear(self) -> None:
        """Ends everything."""
        self._stalled.clear()
        self._offsets.clear()

    def clear_offsets(self) -> None:
        """Ends encoder jumps: the encoders are biased again."""
        self._offsets.clear()

    def truth(self, measured: list[float]) -> list[float]:
        """True joint positions for measured ones."""
        return [value - self._offsets.get(joint, 0.0) for joint, value in enumerate(measured)]

    def apply(
        self, position: list[float], velocity: list[float], now_s: float
    ) -> tuple[list[float], list[float]]:
        """The faulty measurement for the plant's true state."""
        if not self._stalled and not self._offsets:
            return position, velocity
        position, velocity = list(position), list(velocity)
        for joint, (where, until_s) in list(self._stalled.items()):
            if now_s >= until_s:
                del self._stalled[joint]
                continue
            position[joint], velocity[joint] = where, 0.0
        for joint, value in self._offsets.items():
            position[joint] += value
        return position, velocity

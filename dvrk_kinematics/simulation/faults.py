"""Faults on purpose, for tests and teaching."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

__all__ = ["Fault", "FaultKind"]


class FaultKind(str, Enum):
    """What can be made to go wrong."""

    POWER_LOSS = "power_loss"
    """Motor power goes, as when the safety chain opens."""
    STALLED_JOINT = "stalled_joint"
    """A joint stops following its set-point, for ``duration_s`` or until cleared."""
    ENCODER_JUMP = "encoder_jump"
    """A measured position is off by ``value`` from now on."""
    TOOL_REMOVED = "tool_removed"
    """The tool is taken off (PSM)."""
    NONE = "none"
    """Ends what was injected before."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault.

    Attributes:
        kind: What goes wrong.
        joint: Name of the joint, for a stalled joint or an encoder jump.
        value: Size of an encoder jump (rad, m).
        duration_s: How long a joint stalls (s); 0 until cleared with NONE.
    """

    kind: FaultKind
    joint: str = ""
    value: float = 0.0
    duration_s: float = 0.0

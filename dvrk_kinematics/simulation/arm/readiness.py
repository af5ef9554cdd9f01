"""Whether an arm's joints and tip are known and can be moved."""

from __future__ import annotations

from dvrk_kinematics.simulation.control.mechanism import Mechanism

__all__ = ["Readiness"]


class Readiness:
    """Motor power, and what is known of joints and tip.

    Args:
        mechanism: Tells whether there is a tip.

    Attributes:
        is_powered: Whether motors have power.
        is_biased: Whether encoders are set, so that joint positions are known.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        self._mechanism = mechanism
        self.is_powered = False
        self.is_biased = False

    @property
    def joints(self) -> bool:
        """Whether joints are known and powered."""
        return self.is_powered and self.is_biased

    @property
    def tip(self) -> bool:
        """Whether the tip is, too."""
        return self.joints and self._mechanism.is_engaged

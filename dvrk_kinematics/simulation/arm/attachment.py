"""What comes and goes at the end of an arm."""

from __future__ import annotations

from dvrk_kinematics.simulation.control.operating_state import SubState

__all__ = ["Attachment"]


class Attachment:
    """What is attached to an arm, and what that does to its states; here it is nothing."""

    def on_homed(self) -> None:
        """Acts when the arm enters HOMED."""

    def next_state(self, sub_state: SubState) -> SubState | None:
        """What follows by itself from HOMED, or from a state that leads back to it.

        Args:
            sub_state: The state now.

        Returns:
            The state to enter now; None to stay.
        """
        return None

    def show(self, present: bool) -> None:
        """Takes it off, or puts it on."""

    def put_back(self) -> None:
        """Puts it on if it was taken off."""

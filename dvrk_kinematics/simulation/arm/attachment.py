"""The exchangeable attachment at the end of an arm."""

from __future__ import annotations

from dvrk_kinematics.simulation.control.operating_state import SubState

__all__ = ["Attachment"]


class Attachment:
    """An arm's attachment, and its effect on the arm's states; here there is none."""

    def on_homed(self) -> None:
        """Acts when the arm enters HOMED."""

    def next_state(self, sub_state: SubState) -> SubState | None:
        """Return the state that follows on its own from HOMED, or on the way back to it.

        Args:
            sub_state: The current state.

        Returns:
            The state to enter now; None to stay.
        """
        return None

    def show(self, present: bool) -> None:
        """Takes it off, or puts it on."""

    def put_back(self) -> None:
        """Puts it on if it was taken off."""

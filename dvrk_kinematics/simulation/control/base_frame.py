"""Where the base of an arm is, for the poses that it reports."""

from __future__ import annotations

import numpy as np

from dvrk_kinematics.geometry.arrays import Array, frozen
from dvrk_kinematics.simulation.control.memo import Memo

__all__ = ["IDENTITY", "BaseFrame"]

IDENTITY = frozen(np.eye(4))
"""The one array that stands for no base frame: it saves the product."""


class BaseFrame:
    """The base of an arm in a frame of reference.

    Args:
        arm: Name of the arm.
        T: Its pose in ``frame_id``, shape (4, 4); None for the identity.
        frame_id: The frame of reference; ``<arm>_base`` if empty.
        memo: Forgets results computed with another base.

    Attributes:
        local_frame_id: The arm's own base, whatever it stands on.
        frame_id: The frame of reference.
        T: The base in it, shape (4, 4); ``IDENTITY`` itself where it is the identity.
        is_valid: Whether to believe it.
    """

    def __init__(self, arm: str, T: Array | None, frame_id: str, memo: Memo) -> None:
        self._memo = memo
        self.local_frame_id = f"{arm}_base"
        self.frame_id = frame_id or self.local_frame_id
        self.T = IDENTITY if T is None else frozen(T)
        self.is_valid = True

    def place(self, T: Array, frame_id: str, is_valid: bool) -> None:
        """Takes over a base.

        Args:
            T: Its pose in ``frame_id``, shape (4, 4), read-only.
            frame_id: The frame of reference; may be empty.
            is_valid: Whether to believe it.
        """
        self.T = IDENTITY if np.array_equal(T, IDENTITY) else T
        self.frame_id, self.is_valid = frame_id, is_valid
        self._memo.forget()

    def carry(self, T: Array, frame_id: str, is_valid: bool) -> None:
        """Takes over the base that setup joints report; see ``place``.

        It takes over an invalid base only after a valid one: before that, the arm keeps its own
        frame, and its poses are invalid.
        """
        if is_valid:
            self.place(T, frame_id, True)
        elif self.is_valid:
            self.place(self.T, self.frame_id, False)

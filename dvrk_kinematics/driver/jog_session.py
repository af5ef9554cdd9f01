"""A jog from its first command to its end."""

from __future__ import annotations

from dataclasses import dataclass

from dvrk_kinematics.driver.jog_command import JogSpace
from dvrk_kinematics.driver.jog_motion import JogMotion
from dvrk_kinematics.driver.jog_walk import Walk
from dvrk_kinematics.driver.reasons import Finding, Reason
from dvrk_kinematics.geometry.arrays import Array

__all__ = ["OWN_ENDS", "JogSession"]

OWN_ENDS = (Reason.JOG_ENDED, Reason.JOG_TIMEOUT)
"""Ends by the client's own hand: it may go on at once."""


@dataclass(slots=True)
class JogSession:
    """A jog from its first command to its end.

    Attributes:
        space: What it moves; the same until its end.
        walk: Where it is.
        motion: How it moves.
        wanted: Velocity to come to, in the walk's own words.
        reduced_by: Why that is less than was asked for; None if it is not.
        why_stopping: Why it is being stopped; None if it is not.
    """

    space: JogSpace
    walk: Walk
    motion: JogMotion
    wanted: Array
    reduced_by: Finding | None = None
    why_stopping: Finding | None = None

    @property
    def is_ours_to_end(self) -> bool:
        """Whether nobody but the client stops it."""
        return self.why_stopping is None or self.why_stopping.reason in OWN_ENDS

"""What became of a goal, as the action server will say it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from enum import Enum

from dvrk_kinematics.driver.reasons import Finding, Reason, ResultCode
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.motion.spline import Sample

__all__ = ["Feedback", "GoalResult", "GoalStatus", "make_result"]


class GoalStatus(Enum):
    """How an action ends."""

    SUCCEEDED = "succeeded"
    CANCELED = "canceled"
    ABORTED = "aborted"


_STATUS = {Reason.REACHED: GoalStatus.SUCCEEDED, Reason.CANCELLED: GoalStatus.CANCELED}


@dataclass(frozen=True, slots=True)
class GoalResult:
    """The end of a goal.

    Attributes:
        goal_id: Which goal.
        status: How it ended.
        finding: Why, with data.
        lateness_s: How much later than asked for it came to its end, or where it was stopped (s):
            joining that took longer, ticks that came late, corners that were rounded.
    """

    goal_id: Hashable
    status: GoalStatus
    finding: Finding
    lateness_s: float

    @property
    def error_code(self) -> ResultCode:
        """The action's error code."""
        return self.finding.code

    @property
    def error_string(self) -> str:
        """The action's text: the reason with its data, and the lateness."""
        return f"{self.finding}; {self.lateness_s * 1e3:.1f} ms late"


def make_result(goal_id: Hashable, finding: Finding, lateness_s: float) -> GoalResult:
    """Make the result that a finding leads to."""
    status = _STATUS.get(finding.reason, GoalStatus.ABORTED)
    return GoalResult(goal_id, status, finding, lateness_s)


@dataclass(frozen=True, slots=True)
class Feedback:
    """Where a goal is.

    Attributes:
        goal_id: Which goal.
        time_s: Time along the path (s).
        desired: What is commanded.
        measured_q: Where the joints are (rad, m), shape (n,).
    """

    goal_id: Hashable
    time_s: float
    desired: Sample
    measured_q: Array

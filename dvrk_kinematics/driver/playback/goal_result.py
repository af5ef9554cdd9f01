"""The outcome of a goal, as the action server will report it."""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass
from enum import Enum

from dvrk_kinematics.driver.reasons import Finding, Reason, ResultCode
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.motion.spline import Sample

__all__ = [
    "Feedback",
    "GoalResult",
    "GoalStatus",
    "describe_slow_downs",
    "make_result",
    "read_slow_downs",
]


def describe_slow_downs(count: int) -> str:
    """Describe how often a motion was slowed down, at least once."""
    return f"slowed down {'once' if count == 1 else f'{count} times'}"


def read_slow_downs(text: str) -> int:
    """Read how often the motion was slowed down from the text of a result.

    The standard result of FollowJointTrajectory has no field for it.
    """
    found = re.search(r"slowed down (?:(once)|(\d+) times)", text)
    if found is None:
        return 0
    return 1 if found[1] else int(found[2])


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
        lateness_s: How much later than requested it ended, or reached the place where it was
            stopped (s): through longer joining, late ticks, rounded corners or a lower speed.
        slow_downs: How many times lateness of the arm or of the loop slowed it down.
    """

    goal_id: Hashable
    status: GoalStatus
    finding: Finding
    lateness_s: float
    slow_downs: int = 0

    @property
    def error_code(self) -> ResultCode:
        """The action's error code."""
        return self.finding.code

    @property
    def error_string(self) -> str:
        """The text of the result: why, how late, and how often it was slowed down."""
        text = f"{self.finding}; {self.lateness_s * 1e3:.1f} ms late"
        return text if not self.slow_downs else f"{text}; {describe_slow_downs(self.slow_downs)}"


def make_result(
    goal_id: Hashable, finding: Finding, lateness_s: float, slow_downs: int = 0
) -> GoalResult:
    """Make the result of a finding."""
    status = _STATUS.get(finding.reason, GoalStatus.ABORTED)
    return GoalResult(goal_id, status, finding, lateness_s, slow_downs)


@dataclass(frozen=True, slots=True)
class Feedback:
    """The progress of a goal.

    Attributes:
        goal_id: Which goal.
        time_s: Time along the path (s).
        desired: The commanded state.
        measured_q: Measured joint positions (rad, m), shape (n,).
        measured_qd: Measured velocities (rad/s, m/s), shape (n,); None if not reported.
        speed: Fraction of its planned speed at which it is being played, 0 to 1.
    """

    goal_id: Hashable
    time_s: float
    desired: Sample
    measured_q: Array
    measured_qd: Array | None
    speed: float

"""A goal that is being played: where on its path it is, and how late."""

from __future__ import annotations

from dataclasses import dataclass

from dvrk_kinematics.driver.goal import PreparedGoal
from dvrk_kinematics.driver.path import PathClock
from dvrk_kinematics.driver.reasons import Finding
from dvrk_kinematics.driver.result import GoalResult, make_result

__all__ = ["PlayingGoal"]


@dataclass(slots=True)
class PlayingGoal:
    """A goal that is being played.

    Attributes:
        prepared: The goal.
        clock: Where on its path it is.
        started_ns: When it started (monotonic).
        ended_ns: When its path came to an end; None before that.
        why_stopping: Why it is being stopped; None if it is not.
        slow_downs: How many times lateness had slowed motions before this one.
    """

    prepared: PreparedGoal
    clock: PathClock
    started_ns: int
    ended_ns: int | None = None
    why_stopping: Finding | None = None
    slow_downs: int = 0

    def make_result(self, finding: Finding, now_ns: int, slow_downs: int) -> GoalResult:
        """Make the result of a goal that ends here.

        Args:
            finding: Why it ends.
            now_ns: Time of the last tick (monotonic).
            slow_downs: How many times lateness has slowed motions until now.
        """
        end_ns = now_ns if self.ended_ns is None else self.ended_ns
        clock, prepared = self.clock, self.prepared
        # What of the goal's own time was played: all but the part that only joined.
        planned_s = prepared.duration_s - max(clock.path.duration_s - clock.time_s, 0.0)
        lateness_s = max((end_ns - self.started_ns) * 1e-9 - planned_s, 0.0)
        slowed = slow_downs - self.slow_downs
        return make_result(prepared.goal.goal_id, finding, lateness_s, slowed)

"""Turns goals into motions and plays them, tick by tick."""

from dvrk_kinematics.driver.playback.goal import (
    Goal,
    PreparedGoal,
    prepare_goal,
)
from dvrk_kinematics.driver.playback.goal_result import (
    Feedback,
    GoalResult,
    GoalStatus,
)
from dvrk_kinematics.driver.playback.knots import Knots
from dvrk_kinematics.driver.playback.speed_scaling import SpeedScaling

__all__ = [
    "Feedback",
    "Goal",
    "GoalResult",
    "GoalStatus",
    "Knots",
    "PreparedGoal",
    "SpeedScaling",
    "prepare_goal",
]

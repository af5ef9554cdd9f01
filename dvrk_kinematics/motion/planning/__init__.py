"""Planning: segments solved, proven, knotted, and compared with what is played."""

from dvrk_kinematics.motion.planning.contour import ContourErrors
from dvrk_kinematics.motion.planning.flight_plan import FlightPlan
from dvrk_kinematics.motion.planning.planner import (
    Plan,
    Planner,
    PlanOptions,
    plan_motion,
)
from dvrk_kinematics.motion.planning.progress import (
    PlanningProgress,
    PlanningWatch,
)
from dvrk_kinematics.motion.planning.timed_path import TimedPath
from dvrk_kinematics.motion.planning.tip_follower import (
    Following,
    FollowingFigures,
    TipFollower,
)

__all__ = [
    "ContourErrors",
    "FlightPlan",
    "Following",
    "FollowingFigures",
    "Plan",
    "PlanOptions",
    "Planner",
    "PlanningProgress",
    "PlanningWatch",
    "TimedPath",
    "TipFollower",
    "plan_motion",
]

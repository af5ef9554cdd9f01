"""The driver of an arm, without ROS and without a clock of its own: a player and a guard.

::

    guard = Guard(port, guard_settings)
    player = Player(guard, player_settings)
    while True:                                   # every 5 ms
        player.tick(monotonic_ns())
"""

from dvrk_kinematics.driver.goal_tolerances import GoalTolerances, StateTolerance, no_tolerance
from dvrk_kinematics.driver.guard.guard import Guard
from dvrk_kinematics.driver.jog.jog import Jog
from dvrk_kinematics.driver.jog.jog_command import JogCommand, JogSettings, JogSpace
from dvrk_kinematics.driver.playback.goal import Goal, PreparedGoal, prepare_goal
from dvrk_kinematics.driver.playback.goal_result import Feedback, GoalResult, GoalStatus
from dvrk_kinematics.driver.playback.knots import Knots
from dvrk_kinematics.driver.playback.player import Player
from dvrk_kinematics.driver.port import ArmPort, ArmState, OperatingState
from dvrk_kinematics.driver.reasons import (
    HOLD_ALONE,
    OWN_CODES,
    STOPS,
    Finding,
    Reason,
    ResultCode,
    StopKind,
)
from dvrk_kinematics.driver.settings import GuardSettings, PlayerSettings
from dvrk_kinematics.motion.cannula import CannulaRule, make_cannula_rule
from dvrk_kinematics.motion.limits import MotionLimits, make_motion_limits
from dvrk_kinematics.motion.spline import Sample

__all__ = [
    "HOLD_ALONE",
    "OWN_CODES",
    "STOPS",
    "ArmPort",
    "ArmState",
    "CannulaRule",
    "Feedback",
    "Finding",
    "Goal",
    "GoalResult",
    "GoalStatus",
    "GoalTolerances",
    "Guard",
    "GuardSettings",
    "Jog",
    "JogCommand",
    "JogSettings",
    "JogSpace",
    "Knots",
    "MotionLimits",
    "OperatingState",
    "Player",
    "PlayerSettings",
    "PreparedGoal",
    "Reason",
    "ResultCode",
    "Sample",
    "StateTolerance",
    "StopKind",
    "make_cannula_rule",
    "make_motion_limits",
    "no_tolerance",
    "prepare_goal",
]

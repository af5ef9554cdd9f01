"""Motion of arms, without ROS: moves, figures and programs, planned and proven as a whole."""

from dvrk_kinematics.motion.cannula import CannulaRule, make_cannula_rule
from dvrk_kinematics.motion.figures.block_o import (
    BLOCK_O,
    PRESETS,
    QUICK,
    find_preset,
    trace_figure,
)
from dvrk_kinematics.motion.figures.figure import Figure, Orientation, load_figure
from dvrk_kinematics.motion.figures.placement import Placement, largest_scale, place
from dvrk_kinematics.motion.limits import MotionLimits, make_motion_limits
from dvrk_kinematics.motion.moves import MoveAbsJ, MoveC, MoveJ, MoveL
from dvrk_kinematics.motion.planning.flight_plan import FlightPlan
from dvrk_kinematics.motion.planning.planner import Plan, PlanOptions, plan_motion
from dvrk_kinematics.motion.planning.progress import PlanningProgress, PlanningWatch
from dvrk_kinematics.motion.programs.program import Program, Replay, plan_recording, plan_together
from dvrk_kinematics.motion.programs.program_file import (
    format_recording,
    load_recording,
    save_recording,
)
from dvrk_kinematics.motion.spline import Sample, Spline
from dvrk_kinematics.motion.timing.logistic import Curve
from dvrk_kinematics.motion.timing.speeds import TipSpeeds
from dvrk_kinematics.motion.workspace import WorkspaceMap, make_orientations, workspace_map

__all__ = [
    "BLOCK_O",
    "PRESETS",
    "QUICK",
    "CannulaRule",
    "Curve",
    "Figure",
    "FlightPlan",
    "MotionLimits",
    "MoveAbsJ",
    "MoveC",
    "MoveJ",
    "MoveL",
    "Orientation",
    "Placement",
    "Plan",
    "PlanOptions",
    "PlanningProgress",
    "PlanningWatch",
    "Program",
    "Replay",
    "Sample",
    "Spline",
    "TipSpeeds",
    "WorkspaceMap",
    "find_preset",
    "format_recording",
    "largest_scale",
    "load_figure",
    "load_recording",
    "make_cannula_rule",
    "make_motion_limits",
    "make_orientations",
    "place",
    "plan_motion",
    "plan_recording",
    "plan_together",
    "save_recording",
    "trace_figure",
    "workspace_map",
]

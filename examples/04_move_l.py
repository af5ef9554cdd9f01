"""Straight lines, arcs and rounded corners, planned and proven without ROS and without a robot.

Run it in a clone:  ./dvrk python examples/04_move_l.py
"""

from __future__ import annotations

import numpy as np

from dvrk_kinematics import load_arm
from dvrk_kinematics.errors import PlanRefused
from dvrk_kinematics.geometry import se3
from dvrk_kinematics.motion import (
    MoveAbsJ,
    MoveC,
    MoveJ,
    MoveL,
    PlanOptions,
    Program,
    TipSpeeds,
    format_recording,
    make_cannula_rule,
    make_motion_limits,
    plan_motion,
)

psm = load_arm("PSM", instrument="400006")
limits, cannula = make_motion_limits(psm), make_cannula_rule(psm)
here = np.array([0.1, -0.1, 0.12, 0.0, 0.2, 0.0])
quick = TipSpeeds(speed=0.02, acceleration=0.1)

# Poses are relative to the base, to the tool as it is when its move begins, or to a given frame.
moves = [
    MoveL(se3.translation([0.02, 0.0, 0.0]), "tool", quick, blend_radius=0.004),
    MoveL(se3.translation([0.0, 0.02, 0.0]), "tool", quick),
    MoveC(se3.translation([0.0, -0.02, 0.0]), np.array([0.01, -0.01, 0.0]), "tool", quick),
    MoveJ(psm.forward(here)),
    MoveAbsJ(np.array([0.0, 0.0, 0.12, 0.0, 0.0, 0.0]), speed=0.5),
]
plan = plan_motion(psm, moves, here, limits, cannula)
flight = plan.flight_plan
print(
    f"{len(moves)} moves, {flight.length:.4f} m in {flight.duration:.2f} s, {flight.knots} knots"
)
print(f"nearest limit: {flight.limit_margin_joint}, {flight.limit_margin:.3f} of its range")
print("half way the tip is at", plan.path.pose_at(0.5 * plan.duration_s)[:3, 3], "m")

# Too fast for a joint: refused with the joint, or slowed down if asked.
hasty = [MoveL(se3.translation([0.05, 0.0, 0.0]), "tool", TipSpeeds(1.0, 10.0))]
try:
    plan_motion(psm, hasty, here, limits, cannula)
except PlanRefused as refused:
    print("refused:", refused)
slowed = plan_motion(psm, hasty, here, limits, cannula, PlanOptions(slow_down=True)).flight_plan
print(f"slowed by {slowed.slowed_by:.2f} for {slowed.slowed_for}")

# Moves can be kept, edited by hand and replayed, on several arms at once too.
print(format_recording(Program("tour", psm.joint_names, tuple(moves[1:2])).teach(here)))

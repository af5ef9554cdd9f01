"""Trace a polygon of your own with a PSM: where it fits, how, and what is proven before it moves.

Run it in a clone:  ./dvrk python examples/03_trace_your_own_figure.py
No ROS and no robot. docs/block_o.md says how a figure is placed.
"""

from __future__ import annotations

import numpy as np

from dvrk_kinematics import load_arm
from dvrk_kinematics.errors import PlanRefused
from dvrk_kinematics.geometry import se3
from dvrk_kinematics.motion import (
    PRESETS,
    Figure,
    make_cannula_rule,
    make_motion_limits,
    place,
    plan_motion,
    trace_figure,
)

psm = load_arm("PSM", instrument="400006")

# Corners in metres, in the order of travel; load_figure reads the same from a YAML file.
house = Figure("house", np.array([[0, 0], [0, 0.04], [0.02, 0.06], [0.04, 0.04], [0.04, 0]]))
print(f"{house.name}: {house.length:.3f} m around, turns {np.degrees(house.turns).round()} deg")

# Where is there the most room to the joint limits? The search takes about a second.
placed = place(psm, house, scale=1.0)
print(f"margin {placed.margin:.3f} of a joint's range, limited by {placed.limited_by}")
print(f"figure at {(1000 * placed.T_base_figure[:3, 3]).round(1)} mm, begins at q =")
print(placed.q_start.round(4))

# The paper's fastest speeds, checked at every sample before anything would move.
segments = trace_figure(house, placed.T_base_figure, placed.scale, PRESETS["d"])
limits, cannula = make_motion_limits(psm), make_cannula_rule(psm)
plan = plan_motion(psm, segments, placed.q_start, limits, cannula)
flight = plan.flight_plan
print(f"{flight.duration:.2f} s, {flight.samples} samples, {flight.knots} knots")
print(f"played within {flight.position_deviation:.1e} m and {flight.rotation_deviation:.1e} rad")
print(f"fastest joint {flight.peak_velocity_joint} at {100 * flight.peak_velocity:.0f} %")
print(f"wrist at least {1000 * flight.wrist_depth:.0f} mm beyond the remote centre")

# What does not work is refused, with the place on the path and the joint.
high = se3.translation([0.0, 0.0, 0.1]) @ placed.T_base_figure
try:
    begin = psm.inverse(house.poses(high)[0]).q
    plan_motion(psm, trace_figure(house, high), begin, limits, cannula)
except PlanRefused as refused:
    print("refused:", refused)

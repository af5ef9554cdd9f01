"""The motion to play: the Block-O, planned and proven, as a goal. No ROS."""

from __future__ import annotations

from bench.motion.__main__ import DEPTH_M, ROLL_SEED, place_figure
from dvrk_kinematics import Arm
from dvrk_kinematics.motion.cannula import make_cannula_rule
from dvrk_kinematics.motion.figures.block_o import BLOCK_O, find_preset, trace_figure
from dvrk_kinematics.motion.limits import make_motion_limits
from dvrk_kinematics.motion.planning.planner import Plan, PlanOptions, plan_motion
from dvrk_kinematics.motion.timing.speeds import TipSpeeds

__all__ = ["plan_figure"]

_SCALE = 0.5
_ROUND_S = 48.3
"""How long one round takes at the paper's fastest speeds."""


def plan_figure(arm: Arm, seconds: float) -> Plan:
    """Plan the Block-O at half its size, repeated and fast enough to last a given time.

    Args:
        arm: A PSM.
        seconds: Approximate duration of the motion (s).
    """
    repeat = max(1, round(seconds / _ROUND_S))
    factor = repeat * _ROUND_S / seconds
    usual = find_preset("d")
    speeds = TipSpeeds(
        usual.speed * factor,
        usual.acceleration * factor,
        usual.angular_speed * factor,
        usual.angular_acceleration * factor,
    )
    T_base_figure = place_figure(_SCALE)
    first = BLOCK_O.poses(T_base_figure, _SCALE)[0]
    q_start = arm.inverse(first, seed=[0.0, 0.0, DEPTH_M, ROLL_SEED, 0.0, 0.0]).q
    segments = trace_figure(BLOCK_O, T_base_figure, _SCALE, speeds, repeat=repeat)
    limits, rule = make_motion_limits(arm), make_cannula_rule(arm)
    return plan_motion(arm, segments, q_start, limits, rule, PlanOptions(slow_down=True))

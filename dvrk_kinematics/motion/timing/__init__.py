"""Time along a path: scalings from rest to rest, and the speeds that determine them."""

from dvrk_kinematics.motion.timing.logistic import Curve, Logistic, hyperbolic, hyperbolic_within
from dvrk_kinematics.motion.timing.scalings import (
    PathProgress,
    Quintic,
    Scaling,
    Trapezoid,
    quintic,
    trapezoid,
)
from dvrk_kinematics.motion.timing.speeds import SCALINGS, TipSpeeds, find_scaling, time_path
from dvrk_kinematics.motion.timing.time_joints import time_joints

__all__ = [
    "SCALINGS",
    "Curve",
    "Logistic",
    "PathProgress",
    "Quintic",
    "Scaling",
    "TipSpeeds",
    "Trapezoid",
    "find_scaling",
    "hyperbolic",
    "hyperbolic_within",
    "quintic",
    "time_joints",
    "time_path",
    "trapezoid",
]

"""How long a joint move takes."""

from __future__ import annotations

from math import inf

import numpy as np

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.motion.limits import MotionLimits
from dvrk_kinematics.motion.moves import MoveAbsJ, MoveJ
from dvrk_kinematics.motion.timing.logistic import Logistic, hyperbolic_within
from dvrk_kinematics.motion.timing.scalings import Scaling
from dvrk_kinematics.motion.timing.speeds import find_scaling

__all__ = ["time_joints"]


def time_joints(
    move: MoveAbsJ | MoveJ, way: Array, limits: MotionLimits, scaling: str
) -> tuple[Scaling, ...]:
    """Scalings for a move in which all joints finish together.

    Args:
        move: The move.
        way: How far each joint goes (rad, m), shape (n,); not all zero.
        limits: Limits of the joints.
        scaling: Name of the time scaling, for a move without curves of its own.

    Returns:
        One scaling for all joints, or one per joint.

    Raises:
        InvalidInput: The number of curves does not match the number of joints.
    """
    speed, acceleration = limits.velocity * move.speed, limits.acceleration * move.acceleration
    curves = move.curves if isinstance(move, MoveAbsJ) else ()
    if not curves:
        with np.errstate(divide="ignore"):
            rate = float((speed / np.abs(way)).min())
            gain = float((acceleration / np.abs(way)).min())
        return (find_scaling(scaling)(1.0, rate, gain),)
    if len(curves) != len(way):
        raise InvalidInput("curves", f"needs one for each of {len(way)} joints, got {len(curves)}")
    moved = zip(np.abs(way).tolist(), speed.tolist(), acceleration.tolist(), curves, strict=True)
    duration = max(
        hyperbolic_within(length, v, a, curve).duration_s if length > 0.0 else -inf
        for length, v, a, curve in moved
    )
    return tuple(Logistic(1.0, duration, curve) for curve in curves)

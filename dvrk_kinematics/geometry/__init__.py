"""Rotations, poses and angles; depends on numpy alone."""

from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.geometry.angles import nearest_turn, unwrap, wrap_to_pi
from dvrk_kinematics.geometry.arrays import Array

__all__ = ["Array", "nearest_turn", "se3", "so3", "unwrap", "wrap_to_pi"]

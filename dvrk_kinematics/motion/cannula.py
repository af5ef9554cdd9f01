"""The cannula rule: how deep the wrist must be for Cartesian motion.

The arm enforces this rule for Cartesian commands, but servo_jp bypasses it. So we must enforce it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.serial_arm import SerialArm
from dvrk_kinematics.models.schema import JointKind
from dvrk_kinematics.motion.tolerances import DEPTH_TOLERANCE_M

__all__ = ["WRIST_DEPTH_M", "CannulaRule", "make_cannula_rule"]

WRIST_DEPTH_M = 0.045
"""Closest that the dVRK lets the wrist come to the RCM in Cartesian control (PSM, frame 4)."""


@dataclass(frozen=True, slots=True)
class CannulaRule:
    """How far the wrist must be beyond the remote centre of motion.

    Attributes:
        joint: Index of the insertion joint.
        offset_m: Offset from the insertion to the wrist's distance from the RCM (m).
        min_depth_m: Smallest distance (m).
    """

    joint: int
    offset_m: float
    min_depth_m: float

    @property
    def min_insertion_m(self) -> float:
        """The insertion (m) at which the wrist has that distance."""
        return self.min_depth_m - self.offset_m

    def depth(self, q: Array) -> float:
        """Distance of the wrist from the RCM (m), along the shaft, for positions of shape (n,)."""
        return float(q[self.joint]) + self.offset_m

    def depths(self, q: Array) -> Array:
        """The same, for many positions (rad, m); (..., n) -> (...)."""
        return np.asarray(q[..., self.joint] + self.offset_m)

    def forbids(self, q: Array, start: Array) -> bool:
        """Whether a position is too shallow. From a shallow start, going deeper always works.

        Args:
            q: Target joint positions (rad, m), shape (n,).
            start: Current joint positions, shape (n,).
        """
        return self.depth(q) < min(self.min_depth_m, self.depth(start)) - DEPTH_TOLERANCE_M


def make_cannula_rule(arm: SerialArm, min_depth_m: float = WRIST_DEPTH_M) -> CannulaRule | None:
    """Make the rule for an arm; None for an arm without an insertion joint.

    Args:
        arm: A PSM or ECM: the row of the joint after the insertion is the wrist.
        min_depth_m: Smallest distance of the wrist from the RCM (m).
    """
    rows = arm.model.chain
    slides = [k for k, row in enumerate(rows) if row.kind is JointKind.PRISMATIC]
    if len(slides) != 1 or slides[0] + 1 >= len(rows):
        return None
    k = slides[0]
    name = rows[k].joint
    if name is None:
        return None
    # Insertion and roll share one axis, so the offsets along it add up.
    return CannulaRule(arm.joint_names.index(name), rows[k].d + rows[k + 1].d, min_depth_m)

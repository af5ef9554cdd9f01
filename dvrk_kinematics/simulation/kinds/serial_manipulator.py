"""Kinematics of a plain serial arm, as its controller solves them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.arm import Arm
from dvrk_kinematics.kinematics.chain import chain_frame
from dvrk_kinematics.simulation.control import Inverse

__all__ = ["SerialManipulator"]


class SerialManipulator:
    """Kinematics of a plain serial arm; only poses that it can have are solved.

    Args:
        arm: The arm.
    """

    def __init__(self, arm: Arm) -> None:
        self._arm = arm
        self.joint_names = arm.joint_names

    def forward(self, q: Array) -> Array:
        """Base to tip."""
        return self._arm.forward(q)

    def frame(self, q: Sequence[float]) -> Array:
        """Base to frame len(q); the tip for the whole chain."""
        if len(q) == len(self.joint_names):
            return self._arm.forward(np.array(q, dtype=np.float64))
        return chain_frame(self._arm.model, q)

    def jacobian(self, q: Array) -> Array:
        """At the tip, along the base's axes."""
        return self._arm.jacobian(q)

    def inverse(self, T: Array, seed: Array, measured: Array) -> Inverse:
        """Joint positions inside the limits, or the reason why there are none."""
        solved = self._arm.inverse(T, seed=seed)
        if solved.ok:
            return Inverse(solved.q.copy())
        return Inverse(None, solved.reason)

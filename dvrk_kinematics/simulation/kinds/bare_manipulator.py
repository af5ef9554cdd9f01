"""Kinematics of a PSM without a tool, and of any PSM next to its remote centre."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.arm import Arm
from dvrk_kinematics.kinematics.chain import chain_frame
from dvrk_kinematics.simulation.control import Inverse

__all__ = ["BareManipulator", "refuse_near_rcm"]

_RCM_GUARD_M = 1e-3
"""Goals nearer to the remote centre are refused."""


def refuse_near_rcm(T: Array) -> Inverse | None:
    """What a PSM answers for a goal next to its remote centre; None if the goal is far enough."""
    if float(np.linalg.norm(T[:3, 3])) >= _RCM_GUARD_M:
        return None
    return Inverse(None, warning="InverseKinematics, can't solve IK too close to RCM")


class BareManipulator:
    """A PSM whose tool was taken off: its tip is frame 3.

    Args:
        arm: The PSM with the tool it had.
    """

    def __init__(self, arm: Arm) -> None:
        self._arm = arm
        self.joint_names = arm.joint_names

    def forward(self, q: Array) -> Array:
        """Frame 3, whatever the joints beyond do."""
        return chain_frame(self._arm.model, q[:3].tolist())

    def frame(self, q: Sequence[float]) -> Array:
        """Frame len(q), at most 3."""
        return chain_frame(self._arm.model, list(q)[:3])

    def jacobian(self, q: Array) -> Array:
        """Of frame 3: columns beyond the third are zero."""
        J = np.zeros((6, len(q)))
        T = self.forward(q)
        z1, z2 = (self.frame(q[: k + 1].tolist())[:3, 2] for k in range(2))
        for k, z in enumerate((z1, z2)):
            J[:3, k] = np.cross(z, T[:3, 3])
            J[3:, k] = z
        J[:3, 2] = T[:3, 2]
        return J

    def inverse(self, T: Array, seed: Array, measured: Array) -> Inverse:
        """Fails, in the dVRK's words."""
        return refuse_near_rcm(T) or Inverse(
            None,
            "robManipulator::InverseKinematics: expected 3 joints values "
            f"but received {len(seed)}",
        )

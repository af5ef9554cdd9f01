"""The kinematics that a controller uses: chain, tip, and inverse kinematics with its rules.

A manipulator is replaced when a tool or an endoscope changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import pi
from typing import NamedTuple, Protocol

import numpy as np

from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.arm import Arm
from dvrk_kinematics.kinematics.chain import chain_frame

__all__ = [
    "BareManipulator",
    "Inverse",
    "Manipulator",
    "refuse_near_rcm",
    "spatial_jacobian",
    "wrap",
]


_RCM_GUARD_M = 1e-3


class Inverse(NamedTuple):
    """What inverse kinematics found.

    Attributes:
        q: Joint positions (rad, m), not clipped to limits; None if there are none.
        reason: What the dVRK says in parentheses when there are none; may be empty.
        warning: A warning that the dVRK sends besides; empty for none.
    """

    q: Array | None
    reason: str = ""
    warning: str = ""


class Manipulator(Protocol):
    """Kinematics of the chain between base and tip."""

    joint_names: tuple[str, ...]

    def forward(self, q: Array) -> Array:
        """Base to tip for n joint positions (rad, m); shape (4, 4)."""

    def frame(self, q: Sequence[float]) -> Array:
        """Base to frame len(q) of the chain; with the tip's offset only for the whole chain."""

    def jacobian(self, q: Array) -> Array:
        """At the tip, along the base's axes, linear rows first; shape (6, n)."""

    def inverse(self, T: Array, seed: Array, measured: Array) -> Inverse:
        """Joint positions for a pose in the base frame.

        Args:
            T: Base to tip, shape (4, 4), finite and rigid.
            seed: Where to search from (rad, m), shape (n,).
            measured: Where the arm is (rad, m), shape (n,).
        """


def spatial_jacobian(J_tip: Array, tip: Array) -> Array:
    """Moves a Jacobian at the tip to the point of the tip's body at the base's origin.

    Args:
        J_tip: Along the base's axes, linear rows first, shape (6, n).
        tip: Position of the tip (m), shape (3,).
    """
    J: Array = J_tip.copy()
    w = J[3:]
    J[0] -= w[1] * tip[2] - w[2] * tip[1]
    J[1] -= w[2] * tip[0] - w[0] * tip[2]
    J[2] -= w[0] * tip[1] - w[1] * tip[0]
    return J


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


def wrap(angle: float) -> float:
    """Brings an angle into [-pi, pi], as the dVRK does with what its solver finds."""
    return (angle + pi) % (2.0 * pi) - pi if abs(angle) > pi else angle

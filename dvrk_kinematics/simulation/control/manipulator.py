"""The kinematics that a controller uses: chain, tip, and inverse kinematics with its rules.

A manipulator is replaced when a tool or an endoscope changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from dvrk_kinematics.geometry.arrays import Array

__all__ = ["Inverse", "Manipulator", "spatial_jacobian"]


class Inverse(NamedTuple):
    """The result of inverse kinematics.

    Attributes:
        q: Joint positions (rad, m), not clipped to limits; None if there are none.
        reason: The dVRK's text in parentheses when there are none; may be empty.
        warning: A warning that the dVRK also sends; empty for none.
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

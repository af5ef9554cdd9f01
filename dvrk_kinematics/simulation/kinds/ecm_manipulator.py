"""Kinematics of an ECM with its endoscope, as its controller solves them."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi

import numpy as np

from dvrk_kinematics.geometry.arrays import Array, frozen
from dvrk_kinematics.kinematics.arm import Arm
from dvrk_kinematics.kinematics.chain import chain_frame
from dvrk_kinematics.simulation.control import ControllerData, Inverse

__all__ = ["ENDOSCOPES", "EcmManipulator", "endoscope_tip"]

_INSERTION, _ROLL = 2, 3
_TILTS = {"STRAIGHT": 0.0, "UP": -pi / 6, "DOWN": pi / 6}
"""Turn of the view about x (rad)."""
_CUSTOM_LENGTH_M = 0.18
_SCOPES = ("Classic_SD", "Classic_HD", "Si_HD", "Custom")

ENDOSCOPES = ("NONE", *(f"{scope}_{tilt}" for scope in _SCOPES for tilt in _TILTS))
"""The values of set_endoscope_type."""


def endoscope_tip(name: str) -> Array:
    """From the last frame of the chain to the tip of an endoscope.

    Args:
        name: One of ``ENDOSCOPES``.

    Returns:
        Shape (4, 4).
    """
    scope, _, tilt = name.rpartition("_")
    T = np.eye(4)
    T[:3, :3] = [[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    if scope == "Custom":
        T[2, 3] = _CUSTOM_LENGTH_M
    angle = _TILTS.get(tilt, 0.0)
    c, s = np.cos(angle), np.sin(angle)
    view = np.eye(4)
    view[1:3, 1:3] = [[c, -s], [s, c]]
    return frozen(T @ view)


class EcmManipulator:
    """An ECM with an endoscope.

    Args:
        arm: The ECM.
        data: The controller's numbers.
        T_tip: From the last frame of the chain to the tip, shape (4, 4).
    """

    def __init__(self, arm: Arm, data: ControllerData, T_tip: Array) -> None:
        self._arm = arm
        self._data = data
        self._T_tip = T_tip
        self._T_tip_inverse = np.linalg.inv(T_tip)
        self._reach = arm.model.chain[2].d + arm.model.chain[3].d + float(T_tip[2, 3])
        self.joint_names = arm.joint_names

    def forward(self, q: Array) -> Array:
        """Base to tip."""
        T: Array = self._arm.forward(q) @ self._T_tip
        return T

    def frame(self, q: Sequence[float]) -> Array:
        """Base to frame len(q); the tip for the whole chain."""
        T = chain_frame(self._arm.model, q)
        return T @ self._T_tip if len(q) == len(self.joint_names) else T

    def jacobian(self, q: Array) -> Array:
        """At the tip, along the base's axes."""
        J = self._arm.jacobian(q)
        # From the chain's last frame to the tip: v += w x r.
        r = self._arm.forward(q)[:3, :3] @ self._T_tip[:3, 3]
        J[:3] += np.cross(J[3:], r, axisa=0, axisb=0, axisc=0)
        return J

    def inverse(self, T: Array, seed: Array, measured: Array) -> Inverse:
        """Position exact, orientation as close as the shaft allows; see ``Manipulator``."""
        limits = self._arm.limits
        solved = self._arm.inverse(T @ self._T_tip_inverse, seed=seed, policy="position_first")
        q = solved.q.copy()
        if float(q[_INSERTION]) > limits.upper[_INSERTION]:
            return Inverse(
                None,
                "robManipulatorECM::InverseKinematics: goal is too far, out of reach for q[2]",
            )
        if float(q[_INSERTION]) + self._reach < 0.0:
            # Above the remote centre. The dVRK turns the arm around where the roll does not fit.
            return Inverse(None, f"robManipulator: position clamped to upper joint limit {_ROLL}")
        q[_INSERTION] = max(float(q[_INSERTION]), self._data.cannula_keep)
        for joint in reversed(range(len(q))):
            for bound, name in ((limits.lower, "lower"), (limits.upper, "upper")):
                outside = q[joint] < bound[joint] if name == "lower" else q[joint] > bound[joint]
                if outside:
                    text = f"robManipulator: position clamped to {name} joint limit {joint}"
                    return Inverse(None, text)
        return Inverse(q)

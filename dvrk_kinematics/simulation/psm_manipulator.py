"""Inverse kinematics of a PSM as its controller solves it."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi

import numpy as np

from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.simulation.controller import ControllerData
from dvrk_kinematics.simulation.manipulator import (
    Inverse,
    chain_frame,
    refuse_near_rcm,
    spatial_jacobian,
    wrap,
)
from dvrk_kinematics.simulation.tools import Tool

__all__ = ["PsmManipulator"]

_DAMPING = 1e-3
_STEP_TOLERANCE = 1e-12
_ITERATIONS = 1000
"""Of the dVRK's damped least squares (robManipulator)."""
_INSERTION, _ROLL = 2, 3


class PsmManipulator:
    """A PSM with a tool.

    Poses inside the joint limits are solved in closed form, near the seed. For poses outside, the
    dVRK's own search is repeated, since what it ends with is then clipped joint by joint, and
    which branch that is decides where the arm goes.

    Args:
        tool: The tool.
        data: The controller's numbers.
    """

    def __init__(self, tool: Tool, data: ControllerData) -> None:
        self.tool = tool
        self._arm = tool.arm
        self._data = data
        self.joint_names = tool.arm.joint_names

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

    def shaft_end(self, q: Array) -> float:
        """Distance of the shaft's end (frame 4) from the remote centre (m)."""
        return abs(float(q[_INSERTION]) + self._arm.model.chain[2].d + self._arm.model.chain[3].d)

    def inverse(self, T: Array, seed: Array, measured: Array) -> Inverse:
        """Joint positions with the dVRK's rules about the remote centre; see ``Manipulator``."""
        refused = refuse_near_rcm(T)
        if refused is not None:
            return refused
        solved = self._arm.inverse(T, seed=seed)
        q = solved.q.copy() if solved.ok else self._search(T, seed)
        if q is None:
            return Inverse(None)
        turns = round((float(measured[_ROLL]) - float(q[_ROLL])) / (2.0 * pi))
        q[_ROLL] += 2.0 * pi * turns
        self._keep_past_cannula(q, float(seed[_INSERTION]))
        return Inverse(q)

    def _keep_past_cannula(self, q: Array, depth: float) -> None:
        """Moves the shaft's end away from the remote centre, or at least no nearer."""
        missing = self._data.cannula_keep - self.shaft_end(q)
        if missing <= 0.0:
            return
        least = float(q[_INSERTION]) + missing
        q[_INSERTION] = max(depth, float(q[_INSERTION])) if depth <= least else least

    def _search(self, T: Array, seed: Array) -> Array | None:
        """Damped least squares on the spatial Jacobian, as the dVRK iterates."""
        q: Array = np.array(seed, dtype=np.float64)
        for _ in range(_ITERATIONS):
            C = self._arm.forward(q)
            J = spatial_jacobian(self._arm.jacobian(q), C[:3, 3])
            turn = 0.5 * np.cross(C[:3, :3], T[:3, :3], axis=0).sum(axis=1)
            error = np.concatenate([T[:3, 3] - C[:3, 3], turn])
            try:
                dq = J.T @ np.linalg.solve(J @ J.T + _DAMPING * np.eye(6), error)
            except np.linalg.LinAlgError:
                return None
            q = q + dq
            if not np.isfinite(q).all():
                return None
            if float(np.linalg.norm(dq)) <= _STEP_TOLERANCE:
                for joint in range(len(q)):
                    if joint != _INSERTION:
                        q[joint] = wrap(float(q[joint]))
                return q
        return None

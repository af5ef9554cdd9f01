"""Kinematics of a PSM, with a tool or without, as its controller solves them."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, pi

import numpy as np

from dvrk_kinematics.geometry.arrays import Array, frozen
from dvrk_kinematics.kinematics.arm import Arm
from dvrk_kinematics.kinematics.chain import chain_frame
from dvrk_kinematics.simulation.control import ControllerData, Inverse, spatial_jacobian
from dvrk_kinematics.simulation.kinds.tool import Tool

__all__ = ["BareManipulator", "PsmManipulator"]

_DAMPING = frozen(1e-3 * np.eye(6))
_STEP_TOLERANCE = 1e-12
_ITERATIONS = 200
"""Damped least squares of the dVRK (robManipulator). It runs for up to 1000 iterations, but poses
that take more than 200 (3 % of those outside the limits) would hold up the cycle for a tenth of a
second; we use the closed form for them."""
_INSERTION, _ROLL = 2, 3
_RCM_GUARD_M = 1e-3
"""Goals closer than this to the remote centre are refused."""


class PsmManipulator:
    """A PSM with a tool.

    We solve poses inside the joint limits in closed form, near the seed. For poses outside, we
    repeat the dVRK's own search, since its result is then clipped joint by joint, and the branch
    that it finds decides where the arm goes.

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
        refused = _refuse_near_rcm(T)
        if refused is not None:
            return refused
        solved = self._arm.inverse(T, seed=seed)
        q = None if solved.ok else self._search(T, seed)
        if q is None:
            q = solved.q.copy()
        turns = round((float(measured[_ROLL]) - float(q[_ROLL])) / (2.0 * pi))
        q[_ROLL] += 2.0 * pi * turns
        self._keep_past_cannula(q, float(seed[_INSERTION]))
        return Inverse(q)

    def _keep_past_cannula(self, q: Array, depth: float) -> None:
        """Moves the shaft's end away from the remote centre, or at least no closer."""
        missing = self._data.cannula_keep - self.shaft_end(q)
        if missing <= 0.0:
            return
        least = float(q[_INSERTION]) + missing
        q[_INSERTION] = max(depth, float(q[_INSERTION])) if depth <= least else least

    def _search(self, T: Array, seed: Array) -> Array | None:
        """Damped least squares on the spatial Jacobian, as the dVRK iterates."""
        q: Array = np.array(seed, dtype=np.float64)
        error = np.empty(6)
        for _ in range(_ITERATIONS):
            C = self._arm.forward(q)
            J = spatial_jacobian(self._arm.jacobian(q), C[:3, 3])
            error[:3] = T[:3, 3] - C[:3, 3]
            # Half the sum of the cross products of the axes, old with new.
            M = T[:3, :3] @ C[:3, :3].T
            error[3:] = M[2, 1] - M[1, 2], M[0, 2] - M[2, 0], M[1, 0] - M[0, 1]
            error[3:] *= 0.5
            try:
                dq = J.T @ np.linalg.solve(J @ J.T + _DAMPING, error)
            except np.linalg.LinAlgError:
                return None
            q = q + dq
            moved = float(dq @ dq)
            if moved <= _STEP_TOLERANCE**2:
                for joint in range(len(q)):
                    if joint != _INSERTION:
                        q[joint] = _wrap(float(q[joint]))
                return q
            if not isfinite(moved):
                return None
        return None


class BareManipulator:
    """A PSM without its tool: its tip is frame 3.

    Args:
        arm: The PSM with the tool it had.
    """

    def __init__(self, arm: Arm) -> None:
        self._arm = arm
        self.joint_names = arm.joint_names

    def forward(self, q: Array) -> Array:
        """Frame 3, whatever the joints beyond it do."""
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
        return _refuse_near_rcm(T) or Inverse(
            None,
            "robManipulator::InverseKinematics: expected 3 joints values "
            f"but received {len(seed)}",
        )


def _refuse_near_rcm(T: Array) -> Inverse | None:
    """A PSM's answer to a goal next to its remote centre; None if the goal is far enough."""
    if float(np.linalg.norm(T[:3, 3])) >= _RCM_GUARD_M:
        return None
    return Inverse(None, warning="InverseKinematics, can't solve IK too close to RCM")


def _wrap(angle: float) -> float:
    """Wraps an angle into [-pi, pi], as the dVRK does with its solver's results."""
    return (angle + pi) % (2.0 * pi) - pi if abs(angle) > pi else angle

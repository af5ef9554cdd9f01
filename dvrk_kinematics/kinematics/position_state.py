"""Where searches over a PSM's wrist stand: the shaft that follows, errors, derivatives."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dvrk_kinematics.kinematics.limits import JointLimits
from dvrk_kinematics.kinematics.position_follow import follow_wrist, rotation_vector, shortfall
from dvrk_kinematics.kinematics.psm_geometry import PsmGeometry

__all__ = ["SearchState", "WristProblem"]

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

INSERTION_SCALE = 10.0
"""How much more a metre counts than a radian where limits are left."""
SHRINK = 1e-6
"""The stiff limits stand this far inside the true ones (rad, 0.1 m), so that the little by which
a stiff residual gives way stays inside."""


class WristProblem:
    """Lengths and limits of one arm, as the searches need them.

    Args:
        geometry: The arm's lengths and tip; the tip must be frame 6's origin.
        limits: Its joint limits.
    """

    __slots__ = ("a", "b", "lower", "off", "scale", "shaft_lower", "shaft_upper", "upper")

    def __init__(self, geometry: PsmGeometry, limits: JointLimits) -> None:
        self.a, self.b = geometry.a, geometry.b
        self.off = np.array(geometry.tip)[:3, :3]
        self.lower, self.upper = limits.lower[3:], limits.upper[3:]
        self.scale = np.array([1.0, 1.0, INSERTION_SCALE])
        margin = SHRINK / self.scale
        self.shaft_lower = limits.lower[:3] + margin
        self.shaft_upper = limits.upper[:3] - margin

    def sides(self, q: FloatArray) -> FloatArray:
        """Give the signs of W and K (see :func:`follow_wrist`) at some joint positions, (M, 2)."""
        W = q[:, 2] - self.b + self.a * np.cos(q[:, 4])
        K = self.a * np.sin(q[:, 1]) * np.sin(q[:, 4]) * np.cos(q[:, 3]) - np.cos(q[:, 1]) * W
        return np.where(np.stack([W, K], axis=1) < 0.0, -1.0, 1.0)

    def all_sides(self, t: FloatArray) -> list[tuple[float, float]]:
        """Give the signs of W and K that can be inside limits at one position (m), shape (3,)."""
        near = 5.0 * self.a + max(self.b - float(self.shaft_lower[2]), 0.0)
        if float(np.linalg.norm(t)) > near:
            return [(1.0, -1.0)]
        return [(1.0, -1.0), (-1.0, 1.0), (1.0, 1.0), (-1.0, -1.0)]

    def boxes(self, t: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Give the wrist's limits for each pose: near the remote centre q5 cannot turn fully."""
        lower = np.repeat(self.lower[None], len(t), axis=0)
        upper = np.repeat(self.upper[None], len(t), axis=0)
        if self.a > 0.0:
            ratio = np.linalg.norm(t, axis=1) / self.a
            reach = np.where(ratio < 1.0, np.arcsin(np.minimum(ratio, 1.0)), np.pi)
            lower[:, 1] = np.clip(lower[:, 1], -reach, reach)
            upper[:, 1] = np.clip(upper[:, 1], -reach, reach)
        return lower, upper


class SearchState:
    """Where each search stands: wrist, the shaft that follows it, errors and their derivatives."""

    __slots__ = (
        *("R", "cost", "gradient", "jacobian", "position_error", "problem", "residual"),
        *("rotation", "shaft", "side", "stiffness", "t", "w"),
    )

    def __init__(
        self,
        problem: WristProblem,
        stiffness: float,
        R: FloatArray,
        t: FloatArray,
        side: FloatArray,
        w: FloatArray,
    ) -> None:
        self.problem, self.stiffness = problem, stiffness
        self.R, self.t, self.side, self.w = R, t, side, w
        self.shaft, follow, turn, R_now, self.position_error = follow_wrist(
            (problem.a, problem.b), t, side, w
        )
        self.rotation = rotation_vector(R_now @ np.swapaxes(R, 1, 2))
        low = problem.shaft_lower - self.shaft
        high = self.shaft - problem.shaft_upper
        outside = np.maximum(high, 0.0) - np.maximum(low, 0.0)
        weight = stiffness * problem.scale
        short, by_wrist = shortfall(problem.a, t, w)
        weight_m = stiffness * INSERTION_SCALE
        self.residual = np.concatenate(
            [self.rotation, outside * weight, weight_m * short[:, None]], axis=1
        )
        stiff = follow * ((outside != 0.0) * weight)[:, :, None]
        self.jacobian = np.concatenate([turn, stiff, weight_m * by_wrist[:, None, :]], axis=1)
        self.cost = 0.5 * np.einsum("ij,ij->i", self.residual, self.residual)
        self.gradient = np.einsum("ijk,ij->ik", self.jacobian, self.residual)

    def curvature(self) -> FloatArray:
        """Give Gauss and Newton's guess at the second derivatives of the cost, (M, 3, 3)."""
        return np.asarray(np.swapaxes(self.jacobian, 1, 2) @ self.jacobian)

    def at(self, w: FloatArray) -> SearchState:
        """Give the same searches with other wrists (rad), one or more for each, (k M, 3)."""
        times = len(w) // len(self.w)
        R, t, side = (np.repeat(a, times, axis=0) for a in (self.R, self.t, self.side))
        return SearchState(self.problem, self.stiffness, R, t, side, w)

    def take(self, rows: npt.NDArray[np.intp]) -> SearchState:
        """Copy some searches."""
        part = SearchState.__new__(SearchState)
        part.problem, part.stiffness = self.problem, self.stiffness
        for name in _ROWS:
            setattr(part, name, getattr(self, name)[rows])
        return part

    def put(self, rows: npt.NDArray[np.intp], other: SearchState, which: BoolArray) -> None:
        """Write searches ``which`` of another state into ``rows`` of this one."""
        for name in _ROWS:
            getattr(self, name)[rows] = getattr(other, name)[which]


_ROWS = tuple(name for name in SearchState.__slots__ if name not in ("problem", "stiffness"))

"""Inverse kinematics of a PSM that keeps the position exact and gives up only orientation.

For any roll and wrist pitch the insertion, yaw and pitch that put the tip in place follow in
closed form, and the tip does not move with the wrist's yaw. So the position holds at every step of
a search over the box of (q4, q5, q6) for the smallest rotation angle to the requested pose: a
damped Newton method, started from every branch of the exact solution clipped to the box, from the
seed, and from the lowest places of a coarse grid over the box. The limits of q1, q2, q3 enter as
stiff residuals, since these joints follow the wrist only slightly.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.geometry.floats import Rows, times_rows
from dvrk_kinematics.kinematics.interruptible import check_in
from dvrk_kinematics.kinematics.limits import JointLimits
from dvrk_kinematics.kinematics.result import BatchIkResult, IkResult, IkStatus
from dvrk_kinematics.kinematics.solvers.psm.branches import all_branches, frame6_from_tip
from dvrk_kinematics.kinematics.solvers.psm.geometry import PsmGeometry
from dvrk_kinematics.kinematics.solvers.psm.wrist_search import (
    WristProblem,
    WristSearch,
    best_angle,
    follow_wrist,
)
from dvrk_kinematics.kinematics.solvers.selector import Selector
from dvrk_kinematics.kinematics.tolerances import LIMIT_TOLERANCE, POSITION_TOLERANCE_M

__all__ = ["PositionFirst", "survey"]

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

GRID = (25, 9)
GRID_NEAR = (61, 21)
"""Rolls and wrist pitches to check; more near the remote centre, where the shaft turns far for a
small move of the wrist."""
VALLEYS = 8
"""Number of lowest places kept from that grid, each lower than its neighbours."""
OUTSIDE_WEIGHT = 3.0
"""Weight of leaving the limits of the shaft (per rad, per 0.1 m) against 1 rad of rotation."""


def survey(problem: WristProblem, T: FloatArray) -> FloatArray:
    """Scan the whole wrist range for one pose.

    Args:
        problem: The arm.
        T: Base to tip, shape (4, 4).

    Returns:
        Joint positions (rad, m), shape (VALLEYS, 6): the places lower than their neighbours,
        counting rotation angle and violation of the shaft's limits.
    """
    R, t = T[:3, :3] @ problem.off.T, T[:3, 3]
    lower, upper = (bound[0] for bound in problem.boxes(t[None]))
    sides = problem.all_sides(t)
    rolls, pitches = (
        np.linspace(lower[i], upper[i], (GRID if len(sides) == 1 else GRID_NEAR)[i])
        for i in range(2)
    )
    grid = np.stack(np.meshgrid(rolls, pitches, indexing="ij"), axis=-1).reshape(-1, 2)
    w = np.zeros((len(grid) * len(sides), 3))
    w[:, :2] = np.repeat(grid, len(sides), axis=0)
    side = np.tile(np.array(sides), (len(grid), 1))
    place = np.broadcast_to(t, (len(w), 3))
    shaft, _, _, R_now, missed = follow_wrist((problem.a, problem.b), place, side, w)
    y4, x5, z6 = np.moveaxis(R_now, 2, 0)
    sine = x5 @ R[:, 0] - y4 @ R[:, 1]
    cosine = y4 @ R[:, 0] + x5 @ R[:, 1]
    w[:, 2] = best_angle(sine, cosine, float(lower[2]), float(upper[2]))
    trace = sine * np.sin(w[:, 2]) + cosine * np.cos(w[:, 2]) + z6 @ R[:, 2]
    angle = np.arccos(np.clip(0.5 * (trace - 1.0), -1.0, 1.0))
    outside = np.maximum(problem.shaft_lower - shaft, shaft - problem.shaft_upper)
    score = angle + OUTSIDE_WEIGHT * (np.maximum(outside, 0.0) @ problem.scale + missed)
    valleys = np.flatnonzero(_valleys(score.reshape(len(rolls), len(pitches), -1)))
    best = valleys[np.argsort(score[valleys], kind="stable")]
    # The array keeps its size by repeating entries.
    best = best[np.arange(VALLEYS) % min(len(best), VALLEYS)]
    return np.concatenate([shaft[best], w[best]], axis=1)


def _valleys(score: FloatArray) -> BoolArray:
    """Return which places of a grid, shape (rolls, pitches, signs), have no lower neighbour."""
    padded = np.pad(score, ((1, 1), (1, 1), (0, 0)), constant_values=np.inf)
    rolls, pitches, _ = score.shape
    around = [
        padded[1 + i : 1 + i + rolls, 1 + k : 1 + k + pitches]
        for i in (-1, 0, 1)
        for k in (-1, 0, 1)
    ]
    return np.asarray(score <= np.min(around, axis=0))


STARTS = 8
"""Number of exact solutions from which each pose is searched."""
CHUNK = 2048
"""Poses searched at once, so that memory stays bounded."""
EQUAL_RAD = 1e-6
"""Rotation errors closer than this are equal: then the solution nearer the seed wins."""


class PositionFirst:
    """Searches of one PSM.

    Args:
        geometry: The arm's lengths and tip.
        limits: Its joint limits.
        selector: Provides the roll turn and the default seed.
    """

    __slots__ = ("_geometry", "_limits", "_problem", "_search", "_selector")

    def __init__(self, geometry: PsmGeometry, limits: JointLimits, selector: Selector) -> None:
        self._geometry = geometry
        self._limits = limits
        self._selector = selector
        self._problem = WristProblem(geometry, limits)
        self._search = WristSearch(self._problem)

    def solve(self, T: Rows, seed: Sequence[float] | None) -> IkResult:
        """Search one pose, base to tip, four rows of four floats.

        Raises:
            InvalidInput: The tip is not on the wrist's yaw axis, so that yaw moves it.
        """
        self._check_tip()
        near = self._selector.rest if seed is None else seed
        q, position_error, rotation_error = self._search_rows(
            np.array([T], dtype=np.float64), np.array(near, dtype=np.float64)
        )
        floats = q[0].tolist()
        violations = self._limits.violations(floats)
        reached = not violations and position_error[0] <= POSITION_TOLERANCE_M
        q[0].setflags(write=False)
        return IkResult(
            q[0],
            IkStatus.OK if reached else IkStatus.POSITION_UNREACHABLE,
            violations,
            float(position_error[0]),
            float(rotation_error[0]),
        )

    def refine(self, T: FloatArray, seed: FloatArray | None, result: BatchIkResult) -> None:
        """Search the poses of a batch whose exact solution is outside limits, in place.

        Args:
            T: Base to tip, shape (N, 4, 4).
            seed: Joint positions to stay near (rad, m): None, shape (6,) or (N, 6).
            result: The exact solutions of the batch.

        Raises:
            InvalidInput: The tip is not on the wrist's yaw axis, so that yaw moves it.
        """
        self._check_tip()
        near = np.array(self._selector.rest) if seed is None else seed
        todo = np.flatnonzero(result.status == IkStatus.OUTSIDE_LIMITS)
        for start in range(0, len(todo), CHUNK):
            rows = todo[start : start + CHUNK]
            some = near[rows] if near.ndim == 2 else near
            q, position_error, rotation_error = self._search_rows(T[rows], some)
            mask = self._limits.mask_batch(q)
            reached = (mask == 0) & (position_error <= POSITION_TOLERANCE_M)
            result.q[rows] = q
            result.violations[rows] = mask
            result.status[rows] = np.where(
                reached, IkStatus.OK, IkStatus.POSITION_UNREACHABLE
            ).astype(np.uint8)
            result.position_error[rows] = position_error
            result.rotation_error[rows] = rotation_error

    def solve_near(self, T: FloatArray, seed: FloatArray) -> BatchIkResult:
        """Search poses from a seed alone, so that a path can be followed without a jump.

        Args:
            T: Base to tip, shape (N, 4, 4).
            seed: Joint positions from which each is searched (rad, m), shape (6,).

        Raises:
            InvalidInput: The tip is not on the wrist's yaw axis, so that yaw moves it.
        """
        self._check_tip()
        starts = np.broadcast_to(self._limits.clamp(seed), (len(T), 1, 6))
        q, position_error, rotation_error = (
            part[:, 0] for part in self._search.minimise(T, starts)
        )
        mask = self._limits.mask_batch(q)
        reached = (mask == 0) & (position_error <= POSITION_TOLERANCE_M)
        q[reached] = self._limits.clamp(q[reached])
        status = np.where(reached, IkStatus.OK, IkStatus.POSITION_UNREACHABLE).astype(np.uint8)
        return BatchIkResult(q, status, mask, position_error, rotation_error)

    def _check_tip(self) -> None:
        offset = [row[3] for row in self._geometry.tip[:3]]
        if any(offset):
            raise InvalidInput(
                "policy",
                f"position_first needs the tip at the wrist's yaw axis, not {offset} m off",
            )

    def _search_rows(
        self, T: FloatArray, seed: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Search M poses from every start: joints (M, 6), position and rotation errors (M,)."""
        count = len(T)
        near = np.broadcast_to(seed, (count, 6))
        starts = np.stack([self._starts(T[i], near[i]) for i in range(count)])
        q, position_error, angle = self._search.minimise(T, starts)
        outside = self._limits.excess(q).max(axis=2)
        missed = np.maximum(outside - LIMIT_TOLERANCE, 0.0) + np.maximum(
            position_error - POSITION_TOLERANCE_M, 0.0
        )
        # Reaching the position counts first, then the angle, then staying near the seed.
        angle_rank = np.where(missed <= missed.min(axis=1, keepdims=True), angle, np.inf)
        equal = angle_rank <= angle_rank.min(axis=1, keepdims=True) + EQUAL_RAD
        distance = np.abs(q - near[:, None, :]).max(axis=2)
        best = np.argmin(np.where(equal, distance, np.inf), axis=1)
        rows = np.arange(count)
        inside = missed[rows, best] == 0.0
        chosen = q[rows, best]
        chosen[inside] = self._limits.clamp(chosen[inside])
        return chosen, position_error[rows, best], angle[rows, best]

    def _starts(self, T: FloatArray, seed: FloatArray) -> FloatArray:
        """Return the branches of one pose and the seed, with the wrist clipped to its box."""
        check_in()
        R, p = frame6_from_tip(times_rows(T.tolist(), self._geometry.to_standard))
        near = seed.tolist()
        found = all_branches(R, p, (self._geometry.a, self._geometry.b), near)
        # A degenerate pose has fewer branches: the array keeps its size by repeating them.
        branches = [list(found[i % len(found)]) for i in range(STARTS)]
        for q in branches:
            q[3] = self._selector.turn(q[3], 3, near[3])
        rows = np.array([*branches, near, *survey(self._problem, T).tolist()])
        rows[:, 3:] = np.clip(rows[:, 3:], self._limits.lower[3:], self._limits.upper[3:])
        return rows

"""Inverse kinematics of the ECM: four joints, so exact position and roll, and the rest measured.

The tip lies on the shaft at distance d = q3 - b from the remote centre (the base): its position
determines the shaft's direction z = (s1 c2, -s2, -c1 c2), hence yaw, pitch and insertion, in four
ways (either sign of d, yaw and pitch mirrored). The roll nearest to the requested orientation
follows in closed form, and so does the remaining angle: an ECM cannot tilt at its tip.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2, cos, pi, sin, sqrt

import numpy as np
import numpy.typing as npt

from dvrk_kinematics.errors import ModelError
from dvrk_kinematics.geometry.floats import Rows
from dvrk_kinematics.kinematics.chain import has_angles
from dvrk_kinematics.kinematics.interruptible import check_in
from dvrk_kinematics.kinematics.limits import JointLimits
from dvrk_kinematics.kinematics.result import BatchIkResult, IkPolicy, IkResult, IkStatus
from dvrk_kinematics.kinematics.solvers.selector import TIE, Selector, opposite, opposite_batch
from dvrk_kinematics.kinematics.solvers.solver import RowsIndex, RowSolver
from dvrk_kinematics.kinematics.tolerances import (
    AXIS_GUARD_SINE,
    GUARD_M,
    NEAR_GUARD_M,
    ORIENTATION_TOLERANCE_RAD,
)
from dvrk_kinematics.models.schema import ArmModel

__all__ = ["EcmSolver"]

FloatArray = npt.NDArray[np.float64]
NEAR_AXIS = 1e-8
"""A shaft whose angle to the yaw axis has a smaller sine goes to the scalar solver."""
Candidate = tuple[tuple[float, float, float, float], float]
"""Joint positions (rad, m), and their rotation error (rad)."""

ECM_ROWS = ((pi / 2, pi / 2), (-pi / 2, -pi / 2), (pi / 2, 0.0), (0.0, 0.0))
"""alpha and theta (rad) of the rows that the closed form requires."""
ROLL = 3
"""Index of the roll among the joints."""


class EcmSolver(RowSolver):
    """Closed-form kinematics of one ECM.

    Args:
        model: The arm.
        limits: Its joint limits.

    Raises:
        ModelError: The arm's chain is not an ECM's.
    """

    __slots__ = ("_R_off", "_off", "_reach", "_selector")

    def __init__(self, model: ArmModel, limits: JointLimits) -> None:
        rows, off = model.chain, model.T_tip_offset
        fits = (
            has_angles(model, ECM_ROWS)
            and bool(np.array_equal(model.T_base, np.eye(4)))
            and not any(row.a for row in rows)
            and not any(row.d for row in rows[:2])
            and not off[:2, 3].any()
        )
        if not fits:
            raise ModelError(
                f"{model.file}: chain", "ik 'ecm' needs an ECM's chain, the tip on the shaft"
            )
        self._selector = Selector(limits, turning=(ROLL,))
        super().__init__(limits, self._selector.rest)
        self._off = off[:3, :3]
        self._R_off: list[list[float]] = self._off.tolist()
        self._reach = rows[2].d + rows[3].d + float(off[2, 3])

    def solve_floats(
        self, T: Rows, seed: Sequence[float] | None, policy: IkPolicy = IkPolicy.EXACT
    ) -> IkResult:
        """Solve one pose.

        Args:
            T: Base to tip, four rows of four floats, finite and rigid.
            seed: Joint positions to stay near (rad, m), or None.
            policy: Whether an orientation that the arm cannot reach is a failure.

        Returns:
            The exact position, with the orientation nearest to the requested one.
        """
        near = self.rest if seed is None else seed
        R = self._shaft_rotation(T)
        found = self._candidates(R, (T[0][3], T[1][3], T[2][3]), near)
        least = min(error for _, error in found)
        exact = [q for q, error in found if error <= least + TIE]
        q, inside = self._selector.choose(exact, near)
        if policy is IkPolicy.POSITION_FIRST and not inside:
            q = self._position_first(R, found, near)
        error = _miss(R, q) if policy is IkPolicy.POSITION_FIRST else least
        return self._result(q, error, policy)

    def solve(
        self,
        T: FloatArray,
        seed: Sequence[float] | FloatArray | None = None,
        policy: IkPolicy = IkPolicy.EXACT,
    ) -> IkResult:
        """Solve one pose, base to tip, shape (4, 4), under a policy."""
        floats = self.limits.read_seed(seed)
        return self.solve_floats(T.tolist(), floats, policy)

    def _solve_rows(
        self,
        T: FloatArray,
        seed: FloatArray,
        policy: IkPolicy,
        result: BatchIkResult,
        rows: RowsIndex,
    ) -> None:
        q, error, hard = self._closed_form(T, seed)
        mask = self.limits.mask_batch(q)
        status = np.where(mask != 0, IkStatus.OUTSIDE_LIMITS, IkStatus.OK).astype(np.uint8)
        if policy is IkPolicy.POSITION_FIRST:
            hard |= mask != 0
        else:
            status[error > ORIENTATION_TOLERANCE_RAD] = IkStatus.UNREACHABLE
        for i in np.flatnonzero(hard):
            check_in()
            one = self.solve_floats(T[i].tolist(), seed[i].tolist(), policy)
            q[i], error[i], status[i] = one.q, one.rotation_error, one.status
        mask[hard] = self.limits.mask_batch(q[hard])
        result.q[rows] = q
        result.status[rows] = status
        result.violations[rows] = mask
        result.position_error[rows] = 0.0
        result.rotation_error[rows] = error

    def _closed_form(
        self, T: FloatArray, seed: FloatArray
    ) -> tuple[FloatArray, FloatArray, npt.NDArray[np.bool_]]:
        """Return joints (M, 4), rotation errors (M,) and rows for the scalar solver (M,)."""
        R = T[:, :3, :3] @ self._off.T
        t = T[:, :3, 3]
        length = np.sqrt((t * t).sum(axis=1))
        hard = length < NEAR_GUARD_M
        z = t / np.where(hard, 1.0, length)[:, None]
        forward = _one_side(R, z)
        backward = _one_side(R, -z)
        hard |= np.abs(forward[2] - backward[2]) < 10.0 * TIE
        hard |= z[:, 0] ** 2 + z[:, 2] ** 2 < NEAR_AXIS**2
        back = backward[2] < forward[2]
        shaft, roll, error = (
            np.where(back.reshape(-1, *[1] * (f.ndim - 1)), b, f)
            for f, b in zip(forward, backward, strict=True)
        )
        d = np.where(back, -length, length) - self._reach
        q1, q2 = shaft.T
        mirrored = np.where(q2 > 0.0, pi, -pi) - q2
        first = np.stack([q1, q2, d, roll], axis=1)
        second = np.stack([opposite_batch(q1), mirrored, d, opposite_batch(roll)], axis=1)
        q = self._selector.choose_batch(np.stack([first, second], axis=1), seed)
        return q, np.asarray(error), hard

    def solve_all(self, T: FloatArray) -> list[IkResult]:
        """Return the four ways to reach one position, each with the best roll."""
        rows, rest = T.tolist(), self.rest
        R = self._shaft_rotation(rows)
        found = self._candidates(R, (rows[0][3], rows[1][3], rows[2][3]), rest)
        return [
            self._result(self._selector.choose([q], rest)[0], error, IkPolicy.EXACT)
            for q, error in found
        ]

    def _shaft_rotation(self, T: Rows) -> list[list[float]]:
        """Undo the tip's rotation of a pose: three rows."""
        return [
            [sum(r * o for r, o in zip(row, off, strict=False)) for off in self._R_off]
            for row in T[:3]
        ]

    def _candidates(
        self, R: Rows, t: tuple[float, float, float], seed: Sequence[float]
    ) -> list[Candidate]:
        """Return every way to put the tip in place (m), with the best roll and its error."""
        length = sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2])
        if length < GUARD_M:
            directions = [(R[0][2], R[1][2], R[2][2], 0.0)]
        else:
            x, y, z = t[0] / length, t[1] / length, t[2] / length
            directions = [(x, y, z, length), (-x, -y, -z, -length)]
        found: list[Candidate] = []
        for x, y, z, d in directions:
            h = sqrt(x * x + z * z)
            q1 = atan2(x, -z) if h > AXIS_GUARD_SINE else seed[0]
            q2 = atan2(-y, h)
            for yaw, pitch in ((q1, q2), (opposite(q1), (pi if q2 > 0.0 else -pi) - q2)):
                M = _in_shaft(R, yaw, pitch)
                roll = atan2(M[1][0] - M[0][1], M[0][0] + M[1][1])
                found.append(((yaw, pitch, d - self._reach, roll), _angle(M, roll)))
        return found

    def _position_first(
        self, R: Rows, found: Sequence[Candidate], seed: Sequence[float]
    ) -> list[float]:
        """Choose the shaft inside limits nearest to the orientation, with its roll clamped."""
        low, high = self.limits.pairs[ROLL]
        best: list[float] = []
        best_rank = (float("inf"), float("inf"))
        for candidate, _ in found:
            q, _ = self._selector.choose([candidate], seed)
            ends = (min(max(q[ROLL], low), high), low, high)
            q[ROLL] = min(ends, key=lambda roll: _miss(R, [*q[:ROLL], roll]))
            outside = float(self.limits.excess(np.array(q)).sum())
            rank = (outside, _miss(R, q))
            if rank < best_rank:
                best, best_rank = q, rank
        return best

    def _result(self, q: Sequence[float], error: float, policy: IkPolicy) -> IkResult:
        """Wrap joint positions that put the tip in place."""
        result = self._solved(q, rotation_error=error)
        if policy is IkPolicy.POSITION_FIRST:
            if not result.ok:
                result = result._replace(status=IkStatus.POSITION_UNREACHABLE)
        elif error > ORIENTATION_TOLERANCE_RAD:
            result = result._replace(status=IkStatus.UNREACHABLE)
        return result


def _in_shaft(R: Rows, yaw: float, pitch: float) -> list[list[float]]:
    """Return a rotation in the axes of the shaft before its roll: three rows."""
    s1, c1, s2, c2 = sin(yaw), cos(yaw), sin(pitch), cos(pitch)
    axes = ((-s1 * s2, -c2, c1 * s2), (-c1, 0.0, -s1), (s1 * c2, -s2, -c1 * c2))
    return [[x * R[0][k] + y * R[1][k] + z * R[2][k] for k in range(3)] for x, y, z in axes]


def _angle(M: Rows, roll: float) -> float:
    """Return the angle between a rotation in the shaft's axes and a roll (rad)."""
    s, c = sin(roll), cos(roll)
    x = M[2][1] + s * M[0][2] - c * M[1][2]
    y = c * M[0][2] + s * M[1][2] - M[2][0]
    z = c * (M[1][0] - M[0][1]) - s * (M[0][0] + M[1][1])
    trace = c * (M[0][0] + M[1][1]) + s * (M[1][0] - M[0][1]) + M[2][2]
    return atan2(sqrt(x * x + y * y + z * z), trace - 1.0)


def _miss(R: Rows, q: Sequence[float]) -> float:
    """Return the angle between a rotation and the one at some joint positions (rad)."""
    return _angle(_in_shaft(R, q[0], q[1]), q[ROLL])


def _one_side(R: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return yaw and pitch (M, 2), best roll (M,) and rotation error (M,) of shafts along z."""
    h = np.sqrt(z[:, 0] ** 2 + z[:, 2] ** 2)
    safe = np.where(h > 0.0, h, 1.0)
    s1, c1 = z[:, 0] / safe, np.where(h > 0.0, -z[:, 2] / safe, 1.0)
    s2, c2 = -z[:, 1], h
    x3 = np.stack([-s1 * s2, -c2, c1 * s2], axis=1)
    y3 = np.stack([-c1, np.zeros_like(c1), -s1], axis=1)
    M = np.stack([x3, y3, z], axis=1) @ R
    sine, cosine = M[:, 1, 0] - M[:, 0, 1], M[:, 0, 0] + M[:, 1, 1]
    roll = np.arctan2(sine, cosine)
    s, c = np.sin(roll), np.cos(roll)
    x = M[:, 2, 1] + s * M[:, 0, 2] - c * M[:, 1, 2]
    y = c * M[:, 0, 2] + s * M[:, 1, 2] - M[:, 2, 0]
    trace = c * cosine + s * sine + M[:, 2, 2]
    error = np.arctan2(np.sqrt(x * x + y * y), trace - 1.0)
    return np.stack([np.arctan2(s1, c1), np.arctan2(s2, c2)], axis=1), roll, error

"""Inverse kinematics of the ECM: four joints, so position and roll exact, and the rest measured.

The tip lies on the shaft at distance d = q3 - b from the remote centre (the base): its position
gives the shaft's direction z = (s1 c2, -s2, -c1 c2), hence yaw, pitch and insertion, in four ways
(either sign of d, yaw and pitch mirrored). The roll that comes nearest to the orientation asked
for follows in closed form, and so does the angle that is left: an ECM cannot tilt at its tip.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2, cos, pi, sin, sqrt

import numpy as np
import numpy.typing as npt

from dvrk_kinematics.errors import ModelError
from dvrk_kinematics.kinematics.ecm_batch import ORIENTATION_TOLERANCE, EcmBatch
from dvrk_kinematics.kinematics.limits import JointLimits
from dvrk_kinematics.kinematics.result import BatchIkResult, IkPolicy, IkResult, IkStatus
from dvrk_kinematics.kinematics.selection import TIE, Selector, opposite
from dvrk_kinematics.models.schema import ArmModel, Convention

__all__ = ["EcmSolver"]

FloatArray = npt.NDArray[np.float64]
Rows = Sequence[Sequence[float]]
Candidate = tuple[tuple[float, float, float, float], float]
"""Joint positions (rad, m), and the rotation angle by which they miss (rad)."""

ECM_ROWS = ((pi / 2, pi / 2), (-pi / 2, -pi / 2), (pi / 2, 0.0), (0.0, 0.0))
"""alpha and theta (rad) of the rows that the closed form is made for."""
GUARD_M = 1e-10
"""A tip nearer than this to the remote centre gives no direction: the orientation does."""
AXIS_GUARD = 1e-9
"""Sine of the angle between shaft and yaw axis under which the seed decides the yaw."""
ROLL = 3


class EcmSolver:
    """Closed-form kinematics of one ECM.

    Args:
        model: The arm.
        limits: Its joint limits.

    Raises:
        ModelError: The arm's chain is not that of an ECM.
    """

    __slots__ = ("_R_off", "_batch", "_reach", "_selector", "limits")

    def __init__(self, model: ArmModel, limits: JointLimits) -> None:
        rows, off = model.chain, model.T_tip_offset
        fits = (
            model.convention is Convention.MODIFIED
            and len(rows) == len(ECM_ROWS) == len(model.joints)
            and bool(np.array_equal(model.T_base, np.eye(4)))
            and np.allclose([(row.alpha, row.theta) for row in rows], ECM_ROWS, atol=1e-12)
            and not any(row.a for row in rows)
            and not any(row.d for row in rows[:2])
            and not off[:2, 3].any()
        )
        if not fits:
            raise ModelError(
                f"{model.file}: chain", "ik 'ecm' needs an ECM's chain, the tip on the shaft"
            )
        self.limits = limits
        self._selector = Selector(limits, turning=(ROLL,))
        self._R_off: list[list[float]] = off[:3, :3].tolist()
        self._reach = rows[2].d + rows[3].d + float(off[2, 3])
        self._batch = EcmBatch(off[:3, :3], self._reach, limits, self._selector, self.solve_floats)

    def solve_floats(
        self, T: Rows, seed: Sequence[float] | None, policy: IkPolicy = IkPolicy.EXACT
    ) -> IkResult:
        """Solve one pose.

        Args:
            T: Base to tip, four rows of four floats, finite and rigid.
            seed: Joint positions to stay near (rad, m), or None.
            policy: Whether an orientation that the arm cannot have is a failure.

        Returns:
            The position exactly, with the orientation nearest to the one asked for.
        """
        near = self._selector.rest if seed is None else seed
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

    def solve_batch(
        self,
        T: FloatArray,
        seed: FloatArray | None = None,
        policy: IkPolicy = IkPolicy.EXACT,
        good: npt.NDArray[np.bool_] | None = None,
    ) -> BatchIkResult:
        """Solve N poses, base to tip, shape (N, 4, 4), in bounded memory."""
        return self._batch.solve(T, seed, policy, good)

    def solve_all(self, T: FloatArray) -> list[IkResult]:
        """Give the four ways to reach one position, each with the best roll."""
        rows, rest = T.tolist(), self._selector.rest
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
        """Give every way to put the tip in place (m), with the best roll and what it misses."""
        length = sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2])
        if length < GUARD_M:
            directions = [(R[0][2], R[1][2], R[2][2], 0.0)]
        else:
            x, y, z = t[0] / length, t[1] / length, t[2] / length
            directions = [(x, y, z, length), (-x, -y, -z, -length)]
        found: list[Candidate] = []
        for x, y, z, d in directions:
            h = sqrt(x * x + z * z)
            q1 = atan2(x, -z) if h > AXIS_GUARD else seed[0]
            q2 = atan2(-y, h)
            for yaw, pitch in ((q1, q2), (opposite(q1), (pi if q2 > 0.0 else -pi) - q2)):
                M = _in_shaft(R, yaw, pitch)
                roll = atan2(M[1][0] - M[0][1], M[0][0] + M[1][1])
                found.append(((yaw, pitch, d - self._reach, roll), _angle(M, roll)))
        return found

    def _position_first(
        self, R: Rows, found: Sequence[Candidate], seed: Sequence[float]
    ) -> list[float]:
        """Choose the shaft inside limits that misses the orientation least, its roll clamped."""
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
        array = np.array(q)
        array.setflags(write=False)
        violations = self.limits.violations(q)
        if policy is IkPolicy.POSITION_FIRST:
            status = IkStatus.POSITION_UNREACHABLE if violations else IkStatus.OK
        elif error > ORIENTATION_TOLERANCE:
            status = IkStatus.UNREACHABLE
        else:
            status = IkStatus.OUTSIDE_LIMITS if violations else IkStatus.OK
        return IkResult(array, status, violations, 0.0, error)


def _in_shaft(R: Rows, yaw: float, pitch: float) -> list[list[float]]:
    """Give a rotation in the axes of the shaft before its roll: three rows."""
    s1, c1, s2, c2 = sin(yaw), cos(yaw), sin(pitch), cos(pitch)
    axes = ((-s1 * s2, -c2, c1 * s2), (-c1, 0.0, -s1), (s1 * c2, -s2, -c1 * c2))
    return [[x * R[0][k] + y * R[1][k] + z * R[2][k] for k in range(3)] for x, y, z in axes]


def _angle(M: Rows, roll: float) -> float:
    """Give the angle between a rotation in the shaft's axes and a roll (rad)."""
    s, c = sin(roll), cos(roll)
    x = M[2][1] + s * M[0][2] - c * M[1][2]
    y = c * M[0][2] + s * M[1][2] - M[2][0]
    z = c * (M[1][0] - M[0][1]) - s * (M[0][0] + M[1][1])
    trace = c * (M[0][0] + M[1][1]) + s * (M[1][0] - M[0][1]) + M[2][2]
    return atan2(sqrt(x * x + y * y + z * z), trace - 1.0)


def _miss(R: Rows, q: Sequence[float]) -> float:
    """Give the angle between a rotation and the one at some joint positions (rad)."""
    return _angle(_in_shaft(R, q[0], q[1]), q[ROLL])

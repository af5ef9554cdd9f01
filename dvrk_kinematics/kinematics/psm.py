"""Inverse kinematics of a PSM with a standard wrist: closed form, limit-aware, seed-aware.

Most poses have one solution inside the limits: the one whose wrist and pitch angles are within a
right angle of zero. So that one is tried first, in a straight line of plain float arithmetic,
and only where it is outside, or not the only one inside, the other branches are looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2, floor, pi, sqrt

import numpy as np
import numpy.typing as npt

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.kinematics.limits import JointLimits
from dvrk_kinematics.kinematics.position_first import PositionFirst
from dvrk_kinematics.kinematics.psm_batch import PsmBatch
from dvrk_kinematics.kinematics.psm_branches import (
    GUARD_M,
    NEAR_AXIS,
    all_branches,
    family_values,
    is_singular,
)
from dvrk_kinematics.kinematics.psm_geometry import (
    PsmGeometry,
    Rows,
    forward_floats,
    jacobian_floats,
    origin_from_tip,
)
from dvrk_kinematics.kinematics.result import BatchIkResult, IkPolicy, IkResult, IkStatus
from dvrk_kinematics.kinematics.selection import TIE, Selector
from dvrk_kinematics.models.schema import ArmModel

__all__ = ["PsmSolver"]

FloatArray = npt.NDArray[np.float64]
TURN = 2.0 * pi
HALF = 0.5 + TIE
ROLL = 3
FastPath = tuple[int, int, int, float, float, float, float, float, float, float, float, float]
"""The tip's axes and signs along frame 6, the tip's position in it, a, b, roll without a seed."""
FAMILY_COUNT = 33
"""Values tried for a joint that a degenerate pose leaves open, if the seed's is outside limits."""
OK, OUTSIDE_LIMITS = IkStatus.OK, IkStatus.OUTSIDE_LIMITS


class PsmSolver:
    """Closed-form kinematics of one PSM.

    Args:
        model: The arm with its instrument.
        limits: Its joint limits.

    Raises:
        ModelError: The arm's chain is not that of a PSM with a standard wrist.
    """

    __slots__ = ("_batch", "_box", "_fast", "_position_first", "_selector", "geometry", "limits")

    def __init__(self, model: ArmModel, limits: JointLimits) -> None:
        self._setup(PsmGeometry.from_model(model), limits)

    @classmethod
    def from_geometry(cls, geometry: PsmGeometry, limits: JointLimits) -> PsmSolver:
        """Make a solver from bare lengths."""
        solver = cls.__new__(cls)
        solver._setup(geometry, limits)
        return solver

    def _setup(self, geometry: PsmGeometry, limits: JointLimits) -> None:
        self.geometry = geometry
        self.limits = limits
        self._selector = Selector(limits, turning=(ROLL,))
        box = sole_solution_box(limits)
        self._box = tuple(value for pair in box for value in pair)
        self._fast: FastPath | None = None
        if geometry.is_permutation():
            index, sign = geometry.permutation()
            lengths = (geometry.a, geometry.b)
            self._fast = (*index, *sign, *geometry.p_off, *lengths, self._selector.rest[ROLL])
        self._position_first = PositionFirst(geometry, limits, self._selector)
        self._batch = PsmBatch(geometry, limits, box, self._selector, self.solve_floats)

    def solve_floats(self, T: Rows, seed: Sequence[float] | None) -> IkResult:
        """Solve one pose exactly.

        The straight-line part below is the hot path of the project: it uses the signed radii
        rho = a + d c5 and d with both cosines positive, which is the first of the branches.

        Args:
            T: Base to tip, four rows of four floats, finite and rigid.
            seed: Joint positions to stay near (rad, m), or None.

        Returns:
            The solution inside the limits nearest the seed, or else the one that violates them
            least, with every violated joint.
        """
        fast = self._fast
        if fast is None:
            return self._solve_slowly(T, seed)
        i0, i1, i2, g0, g1, g2, ox, oy, oz, a, b, rest = fast
        (r00, r01, r02, tx), row1, (r20, r21, r22, tz), _ = T
        r10, r11, r12, ty = row1
        m = [
            r00 * tx + r10 * ty + r20 * tz,
            r01 * tx + r11 * ty + r21 * tz,
            r02 * tx + r12 * ty + r22 * tz,
        ]
        px, py, pz = ox - g0 * m[i0], oy - g1 * m[i1], oz - g2 * m[i2]
        rho = sqrt(px * px + py * py)
        if py > 0.0:
            rho = -rho
        u = rho - a
        d = sqrt(u * u + pz * pz)
        if u < 0.0:
            d = -d
        if -GUARD_M < rho < GUARD_M or -GUARD_M < d < GUARD_M:
            return self._solve_slowly(T, seed)
        s5, c5, s6, c6 = pz / d, u / d, -px / rho, -py / rho
        # The shaft's axis in the tip's axes, then in the base's.
        m[i0], m[i1], m[i2] = g0 * c5 * s6, g1 * c5 * c6, -g2 * s5
        m0, m1, m2 = m
        zx, zz = r00 * m0 + r01 * m1 + r02 * m2, r20 * m0 + r21 * m1 + r22 * m2
        q1 = atan2(zx, -zz)
        q2 = atan2(-(r10 * m0 + r11 * m1 + r12 * m2), sqrt(zx * zx + zz * zz))
        r10, r11, r12 = g0 * row1[i0], g1 * row1[i1], g2 * row1[i2]
        q4 = atan2(r10 * c6 - r11 * s6, -(s5 * (r10 * s6 + r11 * c6) + r12 * c5))
        q3, q5, q6 = d + b, atan2(s5, c5), atan2(s6, c6)
        l1, h1, l2, h2, l3, h3, l4, h4, l5, h5, l6, h6 = self._box
        q4 += TURN * floor(((rest if seed is None else seed[3]) - q4) / TURN + HALF)
        if q4 > h4:
            q4 -= TURN
        elif q4 < l4:
            q4 += TURN
        if (
            l4 <= q4 <= h4
            and l5 <= q5 <= h5
            and l6 <= q6 <= h6
            and l1 <= q1 <= h1
            and l2 <= q2 <= h2
            and l3 <= q3 <= h3
        ):
            q = np.array((q1, q2, q3, q4, q5, q6))
            q.setflags(False)
            return IkResult(q, OK)
        return self._solve_slowly(T, seed)

    def _solve_slowly(self, T: Rows, seed: Sequence[float] | None) -> IkResult:
        """Look at all branches, and at a degenerate pose along what it leaves open."""
        near = self._selector.rest if seed is None else seed
        R, p = origin_from_tip(T, self.geometry)
        lengths = (self.geometry.a, self.geometry.b)
        q, inside = self._selector.choose(all_branches(R, p, lengths, near), near)
        if not inside and is_singular(p, self.geometry.a):
            (low5, high5), (low6, high6) = self.limits.pairs[4:]
            free = (
                family_values(low5, high5, FAMILY_COUNT),
                family_values(low6, high6, FAMILY_COUNT),
            )
            q, inside = self._selector.choose(all_branches(R, p, lengths, near, free), near)
        return self._result(q, inside)

    def _result(self, q: Sequence[float], inside: bool) -> IkResult:
        """Wrap joint positions that give the pose exactly."""
        array = np.array(q)
        array.setflags(write=False)
        if inside:
            return IkResult(array, OK)
        return IkResult(array, OUTSIDE_LIMITS, self.limits.violations(q))

    def solve(
        self,
        T: FloatArray,
        seed: Sequence[float] | FloatArray | None = None,
        policy: IkPolicy = IkPolicy.EXACT,
    ) -> IkResult:
        """Solve one pose, base to tip, shape (4, 4), under a policy."""
        floats = None if seed is None else np.asarray(seed, dtype=np.float64).tolist()
        if floats is not None and len(floats) != len(self.limits):
            raise InvalidInput("seed", f"has {len(floats)} values, must have {len(self.limits)}")
        rows = T.tolist()
        result = self.solve_floats(rows, floats)
        if policy is IkPolicy.POSITION_FIRST and not result.ok:
            return self._position_first.solve(rows, floats)
        return result

    def solve_batch(
        self,
        T: FloatArray,
        seed: FloatArray | None = None,
        policy: IkPolicy = IkPolicy.EXACT,
        good: npt.NDArray[np.bool_] | None = None,
    ) -> BatchIkResult:
        """Solve N poses, base to tip, shape (N, 4, 4), in bounded memory."""
        result = self._batch.solve(T, seed, good)
        if policy is IkPolicy.POSITION_FIRST:
            self._position_first.refine(T, seed, result)
        return result

    def solve_all(self, T: FloatArray) -> list[IkResult]:
        """Give the eight branches of one pose, the roll turn nearest zero in each.

        Where the pose leaves a joint open, that joint stands at zero, or the limit next to it.
        """
        R, p = origin_from_tip(T.tolist(), self.geometry)
        lengths, rest = (self.geometry.a, self.geometry.b), self._selector.rest
        found = all_branches(R, p, lengths, rest)
        return [self._result(*self._selector.choose([q], rest)) for q in found]

    def forward_floats(self, q: Sequence[float]) -> list[list[float]]:
        """Compute base to tip, four rows of four floats, for six joint positions (rad, m)."""
        return forward_floats(q, self.geometry)

    def jacobian_floats(self, q: Sequence[float]) -> list[list[float]]:
        """Compute the Jacobian, six rows of six floats, for six joint positions (rad, m)."""
        return jacobian_floats(q, self.geometry)


def sole_solution_box(limits: JointLimits) -> list[tuple[float, float]]:
    """Shrink the limits to where the first branch, if inside, is the only one inside.

    Any other branch turns pitch, wrist pitch or wrist yaw by half a turn or mirrors it, so it is
    outside while these three stay clear of that.
    """
    box = list(limits.pairs)
    for joint, reach in ((1, 0.5 * pi - 2.0 * NEAR_AXIS), (4, pi), (5, pi)):
        low, high = box[joint]
        reach = min(reach, pi - max(abs(low), abs(high)) - 1e-8)
        box[joint] = (max(low, -reach), min(high, reach))
    return box

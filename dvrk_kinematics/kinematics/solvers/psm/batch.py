"""The PSM's inverse kinematics for many poses at once, with numpy, in bounded memory.

The steps are those for one pose, in the same order and with the same rounding except the last bit
of an arc tangent: first the one branch that is nearly always right, then all eight for the
remaining rows, and the scalar solver for poses that leave a joint open.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import pi

import numpy as np
import numpy.typing as npt

from dvrk_kinematics.geometry.floats import Rows
from dvrk_kinematics.kinematics.interruptible import check_in
from dvrk_kinematics.kinematics.limits import JointLimits
from dvrk_kinematics.kinematics.result import BatchIkResult, IkResult, IkStatus
from dvrk_kinematics.kinematics.solvers.psm.branches import NEAR_AXIS
from dvrk_kinematics.kinematics.solvers.psm.geometry import PsmGeometry
from dvrk_kinematics.kinematics.solvers.selector import Selector, opposite_batch
from dvrk_kinematics.kinematics.solvers.solver import RowsIndex
from dvrk_kinematics.kinematics.tolerances import GUARD_M, LIMIT_TOLERANCE, NEARLY_INSIDE

__all__ = ["PsmBatch"]

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


class PsmBatch:
    """Closed-form kinematics of one PSM for many poses.

    Args:
        geometry: The arm's lengths and tip.
        limits: Its joint limits.
        box: Bounds inside which the first branch is the only one inside the limits.
        selector: Ranks the branches.
        solve_one: Solves one degenerate pose.
    """

    __slots__ = ("_box", "_geometry", "_limits", "_selector", "_solve_one")

    def __init__(
        self,
        geometry: PsmGeometry,
        limits: JointLimits,
        box: Sequence[tuple[float, float]],
        selector: Selector,
        solve_one: Callable[[Rows, Sequence[float]], IkResult],
    ) -> None:
        self._geometry = geometry
        self._limits = limits
        self._box = tuple(box)
        self._selector = selector
        self._solve_one = solve_one

    def solve_rows(
        self,
        T: FloatArray,
        seed: FloatArray,
        result: BatchIkResult,
        rows: RowsIndex,
    ) -> None:
        """Solve M poses into their place in the result.

        Args:
            T: Base to tip, shape (M, 4, 4).
            seed: Joint positions to stay near (rad, m), shape (M, 6).
            result: Where to write.
            rows: Its rows to write, M of them.
        """
        R, p = self._frame6(T)
        q, sole = self._first_branch(R, p, seed)
        status = np.zeros(len(T), dtype=np.uint8)
        mask = np.zeros(len(T), dtype=np.uint32)
        if not sole.all():
            rest = np.flatnonzero(~sole)
            q[rest] = self._best_branch(R[:, rest], p[:, rest], T[rest], seed[rest])
            mask[rest] = self._limits.mask_batch(q[rest])
            status[mask != 0] = IkStatus.OUTSIDE_LIMITS
        result.q[rows] = q
        result.status[rows] = status
        result.violations[rows] = mask
        result.position_error[rows] = 0.0
        result.rotation_error[rows] = 0.0

    def _frame6(self, T: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Undo the tip offset: rotations of frame 6, shape (9, M), and remote centres, (3, M)."""
        if not self._geometry.is_standard:
            T = T @ np.array(self._geometry.to_standard)
        columns = np.ascontiguousarray(T.reshape(len(T), 16).T)
        t = columns[3:12:4]
        # Frame 6 has its x, y, z along -y, z, -x of the standard tip.
        R = columns[[1, 2, 0, 5, 6, 4, 9, 10, 8]]
        R[0::3] *= -1.0
        R[2::3] *= -1.0
        p = -(R[0:3] * t[0] + R[3:6] * t[1] + R[6:9] * t[2])
        return R, p

    def _first_branch(
        self, R: FloatArray, p: FloatArray, seed: FloatArray
    ) -> tuple[FloatArray, BoolArray]:
        """Solve the branch that is nearly always right, and tell where it is certainly right."""
        px, py, pz = p
        rho = np.sqrt(px * px + py * py)
        np.negative(rho, out=rho, where=py > 0.0)
        u = rho - self._geometry.a
        d = np.sqrt(u * u + pz * pz)
        np.negative(d, out=d, where=u < 0.0)
        regular = (np.abs(rho) >= GUARD_M) & (np.abs(d) >= GUARD_M)
        if not regular.all():
            rho, d = np.where(regular, rho, 1.0), np.where(regular, d, 1.0)
        q = np.empty((len(rho), 6))
        self._fill(R, (pz / d, u / d, -px / rho, -py / rho), q)
        q[:, 2] = d + self._geometry.b
        q[:, 3] = self._selector.turn_batch(q[:, 3], 3, seed[:, 3])
        sole = regular
        for i, (low, high) in enumerate(self._box):
            sole &= (q[:, i] >= low) & (q[:, i] <= high)
        return q, sole

    def _best_branch(
        self, R: FloatArray, p: FloatArray, T: FloatArray, seed: FloatArray
    ) -> FloatArray:
        """Solve all eight branches of some poses and choose; scalar where a joint stays open."""
        px, py, pz = p
        a, b = self._geometry.a, self._geometry.b
        q = np.empty((len(px), 8, 6))
        radius = np.sqrt(px * px + py * py)
        open_joint = radius < GUARD_M
        radius[open_joint] = 1.0
        rho = np.where(py > 0.0, -radius, radius)
        branch = 0
        for s6, c6 in ((-px / rho, -py / rho), (px / rho, py / rho)):
            u = -(px * s6 + py * c6) - a
            length = np.sqrt(u * u + pz * pz)
            open_joint |= length < GUARD_M
            length[length < GUARD_M] = 1.0
            d = np.where(u < 0.0, -length, length)
            for s5, c5 in ((pz / d, u / d), (-pz / d, -u / d)):
                one = q[:, branch]
                near_axis = self._fill(R, (s5, c5, s6, c6), one)
                open_joint |= near_axis
                one[:, 2] = u * c5 + pz * s5 + b
                q[:, branch + 1] = one
                q[:, branch + 1, 0] = opposite_batch(one[:, 0])
                q[:, branch + 1, 1] = np.where(one[:, 1] > 0.0, pi, -pi) - one[:, 1]
                q[:, branch + 1, 3] = opposite_batch(one[:, 3])
                branch += 2
        best = self._selector.choose_batch(q, seed)
        # Rows outside by rounding are settled one by one.
        worst = self._limits.excess(best).max(axis=1)
        open_joint |= (worst > LIMIT_TOLERANCE) & (worst <= NEARLY_INSIDE)
        for i in np.flatnonzero(open_joint):
            check_in()
            best[i] = self._solve_one(T[i].tolist(), seed[i].tolist()).q
        return best

    @staticmethod
    def _fill(R: FloatArray, wrist: tuple[FloatArray, ...], q: FloatArray) -> BoolArray:
        """Write all joints but the insertion into q; tell where shaft and yaw axis are close."""
        s5, c5, s6, c6 = wrist
        mx, my, mz = c5 * s6, c5 * c6, -s5
        zx = R[0] * mx + R[1] * my + R[2] * mz
        zy = R[3] * mx + R[4] * my + R[5] * mz
        zz = R[6] * mx + R[7] * my + R[8] * mz
        h = np.sqrt(zx * zx + zz * zz)
        q[:, 0] = np.arctan2(zx, -zz)
        q[:, 1] = np.arctan2(-zy, h)
        q[:, 3] = np.arctan2(R[3] * c6 - R[4] * s6, -(s5 * (R[3] * s6 + R[4] * c6) + R[5] * c5))
        q[:, 4] = np.arctan2(s5, c5)
        q[:, 5] = np.arctan2(s6, c6)
        return np.asarray(h <= NEAR_AXIS)

"""Inverse kinematics of a PSM with a standard wrist: closed form, limit-aware, seed-aware.

Most poses have one solution inside the limits: the one whose wrist and pitch angles are within a
right angle of zero. So we try that one first, in straight-line plain float arithmetic. We check
the other branches only where it is outside, or not the only one inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2, floor, pi, sqrt
from struct import Struct

import numpy as np
import numpy.typing as npt

from dvrk_kinematics.geometry.floats import Rows, times_rows
from dvrk_kinematics.kinematics.chain import RowsOf
from dvrk_kinematics.kinematics.limits import JointLimits
from dvrk_kinematics.kinematics.result import BatchIkResult, IkPolicy, IkResult, IkStatus
from dvrk_kinematics.kinematics.solvers.psm.batch import PsmBatch
from dvrk_kinematics.kinematics.solvers.psm.branches import (
    NEAR_AXIS,
    Rotation,
    Vector,
    all_branches,
    family_values,
    frame6_from_tip,
    is_singular,
)
from dvrk_kinematics.kinematics.solvers.psm.geometry import PsmGeometry
from dvrk_kinematics.kinematics.solvers.psm.position_first import PositionFirst
from dvrk_kinematics.kinematics.solvers.selector import TIE, TURN, Selector
from dvrk_kinematics.kinematics.solvers.settler import Settler
from dvrk_kinematics.kinematics.solvers.solver import RowsIndex, RowSolver
from dvrk_kinematics.kinematics.tolerances import GUARD_M, LIMIT_TOLERANCE
from dvrk_kinematics.models.schema import ArmModel

__all__ = ["PsmSolver"]

FloatArray = npt.NDArray[np.float64]
HALF = 0.5 + TIE
"""Half a turn, in turns: of two equally near the seed, we take the upper one."""
WITHIN_HALF = pi - 1e-7
"""An angle closer than this to the seed needs no turn (rad)."""
ROLL = 3
"""Index of the roll among the joints."""
FAMILY_COUNT = 33
"""Number of values to try for a joint that a degenerate pose leaves open, if the seed's is outside
limits."""
FAMILY_ROUNDS = 7
"""Each is sixteen times finer than the one before: the last resolves 1e-9 rad."""
FAMILY_RATE = 10.0
"""No joint moves more than this when the open one moves, so nothing inside is nearer."""
FAMILY_STARTS = 6
"""Number of places around which to search more finely."""
OK, OUTSIDE_LIMITS = IkStatus.OK, IkStatus.OUTSIDE_LIMITS
GUARD_SQUARED = GUARD_M * GUARD_M

# Names that the hot path finds without a module or class lookup.
pack = Struct("6d").pack
new_tuple = tuple.__new__
frombuffer = np.frombuffer


class PsmSolver(RowSolver):
    """Closed-form kinematics of one PSM.

    Args:
        model: The arm with its instrument.
        limits: Its joint limits.

    Raises:
        ModelError: The arm's chain is not a PSM's with a standard wrist.
    """

    __slots__ = (
        "_batch",
        "_fast",
        "_is_standard",
        "_position_first",
        "_selector",
        "_settler",
        "geometry",
    )

    def __init__(self, model: ArmModel, limits: JointLimits) -> None:
        self._setup(PsmGeometry.from_model(model), limits)

    @classmethod
    def from_geometry(cls, geometry: PsmGeometry, limits: JointLimits) -> PsmSolver:
        """Make a solver from bare lengths."""
        solver = cls.__new__(cls)
        solver._setup(geometry, limits)
        return solver

    def _setup(self, geometry: PsmGeometry, limits: JointLimits) -> None:
        self._selector = Selector(limits, turning=(ROLL,))
        super().__init__(limits, self._selector.rest)
        self.geometry = geometry
        # Branches are solved for the standard tip, and settled there.
        standard = PsmGeometry(geometry.a, geometry.b)
        self._settler = Settler(limits, standard.forward, standard.jacobian)
        box = sole_solution_box(limits)
        bounds = (value for pair in box for value in pair)
        self._fast = (geometry.a, geometry.b, self.rest[ROLL], *bounds)
        self._is_standard = geometry.is_standard
        self._position_first = PositionFirst(geometry, limits, self._selector)
        self._batch = PsmBatch(geometry, limits, box, self._selector, self.solve_floats)

    def solve_floats(self, T: Rows, seed: Sequence[float] | None) -> IkResult:
        """Solve one pose exactly.

        The straight-line part below is the hot path of the project: it uses the signed radii rho =
        a + d c5 and d with both cosines positive, which is the first branch.

        Args:
            T: Base to tip, four rows of four floats, finite and rigid.
            seed: Joint positions to stay near (rad, m), or None.

        Returns:
            The solution inside the limits nearest the seed, or else the one that violates them
            least, with every violated joint.
        """
        if not self._is_standard:
            T = times_rows(T, self.geometry.to_standard)
        (r00, r01, r02, tx), (r10, r11, r12, ty), (r20, r21, r22, tz), _ = T
        a, b, rest, l1, h1, l2, h2, l3, h3, l4, h4, l5, h5, l6, h6 = self._fast
        px = r01 * tx + r11 * ty + r21 * tz
        py = -r02 * tx - r12 * ty - r22 * tz
        pz = r00 * tx + r10 * ty + r20 * tz
        rho, d = px * px + py * py, 0.0
        if rho > GUARD_SQUARED:
            rho = -sqrt(rho) if py > 0.0 else sqrt(rho)
            u = rho - a
            d = u * u + pz * pz
        if d <= GUARD_SQUARED:
            return self._solve_slowly(T, seed)
        d = -sqrt(d) if u < 0.0 else sqrt(d)
        s5, c5, s6, c6 = pz / d, u / d, -px / rho, -py / rho
        # The shaft's axis, first in the tip's axes, then in the base's.
        m, n = -c5 * s6, c5 * c6
        zx, zz = r00 * s5 + r01 * m + r02 * n, r20 * s5 + r21 * m + r22 * n
        q1 = atan2(zx, -zz)
        q2 = atan2(-r10 * s5 - r11 * m - r12 * n, sqrt(zx * zx + zz * zz))
        q4 = atan2(-r11 * c6 - r12 * s6, s5 * (r11 * s6 - r12 * c6) + r10 * c5)
        q3, q5, q6 = d + b, atan2(s5, c5), atan2(s6, c6)
        away = (rest if seed is None else seed[3]) - q4
        if not -WITHIN_HALF < away < WITHIN_HALF:
            q4 += TURN * floor(away / TURN + HALF)
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
            # An array over bytes is read-only from the start.
            return new_tuple(
                IkResult, (frombuffer(pack(q1, q2, q3, q4, q5, q6)), OK, (), 0.0, 0.0, "")
            )
        return self._solve_slowly(T, seed)

    def _solve_slowly(self, T: Rows, seed: Sequence[float] | None) -> IkResult:
        """Check all branches of a pose of the standard tip, and along any open joint."""
        near = self.rest if seed is None else seed
        R, p = frame6_from_tip(T)
        lengths = (self.geometry.a, self.geometry.b)
        q, inside = self._choose(T, all_branches(R, p, lengths, near), near)
        if not inside and is_singular(p, self.geometry.a):
            q, inside = self._search_family(T, R, p, near)
        return self._solved(q)

    def _choose(
        self, T: Rows, branches: Sequence[Sequence[float]], near: Sequence[float]
    ) -> tuple[list[float], bool]:
        """Choose one of some branches of a pose of the standard tip, settled onto limits."""
        return self._settler.choose(self._selector, np.array(T), branches, near)

    def _search_family(
        self, T: Rows, R: Rotation, p: Vector, near: Sequence[float]
    ) -> tuple[list[float], bool]:
        """Search for a place inside limits along the wrist joint that a pose leaves open."""
        px, py, _ = p
        joint = 5 if px * px + py * py < 2.0 * GUARD_SQUARED else 4
        lower, upper = self.limits.pairs[joint]
        values = family_values(lower, upper, FAMILY_COUNT)
        lengths = (self.geometry.a, self.geometry.b)
        branches = all_branches(R, p, lengths, near, (values, values))
        q, inside = self._selector.choose(branches, near)
        if inside:
            return q, inside
        # The inside may be a narrow strip, or one place between two limits: search more finely
        # around each branch's best places.
        step = values[1] - values[0]
        _, outside = self._family(R, p, values, near)
        for i, k in _lowest(outside)[:FAMILY_STARTS]:
            value, width = values[i], step
            for _ in range(FAMILY_ROUNDS):
                low, high = max(lower, value - width), min(upper, value + width)
                finer = family_values(low, high, FAMILY_COUNT)
                found, outside = self._family(R, p, finer, near)
                best = int(np.argmin(outside[:, k]))
                value, width = finer[best], finer[1] - finer[0]
                if not LIMIT_TOLERANCE < outside[best, k] < FAMILY_RATE * width:
                    break
            closer, inside = self._choose(T, found[best], near)
            if inside:
                return closer, inside
            branches.append(tuple(closer))
        return self._selector.choose(branches, near)

    def _family(
        self, R: Rotation, p: Vector, values: Sequence[float], near: Sequence[float]
    ) -> tuple[list[list[list[float]]], FloatArray]:
        """Solve a degenerate pose at some values of its open joint.

        Returns:
            The branches at each value, always in the same order, and how far each is outside the
            limits (rad, m), shape (values, branches).
        """
        lengths = (self.geometry.a, self.geometry.b)
        found = [
            [
                self._selector.choose([branch], near)[0]
                for branch in all_branches(R, p, lengths, near, ((value,), (value,)))
            ]
            for value in values
        ]
        return found, self.limits.excess(np.array(found)).max(axis=-1)

    def solve(
        self,
        T: FloatArray,
        seed: Sequence[float] | FloatArray | None = None,
        policy: IkPolicy = IkPolicy.EXACT,
    ) -> IkResult:
        """Solve one pose, base to tip, shape (4, 4), under a policy."""
        floats = self.limits.read_seed(seed)
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
        result = super().solve_batch(T, seed, IkPolicy.EXACT, good)
        if policy is IkPolicy.POSITION_FIRST:
            self._position_first.refine(T, seed, result)
        return result

    def _solve_rows(
        self,
        T: FloatArray,
        seed: FloatArray,
        policy: IkPolicy,
        result: BatchIkResult,
        rows: RowsIndex,
    ) -> None:
        self._batch.solve_rows(T, seed, result, rows)

    def solve_near(self, T: FloatArray, seed: FloatArray) -> BatchIkResult:
        """Solve N poses position-first from a seed alone, shape (6,); try nothing else."""
        return self._position_first.solve_near(T, seed)

    def solve_all(self, T: FloatArray) -> list[IkResult]:
        """Return the eight branches of one pose, the roll turn nearest zero in each.

        Where the pose leaves a joint open, that joint is at zero, or the nearest limit. If no
        branch is inside the limits there, a place along the open joint that is inside follows
        them.
        """
        rows, rest = times_rows(T.tolist(), self.geometry.to_standard), self.rest
        R, p = frame6_from_tip(rows)
        branches = all_branches(R, p, (self.geometry.a, self.geometry.b), rest)
        found = [self._choose(rows, [q], rest) for q in branches]
        if is_singular(p, self.geometry.a) and not any(inside for _, inside in found):
            place = self._search_family(rows, R, p, rest)
            found += [place] if place[1] else []
        return [self._solved(q) for q, _ in found]

    @property
    def forward_floats(self) -> RowsOf:
        """Computes base to tip, four rows of four floats, for six joint positions (rad, m)."""
        return self.geometry.forward_floats

    @property
    def jacobian_floats(self) -> RowsOf:
        """Computes the Jacobian, six rows of six floats, for six joint positions (rad, m)."""
        return self.geometry.jacobian_floats


def _lowest(outside: FloatArray) -> list[tuple[int, int]]:
    """Return the rows and columns of the lowest places of each column, lowest first."""
    around = np.pad(outside, ((1, 1), (0, 0)), constant_values=np.inf)
    # Of equal neighbours, the first: a branch that does not move with the open joint has one
    # place.
    lowest = (outside < around[:-2]) & (outside <= around[2:])
    places = np.argwhere(lowest)
    order = np.argsort(outside[lowest], kind="stable")
    return [(int(i), int(k)) for i, k in places[order]]


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

"""Inverse kinematics of a PSM with a snake wrist whose halves bend equally.

The instrument has two pitches and two yaws, and the controller keeps each pair equal: so there are
six unknowns for six equations. The position of the remote centre in the wrist's last frame
determines both angles and the insertion. The remaining orientation determines yaw, pitch and roll
of the shaft in closed form, in two ways.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2, cos, pi, sin, sqrt

import numpy as np
import numpy.typing as npt

from dvrk_kinematics.errors import ModelError
from dvrk_kinematics.geometry import se3
from dvrk_kinematics.geometry.floats import Rows
from dvrk_kinematics.kinematics.chain import SerialChain, has_angles
from dvrk_kinematics.kinematics.interruptible import check_in
from dvrk_kinematics.kinematics.jacobian import jacobian
from dvrk_kinematics.kinematics.limits import JointLimits
from dvrk_kinematics.kinematics.result import BatchIkResult, IkPolicy, IkResult, IkStatus
from dvrk_kinematics.kinematics.solvers.selector import Selector, opposite
from dvrk_kinematics.kinematics.solvers.settler import Settler
from dvrk_kinematics.kinematics.solvers.solver import RowsIndex, RowSolver
from dvrk_kinematics.kinematics.tolerances import (
    AXIS_GUARD_SINE,
    POSITION_TOLERANCE_M,
)
from dvrk_kinematics.models.schema import ArmModel

__all__ = ["SnakeSolver", "all_bends", "insertion_of", "is_equal", "refine_bend"]

FloatArray = npt.NDArray[np.float64]
STEPS = 30
"""Maximum steps of Newton's method."""
SETTLED = 1e-15
"""Step (rad) below which Newton's method has nothing more to gain."""
RESIDUAL_M = 1e-13
"""Distance (m) by which a solution may miss the shaft."""
ROUNDING_M = 1e-17
"""Distance (m) at which it cannot get closer."""
NET = np.concatenate([np.linspace(-1.5, 1.5, 9), np.linspace(-0.4, 0.4, 7)])
"""Starts of either angle (rad), closer together within the limits of real wrists; beyond a right
angle the wrist would bend back on itself."""
EQUAL_RAD = 1e-7
"""Solutions closer than this are the same."""


def refine_bend(
    P: tuple[float, float, float], e: float, p: float, y: float
) -> tuple[float, float] | None:
    """Find the solution that Newton's method reaches from one start.

    Args:
        P: The remote centre in the wrist's last frame (m).
        e: Gap between the wrist's axes (m).
        p: Half the pitch to start from (rad).
        y: Half the yaw to start from (rad).

    Returns:
        Half the pitch and half the yaw (rad), or None if it does not converge.
    """
    X, Y, Z = P
    residual = float("inf")
    for left in range(STEPS, -1, -1):
        sp, cp, sy, cy, s2, c2 = sin(p), cos(p), sin(y), cos(y), sin(2.0 * y), cos(2.0 * y)
        U, V = -X * sp - Y * cp, X * cp - Y * sp
        W = e + e * cy + (e + U) * c2 + Z * s2
        f1 = Z * c2 - (e + U) * s2 - e * sy
        f2 = V * cp + W * sp
        # The returned place has a computed residual: at a degenerate place, a step from a rounding
        # residual could lead anywhere.
        residual = abs(f1) + abs(f2)
        if residual < ROUNDING_M or not left:
            break
        # dU/dp = -V, dV/dp = U, dW/dy = f1 - Z c2 - (e + U) s2 + ...: written out below.
        f1_p, f1_y = V * s2, -2.0 * Z * s2 - 2.0 * (e + U) * c2 - e * cy
        f2_p = U * cp - V * sp - V * c2 * sp + W * cp
        f2_y = (-e * sy - 2.0 * (e + U) * s2 + 2.0 * Z * c2) * sp
        det = f1_p * f2_y - f1_y * f2_p
        if det == 0.0:
            break
        step_p = (f1_y * f2 - f2_y * f1) / det
        step_y = (f2_p * f1 - f1_p * f2) / det
        size = max(abs(step_p), abs(step_y))
        if size < SETTLED:
            break
        scale = min(1.0, 0.5 / size)
        p, y = p + scale * step_p, y + scale * step_y
    return (p, y) if residual < RESIDUAL_M else None


def insertion_of(P: tuple[float, float, float], e: float, p: float, y: float) -> float:
    """Return the signed distance d (m) from the remote centre to the wrist for one solution."""
    X, Y, Z = P
    sp, cp = sin(p), cos(p)
    U, V = -X * sp - Y * cp, X * cp - Y * sp
    W = e + e * cos(y) + (e + U) * cos(2.0 * y) + Z * sin(2.0 * y)
    return V * sp - W * cp


def is_equal(bend: tuple[float, float], other: tuple[float, float]) -> bool:
    """Return whether two solutions, half pitch and half yaw (rad), are equal but for rounding."""
    return abs(bend[0] - other[0]) + abs(bend[1] - other[1]) < EQUAL_RAD


def all_bends(P: tuple[float, float, float], e: float) -> list[tuple[float, float]]:
    """Find every half pitch and half yaw (rad) that Newton's method reaches from a grid of starts.

    The grid is stepped as one array; its solutions are then refined and sorted by size.
    """
    p, y = (axis.ravel() for axis in np.meshgrid(NET, NET))
    X, Y, Z = P
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for _ in range(STEPS):
            p, y = _newton(X, Y, Z, e, p, y)
    good = np.isfinite(p) & np.isfinite(y) & (np.abs(p) < 1.6) & (np.abs(y) < 1.6)
    found: list[tuple[float, float]] = []
    for start_p, start_y in zip(p[good].tolist(), y[good].tolist(), strict=True):
        if any(is_equal((start_p, start_y), bend) for bend in found):
            continue
        bend = refine_bend(P, e, start_p, start_y)
        if bend is not None and not any(is_equal(bend, other) for other in found):
            found.append(bend)
    return sorted(found, key=lambda bend: abs(bend[0]) + abs(bend[1]))


def _newton(
    X: float, Y: float, Z: float, e: float, p: FloatArray, y: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Take one limited Newton step from many places."""
    sp, cp, sy, cy, s2, c2 = (
        np.sin(p),
        np.cos(p),
        np.sin(y),
        np.cos(y),
        np.sin(2 * y),
        np.cos(2 * y),
    )
    U, V = -X * sp - Y * cp, X * cp - Y * sp
    W = e + e * cy + (e + U) * c2 + Z * s2
    f1, f2 = Z * c2 - (e + U) * s2 - e * sy, V * cp + W * sp
    f1_p, f1_y = V * s2, -2.0 * Z * s2 - 2.0 * (e + U) * c2 - e * cy
    f2_p = U * cp - V * sp - V * c2 * sp + W * cp
    f2_y = (-e * sy - 2.0 * (e + U) * s2 + 2.0 * Z * c2) * sp
    det = f1_p * f2_y - f1_y * f2_p
    step_p, step_y = (f1_y * f2 - f2_y * f1) / det, (f2_p * f1 - f1_p * f2) / det
    size = np.maximum(np.abs(step_p), np.abs(step_y))
    scale = np.minimum(1.0, 0.5 / size)
    return np.asarray(p + scale * step_p), np.asarray(y + scale * step_y)


SNAKE_ROWS = (
    *((pi / 2, pi / 2), (-pi / 2, -pi / 2), (pi / 2, 0.0), (0.0, 0.0)),
    *((-pi / 2, -pi / 2), (-pi / 2, 0.0), (0.0, 0.0), (pi / 2, pi / 2)),
)
"""alpha and theta (rad) of the rows that the solution requires."""
ROLL = 3
"""Index of the roll among the joints."""
HALVES = [0, 1, 2, 3, 4, 5, 5, 4]
"""Which of six joints each of the eight follows: pitch, yaw, yaw, pitch."""
SOLE_GAPS = 6.0
"""Distance of the wrist from the remote centre, in gaps of the wrist, from which there is at most
one solution inside limits; nearer, we search for every solution."""


class SnakeSolver(RowSolver):
    """Kinematics of one PSM with a snake wrist of equal halves.

    Args:
        model: The arm with its instrument.
        limits: Its joint limits: two wrist pitches and two wrist yaws among them.

    Raises:
        ModelError: The arm's chain is not a PSM's with a snake wrist.
    """

    __slots__ = ("_T_off", "_b", "_chain", "_e", "_selector", "_settler")

    exact_only = "is not offered for a snake wrist"

    def __init__(self, model: ArmModel, limits: JointLimits) -> None:
        rows = model.chain
        fits = (
            has_angles(model, SNAKE_ROWS)
            and bool(np.array_equal(model.T_base, np.eye(4)))
            and not any(row.a for row in rows[:5])
            and rows[5].a == rows[6].a == rows[7].a > 0.0
            and not any(rows[i].d for i in (0, 1, 4, 5, 6, 7))
        )
        if not fits:
            raise ModelError(
                f"{model.file}: chain", "ik 'snake' needs a PSM's chain with a snake wrist"
            )
        self._selector = Selector(limits, turning=(ROLL,))
        super().__init__(limits, self._selector.rest)
        self._T_off = np.asarray(np.linalg.inv(model.T_tip_offset), dtype=np.float64)
        self._chain = SerialChain(model)
        self._settler = Settler(_equal_limits(limits), self._forward_equal, self._jacobian_equal)
        self._e = rows[5].a
        self._b = -rows[2].d - rows[3].d

    def solve_floats(self, T: Rows, seed: Sequence[float] | None) -> IkResult:
        """Solve one pose.

        Args:
            T: Base to tip, four rows of four floats, finite and rigid.
            seed: Joint positions to stay near (rad, m), or None.

        Returns:
            The solution inside the limits nearest the seed, or else the one that violates them
            least; if there is none, the status reports it and the joints are the seed's.
        """
        near = self.rest if seed is None else seed
        last = np.array(T) @ self._T_off
        R, P = last[:3, :3], _seen_from(last)
        start = (0.5 * (near[4] + near[7]), 0.5 * (near[5] + near[6]))
        found: list[list[float]] = []
        for p, y in (start, (0.0, 0.0)):
            bend = refine_bend(P, self._e, p, y)
            if bend is None:
                continue
            found += self._branches(R, P, bend, near)
            q, inside = self._selector.choose(found, near)
            if inside and abs(q[2] - self._b) > SOLE_GAPS * self._e:
                return self._solved(q)
        # The seed's solution stays among the candidates: near a degenerate place the grid may miss
        # it.
        for bend in all_bends(P, self._e):
            found += self._branches(R, P, bend, near)
        if not found:
            return self._unsolved(R, P, near)
        q, inside = self._selector.choose(found, near)
        if not inside:
            q, _ = self._selector.choose(self._settled(np.array(T), found, near), near)
        return self._solved(q)

    def _settled(
        self, T: FloatArray, found: Sequence[Sequence[float]], near: Sequence[float]
    ) -> list[list[float]]:
        """Set joints that are outside by rounding onto their limits, the halves kept equal."""
        turned = np.array([self._selector.choose([q], near)[0] for q in found])
        poses = np.broadcast_to(T, (len(turned), 4, 4))
        settled: list[list[float]] = self._settler.settle(poses, turned[:, :6])[:, HALVES].tolist()
        return settled

    def _forward_equal(self, q: FloatArray) -> FloatArray:
        """Return base to tip, shape (N, 4, 4), for six joints of equal halves, shape (N, 6)."""
        return self._chain.forward(q[:, HALVES])

    def _jacobian_equal(self, q: FloatArray) -> FloatArray:
        """Return the Jacobian, shape (N, 6, 6), of six joints of equal halves, shape (N, 6)."""
        J = jacobian(self._chain, q[:, HALVES])
        J[..., 4:6] += J[..., :5:-1]
        return J[..., :6]

    def _unsolved(
        self, R: FloatArray, P: tuple[float, float, float], near: Sequence[float]
    ) -> IkResult:
        """Return the seed and how far it misses the pose."""
        here = np.array(self._chain.forward_floats(near)) @ self._T_off
        away = here[:3, :3].T @ R
        turn = [away[2, 1] - away[1, 2], away[0, 2] - away[2, 0], away[1, 0] - away[0, 1]]
        missed = self._solved(
            near,
            float(np.linalg.norm(here[:3, 3] + R @ np.array(P))),
            atan2(float(np.linalg.norm(turn)), float(np.trace(away)) - 1.0),
        )
        return missed._replace(status=IkStatus.UNREACHABLE)

    def solve(
        self,
        T: FloatArray,
        seed: Sequence[float] | FloatArray | None = None,
        policy: IkPolicy = IkPolicy.EXACT,
    ) -> IkResult:
        """Solve one pose, base to tip, shape (4, 4).

        Raises:
            InvalidInput: The seed has the wrong length, or the policy is not EXACT: with a snake
                wrist every joint of the wrist moves the tip.
        """
        self._check_policy(policy)
        floats = self.limits.read_seed(seed)
        return self.solve_floats(T.tolist(), floats)

    def _solve_rows(
        self,
        T: FloatArray,
        seed: FloatArray,
        policy: IkPolicy,
        result: BatchIkResult,
        rows: RowsIndex,
    ) -> None:
        found = []
        for pose, near in zip(T, seed, strict=True):
            check_in()
            found.append(self.solve_floats(pose.tolist(), near.tolist()))
        self._store(found, result, rows)

    def solve_all(self, T: FloatArray) -> list[IkResult]:
        """Return every solution of one pose with wrist halves under a right angle.

        A pose with a straight-wrist solution may have a continuum of others, with the wrist bent
        back on itself: then as many as the search finds. Each is measured by forward kinematics.
        """
        last = T @ self._T_off
        P, rest = _seen_from(last), self.rest
        bends = all_bends(P, self._e)
        straight = refine_bend(P, self._e, 0.0, 0.0)
        if straight is not None and not any(is_equal(straight, bend) for bend in bends):
            bends.insert(0, straight)
        found = [q for bend in bends for q in self._branches(last[:3, :3], P, bend, rest)]
        if not found:
            return []
        joints = self._settled(T, found, rest)
        position_error, rotation_error = se3.pose_error(self._chain.forward(np.array(joints)), T)
        return [
            self._solved(q, float(position), float(rotation))
            for q, position, rotation in zip(joints, position_error, rotation_error, strict=True)
            if position <= POSITION_TOLERANCE_M
        ]

    def _branches(
        self,
        R: FloatArray,
        P: tuple[float, float, float],
        bend: tuple[float, float],
        seed: Sequence[float],
    ) -> list[list[float]]:
        """Return the shaft's joints for one bend of the wrist, in two ways: eight floats each."""
        p, y = bend
        (xx, _, zx), (xy, _, zy), (xz, _, zz) = (R @ _wrist_rotation(p, y).T).tolist()
        h = sqrt(zx * zx + zz * zz)
        q1 = atan2(zx, -zz) if h > AXIS_GUARD_SINE else seed[0]
        q2 = atan2(-zy, h)
        s1, c1, s2, c2 = sin(q1), cos(q1), sin(q2), cos(q2)
        q4 = atan2(-c1 * xx - s1 * xz, -s1 * s2 * xx - c2 * xy + c1 * s2 * xz)
        q3 = insertion_of(P, self._e, p, y) + self._b
        other = (pi if q2 > 0.0 else -pi) - q2
        return [
            [q1, q2, q3, q4, p, y, y, p],
            [opposite(q1), other, q3, opposite(q4), p, y, y, p],
        ]


def _equal_limits(limits: JointLimits) -> JointLimits:
    """Return the limits of six joints, the halves of the wrist together."""
    lower, upper = limits.lower.copy(), limits.upper.copy()
    np.maximum.at(lower, HALVES, limits.lower)
    np.minimum.at(upper, HALVES, limits.upper)
    return JointLimits(limits.names[:6], lower[:6].tolist(), upper[:6].tolist())


def _seen_from(T: FloatArray) -> tuple[float, float, float]:
    """Return the base's origin in a frame (m)."""
    x, y, z = (-(T[:3, :3].T @ T[:3, 3])).tolist()
    return x, y, z


def _wrist_rotation(p: float, y: float) -> FloatArray:
    """Return the rotation from the rolled shaft to the wrist's last frame, shape (3, 3)."""
    sp, cp, s2, c2 = sin(p), cos(p), sin(2.0 * y), cos(2.0 * y)
    first = np.array([[sp, cp, 0.0], [0.0, 0.0, 1.0], [cp, -sp, 0.0]])
    middle = np.array([[c2, 0.0, s2], [0.0, 1.0, 0.0], [-s2, 0.0, c2]])
    last = np.array([[-sp, -cp, 0.0], [cp, -sp, 0.0], [0.0, 0.0, 1.0]])
    return np.asarray(first @ middle @ last)

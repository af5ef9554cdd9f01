"""Inverse kinematics by iteration, for arms without a closed form: SUJ, MTM, free snakes.

The search starts from the seed. If that does not converge inside the limits, it starts from many
places across the joint ranges at once. A pose that no start reaches inside the limits is tried
without them, so that the result can distinguish "outside limits, by these joints" from "nowhere".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.geometry.angles import nearest_turn
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.chain import SerialChain
from dvrk_kinematics.kinematics.interruptible import check_in
from dvrk_kinematics.kinematics.jacobian import geometric_jacobian
from dvrk_kinematics.kinematics.limits import JointLimits
from dvrk_kinematics.kinematics.result import BatchIkResult, IkPolicy, IkResult, IkStatus
from dvrk_kinematics.kinematics.solvers.solver import RowsIndex, RowSolver
from dvrk_kinematics.kinematics.tolerances import SEARCH_TOLERANCE
from dvrk_kinematics.models.schema import ArmModel

__all__ = ["Descent", "NumericSolver", "descend"]

_ITERATIONS = 120
"""Maximum steps of a descent."""
_ARRIVED = 1e-12
"""Weighted error (rad) below which there is nothing to gain."""
_STALLED = 1e14
"""Damping beyond which a step no longer moves a joint."""
_LEAST_DAMPING = 1e-12
"""Keeps the normal equations of a redundant or singular arm solvable."""
_STEP = 0.7
"""Longest step of a joint (rad, or m per length scale): longer steps leave the linear region."""


class Descent(NamedTuple):
    """Where the rows ended.

    Attributes:
        q: Joint positions (rad, m), shape (B, n).
        position_error: Distances to the targets (m), shape (B,).
        rotation_error: Angles to the targets (rad), shape (B,).
        slope: How fast the free joints could still reduce the error, as a fraction of it per rad,
            shape (B,); near 0 at a minimum, reached or not.
    """

    q: Array
    position_error: Array
    rotation_error: Array
    slope: Array


class _State(NamedTuple):
    error: Array
    J: Array
    cost: Array


def _evaluate(chain: SerialChain, q: Array, T: Array, scale: float) -> _State:
    """Weighted errors (rows in rad), Jacobians and squared errors."""
    z, p, T_now = chain.axes(q)
    J = geometric_jacobian(z, p, T_now[:, :3, 3], chain.revolute)
    error = np.empty((len(q), 6))
    error[:, :3] = (T[:, :3, 3] - T_now[:, :3, 3]) / scale
    error[:, 3:] = so3.log(T[:, :3, :3] @ np.swapaxes(T_now[:, :3, :3], -1, -2))
    J[:, :3] /= scale
    return _State(error, J, np.einsum("bi,bi->b", error, error))


def _step(state: _State, damping: Array, free: npt.NDArray[np.bool_], steps: Array) -> Array:
    """Damped Gauss-Newton steps along the free joints, none longer than its bound."""
    J = np.where(free[:, None, :], state.J, 0.0)
    Jt = np.swapaxes(J, -1, -2)
    A = Jt @ J
    n = A.shape[-1]
    A[:, np.arange(n), np.arange(n)] += damping[:, None] + np.where(free, 0.0, 1.0)
    dq: Array = np.linalg.solve(A, Jt @ state.error[:, :, None])[..., 0]
    shrink = np.maximum(np.abs(dq) / steps, 1.0).max(axis=1, keepdims=True)
    result: Array = dq / shrink
    return result


def descend(
    chain: SerialChain, start: Array, T: Array, bounds: tuple[Array, Array], scale: float
) -> Descent:
    """Brings the tip as near to each target as it can get from each start.

    Args:
        chain: The arm.
        start: Joint positions (rad, m), shape (B, n).
        T: Targets, base to tip, shape (B, 4, 4).
        bounds: Smallest and largest joint positions, shape (n,) each; may be infinite.
        scale: The length that weighs as much as a radian (m).
    """
    lower, upper = bounds
    q = np.clip(start, lower, upper)
    state = _evaluate(chain, q, T, scale)
    damping = 1e-3 * np.maximum(state.cost, 1e-6)
    steps = np.where(chain.revolute, _STEP, _STEP * scale)
    rows = np.arange(len(q))
    for _ in range(_ITERATIONS):
        check_in()
        rows = rows[(state.cost[rows] > _ARRIVED**2) & (damping[rows] < _STALLED)]
        if len(rows) == 0:
            break
        now = _State(*(part[rows] for part in state))
        uphill = np.einsum("bij,bi->bj", now.J, now.error)
        free = ~(((q[rows] <= lower) & (uphill < 0.0)) | ((q[rows] >= upper) & (uphill > 0.0)))
        trial = np.clip(q[rows] + _step(now, damping[rows], free, steps), lower, upper)
        new = _evaluate(chain, trial, T[rows], scale)
        better = new.cost < now.cost
        taken = rows[better]
        q[taken] = trial[better]
        for old_part, new_part in zip(state, new, strict=True):
            old_part[taken] = new_part[better]
        damping[rows] = np.maximum(damping[rows] * np.where(better, 0.1, 10.0), _LEAST_DAMPING)
        # A row that has converged to rounding and cannot improve is done.
        damping[rows[~better & (now.cost < 1e-22)]] = np.inf
    return _finish(chain, q, T, state, bounds)


def _finish(
    chain: SerialChain, q: Array, T: Array, state: _State, bounds: tuple[Array, Array]
) -> Descent:
    position_error, rotation_error = se3.pose_error(chain.forward(q), T)
    uphill = np.einsum("bij,bi->bj", state.J, state.error)
    held = ((q <= bounds[0]) & (uphill < 0.0)) | ((q >= bounds[1]) & (uphill > 0.0))
    slope = np.linalg.norm(np.where(held, 0.0, uphill), axis=1) / np.maximum(state.cost, 1e-300)
    return Descent(q, position_error, rotation_error, slope)


_FLAT = 1e-3
"""Slope of the error at which a descent has reached a minimum."""
_STARTS = 48
"""Number of starts across the joint ranges for each search."""


class NumericSolver(RowSolver):
    """Damped least squares inside the joint limits.

    Args:
        model: The arm.
        limits: Its joint limits.
        rng: Source of the starts; a fixed one by default, so that results repeat.
    """

    exact_only = "needs a closed form; this arm has none"
    is_closed_form = False

    def __init__(
        self, model: ArmModel, limits: JointLimits, rng: np.random.Generator | None = None
    ) -> None:
        self._middle = 0.5 * (limits.lower + limits.upper)
        super().__init__(limits, self._middle.tolist())
        self._chain = SerialChain(model)
        lengths = [max(abs(row.a), abs(row.d)) for row in model.chain]
        # Half the longest link: about what a radian of a proximal joint moves the tip.
        self._scale = 0.5 * max(lengths)
        generator = rng if rng is not None else np.random.default_rng(20_117)
        spread = np.minimum(limits.upper - limits.lower, 2.0 * np.pi)
        unit = generator.random((_STARTS, len(limits))) - 0.5
        self._starts = np.clip(self._middle + unit * spread, limits.lower, limits.upper)
        inf = np.full(len(limits), np.inf)
        self._bounds = (limits.lower, limits.upper)
        self._unbounded = (-inf, inf)

    def solve(
        self,
        T: Array,
        seed: Sequence[float] | Array | None = None,
        policy: IkPolicy = IkPolicy.EXACT,
    ) -> IkResult:
        """Solve one pose, shape (4, 4).

        Raises:
            InvalidInput: If the policy is not EXACT: only closed forms know which joints place the
                tip.
        """
        self._check_policy(policy)
        near = self._middle if seed is None else np.asarray(seed, dtype=np.float64)
        first = descend(self._chain, near[None], T[None], self._bounds, self._scale)
        if _reached(first)[0]:
            return self._result(first, 0, near)
        return self._search(T, near, first)

    def _solve_rows(
        self, T: Array, seed: Array, policy: IkPolicy, result: BatchIkResult, rows: RowsIndex
    ) -> None:
        first = descend(self._chain, seed, T, self._bounds, self._scale)
        found = []
        for i, done in enumerate(_reached(first)):
            if done:
                found.append(self._result(first, i, seed[i]))
            else:
                ends = Descent(*(part[i : i + 1] for part in first))
                found.append(self._search(T[i], seed[i], ends))
        self._store(found, result, rows)

    def solve_all(self, T: Array) -> list[IkResult]:
        """Return the distinct solutions that the starts lead to, inside the limits first.

        An iteration cannot prove that there are no others; a redundant arm has infinitely many.
        """
        targets = np.broadcast_to(T, (_STARTS, 4, 4))
        found: list[IkResult] = []
        for bounds in (self._bounds, self._unbounded):
            ends = descend(self._chain, self._starts, targets, bounds, self._scale)
            for i in np.flatnonzero(_reached(ends)):
                one = self._result(ends, int(i), self._middle)
                if all(np.abs(one.q - other.q).max() > 1e-6 for other in found):
                    found.append(one)
        return found

    def _search(self, T: Array, near: Array, first: Descent) -> IkResult:
        """Many starts inside the limits, then without limits, then the best result so far."""
        starts = np.concatenate([near[None], self._starts])
        targets = np.broadcast_to(T, (len(starts), 4, 4))
        for bounds in (self._bounds, self._unbounded):
            ends = descend(self._chain, starts, targets, bounds, self._scale)
            reached = np.flatnonzero(_reached(ends))
            if len(reached):
                results = [self._result(ends, int(i), near) for i in reached]
                return min(results, key=lambda r: (len(r.violations), np.abs(r.q - near).max()))
            first = Descent(*(np.concatenate([a, b]) for a, b in zip(first, ends, strict=True)))
        inside = self.limits.contains(first.q)
        miss = first.position_error / self._scale + first.rotation_error
        best = int(np.argmin(np.where(inside, miss, np.inf)))
        return self._result(first, best, near)

    def _result(self, ends: Descent, i: int, near: Array) -> IkResult:
        """Wrap one result: the turn nearest the seed, its status, which joints are outside."""
        q = self._turned(ends.q[i], near)
        errors = float(ends.position_error[i]), float(ends.rotation_error[i])
        result = self._solved(q, *errors)
        if max(errors) < SEARCH_TOLERANCE:
            return result
        flat = ends.slope[i] < _FLAT
        return result._replace(status=IkStatus.UNREACHABLE if flat else IkStatus.NOT_CONVERGED)

    def _turned(self, q: Array, near: Array) -> Array:
        """Turn revolute joints by whole turns: near the seed, inside the limits if possible."""
        lower, upper = self._bounds
        turned = np.where(self._chain.revolute, nearest_turn(q, near), q)
        outside = (turned < lower) | (turned > upper)
        back = np.where(self._chain.revolute, nearest_turn(q, self._middle), q)
        return np.where(outside, back, turned)


def _reached(ends: Descent) -> npt.NDArray[np.bool_]:
    reached: npt.NDArray[np.bool_] = (ends.position_error < SEARCH_TOLERANCE) & (
        ends.rotation_error < SEARCH_TOLERANCE
    )
    return reached

"""Inverse kinematics by iteration, for arms without a closed form: SUJ, MTM, free snakes.

From the seed first; if that does not arrive inside the limits, from many starts spread over the
joint ranges, all at once. A pose that no start reaches inside the limits is tried without them, so
that the answer can tell "outside limits, by these joints" from "nowhere".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.geometry.angles import nearest_turn
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.descent import Descent, descend
from dvrk_kinematics.kinematics.forward import SerialChain
from dvrk_kinematics.kinematics.limits import JointLimits
from dvrk_kinematics.kinematics.result import BatchIkResult, IkPolicy, IkResult, IkStatus
from dvrk_kinematics.models.schema import ArmModel

__all__ = ["NumericSolver"]

_TOLERANCE = 1e-9
"""Errors (m, rad) at which a pose counts as reached."""
_FLAT = 1e-3
"""Slope of the error at which a descent has ended in a minimum."""
_STARTS = 48
_CHUNK = 4096


class NumericSolver:
    """Damped least squares inside the joint limits.

    Args:
        model: The arm.
        limits: Its joint limits.
        rng: Where the starts come from; a fixed one by default, so that answers repeat.
    """

    def __init__(
        self, model: ArmModel, limits: JointLimits, rng: np.random.Generator | None = None
    ) -> None:
        self._chain = SerialChain(model)
        self._limits = limits
        lengths = [max(abs(row.a), abs(row.d)) for row in model.chain]
        # Half the longest link: about what a radian of a proximal joint moves the tip.
        self._scale = 0.5 * max(lengths)
        self._middle = 0.5 * (limits.lower + limits.upper)
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
        seed: Sequence[float] | None = None,
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

    def solve_batch(
        self,
        T: Array,
        seed: Array | None = None,
        policy: IkPolicy = IkPolicy.EXACT,
        good: npt.NDArray[np.bool_] | None = None,
    ) -> BatchIkResult:
        """Solve N poses, shape (N, 4, 4); rows that are not ``good`` come back invalid."""
        self._check_policy(policy)
        result = BatchIkResult.empty(len(T), len(self._limits))
        rows = np.arange(len(T)) if good is None else np.flatnonzero(good)
        for start in range(0, len(rows), _CHUNK):
            chunk = rows[start : start + _CHUNK]
            near = np.broadcast_to(self._middle if seed is None else seed, result.q.shape)[chunk]
            first = descend(self._chain, near, T[chunk], self._bounds, self._scale)
            for i, (row, done) in enumerate(zip(chunk, _reached(first), strict=True)):
                one = (
                    self._result(first, i, near[i])
                    if done
                    else self._search(
                        T[row], near[i], Descent(*(part[i : i + 1] for part in first))
                    )
                )
                result.q[row] = one.q
                result.status[row] = one.status
                result.position_error[row] = one.position_error
                result.rotation_error[row] = one.rotation_error
        result.violations[rows] = self._limits.mask_batch(result.q[rows])
        return result

    def solve_all(self, T: Array) -> list[IkResult]:
        """Give the distinct solutions that the starts lead to, inside the limits first.

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
        """Many starts inside the limits, then without limits, then the best that was seen."""
        starts = np.concatenate([near[None], self._starts])
        targets = np.broadcast_to(T, (len(starts), 4, 4))
        for bounds in (self._bounds, self._unbounded):
            ends = descend(self._chain, starts, targets, bounds, self._scale)
            reached = np.flatnonzero(_reached(ends))
            if len(reached):
                results = [self._result(ends, int(i), near) for i in reached]
                return min(results, key=lambda r: (len(r.violations), np.abs(r.q - near).max()))
            first = Descent(*(np.concatenate([a, b]) for a, b in zip(first, ends, strict=True)))
        inside = self._limits.contains(first.q)
        miss = first.position_error / self._scale + first.rotation_error
        best = int(np.argmin(np.where(inside, miss, np.inf)))
        return self._result(first, best, near)

    def _result(self, ends: Descent, i: int, near: Array) -> IkResult:
        """Wrap one end: the turn nearest the seed, what it is worth, which joints are outside."""
        q = self._turned(ends.q[i], near)
        violations = self._limits.violations(q)
        errors = float(ends.position_error[i]), float(ends.rotation_error[i])
        if not max(errors) < _TOLERANCE:
            flat = ends.slope[i] < _FLAT
            status = IkStatus.UNREACHABLE if flat else IkStatus.NOT_CONVERGED
        else:
            status = IkStatus.OUTSIDE_LIMITS if violations else IkStatus.OK
        q.setflags(write=False)
        return IkResult(q, status, violations, *errors)

    def _turned(self, q: Array, near: Array) -> Array:
        """Turn revolute joints by whole turns: near the seed, and inside the limits if it can."""
        lower, upper = self._bounds
        turned = np.where(self._chain.revolute, nearest_turn(q, near), q)
        outside = (turned < lower) | (turned > upper)
        back = np.where(self._chain.revolute, nearest_turn(q, self._middle), q)
        return np.where(outside, back, turned)

    def _check_policy(self, policy: IkPolicy) -> None:
        if policy is not IkPolicy.EXACT:
            raise InvalidInput("policy", f"{policy.value} needs a closed form; this arm has none")


def _reached(ends: Descent) -> npt.NDArray[np.bool_]:
    reached: npt.NDArray[np.bool_] = (ends.position_error < _TOLERANCE) & (
        ends.rotation_error < _TOLERANCE
    )
    return reached

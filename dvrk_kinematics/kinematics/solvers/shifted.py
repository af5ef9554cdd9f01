"""Inverse kinematics of an arm whose joint zeros differ from those of its closed form."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dvrk_kinematics.geometry.arrays import frozen
from dvrk_kinematics.kinematics.limits import JointLimits
from dvrk_kinematics.kinematics.result import (
    BatchIkResult,
    IkPolicy,
    IkResult,
)
from dvrk_kinematics.kinematics.solvers.solver import IkSolver

__all__ = ["ShiftedSolver"]

FloatArray = npt.NDArray[np.float64]


class ShiftedSolver(IkSolver):
    """A solver whose joint positions are those of another solver minus a constant.

    Args:
        inner: The solver; its limits are those of the arm, plus the shift.
        shift: The inner solver's joint positions minus the arm's (rad, m).
        limits: The arm's joint limits.
    """

    def __init__(self, inner: IkSolver, shift: Sequence[float], limits: JointLimits) -> None:
        super().__init__(limits)
        self._inner = inner
        self.branch_names = inner.branch_names
        self.is_closed_form = inner.is_closed_form
        self._shift = frozen(shift)
        self._bounds = dict(zip(limits.names, zip(shift, limits.pairs, strict=True), strict=True))

    def _inward(self, seed: Sequence[float] | FloatArray | None) -> FloatArray | None:
        return None if seed is None else np.asarray(seed, dtype=np.float64) + self._shift

    def _outward(self, result: IkResult) -> IkResult:
        violations = []
        for violation in result.violations:
            shift, (lower, upper) = self._bounds[violation.joint]
            violations.append(
                violation._replace(value=violation.value - shift, lower=lower, upper=upper)
            )
        return result._replace(q=frozen(result.q - self._shift), violations=tuple(violations))

    def solve(
        self,
        T: FloatArray,
        seed: Sequence[float] | FloatArray | None = None,
        policy: IkPolicy = IkPolicy.EXACT,
    ) -> IkResult:
        """Solve one pose, shape (4, 4)."""
        return self._outward(self._inner.solve(T, self._inward(seed), policy))

    def solve_batch(
        self,
        T: FloatArray,
        seed: FloatArray | None = None,
        policy: IkPolicy = IkPolicy.EXACT,
        good: npt.NDArray[np.bool_] | None = None,
    ) -> BatchIkResult:
        """Solve N poses, shape (N, 4, 4); rows that are not ``good`` are returned invalid."""
        result = self._inner.solve_batch(T, self._inward(seed), policy, good)
        result.q[...] -= self._shift
        return result

    def solve_near(self, T: FloatArray, seed: FloatArray) -> BatchIkResult:
        """Solve N poses position-first, from a seed, shape (n,)."""
        result = self._inner.solve_near(T, seed + self._shift)
        result.q[...] -= self._shift
        return result

    def solve_all(self, T: FloatArray) -> list[IkResult]:
        """Return every solution of one pose, inside the limits or not."""
        return [self._outward(result) for result in self._inner.solve_all(T)]

    def solve_branch(
        self, T: FloatArray, branch: str, seed: Sequence[float] | FloatArray | None = None
    ) -> IkResult:
        """Solve one pose, shape (4, 4), on a named branch, inside the limits or not."""
        return self._outward(self._inner.solve_branch(T, branch, self._inward(seed)))

"""Shared code of closed forms with named branches: measuring, choosing and wrapping solutions.

A closed form returns the same number of candidates for every pose, each with its name. Where a
pose cannot be reached, candidates come near it. We measure how near by forward kinematics, so that
no result looks better than it is.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from dvrk_kinematics.geometry import se3
from dvrk_kinematics.kinematics.chain import SerialChain
from dvrk_kinematics.kinematics.interruptible import check_in
from dvrk_kinematics.kinematics.jacobian import jacobian
from dvrk_kinematics.kinematics.limits import JointLimits
from dvrk_kinematics.kinematics.result import BatchIkResult, IkPolicy, IkResult, IkStatus
from dvrk_kinematics.kinematics.solvers.selector import Selector
from dvrk_kinematics.kinematics.solvers.settler import Settler
from dvrk_kinematics.kinematics.solvers.solver import RowsIndex, RowSolver
from dvrk_kinematics.kinematics.tolerances import (
    LIMIT_TOLERANCE,
    NEARLY_INSIDE,
    ORIENTATION_TOLERANCE_RAD,
    POSITION_TOLERANCE_M,
)
from dvrk_kinematics.models.schema import ArmModel

__all__ = ["BranchSolver"]

FloatArray = npt.NDArray[np.float64]
_EQUAL = 1e-7
"""Candidates whose errors (m, rad) differ by less are equally near to the pose."""


class BranchSolver(RowSolver):
    """Closed-form kinematics whose branches have names.

    Args:
        model: The arm.
        limits: Its joint limits.

    """

    exact_only = "is not offered for an arm of this kind"

    def __init__(self, model: ArmModel, limits: JointLimits) -> None:
        self._selector = Selector(limits, turning=range(len(limits)))
        super().__init__(limits, self._selector.rest)
        self._chain = SerialChain(model)
        self._settler = Settler(limits, self._chain.forward, partial(jacobian, self._chain))

    # What each closed form implements.

    @abstractmethod
    def _branches(self, T: FloatArray, seed: FloatArray) -> FloatArray:
        """Return every candidate.

        Args:
            T: Base to tip, shape (N, 4, 4).
            seed: Joint positions that settle what a pose leaves open (rad, m), shape (N, n).

        Returns:
            Joint positions (rad, m), shape (N, K, n), in the order of ``branch_names``.
        """

    @abstractmethod
    def _reason(self, T: FloatArray, result: IkResult) -> str:
        """Report which part of a pose, shape (4, 4), no joint positions reach."""

    @abstractmethod
    def singularities(self, q: FloatArray) -> tuple[str, ...]:
        """Name what is singular at joint positions (rad, m), shape (n,).

        A singular posture is solved like any other: the seed decides what the pose leaves open.
        But there the tip cannot move in every direction, and near it joints must move fast.

        Returns:
            The singularity, such as "elbow straight"; empty at a regular posture.
        """

    def _keep_position(self, T: FloatArray, seed: FloatArray) -> IkResult:
        """Solve one pose, shape (4, 4), near a seed, shape (n,), by the position first.

        A subclass that overrides this offers the policy, and sets an empty ``exact_only``.
        """
        raise NotImplementedError

    # The interface for callers.

    def solve(
        self,
        T: FloatArray,
        seed: Sequence[float] | FloatArray | None = None,
        policy: IkPolicy = IkPolicy.EXACT,
    ) -> IkResult:
        """Solve one pose, base to tip, shape (4, 4): the branch inside limits, near the seed.

        Raises:
            InvalidInput: The closed form does not offer the policy.
        """
        self._check_policy(policy)
        near = self._seed(seed)
        q, position_error, rotation_error = self._nearest(T[None], near[None])
        result = self._result(T, q[0], float(position_error[0]), float(rotation_error[0]))
        if policy is IkPolicy.POSITION_FIRST and not result.ok:
            return self._keep_position(T, near)
        return result

    def solve_branch(
        self, T: FloatArray, branch: str, seed: Sequence[float] | FloatArray | None = None
    ) -> IkResult:
        """Solve one pose, shape (4, 4), on a named branch, inside the limits or not.

        Raises:
            UnknownName: The branch is unknown; lists those that exist.
        """
        if branch not in self.branch_names:
            return super().solve_branch(T, branch, seed)
        return self._each(T, self._seed(seed))[self.branch_names.index(branch)]

    def solve_all(self, T: FloatArray) -> list[IkResult]:
        """Return every branch of one pose, shape (4, 4), in the order of ``branch_names``."""
        return self._each(T, self._seed(None))

    # How the results are found.

    def _seed(self, seed: Sequence[float] | FloatArray | None) -> FloatArray:
        floats = self.limits.read_seed(seed)
        return np.array(self.rest if floats is None else floats)

    def _solve_rows(
        self,
        T: FloatArray,
        seed: FloatArray,
        policy: IkPolicy,
        result: BatchIkResult,
        rows: RowsIndex,
    ) -> None:
        q, position_error, rotation_error = self._nearest(T, seed)
        missed = _is_missed(position_error, rotation_error)
        status = np.where(self.limits.mask_batch(q) != 0, IkStatus.OUTSIDE_LIMITS, IkStatus.OK)
        status = np.where(missed, IkStatus.UNREACHABLE, status).astype(np.uint8)
        if policy is IkPolicy.POSITION_FIRST:
            for i in np.flatnonzero(status):
                check_in()
                one = self._keep_position(T[i], seed[i])
                q[i], status[i] = one.q, one.status
                position_error[i], rotation_error[i] = one.position_error, one.rotation_error
        result.q[rows] = q
        result.status[rows] = status
        result.violations[rows] = self.limits.mask_batch(q)
        result.position_error[rows] = position_error
        result.rotation_error[rows] = rotation_error

    def _nearest(
        self, T: FloatArray, seed: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return joints (N, n), position errors (N,) and rotation errors (N,) of the best branch.

        The best is nearest to the pose; of these, inside the limits; of these, nearest the seed.
        """
        found = self._branches(T, seed)
        position_error, rotation_error = self._errors(T, found)
        miss = position_error + rotation_error
        least = np.argmin(miss, axis=1)
        best = np.take_along_axis(found, least[:, None, None], axis=1)
        worse = miss > np.take_along_axis(miss, least[:, None], axis=1) + _EQUAL
        found = np.where(worse[..., None], best, found)
        q = self._selector.choose_batch(found, seed)
        # Where the best is slightly outside, any of them may be so by rounding alone.
        outside = self.limits.excess(q).max(axis=1)
        rows = np.flatnonzero((outside > LIMIT_TOLERANCE) & (outside <= NEARLY_INSIDE))
        if len(rows):
            q[rows] = self._choose_settled(T[rows], found[rows], seed[rows])
        position_error, rotation_error = self._errors(T, q[:, None])
        return q, position_error[:, 0], rotation_error[:, 0]

    def _choose_settled(self, T: FloatArray, found: FloatArray, seed: FloatArray) -> FloatArray:
        """Choose one of the candidates (M, K, n) of each pose, all of them settled; (M, n)."""
        count, ways, joints = found.shape
        near = np.repeat(seed, ways, axis=0)
        turned = self._selector.choose_batch(found.reshape(-1, 1, joints), near)
        settled = self._settler.settle(np.repeat(T, ways, axis=0), turned)
        return self._selector.choose_batch(settled.reshape(count, ways, joints), seed)

    def _each(self, T: FloatArray, seed: FloatArray) -> list[IkResult]:
        """Wrap every branch of one pose."""
        found = self._branches(T[None], seed[None])[0]
        joints = self._selector.choose_batch(found[:, None], seed)
        joints = self._settler.settle(np.broadcast_to(T, (len(joints), 4, 4)), joints)
        position_error, rotation_error = self._errors(T[None], joints[None])
        return [
            self._result(T, q, float(p), float(r))
            for q, p, r in zip(joints, position_error[0], rotation_error[0], strict=True)
        ]

    def _errors(self, T: FloatArray, found: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Measure candidates (N, K, n) against poses (N, 4, 4): m and rad, shape (N, K) each."""
        reached = self._chain.forward(found.reshape(-1, found.shape[-1]))
        return se3.pose_error(reached.reshape(*found.shape[:2], 4, 4), T[:, None])

    def _result(
        self, T: FloatArray, q: FloatArray, position_error: float, rotation_error: float
    ) -> IkResult:
        """Wrap joint positions, with their status."""
        result = self._solved(q, position_error, rotation_error)
        if not _is_missed(position_error, rotation_error):
            return result
        return result._replace(status=IkStatus.UNREACHABLE, detail=self._reason(T, result))


def _is_missed(
    position_error: FloatArray | float, rotation_error: FloatArray | float
) -> npt.NDArray[np.bool_]:
    """Return which poses are not reached, for one or many."""
    far = np.greater(position_error, POSITION_TOLERANCE_M)
    turned = np.greater(rotation_error, ORIENTATION_TOLERANCE_RAD)
    return np.asarray(far | turned)

"""The interface of every inverse kinematics, and the shared code of row-by-row solvers.

``Arm`` calls only an :class:`IkSolver`. A solver inherits the methods that it cannot do, or has no
quicker code for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from dvrk_kinematics.errors import InvalidInput, UnknownName
from dvrk_kinematics.geometry.floats import Rows
from dvrk_kinematics.kinematics.chain import RowsOf
from dvrk_kinematics.kinematics.interruptible import check_in
from dvrk_kinematics.kinematics.limits import JointLimits
from dvrk_kinematics.kinematics.result import BatchIkResult, IkPolicy, IkResult, IkStatus

__all__ = ["IkSolver", "RowSolver", "RowsIndex"]

FloatArray = npt.NDArray[np.float64]
RowsIndex: TypeAlias = slice | npt.NDArray[np.intp]
"""Which rows of a batch: a range, or their indices."""


class IkSolver(ABC):
    """Inverse kinematics of one arm.

    Poses are base to tip, the instrument's tip offset included, and already checked: finite
    and rigid. A seed is a set of joint positions to stay near (rad, m).

    Args:
        limits: The arm's joint limits.

    Attributes:
        limits: The arm's joint limits.
        branch_names: Names of the branches, in the order of ``solve_all``; empty without names.
        is_closed_form: Whether solutions are computed; otherwise they are searched, and each pose
            takes its own search.
    """

    __slots__ = ("limits",)

    branch_names: tuple[str, ...] = ()
    is_closed_form: bool = True

    def __init__(self, limits: JointLimits) -> None:
        self.limits = limits

    @property
    def forward_floats(self) -> RowsOf | None:
        """The tip's pose by a closed form that knows which entries are zero; None without one."""
        return None

    @property
    def jacobian_floats(self) -> RowsOf | None:
        """The Jacobian by such a closed form; None without one."""
        return None

    @abstractmethod
    def solve(
        self,
        T: FloatArray,
        seed: Sequence[float] | FloatArray | None = None,
        policy: IkPolicy = IkPolicy.EXACT,
    ) -> IkResult:
        """Solve one pose, shape (4, 4).

        Raises:
            InvalidInput: The seed has the wrong length, or the solver does not offer the policy.
        """

    def solve_floats(self, T: Rows, seed: Sequence[float] | None) -> IkResult:
        """Solve one pose exactly, four rows of four floats."""
        return self.solve(np.array(T), seed)

    @abstractmethod
    def solve_batch(
        self,
        T: FloatArray,
        seed: FloatArray | None = None,
        policy: IkPolicy = IkPolicy.EXACT,
        good: npt.NDArray[np.bool_] | None = None,
    ) -> BatchIkResult:
        """Solve N poses, shape (N, 4, 4), in bounded memory; rows not ``good`` become invalid.

        The seed is one for all, shape (n,), or one per pose, shape (N, n).

        Raises:
            InvalidInput: The solver does not offer the policy.
        """

    def solve_near(self, T: FloatArray, seed: FloatArray) -> BatchIkResult:
        """Solve N poses position-first, from a seed (n,) alone if the solver supports it."""
        return self.solve_batch(T, seed, IkPolicy.POSITION_FIRST)

    @abstractmethod
    def solve_all(self, T: FloatArray) -> list[IkResult]:
        """Return every solution of one pose, shape (4, 4), inside the limits or not."""

    def solve_branch(
        self, T: FloatArray, branch: str, seed: Sequence[float] | FloatArray | None = None
    ) -> IkResult:
        """Solve one pose, shape (4, 4), on a named branch, inside the limits or not.

        Raises:
            UnknownName: The branch is unknown; lists those that exist.
        """
        raise UnknownName("branch", branch, self.branch_names)


class RowSolver(IkSolver):
    """A solver that processes a batch in chunks of rows.

    Args:
        limits: The arm's joint limits.
        rest: The default seed (rad, m), n floats.

    Attributes:
        rest: The default seed (rad, m), n floats.
    """

    __slots__ = ("rest",)

    chunk: int = 4096
    """Rows processed at once: their columns fit a core's cache, whatever the batch size."""
    exact_only: str = ""
    """Why the policy "position_first" is refused, as the end of a sentence; empty if it is not."""

    def __init__(self, limits: JointLimits, rest: Sequence[float]) -> None:
        super().__init__(limits)
        self.rest: tuple[float, ...] = tuple(rest)

    def solve_batch(
        self,
        T: FloatArray,
        seed: FloatArray | None = None,
        policy: IkPolicy = IkPolicy.EXACT,
        good: npt.NDArray[np.bool_] | None = None,
    ) -> BatchIkResult:
        """Solve N poses, shape (N, 4, 4); see :class:`IkSolver`."""
        self._check_policy(policy)
        result = BatchIkResult.empty(len(T), len(self.limits))
        near = np.broadcast_to(np.array(self.rest) if seed is None else seed, result.q.shape)
        for start in range(0, len(T), self.chunk):
            check_in()
            rows: RowsIndex = slice(start, start + self.chunk)
            if good is not None and not good[rows].all():
                rows = start + np.flatnonzero(good[rows])
                if not len(rows):
                    continue
            self._solve_rows(T[rows], near[rows], policy, result, rows)
        return result

    @abstractmethod
    def _solve_rows(
        self,
        T: FloatArray,
        seed: FloatArray,
        policy: IkPolicy,
        result: BatchIkResult,
        rows: RowsIndex,
    ) -> None:
        """Solve one chunk into its place in the result.

        Args:
            T: Base to tip, shape (M, 4, 4).
            seed: Joint positions to stay near (rad, m), shape (M, n).
            policy: A policy that the solver offers.
            result: Where to write.
            rows: Its rows to write, M of them.
        """

    def _check_policy(self, policy: IkPolicy) -> None:
        if policy is not IkPolicy.EXACT and self.exact_only:
            raise InvalidInput("policy", f"{policy.value} {self.exact_only}")

    def _store(self, found: Sequence[IkResult], result: BatchIkResult, rows: RowsIndex) -> None:
        """Write poses solved one by one."""
        q = np.array([one.q for one in found])
        result.q[rows] = q
        result.status[rows] = [one.status for one in found]
        result.violations[rows] = self.limits.mask_batch(q)
        result.position_error[rows] = [one.position_error for one in found]
        result.rotation_error[rows] = [one.rotation_error for one in found]

    def _solved(
        self,
        q: Sequence[float] | FloatArray,
        position_error: float = 0.0,
        rotation_error: float = 0.0,
    ) -> IkResult:
        """Wrap joint positions that solve the pose, and their errors (m, rad)."""
        array = np.array(q, dtype=np.float64)
        array.setflags(write=False)
        violations = self.limits.violations(q)
        status = IkStatus.OUTSIDE_LIMITS if violations else IkStatus.OK
        return IkResult(array, status, violations, position_error, rotation_error)

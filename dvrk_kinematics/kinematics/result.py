"""What an inverse-kinematics solver returns, and the policies that it offers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum
from math import nan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from dvrk_kinematics.kinematics.limits import JointLimits

__all__ = [
    "BatchIkResult",
    "Breach",
    "IkPolicy",
    "IkResult",
    "IkStatus",
    "Violation",
]

FloatArray = npt.NDArray[np.float64]


class IkStatus(IntEnum):
    """Outcome of one pose; the numbers are those of ``SolveIk.srv``."""

    OK = 0
    """Solved inside the joint limits."""
    OUTSIDE_LIMITS = 1
    """Solved, but at least one joint is outside its limits."""
    UNREACHABLE = 2
    """No joint positions reach this pose; the errors show how far the best ones miss."""
    POSITION_UNREACHABLE = 3
    """Position-first: not even the position is reachable inside the limits."""
    NOT_CONVERGED = 4
    """The iteration ended before it met its tolerance."""
    INVALID_INPUT = 5
    """The pose is not a valid pose (NaN, infinity, not a rigid transform); its joints are NaN."""

    def __str__(self) -> str:
        return self.name

    def __format__(self, spec: str) -> str:
        # An IntEnum would be formatted as its number, which means nothing to a reader.
        return format(self.name, spec)


class IkPolicy(str, Enum):
    """What to give up when a pose is outside the joint limits."""

    EXACT = "exact"
    """Nothing: the exact solution is returned and the violated joints are named."""
    POSITION_FIRST = "position_first"
    """The orientation: the position stays exact, the orientation is as near as limits allow."""


class Breach(NamedTuple):
    """A number beyond what is allowed; its owner reports which number, and where.

    Attributes:
        joint: The joint it belongs to; empty if none.
        value: What was found (rad, m; per s; per s^2); NaN if no number applies.
        limit: What is allowed.
    """

    joint: str = ""
    value: float = nan
    limit: float = nan


class Violation(NamedTuple):
    """A joint outside its limits (rad or m)."""

    joint: str
    value: float
    lower: float
    upper: float

    @property
    def breach(self) -> Breach:
        """The same with only the violated limit."""
        limit = self.lower if self.value < self.lower else self.upper
        return Breach(self.joint, self.value, limit)


class IkResult(NamedTuple):
    """Joint positions for one pose.

    Attributes:
        q: Joint positions (rad, m), shape (n,), read-only.
        status: Their status.
        violations: The joints outside their limits, in the order of the chain.
        position_error: Distance between the requested tip and the tip reached (m).
        rotation_error: Angle between the requested orientation and the one reached (rad).
        detail: Which part of an unreachable pose the arm cannot reach, if the solver knows;
            ``reason`` reports it, or whatever else is wrong.
    """

    q: FloatArray
    status: IkStatus
    violations: tuple[Violation, ...] = ()
    position_error: float = 0.0
    rotation_error: float = 0.0
    detail: str = ""

    @property
    def ok(self) -> bool:
        """Whether the pose is solved inside the limits."""
        return self.status == 0

    @property
    def reason(self) -> str:
        """What is wrong, in words: what cannot be reached, and every joint outside its limits.

        Empty if the pose is solved inside the limits.
        """
        if self.ok or self.detail:
            return self.detail
        missed = _MISSED.get(self.status, "").format(self.position_error, self.rotation_error)
        outside = [
            f"{joint} would be {value:.4f}, allowed {lower:.4f} to {upper:.4f}"
            for joint, value, lower, upper in self.violations
        ]
        return ", ".join([missed, *outside] if missed else outside)


_MISSED = {
    IkStatus.UNREACHABLE: "no joint positions give this pose, the best miss it by {:.3g} m and "
    "{:.3g} rad",
    IkStatus.POSITION_UNREACHABLE: "the position is out of reach inside the limits, the nearest "
    "is {:.3g} m away",
    IkStatus.NOT_CONVERGED: "the search ended {:.3g} m and {:.3g} rad from this pose",
    IkStatus.INVALID_INPUT: "what was given is not a valid pose",
}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BatchIkResult:
    """Joint positions for N poses, one row per pose; no row is ever left out.

    Attributes:
        q: Joint positions (rad, m), shape (N, n); NaN where the pose was not valid.
        status: :class:`IkStatus` of each row, shape (N,), uint8.
        violations: Bit masks, shape (N,), uint32: bit i is set if joint i is outside its limits.
        position_error: Distances between requested and reached tips (m), shape (N,).
        rotation_error: Angles between requested and reached orientations (rad), shape (N,).
    """

    q: FloatArray
    status: npt.NDArray[np.uint8]
    violations: npt.NDArray[np.uint32]
    position_error: FloatArray
    rotation_error: FloatArray

    @property
    def ok(self) -> npt.NDArray[np.bool_]:
        """Which poses are solved inside the limits, shape (N,)."""
        return np.equal(self.status, IkStatus.OK)

    def __len__(self) -> int:
        return len(self.status)

    def __repr__(self) -> str:
        counts = ", ".join(
            f"{count} {IkStatus(value)}"
            for value, count in zip(*np.unique(self.status, return_counts=True), strict=True)
        )
        return f"<BatchIkResult of {len(self)} poses: {counts or 'none'}>"

    def row(self, i: int, limits: JointLimits) -> IkResult:
        """One row on its own, whose ``reason`` reports what is wrong.

        Args:
            i: The row.
            limits: The limits of the arm that solved it.
        """
        mask = int(self.violations[i])
        outside = tuple(
            Violation(name, float(value), low, high)
            for k, (name, value, (low, high)) in enumerate(
                zip(limits.names, self.q[i], limits.pairs, strict=True)
            )
            if mask >> k & 1
        )
        status = IkStatus(int(self.status[i]))
        errors = float(self.position_error[i]), float(self.rotation_error[i])
        return IkResult(self.q[i], status, outside, *errors)

    @staticmethod
    def empty(count: int, joints: int) -> BatchIkResult:
        """Make the arrays for ``count`` poses: every row invalid until a solver fills it."""
        return BatchIkResult(
            q=np.full((count, joints), np.nan),
            status=np.full(count, IkStatus.INVALID_INPUT, dtype=np.uint8),
            violations=np.zeros(count, dtype=np.uint32),
            position_error=np.full(count, np.nan),
            rotation_error=np.full(count, np.nan),
        )

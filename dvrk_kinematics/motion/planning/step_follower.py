"""Following a path sample by sample, where a batch alone is not right."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dvrk_kinematics.errors import PlanReason
from dvrk_kinematics.geometry.angles import nearest_turn
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.arm import Arm
from dvrk_kinematics.kinematics.interruptible import check_in
from dvrk_kinematics.kinematics.result import Breach, IkPolicy, IkResult, IkStatus
from dvrk_kinematics.kinematics.tolerances import LIMIT_TOLERANCE
from dvrk_kinematics.models.schema import JointKind
from dvrk_kinematics.motion.limits import Allowed
from dvrk_kinematics.motion.segments import TipSegment

__all__ = [
    "SOLVED",
    "Allowed",
    "Followed",
    "Loss",
    "LostPath",
    "Samples",
    "StepFollower",
]

SOLVED = (IkStatus.OK, IkStatus.OUTSIDE_LIMITS)
"""Statuses that an exact solution may have."""

_JUMP_RAD = 0.1
_JUMP_M = 0.01
"""A longer step between two samples is checked more closely."""
_ROOM = 5e-4
"""How far from its limits a joint stays where orientation is given up (rad, m)."""
_FEW = (4, 12, 48)
"""How many samples to solve at a time where orientation is given up and some were lost."""
_HALVINGS = 8
"""How often a step is halved before it counts as a jump: 5 ms become 20 us."""

Mask = npt.NDArray[np.bool_]


class Loss(NamedTuple):
    """Where a path cannot be followed.

    Attributes:
        time_s: When, on the segment's time (s).
        reason: Why.
        breach: The joint that prevents it, what was found, and what is allowed.
        detail: Further details.
    """

    time_s: float
    reason: PlanReason
    breach: Breach = Breach()
    detail: str = ""


class LostPath(Exception):
    """Ends the search along a path; a follower turns it into its :class:`Loss`."""

    def __init__(self, loss: Loss) -> None:
        super().__init__(loss.reason.value)
        self.loss = loss


@dataclass(frozen=True, slots=True, eq=False)
class Followed:
    """Joint positions along a path.

    Attributes:
        q: Positions (rad, m), shape (N, n).
        given_up: Angles by which the tool is turned away from the path (rad), shape (N,).
    """

    q: Array
    given_up: Array


class Samples(NamedTuple):
    """Samples of a path with the batch's exact solutions.

    Attributes:
        t: Times (s), shape (N,).
        T: Poses, shape (N, 4, 4).
        q: Joint positions (rad, m), whole turns as solved, shape (N, n).
        is_solved: Which rows are solutions, inside the limits or not, shape (N,).
    """

    t: Array
    T: Array
    q: Array
    is_solved: Mask

    def rows(self, first: int, last: int) -> Samples:
        """A subset of them."""
        part = slice(first, last)
        return Samples(self.t[part], self.T[part], self.q[part], self.is_solved[part])


class StepFollower:
    """Solves samples from the one before them.

    Args:
        arm: The arm.
        allowed: Joint positions that the motion may take.
        policy: What to give up where a pose is outside the limits.

    Raises:
        InvalidInput: The arm does not support the policy.

    Attributes:
        allowed: The same.
        turns: Which joints may take whole turns, shape (n,).
        jump: Steps longer than these are checked more closely (rad, m), shape (n,).
    """

    def __init__(self, arm: Arm, allowed: Allowed, policy: IkPolicy) -> None:
        self._arm = arm
        self._names = arm.joint_names
        self.allowed = allowed
        self._policy = policy
        # Giving up orientation leaves a little room, within which the motion can be made smooth.
        self._stricter = arm if policy is IkPolicy.EXACT else _make_stricter(arm)
        if policy is not IkPolicy.EXACT:
            # An arm that lacks the policy reports it at once, not somewhere on a path.
            middle = self._stricter.limits.clamp(np.zeros(len(self._names)))
            self._stricter.inverse_near(arm.forward(middle)[None], middle)
        self._is_hard = False
        self.turns = np.array([j.kind is JointKind.REVOLUTE for j in arm.model.joints])
        self.jump = np.where(self.turns, _JUMP_RAD, _JUMP_M)

    def are_inside(self, q: Array) -> Mask:
        """Which joint positions, shape (N, n), the motion may take; shape (N,)."""
        low, high = self.allowed
        inside: Mask = (q >= low - LIMIT_TOLERANCE) & (q <= high + LIMIT_TOLERANCE)
        return np.asarray(inside.all(axis=-1))

    def go_on(
        self, segment: TipSegment, since: float, samples: Samples, before: Array
    ) -> Followed:
        """Solve at least the first of some samples.

        Args:
            segment: The path in time.
            since: Time of the sample before them (s).
            samples: What to solve.
            before: Joint positions at the sample before them (rad, m), shape (n,).

        Raises:
            LostPath: The first sample cannot be reached from the one before it.
        """
        if self._policy is IkPolicy.POSITION_FIRST:
            return self._give_up(samples, before)
        q = self._step(segment, (since, float(samples.t[0])), before, _HALVINGS)
        return Followed(q[None], np.zeros(1))

    def _step(
        self, segment: TipSegment, span: tuple[float, float], before: Array, halvings: int
    ) -> Array:
        """Solve one sample from the one before it; halve a step that is too long."""
        check_in()
        since, until = span
        q = self._solve(segment.pose(np.array([until]))[0], before, until)
        if self._is_near(q, before):
            return q
        if halvings == 0 or since == until:
            raise LostPath(self._jumped(q, before, until))
        middle = 0.5 * (since + until)
        q_middle = self._step(segment, (since, middle), before, halvings - 1)
        return self._step(segment, (middle, until), q_middle, halvings - 1)

    def _solve(self, T: Array, before: Array, time_s: float) -> Array:
        result = self._arm.inverse(T, seed=before)
        if result.status not in SOLVED:
            raise LostPath(_unreachable(result, time_s))
        q = self._nearest(result.q, before)
        if self.are_inside(q) and self._is_near(q, before):
            return q
        # The branch that continues the motion, regardless of limits: an answer on another branch
        # would hide which joint is in the way.
        found = [r.q for r in self._arm.inverse_all(T) if r.status in SOLVED]
        near = [self._nearest(one, before) for one in found] or [q]
        q = min(near, key=lambda one: float((np.abs(one - before) / self.jump).max()))
        if self._is_near(q, before) and not self.are_inside(q):
            raise LostPath(self._outside(q, time_s))
        return q

    def _give_up(self, samples: Samples, before: Array) -> Followed:
        """Continue with the orientation as near as limits allow, and exact where they allow it.

        Searches near a jump take long, and what lies beyond it is not needed. So once samples were
        lost, the next ones are solved a few at a time, until one is lost again.
        """
        parts: list[Followed] = []
        last, first = before, 0
        for size in _FEW if self._is_hard else (len(samples.t),):
            some = samples.rows(first, first + size)
            if not len(some.t):
                break
            part = self._give_up_some(some, before, last, is_first=not parts)
            parts.append(part)
            self._is_hard = len(part.q) < len(some.t)
            if self._is_hard:
                break
            last, first = part.q[-1], first + size
        return Followed(
            np.concatenate([part.q for part in parts]),
            np.concatenate([part.given_up for part in parts]),
        )

    def _give_up_some(
        self, samples: Samples, seed: Array, before: Array, is_first: bool
    ) -> Followed:
        """Solve some samples from a seed, as far as they continue from ``before``.

        Raises:
            LostPath: Not even the first does, and it is the first one requested.
        """
        near = self._stricter.inverse_near(samples.T, seed)
        exact = self._nearest(samples.q, near.q)
        is_exact = samples.is_solved & self.are_inside(exact)
        is_exact &= (np.abs(exact - near.q) <= self.jump).all(axis=1)
        q = np.where(is_exact[:, None], exact, near.q)
        given_up = np.where(is_exact, 0.0, near.rotation_error)
        steps = np.abs(np.diff(np.concatenate([before[None], q]), axis=0))
        good = (is_exact | near.ok) & (steps <= self.jump).all(axis=1)
        count = len(good) if good.all() else int(np.argmin(good))
        if count or not is_first:
            return Followed(q[:count], given_up[:count])
        time_s = float(samples.t[0])
        if not near.ok[0]:
            detail = f"not even the position: it is missed by {near.position_error[0]:.3g} m"
            raise LostPath(Loss(time_s, PlanReason.UNREACHABLE, detail=detail))
        raise LostPath(self._jumped(q[0], before, time_s))

    def _nearest(self, q: Array, before: Array) -> Array:
        return np.where(self.turns, nearest_turn(q, before), q)

    def _is_near(self, q: Array, before: Array) -> bool:
        return bool((np.abs(q - before) <= self.jump).all())

    def _jumped(self, q: Array, before: Array, time_s: float) -> Loss:
        step = np.abs(q - before)
        j = int(np.argmax(step / self.jump))
        breach = Breach(self._names[j], float(step[j]), float(self.jump[j]))
        return Loss(time_s, PlanReason.JUMP, breach)

    def _outside(self, q: Array, time_s: float) -> Loss:
        below, above = self.allowed.lower - q, q - self.allowed.upper
        j = int(np.argmax(np.maximum(below, above)))
        bound = self.allowed.lower if below[j] > above[j] else self.allowed.upper
        breach = Breach(self._names[j], float(q[j]), float(bound[j]))
        return Loss(time_s, PlanReason.POSITION_LIMIT, breach)


def _make_stricter(arm: Arm) -> Arm:
    """The same arm with limits a little farther inside."""
    joints = tuple(
        replace(joint, lower=joint.lower + _ROOM, upper=joint.upper - _ROOM)
        if joint.upper - joint.lower > 4.0 * _ROOM
        else joint
        for joint in arm.model.joints
    )
    return Arm(replace(arm.model, joints=joints))


def _unreachable(result: IkResult, time_s: float) -> Loss:
    miss = f"the nearest pose misses by {result.position_error:.3g} m"
    miss += f" and {result.rotation_error:.3g} rad"
    names = ", ".join(f"{v.joint} = {v.value:.4g}" for v in result.violations)
    detail = f"{miss}; outside: {names}" if names else miss
    return Loss(time_s, PlanReason.UNREACHABLE, detail=detail)

"""Joint positions that follow the tip along a path without a jump.

The closed form solves all samples at once. Whole turns are then taken out along the path, so that
a roll that reaches its limit stays at its limit, and is never turned back by 2 pi. Wherever the
batch alone cannot be right (a step too long, a joint outside its limits, a pose without a
solution) the samples are solved again, each from the one before it (follow_steps.py).
"""

from __future__ import annotations

import numpy as np
from scipy.interpolate import CubicSpline

from dvrk_kinematics.geometry.angles import unwrap
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.arm import Arm
from dvrk_kinematics.kinematics.interruptible import check_in
from dvrk_kinematics.kinematics.limits import JointLimits
from dvrk_kinematics.kinematics.result import IkPolicy
from dvrk_kinematics.motion.limits import make_allowed
from dvrk_kinematics.motion.planning.knots import SAMPLE_S
from dvrk_kinematics.motion.planning.progress import UNWATCHED, PlanningProgress
from dvrk_kinematics.motion.planning.step_follower import (
    SOLVED,
    Followed,
    Loss,
    LostPath,
    Samples,
    StepFollower,
)
from dvrk_kinematics.motion.segments import TipSegment
from dvrk_kinematics.motion.tolerances import SHARE_ROUNDING

__all__ = ["Followed", "GivenUpPath", "Loss", "PathFollower"]

_SMOOTHING_S = 0.1
"""Interval over which joints are averaged, to each side."""
_ITERATIONS = 4
"""Newton steps back onto the path: each squares the remaining error."""
_CHUNK = 8192
"""Samples that are processed together."""


class GivenUpPath:
    """Joint positions of a segment.

    Args:
        arm: The arm.
        segment: The path in time.
        t: Times at which it was followed, evenly spaced (s), shape (N,).
        q: Joint positions there (rad, m), shape (N, n).
        given_up: Angles given up there (rad), shape (N,).
        q_begin: Joint positions at the start (rad, m), shape (n,).
    """

    def __init__(
        self,
        arm: Arm,
        segment: TipSegment,
        t: Array,
        q: Array,
        given_up: Array,
        q_begin: Array,
    ) -> None:
        self._arm = arm
        self._segment = segment
        half = max(1, min(int(_SMOOTHING_S / float(t[1] - t[0])), len(t) // 4))
        turned = np.where(given_up > 0.0, 1.0, 0.0)[:, None]
        around = np.where(_average(turned, 2 * half) > SHARE_ROUNDING, 1.0, 0.0)
        near = _average(_average(around, half), half)
        smooth = q + near * (_average(_average(q, half), half) - q)
        # The motion begins where the joints are, and drops that small difference.
        smooth = smooth + (q_begin - smooth[0]) * np.exp(-t / _SMOOTHING_S)[:, None]
        self._q = CubicSpline(t, smooth, bc_type="clamped")
        self._near = (t, near[:, 0])

    def q(self, t: Array) -> Array:
        """Joint positions at times t (s), shape (N,) -> (N, n); the tip is on its path."""
        q: Array = self._q(t)
        for first in range(0, len(t), _CHUNK):
            rows = slice(first, first + _CHUNK)
            q[rows] = self._put_back(q[rows], self._segment.pose(t[rows])[:, :3, 3])
        return q

    def _put_back(self, q: Array, p: Array) -> Array:
        """Move the joints, shape (N, n), by the small step that takes the tip to p, (N, 3)."""
        for _ in range(_ITERATIONS):
            check_in()
            J = self._arm.jacobian(q)[:, :3]
            Jt = np.swapaxes(J, 1, 2)
            miss = p - self._arm.forward(q)[:, :3, 3]
            q = q + (Jt @ np.linalg.solve(J @ Jt, miss[:, :, None]))[..., 0]
        return q

    def is_given_up(self, t: Array) -> Array:
        """1 where the orientation is not the path's, 0 where it is; shape (N,) -> (N,)."""
        times, near = self._near
        return np.where(np.interp(t, times, near) > SHARE_ROUNDING, 1.0, 0.0)


def _average(values: Array, half: int) -> Array:
    """Averages over a few rows to each side; the ends are extended unchanged. Shape (N, k)."""
    count = len(values)
    padded = np.concatenate(
        [np.repeat(values[:1], half, axis=0), values, np.repeat(values[-1:], half, axis=0)]
    )
    sums = np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(padded, axis=0)])
    width = 2 * half + 1
    result: Array = (sums[width : width + count] - sums[:count]) / width
    return result


_BATCH = 1024
"""Samples that are solved at once."""
_BLOCK = 64
"""Samples that are processed together where the batch alone is not right."""


class PathFollower:
    """Follows paths with one arm.

    Args:
        arm: The arm.
        limits: Joint limits (rad, m); a joint outside them where a path begins may come back.
        policy: What to give up where a pose is outside the limits.

    Attributes:
        policy: The same.
    """

    def __init__(self, arm: Arm, limits: JointLimits, policy: IkPolicy = IkPolicy.EXACT) -> None:
        self._arm = arm
        self.policy = policy
        self._limits = limits
        self._steps = StepFollower(arm, make_allowed(limits, limits.lower), policy)
        self._given_up: tuple[TipSegment, GivenUpPath] | None = None

    def follow(
        self,
        segment: TipSegment,
        t: Array,
        q_begin: Array,
        progress: PlanningProgress = UNWATCHED,
    ) -> Followed | Loss:
        """Solve the path at some times.

        Args:
            segment: The path in time.
            t: Increasing times (s), shape (N,).
            q_begin: Joint positions before the first of them (rad, m), shape (n,).
            progress: Receives progress, and may end planning.

        Returns:
            The joint positions, or where the path is lost first.
        """
        self._steps.allowed = make_allowed(self._limits, q_begin)
        if self._given_up is not None and self._given_up[0] is segment:
            return self._smooth(self._given_up[1], t)
        first, second = progress.part(0.0, 0.5), progress.part(0.5, 1.0)
        found = self._follow(segment, t, q_begin, first)
        if isinstance(found, Loss) or not found.given_up.any():
            return found
        even = np.linspace(0.0, segment.duration_s, int(segment.duration_s / SAMPLE_S) + 9)
        found = self._follow(segment, even, q_begin, second)
        if isinstance(found, Loss):
            return found
        path = GivenUpPath(self._arm, segment, even, found.q, found.given_up, q_begin)
        # The same segment will be requested again, with other knots.
        self._given_up = segment, path
        return self._smooth(path, t)

    def _smooth(self, path: GivenUpPath, t: Array) -> Followed:
        return Followed(path.q(t), path.is_given_up(t))

    def _follow(
        self, segment: TipSegment, t: Array, q_begin: Array, progress: PlanningProgress
    ) -> Followed | Loss:
        before, parts = q_begin, []
        try:
            # Batch by batch: a path lost early is not solved to its end.
            for first in range(0, len(t), _BATCH):
                times = t[first : first + _BATCH]
                since = float(t[max(first - 1, 0)])
                part = progress.part(first / len(t), (first + len(times)) / len(t))
                parts += self._follow_batch(segment, times, since, before, part)
                before = parts[-1].q[-1]
        except LostPath as lost:
            return lost.loss
        return Followed(
            np.concatenate([part.q for part in parts]),
            np.concatenate([part.given_up for part in parts]),
        )

    def _follow_batch(
        self,
        segment: TipSegment,
        t: Array,
        since: float,
        before: Array,
        progress: PlanningProgress,
    ) -> list[Followed]:
        T = segment.pose(t)
        batch = self._arm.inverse_batch(T, seed=before)
        samples = Samples(t, T, batch.q, np.isin(batch.status, SOLVED))
        row, block, parts = 0, len(t), []
        while row < len(t):
            progress.step(row, len(t))
            part = self._take_over(samples.rows(row, row + block), before)
            block *= 2
            if not len(part.q):
                some = samples.rows(row, row + _BLOCK)
                part, block = self._steps.go_on(segment, since, some, before), _BLOCK
            parts.append(part)
            row += len(part.q)
            before, since = part.q[-1], float(t[row - 1])
        return parts

    def _take_over(self, samples: Samples, before: Array) -> Followed:
        """Samples on the turns that continue ``before``, up to where they stop being right."""
        steps = self._steps
        path = np.concatenate([before[None], samples.q])
        path[1:] = np.where(samples.is_solved[:, None], path[1:], before)
        path[:, steps.turns] = unwrap(path[:, steps.turns])
        is_long = (np.abs(np.diff(path, axis=0)) > steps.jump).any(axis=1)
        path = path[1:]
        bad = is_long | ~steps.are_inside(path) | ~samples.is_solved
        count = int(np.argmax(bad)) if bad.any() else len(path)
        return Followed(path[:count], np.zeros(count))

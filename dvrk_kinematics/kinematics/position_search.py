"""Rotation-only search over a PSM's wrist, many poses at once, the tip's position held exactly."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dvrk_kinematics.kinematics.interruption import check_in
from dvrk_kinematics.kinematics.position_state import SearchState, WristProblem

__all__ = ["WristSearch"]

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

STIFFNESS = (3.0, 30.0, 300.0, 1e4)
"""Weight of leaving the limits of q1, q2, q3 (per rad, per 0.1 m) against 1 rad of rotation: low
first, since a search that starts stiff creeps along the limit."""
STEPS = (40, 30, 30, 60)
"""Steps at each stiffness, at most."""
KEEP = 8
"""Searches of one pose that go on after the first stiffness: those that stand lowest."""
GAUSS_STEPS = 10
"""Steps at each stiffness before second derivatives are taken in full."""
DIFFERENCE_RAD = 1e-6
LEAST_CURVATURE = 1e-3
SETTLED_COST = 1e-13
"""A step that promises to lower half the squared angle by less (rad^2) is the last."""


class WristSearch:
    """Damped Newton steps over (q4, q5, q6) inside their limits.

    Args:
        problem: The arm's lengths and limits.
    """

    __slots__ = ("_problem",)

    def __init__(self, problem: WristProblem) -> None:
        self._problem = problem

    def minimise(
        self, poses: FloatArray, starts: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Search each pose from several starts.

        Args:
            poses: Base to tip, shape (N, 4, 4).
            starts: Joint positions (rad, m), shape (N, K, 6).

        Returns:
            The lowest places found: joint positions (N, k, 6), k at most K, position errors
            (N, k) in m, rotation errors (N, k) in rad.
        """
        count = starts.shape[1]
        T, start = np.repeat(poses, count, axis=0), starts.reshape(-1, 6)
        R = T[:, :3, :3] @ self._problem.off.T
        t = np.ascontiguousarray(T[:, :3, 3])
        side = self._problem.sides(start)
        lower, upper = self._problem.boxes(t)
        w = np.clip(start[:, 3:], lower, upper)
        rows = np.arange(len(T))
        settled = np.zeros(len(T), dtype=np.bool_)
        for stage, stiffness in enumerate(STIFFNESS):
            state = SearchState(self._problem, stiffness, R[rows], t[rows], side[rows], w)
            # A search that has settled clear of the shaft's limits is done, however stiff.
            settled &= ~state.residual[:, 3:].any(axis=1)
            settled = self._descend(state, lower[rows], upper[rows], settled, STEPS[stage])
            w = state.w
            if stage == 0 and count > KEEP:
                order = np.argsort(state.cost.reshape(-1, count), axis=1)[:, :KEEP]
                rows = (order + count * np.arange(len(order))[:, None]).ravel()
                w, settled = w[rows], settled[rows]
        q = np.concatenate([state.shaft, state.w], axis=1)
        shape = (len(poses), -1)
        angle = np.linalg.norm(state.rotation, axis=1)
        return q.reshape(*shape, 6), state.position_error.reshape(shape), angle.reshape(shape)

    @staticmethod
    def _descend(
        state: SearchState,
        lower: FloatArray,
        upper: FloatArray,
        settled: BoolArray,
        steps: int,
    ) -> BoolArray:
        """Step the searches that have not settled, in place; tell which have settled now."""
        settled = settled.copy()
        damping = np.full(len(settled), 1e-3)
        for count in range(steps):
            check_in()
            moving = np.flatnonzero(~settled)
            if not len(moving):
                break
            part = state.take(moving)
            curvature = part.curvature() if count < GAUSS_STEPS else _full_curvature(part)
            bounds = lower[moving], upper[moving]
            step = _projected_step(part, curvature, damping[moving], bounds)
            tried = part.at(part.w + step)
            gain = part.cost - tried.cost
            better = gain > 0.0
            state.put(moving[better], tried, better)
            damping[moving] *= np.where(better, 0.2, 8.0)
            promise = np.abs((part.gradient * step).sum(axis=1))
            settled[moving] = promise < SETTLED_COST
        return settled


def _full_curvature(state: SearchState) -> FloatArray:
    """Give second derivatives of the cost by the wrist, shape (M, 3, 3), from differences.

    Where the best orientation is far from the one asked for, Gauss and Newton's guess at
    them leaves much out, and a search that uses it comes to rest only slowly.
    """
    count = len(state.w)
    moved = np.repeat(state.w[:, None, :], 3, axis=1) + DIFFERENCE_RAD * np.eye(3)
    other = state.at(moved.reshape(-1, 3))
    change = other.gradient.reshape(count, 3, 3) - state.gradient[:, None, :]
    full = (change + np.swapaxes(change, 1, 2)) / (2.0 * DIFFERENCE_RAD)
    value, axes = np.linalg.eigh(full)
    # A step must lead down: directions of negative curvature count as positive.
    value = np.maximum(np.abs(value), LEAST_CURVATURE)
    return np.asarray((axes * value[:, None, :]) @ np.swapaxes(axes, 1, 2))


def _projected_step(
    state: SearchState,
    hessian: FloatArray,
    damping: FloatArray,
    bounds: tuple[FloatArray, FloatArray],
) -> FloatArray:
    """Give the damped step inside the box.

    Joints that push against a limit rest; a joint that would pass one stops there, and the others
    take the step that is best then.
    """
    w, gradient = state.w, state.gradient
    lower, upper = bounds
    free = ~(((w <= lower) & (gradient > 0.0)) | ((w >= upper) & (gradient < 0.0)))
    stopped = np.zeros_like(w)
    for _ in range(3):
        slope = (gradient + (hessian @ stopped[:, :, None])[:, :, 0]) * free
        masked = hessian * free[:, :, None] * free[:, None, :]
        masked += np.eye(3) * (damping[:, None] + ~free)[:, None, :]
        step = stopped - np.linalg.solve(masked, slope[:, :, None])[:, :, 0]
        passing = free & ((w + step < lower) | (w + step > upper))
        if not passing.any():
            break
        stopped = np.where(passing, np.clip(w + step, lower, upper) - w, stopped)
        free &= ~passing
    return np.asarray(np.clip(w + step, lower, upper) - w)

"""Rotation-only search over a PSM's wrist, many poses at once, the tip's position held exactly."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dvrk_kinematics.kinematics.limits import JointLimits
from dvrk_kinematics.kinematics.position_follow import (
    best_angle,
    follow_wrist,
    rotation_vector,
    shortfall,
)
from dvrk_kinematics.kinematics.psm_geometry import PsmGeometry

__all__ = ["WristSearch"]

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

STIFFNESS = (3.0, 30.0, 300.0, 1e4)
"""Weight of leaving the limits of q1, q2, q3 (per rad, per 0.1 m) against 1 rad of rotation: low
first, since a search that starts stiff creeps along the limit."""
INSERTION_SCALE = 10.0
SHRINK = 1e-6
"""The stiff limits stand this far inside the true ones (rad, 0.1 m), so that the little by which
a stiff residual gives way stays inside."""
STEPS = (30, 20, 20, 30)
"""Steps at each stiffness, at most."""
KEEP = 8
"""Searches of one pose that go on after the first stiffness: those that stand lowest."""
SETTLED_COST = 1e-13
"""A step that promises to lower half the squared angle by less (rad^2) is the last."""
GRID = (25, 9)
GRID_NEAR = (61, 21)
"""Rolls and wrist pitches looked at before the search; more of them near the remote centre, where
the shaft turns far for a small move of the wrist."""
SECTORS = 8
"""Parts of the roll's range; the best place of each part goes into the search."""


class WristSearch:
    """Damped Gauss-Newton over (q4, q5, q6) inside their limits.

    Args:
        geometry: The arm's lengths and tip; the tip must be frame 6's origin.
        limits: Its joint limits.
    """

    __slots__ = ("_a", "_b", "_lower", "_off", "_scale", "_shaft_lower", "_shaft_upper", "_upper")

    def __init__(self, geometry: PsmGeometry, limits: JointLimits) -> None:
        self._a, self._b = geometry.a, geometry.b
        self._off = np.array(geometry.tip)[:3, :3]
        self._lower, self._upper = limits.lower[3:], limits.upper[3:]
        self._scale = np.array([1.0, 1.0, INSERTION_SCALE])
        margin = SHRINK / self._scale
        self._shaft_lower = limits.lower[:3] + margin
        self._shaft_upper = limits.upper[:3] - margin

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
        R = T[:, :3, :3] @ self._off.T
        t = np.ascontiguousarray(T[:, :3, 3])
        side = self._sides(start)
        lower, upper = self._boxes(t)
        w = np.clip(start[:, 3:], lower, upper)
        rows = np.arange(len(T))
        settled = np.zeros(len(T), dtype=np.bool_)
        for stage, stiffness in enumerate(STIFFNESS):
            state = _State(self, stiffness, R[rows], t[rows], side[rows], w)
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

    def _descend(
        self,
        state: _State,
        lower: FloatArray,
        upper: FloatArray,
        settled: BoolArray,
        steps: int,
    ) -> BoolArray:
        """Step the searches that have not settled, in place; tell which have settled now."""
        settled = settled.copy()
        damping = np.full(len(settled), 1e-3)
        for _ in range(steps):
            moving = np.flatnonzero(~settled)
            if not len(moving):
                break
            part = state.take(moving)
            step = _projected_step(part, damping[moving], lower[moving], upper[moving])
            tried = _State(self, state.stiffness, part.R, part.t, part.side, part.w + step)
            gain = part.cost - tried.cost
            better = gain > 0.0
            state.put(moving[better], tried, better)
            damping[moving] *= np.where(better, 0.2, 8.0)
            promise = np.abs((part.gradient * step).sum(axis=1))
            settled[moving] = promise < SETTLED_COST
        return settled

    def survey(self, T: FloatArray) -> FloatArray:
        """Look over the whole wrist of one pose.

        Args:
            T: Base to tip, shape (4, 4).

        Returns:
            Joint positions (rad, m), shape (SECTORS, 6): the best place in each part of the
            roll's range, counting rotation angle and what the shaft's limits are left by.
        """
        R, t = T[:3, :3] @ self._off.T, T[:3, 3]
        lower, upper = (bound[0] for bound in self._boxes(t[None]))
        sides = self._all_sides(t)
        rolls, pitches = (
            np.linspace(lower[i], upper[i], (GRID if len(sides) == 1 else GRID_NEAR)[i])
            for i in range(2)
        )
        grid = np.stack(np.meshgrid(rolls, pitches, indexing="ij"), axis=-1).reshape(-1, 2)
        w = np.zeros((len(grid) * len(sides), 3))
        w[:, :2] = np.repeat(grid, len(sides), axis=0)
        side = np.tile(np.array(sides), (len(grid), 1))
        place = np.broadcast_to(t, (len(w), 3))
        shaft, _, _, R_now, missed = follow_wrist((self._a, self._b), place, side, w)
        y4, x5, z6 = np.moveaxis(R_now, 2, 0)
        sine = x5 @ R[:, 0] - y4 @ R[:, 1]
        cosine = y4 @ R[:, 0] + x5 @ R[:, 1]
        w[:, 2] = best_angle(sine, cosine, float(lower[2]), float(upper[2]))
        trace = sine * np.sin(w[:, 2]) + cosine * np.cos(w[:, 2]) + z6 @ R[:, 2]
        angle = np.arccos(np.clip(0.5 * (trace - 1.0), -1.0, 1.0))
        outside = np.maximum(self._shaft_lower - shaft, shaft - self._shaft_upper)
        score = angle + STIFFNESS[0] * (np.maximum(outside, 0.0) @ self._scale + missed)
        # Rows run by roll, then wrist pitch, then signs: one winner a roll sector and sign.
        part = (np.arange(len(w)) * SECTORS) // len(w) * len(sides)
        part += np.arange(len(w)) % len(sides)
        order = np.lexsort((score, part))
        winners = order[np.unique(part[order], return_index=True)[1]]
        best = winners[np.argsort(score[winners], kind="stable")[:SECTORS]]
        return np.concatenate([shaft[best], w[best]], axis=1)

    def _sides(self, q: FloatArray) -> FloatArray:
        """Give the signs of W and K (see :func:`follow_wrist`) at some joint positions, (M, 2)."""
        W = q[:, 2] - self._b + self._a * np.cos(q[:, 4])
        K = self._a * np.sin(q[:, 1]) * np.sin(q[:, 4]) * np.cos(q[:, 3]) - np.cos(q[:, 1]) * W
        return np.where(np.stack([W, K], axis=1) < 0.0, -1.0, 1.0)

    def _all_sides(self, t: FloatArray) -> list[tuple[float, float]]:
        """Give the signs of W and K that can be inside limits at one position (m), shape (3,)."""
        near = 5.0 * self._a + max(self._b - float(self._shaft_lower[2]), 0.0)
        if float(np.linalg.norm(t)) > near:
            return [(1.0, -1.0)]
        return [(1.0, -1.0), (-1.0, 1.0), (1.0, 1.0), (-1.0, -1.0)]

    def _boxes(self, t: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Give the wrist's limits for each pose: near the remote centre q5 cannot turn fully."""
        lower = np.repeat(self._lower[None], len(t), axis=0)
        upper = np.repeat(self._upper[None], len(t), axis=0)
        if self._a > 0.0:
            ratio = np.linalg.norm(t, axis=1) / self._a
            reach = np.where(ratio < 1.0, np.arcsin(np.minimum(ratio, 1.0)), np.pi)
            lower[:, 1] = np.clip(lower[:, 1], -reach, reach)
            upper[:, 1] = np.clip(upper[:, 1], -reach, reach)
        return lower, upper


class _State:
    """Where each search stands: wrist, the shaft that follows it, errors and their derivatives."""

    __slots__ = (
        *("R", "cost", "gradient", "jacobian", "position_error", "residual", "rotation", "shaft"),
        *("side", "stiffness", "t", "w"),
    )

    def __init__(
        self,
        search: WristSearch,
        stiffness: float,
        R: FloatArray,
        t: FloatArray,
        side: FloatArray,
        w: FloatArray,
    ) -> None:
        self.stiffness = stiffness
        self.R, self.t, self.side, self.w = R, t, side, w
        self.shaft, follow, turn, R_now, self.position_error = follow_wrist(
            (search._a, search._b), t, side, w
        )
        self.rotation = rotation_vector(R_now @ np.swapaxes(R, 1, 2))
        low = search._shaft_lower - self.shaft
        high = self.shaft - search._shaft_upper
        outside = np.maximum(high, 0.0) - np.maximum(low, 0.0)
        weight = stiffness * search._scale
        short, by_wrist = shortfall(search._a, t, w)
        weight_m = stiffness * INSERTION_SCALE
        self.residual = np.concatenate(
            [self.rotation, outside * weight, weight_m * short[:, None]], axis=1
        )
        stiff = follow * ((outside != 0.0) * weight)[:, :, None]
        self.jacobian = np.concatenate([turn, stiff, weight_m * by_wrist[:, None, :]], axis=1)
        self.cost = 0.5 * np.einsum("ij,ij->i", self.residual, self.residual)
        self.gradient = np.einsum("ijk,ij->ik", self.jacobian, self.residual)

    def take(self, rows: npt.NDArray[np.intp]) -> _State:
        """Copy some searches."""
        part = _State.__new__(_State)
        part.stiffness = self.stiffness
        for name in _ROWS:
            setattr(part, name, getattr(self, name)[rows])
        return part

    def put(self, rows: npt.NDArray[np.intp], other: _State, which: BoolArray) -> None:
        """Write searches ``which`` of another state into ``rows`` of this one."""
        for name in _ROWS:
            getattr(self, name)[rows] = getattr(other, name)[which]


_ROWS = tuple(name for name in _State.__slots__ if name != "stiffness")


def _projected_step(
    state: _State, damping: FloatArray, lower: FloatArray, upper: FloatArray
) -> FloatArray:
    """Give the damped step inside the box.

    Joints that push against a limit rest; a joint that would pass one stops there, and the others
    take the step that is best then.
    """
    w, gradient = state.w, state.gradient
    hessian = np.swapaxes(state.jacobian, 1, 2) @ state.jacobian
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

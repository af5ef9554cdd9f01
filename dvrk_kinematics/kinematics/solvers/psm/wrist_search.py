"""Rotation-only search over a PSM's wrist, many poses at once, at an exact tip position."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dvrk_kinematics.kinematics.interruptible import check_in
from dvrk_kinematics.kinematics.limits import JointLimits
from dvrk_kinematics.kinematics.solvers.psm.geometry import PsmGeometry

__all__ = [
    "SearchState",
    "WristProblem",
    "WristSearch",
    "best_angle",
    "follow_wrist",
    "rotation_vector",
    "shortfall",
]

FloatArray = npt.NDArray[np.float64]

CLEARANCE_M = 1e-7
"""How much farther from the yaw axis than the wrist requires the tip should be (m)."""


def best_angle(sine: FloatArray, cosine: FloatArray, lower: float, upper: float) -> FloatArray:
    """Return the angle inside limits with the largest sine * sin(x) + cosine * cos(x)."""
    peak = np.arctan2(sine, cosine)
    at_lower = sine * np.sin(lower) + cosine * np.cos(lower)
    at_upper = sine * np.sin(upper) + cosine * np.cos(upper)
    end = np.where(at_lower > at_upper, lower, upper)
    return np.where((peak >= lower) & (peak <= upper), peak, end)


def follow_wrist(
    lengths: tuple[float, float], t: FloatArray, side: FloatArray, w: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """Find the shaft that puts the tip in place, and how shaft and orientation follow the wrist.

    Returns:
        Shaft joints (M, 3); their derivatives by the wrist's joints (M, 3, 3); angular velocity
        by the wrist's joints with the tip held (M, 3, 3); rotation of frame 6 (M, 3, 3); distance
        by which the tip misses its place (M,).
    """
    a, b = lengths
    q4, q5, q6 = w.T
    s4, c4, s5, c5 = np.sin(q4), np.cos(q4), np.sin(q5), np.cos(q5)
    s6, c6 = np.sin(q6), np.cos(q6)
    tx, ty, tz = t.T
    # The tip in the shaft's axes: (X, Y, W); |t| fixes W, the yaw axis fixes K.
    X, Y = a * s5 * c4, a * s5 * s4
    W = side[:, 0] * np.sqrt(np.maximum(tx * tx + ty * ty + tz * tz - (a * s5) ** 2, 0.0))
    K = side[:, 1] * np.sqrt(np.maximum(tx * tx + tz * tz - Y * Y, 0.0))
    q1 = np.arctan2(-tx * K - tz * Y, tz * K - tx * Y)
    q2 = np.arctan2(-ty * W + K * X, -ty * X - K * W)
    d = W - a * c5
    s1, c1, s2, c2 = np.sin(q1), np.cos(q1), np.sin(q2), np.cos(q2)
    zero = np.zeros_like(s1)
    z = np.stack([s1 * c2, -s2, -c1 * c2], axis=1)
    x3 = np.stack([-s1 * s2, -c2, c1 * s2], axis=1)
    y3 = np.stack([-c1, zero, -s1], axis=1)
    x4 = c4[:, None] * x3 + s4[:, None] * y3
    y4 = c4[:, None] * y3 - s4[:, None] * x3
    x5 = s5[:, None] * x4 + c5[:, None] * z
    z6 = c5[:, None] * x4 - s5[:, None] * z
    x6 = s6[:, None] * x5 + c6[:, None] * y4
    y6 = c6[:, None] * x5 - s6[:, None] * y4
    tip = d[:, None] * z + a * x5
    axis1 = np.stack([zero, zero - 1.0, zero], axis=1)
    moves = np.stack([_cross(axis1, tip), _cross(y3, tip), z], axis=2)
    pushes = np.stack([_cross(z, tip), a * _cross(y4, x5), np.zeros_like(z)], axis=2)
    follow = -_solve3(moves, pushes)
    shaft_axes = np.stack([axis1, y3, np.zeros_like(z)], axis=2)
    turn = np.stack([z, y4, z6], axis=2) + shaft_axes @ follow
    shaft = np.stack([q1, q2, d + b], axis=1)
    R_now = np.stack([x6, y6, z6], axis=2)
    return shaft, follow, turn, R_now, np.linalg.norm(tip - t, axis=1)


def shortfall(a: float, t: FloatArray, w: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return how far the tip's place is too near the yaw axis for a wrist (m), and derivatives."""
    s4, c4, s5, c5 = np.sin(w[:, 0]), np.cos(w[:, 0]), np.sin(w[:, 1]), np.cos(w[:, 1])
    Y = a * s5 * s4
    short = np.abs(Y) + CLEARANCE_M - np.sqrt(t[:, 0] ** 2 + t[:, 2] ** 2)
    sign = np.where(short > 0.0, np.sign(Y), 0.0) * a
    by_wrist = np.stack([sign * s5 * c4, sign * c5 * s4, np.zeros_like(Y)], axis=1)
    return np.maximum(short, 0.0), by_wrist


def _cross(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the cross products of many vectors, shape (M, 3); np.cross is ten times slower."""
    ax, ay, az = a.T
    bx, by, bz = b.T
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=1)


def _solve3(A: FloatArray, B: FloatArray) -> FloatArray:
    """Solve many 3 x 3 systems, least squares with a trace of damping, so never singular."""
    At = np.swapaxes(A, 1, 2)
    return np.asarray(np.linalg.solve(At @ A + 1e-18 * np.eye(3), At @ B))


def rotation_vector(R: FloatArray) -> FloatArray:
    """Return axis times angle of many rotations, shape (M, 3, 3), exact up to half a turn."""
    v = 0.5 * np.stack(
        [R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]], axis=1
    )
    sine = np.linalg.norm(v, axis=1)
    angle = np.arctan2(sine, 0.5 * (np.trace(R, axis1=1, axis2=2) - 1.0))
    factor = np.where(sine > 1e-12, angle / np.maximum(sine, 1e-300), 1.0)
    vector = v * factor[:, None]
    half = (angle > 3.0) & (sine < 1e-6)
    if half.any():
        # Near half a turn the axis is the largest column of R + 1, whatever its sign.
        columns = R[half] + np.eye(3)
        longest = np.argmax(np.linalg.norm(columns, axis=1), axis=1)
        axis = columns[np.arange(len(columns)), :, longest]
        vector[half] = axis / np.linalg.norm(axis, axis=1)[:, None] * angle[half][:, None]
    return np.asarray(vector)


BoolArray = npt.NDArray[np.bool_]

INSERTION_SCALE = 10.0
"""How much more a metre counts than a radian where limits are violated."""
SHRINK = 1e-6
"""The stiff limits are this far inside the true ones (rad, 0.1 m), so that the slight violation of
a stiff residual stays inside."""


class WristProblem:
    """Lengths and limits of one arm, as the searches need them.

    Args:
        geometry: The arm's lengths and tip; the tip must be frame 6's origin.
        limits: Its joint limits.
    """

    __slots__ = ("a", "b", "lower", "off", "scale", "shaft_lower", "shaft_upper", "upper")

    def __init__(self, geometry: PsmGeometry, limits: JointLimits) -> None:
        self.a, self.b = geometry.a, geometry.b
        self.off = np.array(geometry.tip)[:3, :3]
        self.lower, self.upper = limits.lower[3:], limits.upper[3:]
        self.scale = np.array([1.0, 1.0, INSERTION_SCALE])
        margin = SHRINK / self.scale
        self.shaft_lower = limits.lower[:3] + margin
        self.shaft_upper = limits.upper[:3] - margin

    def sides(self, q: FloatArray) -> FloatArray:
        """Return the signs of W and K (see :func:`follow_wrist`) at joint positions, (M, 2)."""
        W = q[:, 2] - self.b + self.a * np.cos(q[:, 4])
        K = self.a * np.sin(q[:, 1]) * np.sin(q[:, 4]) * np.cos(q[:, 3]) - np.cos(q[:, 1]) * W
        return np.where(np.stack([W, K], axis=1) < 0.0, -1.0, 1.0)

    def all_sides(self, t: FloatArray) -> list[tuple[float, float]]:
        """Return the signs of W and K possible inside limits at a position (m), shape (3,)."""
        near = 5.0 * self.a + max(self.b - float(self.shaft_lower[2]), 0.0)
        if float(np.linalg.norm(t)) > near:
            return [(1.0, -1.0)]
        return [(1.0, -1.0), (-1.0, 1.0), (1.0, 1.0), (-1.0, -1.0)]

    def boxes(self, t: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the wrist's limits for each pose: near the remote centre q5 cannot turn fully."""
        lower = np.repeat(self.lower[None], len(t), axis=0)
        upper = np.repeat(self.upper[None], len(t), axis=0)
        if self.a > 0.0:
            ratio = np.linalg.norm(t, axis=1) / self.a
            reach = np.where(ratio < 1.0, np.arcsin(np.minimum(ratio, 1.0)), np.pi)
            lower[:, 1] = np.clip(lower[:, 1], -reach, reach)
            upper[:, 1] = np.clip(upper[:, 1], -reach, reach)
        return lower, upper


class SearchState:
    """The state of each search: wrist, the shaft that follows it, errors and their derivatives."""

    __slots__ = (
        *("R", "cost", "gradient", "jacobian", "position_error", "problem", "residual"),
        *("rotation", "shaft", "side", "stiffness", "t", "w"),
    )

    def __init__(
        self,
        problem: WristProblem,
        stiffness: float,
        R: FloatArray,
        t: FloatArray,
        side: FloatArray,
        w: FloatArray,
    ) -> None:
        self.problem, self.stiffness = problem, stiffness
        self.R, self.t, self.side, self.w = R, t, side, w
        self.shaft, follow, turn, R_now, self.position_error = follow_wrist(
            (problem.a, problem.b), t, side, w
        )
        self.rotation = rotation_vector(R_now @ np.swapaxes(R, 1, 2))
        low = problem.shaft_lower - self.shaft
        high = self.shaft - problem.shaft_upper
        outside = np.maximum(high, 0.0) - np.maximum(low, 0.0)
        weight = stiffness * problem.scale
        short, by_wrist = shortfall(problem.a, t, w)
        weight_m = stiffness * INSERTION_SCALE
        self.residual = np.concatenate(
            [self.rotation, outside * weight, weight_m * short[:, None]], axis=1
        )
        stiff = follow * ((outside != 0.0) * weight)[:, :, None]
        self.jacobian = np.concatenate([turn, stiff, weight_m * by_wrist[:, None, :]], axis=1)
        self.cost = 0.5 * np.einsum("ij,ij->i", self.residual, self.residual)
        self.gradient = np.einsum("ijk,ij->ik", self.jacobian, self.residual)

    def curvature(self) -> FloatArray:
        """Return the Gauss-Newton approximation of the cost's second derivatives, (M, 3, 3)."""
        return np.asarray(np.swapaxes(self.jacobian, 1, 2) @ self.jacobian)

    def at(self, w: FloatArray) -> SearchState:
        """Return the same searches with other wrists (rad), one or more for each, (k M, 3)."""
        times = len(w) // len(self.w)
        R, t, side = (np.repeat(a, times, axis=0) for a in (self.R, self.t, self.side))
        return SearchState(self.problem, self.stiffness, R, t, side, w)

    def take(self, rows: npt.NDArray[np.intp]) -> SearchState:
        """Copy some searches."""
        part = SearchState.__new__(SearchState)
        part.problem, part.stiffness = self.problem, self.stiffness
        for name in _ROWS:
            setattr(part, name, getattr(self, name)[rows])
        return part

    def put(self, rows: npt.NDArray[np.intp], other: SearchState, which: BoolArray) -> None:
        """Write searches ``which`` of another state into ``rows`` of this one."""
        for name in _ROWS:
            getattr(self, name)[rows] = getattr(other, name)[which]


_ROWS = tuple(name for name in SearchState.__slots__ if name not in ("problem", "stiffness"))


STIFFNESS = (3.0, 30.0, 300.0, 1e4)
"""Weight of leaving the limits of q1, q2, q3 (per rad, per 0.1 m) against 1 rad of rotation: low
at first, since a search that starts stiff creeps along the limit."""
STEPS = (40, 30, 30, 60)
"""Maximum steps at each stiffness."""
KEEP = 8
"""Number of searches per pose that go on after the first stiffness: those with the lowest cost."""
GAUSS_STEPS = 10
"""Steps at each stiffness before second derivatives are taken in full."""
DIFFERENCE_RAD = 1e-6
"""Step of the differences that approximate second derivatives."""
LEAST_CURVATURE = 1e-3
"""Smallest curvature (rad^2 per rad^2) that a step assumes, so that it stays finite."""
SETTLED_COST = 1e-13
"""A step expected to lower half the squared angle by less than this (rad^2) is the last."""


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
        """Step the unsettled searches in place; return which have settled now."""
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
    """Return second derivatives of the cost by the wrist, shape (M, 3, 3), from differences.

    Where the best orientation is far from the requested one, the Gauss-Newton approximation leaves
    much out, and a search that uses it converges slowly.
    """
    count = len(state.w)
    moved = np.repeat(state.w[:, None, :], 3, axis=1) + DIFFERENCE_RAD * np.eye(3)
    other = state.at(moved.reshape(-1, 3))
    change = other.gradient.reshape(count, 3, 3) - state.gradient[:, None, :]
    full = (change + np.swapaxes(change, 1, 2)) / (2.0 * DIFFERENCE_RAD)
    value, axes = np.linalg.eigh(full)
    # A step must lead downhill: directions of negative curvature count as positive.
    value = np.maximum(np.abs(value), LEAST_CURVATURE)
    return np.asarray((axes * value[:, None, :]) @ np.swapaxes(axes, 1, 2))


def _projected_step(
    state: SearchState,
    hessian: FloatArray,
    damping: FloatArray,
    bounds: tuple[FloatArray, FloatArray],
) -> FloatArray:
    """Return the damped step inside the box.

    Joints that push against a limit stay put; a joint that would pass one stops there, and the
    others then take their best step.
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

"""Levenberg-Marquardt on joint positions, inside limits, for many poses at once.

One row is one descent: its own start, its own target, its own damping. All rows advance together
in numpy, and a row that has arrived drops out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.forward import SerialChain
from dvrk_kinematics.kinematics.interruption import check_in
from dvrk_kinematics.kinematics.jacobian import geometric_jacobian

__all__ = ["Descent", "descend"]

_ITERATIONS = 120
_ARRIVED = 1e-12
"""Weighted error (rad) at which nothing is left to gain."""
_STALLED = 1e14
"""Damping beyond which a step no longer moves a joint."""
_LEAST_DAMPING = 1e-12
"""Keeps the normal equations of a redundant or singular arm solvable."""
_STEP = 0.7
"""Longest step of a joint (rad, or m per length scale): longer ones leave the linear region."""


class Descent(NamedTuple):
    """Where the rows ended.

    Attributes:
        q: Joint positions (rad, m), shape (B, n).
        position_error: Distances to the targets (m), shape (B,).
        rotation_error: Angles to the targets (rad), shape (B,).
        slope: How fast the free joints could still lower the error, as a fraction of it per rad,
            shape (B,); near 0 at a minimum, reached or not.
    """

    q: Array
    position_error: Array
    rotation_error: Array
    slope: Array


class _State(NamedTuple):
    error: Array
    J: Array
    cost: Array


def _evaluate(chain: SerialChain, q: Array, T: Array, scale: float) -> _State:
    """Weighted errors (rows in rad), Jacobians and squared errors."""
    z, p, T_now = chain.axes(q)
    J = geometric_jacobian(z, p, T_now[:, :3, 3], chain.revolute)
    error = np.empty((len(q), 6))
    error[:, :3] = (T[:, :3, 3] - T_now[:, :3, 3]) / scale
    error[:, 3:] = so3.log(T[:, :3, :3] @ np.swapaxes(T_now[:, :3, :3], -1, -2))
    J[:, :3] /= scale
    return _State(error, J, np.einsum("bi,bi->b", error, error))


def _step(state: _State, damping: Array, free: npt.NDArray[np.bool_], steps: Array) -> Array:
    """Damped Gauss-Newton steps along the free joints, none longer than its bound."""
    J = np.where(free[:, None, :], state.J, 0.0)
    Jt = np.swapaxes(J, -1, -2)
    A = Jt @ J
    n = A.shape[-1]
    A[:, np.arange(n), np.arange(n)] += damping[:, None] + np.where(free, 0.0, 1.0)
    dq: Array = np.linalg.solve(A, Jt @ state.error[:, :, None])[..., 0]
    shrink = np.maximum(np.abs(dq) / steps, 1.0).max(axis=1, keepdims=True)
    result: Array = dq / shrink
    return result


def descend(
    chain: SerialChain, start: Array, T: Array, bounds: tuple[Array, Array], scale: float
) -> Descent:
    """Brings the tip as near to each target as it gets from each start.

    Args:
        chain: The arm.
        start: Joint positions (rad, m), shape (B, n).
        T: Targets, base to tip, shape (B, 4, 4).
        bounds: Smallest and largest joint positions, shape (n,) each; may be infinite.
        scale: The length that weighs as much as a radian (m).
    """
    lower, upper = bounds
    q = np.clip(start, lower, upper)
    state = _evaluate(chain, q, T, scale)
    damping = 1e-3 * np.maximum(state.cost, 1e-6)
    steps = np.where(chain.revolute, _STEP, _STEP * scale)
    rows = np.arange(len(q))
    for _ in range(_ITERATIONS):
        check_in()
        rows = rows[(state.cost[rows] > _ARRIVED**2) & (damping[rows] < _STALLED)]
        if len(rows) == 0:
            break
        now = _State(*(part[rows] for part in state))
        uphill = np.einsum("bij,bi->bj", now.J, now.error)
        free = ~(((q[rows] <= lower) & (uphill < 0.0)) | ((q[rows] >= upper) & (uphill > 0.0)))
        trial = np.clip(q[rows] + _step(now, damping[rows], free, steps), lower, upper)
        new = _evaluate(chain, trial, T[rows], scale)
        better = new.cost < now.cost
        taken = rows[better]
        q[taken] = trial[better]
        for old_part, new_part in zip(state, new, strict=True):
            old_part[taken] = new_part[better]
        damping[rows] = np.maximum(damping[rows] * np.where(better, 0.1, 10.0), _LEAST_DAMPING)
        # A row that arrived to rounding and cannot improve is done.
        damping[rows[~better & (now.cost < 1e-22)]] = np.inf
    return _finish(chain, q, T, state, bounds)


def _finish(
    chain: SerialChain, q: Array, T: Array, state: _State, bounds: tuple[Array, Array]
) -> Descent:
    position_error, rotation_error = se3.pose_error(chain.forward(q), T)
    uphill = np.einsum("bij,bi->bj", state.J, state.error)
    held = ((q <= bounds[0]) & (uphill < 0.0)) | ((q >= bounds[1]) & (uphill > 0.0))
    slope = np.linalg.norm(np.where(held, 0.0, uphill), axis=1) / np.maximum(state.cost, 1e-300)
    return Descent(q, position_error, rotation_error, slope)

"""Joint positions that rounding has pushed over a limit, set onto it where the pose allows.

Near a singular posture joints trade off against each other: a straight elbow, or a straight wrist,
can bend by 1e-7 rad while the tip moves no more than by rounding. A closed form then finds some
posture on that line, which may be beyond a limit if another joint is at its limit. We search for
the nearest posture inside all limits, and use it if it reaches the pose as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.limits import JointLimits
from dvrk_kinematics.kinematics.solvers.selector import Selector
from dvrk_kinematics.kinematics.tolerances import LIMIT_TOLERANCE, SETTLED_WITHIN

__all__ = ["Settler", "bounded_least_squares"]

_Mask = npt.NDArray[np.bool_]

_SMALL_SLOPE = 1e-9
"""Slope at a bound, as a fraction of the first residual, that is not worth a step."""


def bounded_least_squares(A: Array, b: Array, lower: Array, upper: Array) -> Array:
    """Find x between bounds that makes the norm of A x - b smallest.

    Args:
        A: Shape (m, n), of full column rank.
        b: Shape (m,).
        lower: Smallest values allowed, shape (n,).
        upper: Largest values allowed, shape (n,).

    Returns:
        Shape (n,); exactly at the bounds where they hold it.
    """
    x: Array = np.minimum(np.maximum(0.0, lower), upper)
    free = x == 0.0
    small = _SMALL_SLOPE * float(np.linalg.norm(b - A @ x))
    for _ in range(4 * len(x)):
        x, free = _solve_free(A, b, (lower, upper), x, free)
        downhill = A.T @ (b - A @ x)
        inward = np.where(x <= lower, downhill, -downhill)
        inward[free] = 0.0
        best = int(inward.argmax())
        if inward[best] <= small:
            break
        free[best] = True
    return x


def _solve_free(
    A: Array, b: Array, bounds: tuple[Array, Array], x: Array, free: _Mask
) -> tuple[Array, _Mask]:
    """Move the free unknowns to their best values; those that meet a bound are held there."""
    lower, upper = bounds
    x, free = x.copy(), free.copy()
    while free.any():
        rest = b - A[:, ~free] @ x[~free]
        goal = x.copy()
        goal[free] = np.linalg.lstsq(A[:, free], rest, rcond=None)[0]
        blocked = free & ((goal < lower) | (goal > upper))
        if not blocked.any():
            return goal, free
        bound = np.where(goal < lower, lower, upper)
        way = np.where(blocked, goal - x, 1.0)
        fraction = np.where(blocked, np.clip((bound - x) / way, 0.0, 1.0), 1.0)
        first = int(fraction.argmin())
        x[free] += fraction[first] * (goal - x)[free]
        x[first] = bound[first]
        x = np.minimum(np.maximum(x, lower), upper)
        free[first] = False
    return x, free


_REACHED = 1e-6
"""Errors (m, rad) up to which a pose counts as reached: one out of reach is not due to
rounding."""
_EQUAL = 1e-12
"""Errors (m, rad) that differ by less than this are the same."""
_DAMPING = 1e-9
"""Keeps joints that do not affect the tip in place, unless a limit is in the way."""
_STEPS = 5
"""Newton steps; two are enough except near a second singularity."""


class Settler:
    """Sets joints of one arm that are outside by rounding onto their limits.

    Args:
        limits: The arm's joint limits.
        forward: Base to tip, shape (N, 4, 4), of joint positions (rad, m), shape (N, n).
        jacobian: The Jacobian at the tip, shape (N, 6, n), of the same.
    """

    __slots__ = ("_forward", "_jacobian", "_limits")

    def __init__(
        self,
        limits: JointLimits,
        forward: Callable[[Array], Array],
        jacobian: Callable[[Array], Array],
    ) -> None:
        self._limits = limits
        self._forward = forward
        self._jacobian = jacobian

    def settle(self, T: Array, q: Array) -> Array:
        """Set joints that are outside by rounding onto their limits.

        Args:
            T: Base to tip, shape (N, 4, 4).
            q: Joint positions for them (rad, m), shape (N, n).

        Returns:
            Shape (N, n): inside the limits where that reaches the pose as well, as given
            elsewhere.
        """
        worst = self._limits.excess(q).max(axis=1)
        rows = np.flatnonzero((worst > LIMIT_TOLERANCE) & (worst <= SETTLED_WITHIN))
        if not len(rows):
            return q
        before = np.hypot(*se3.pose_error(self._forward(q[rows]), T[rows]))
        moved = q[rows]
        for _ in range(_STEPS):
            moved = self._step_inside(T[rows], moved)
        after = np.hypot(*se3.pose_error(self._forward(moved), T[rows]))
        better = (before <= _REACHED) & (after <= before + _EQUAL)
        settled: Array = q.copy()
        settled[rows[better]] = moved[better]
        return settled

    def choose(
        self,
        selector: Selector,
        T: Array,
        candidates: Sequence[Sequence[float]],
        seed: Sequence[float],
    ) -> tuple[list[float], bool]:
        """Pick the best of a few candidates for one pose, settled where none is inside.

        Args:
            selector: Ranks them.
            T: Base to tip, shape (4, 4).
            candidates: Joint positions (rad, m), each n floats.
            seed: Joint positions to stay near (rad, m).

        Returns:
            The candidate, and whether it is inside the limits.
        """
        q, inside = selector.choose(candidates, seed)
        if inside:
            return q, inside
        turned = np.array([selector.choose([one], seed)[0] for one in candidates])
        settled = self.settle(np.broadcast_to(T, (len(turned), 4, 4)), turned)
        return (q, inside) if settled is turned else selector.choose(settled.tolist(), seed)

    def _step_inside(self, T: Array, q: Array) -> Array:
        """Joint positions inside the limits, shape (N, n), a Newton step from q nearer to T."""
        reached = self._forward(q)
        turn = so3.log(T[:, :3, :3] @ reached[:, :3, :3].swapaxes(1, 2))
        missing = np.concatenate([T[:, :3, 3] - reached[:, :3, 3], turn], axis=1)
        damping = _DAMPING * np.eye(q.shape[1])
        lower, upper = self._limits.lower - q, self._limits.upper - q
        steps = [
            bounded_least_squares(
                np.concatenate([J, damping]), np.append(one, 0.0 * low), low, high
            )
            for J, one, low, high in zip(self._jacobian(q), missing, lower, upper, strict=True)
        ]
        return self._limits.clamp(q + np.array(steps))

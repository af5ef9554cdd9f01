"""Joint positions that rounding has pushed over a limit, set onto it where the pose allows.

Near a singular posture joints trade with each other: a straight elbow, or a straight wrist, can
bend by 1e-7 rad without the tip moving by more than rounding does. A closed form then finds some
posture on that line, and with another joint at its limit it may be one beyond. That joint is set
onto the limit, and the others take the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.limits import LIMIT_TOLERANCE, JointLimits
from dvrk_kinematics.kinematics.selection import Selector

__all__ = ["ROUNDING", "Settler"]

ROUNDING = 1e-6
"""Joints that are further outside (rad, m) are outside, and not by rounding."""
_EQUAL = 1e-12
"""Errors (m, rad) that differ by less are the same."""
_SMALLEST = (1e-5, 1e-8)
"""Directions of the Jacobian below this part of its largest are those that no tip sees. What the
first, which is safe from rounding, cannot settle may need a direction that the tip hardly sees."""
_STEPS = 2
"""Newton steps; each squares an error that is 1e-6 at most."""


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
        settled = q
        for smallest in _SMALLEST:
            worst = self._limits.excess(settled).max(axis=1)
            rows = np.flatnonzero((worst > LIMIT_TOLERANCE) & (worst <= ROUNDING))
            if not len(rows):
                break
            moved, reached = self._settle_rows(T[rows], settled[rows], smallest)
            settled = settled.copy()
            settled[rows[reached]] = moved[reached]
        return settled

    def _settle_rows(
        self, T: Array, q: Array, smallest: float
    ) -> tuple[Array, npt.NDArray[np.bool_]]:
        """Move joints that are outside onto their limits, and tell where that reaches the pose."""
        before = np.add(*se3.pose_error(self._forward(q), T))
        outside = self._limits.excess(q)
        # The joint that is furthest outside; where it goes back, the others follow. If that
        # brings another one outside, both are held.
        held = outside == outside.max(axis=1, keepdims=True)
        for _ in range(q.shape[1]):
            q = np.where(held, self._limits.clamp(q), q)
            for _ in range(_STEPS):
                q += self._newton_step(T, q, held, smallest)
            newly = ~held & (self._limits.excess(q) > LIMIT_TOLERANCE)
            if not newly.any():
                break
            held |= newly
        after = np.add(*se3.pose_error(self._forward(q), T))
        # A pose that is out of reach is no matter of rounding.
        reached = self._limits.contains(q) & (before <= ROUNDING) & (after <= before + _EQUAL)
        return self._limits.clamp(q), reached

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

    def _newton_step(
        self, T: Array, q: Array, held: npt.NDArray[np.bool_], smallest: float
    ) -> Array:
        """Steps (rad, m), shape (N, n), towards poses (N, 4, 4) with joints that are not held."""
        reached = self._forward(q)
        turn = so3.log(T[:, :3, :3] @ reached[:, :3, :3].swapaxes(1, 2))
        missing = np.concatenate([T[:, :3, 3] - reached[:, :3, 3], turn], axis=1)
        J = np.where(held[:, None, :], 0.0, self._jacobian(q))
        step: Array = (np.linalg.pinv(J, rcond=smallest) @ missing[..., None])[..., 0]
        return step

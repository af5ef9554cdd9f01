"""Joint positions that rounding has pushed over a limit, set onto it where the pose allows.

Near a singular posture joints trade with each other: a straight elbow, or a straight wrist, can
bend by 1e-7 rad without the tip moving by more than rounding does. A closed form then finds some
posture on that line, and with another joint at its limit it may be one beyond. That joint is set
onto the limit, and the others take the rest.
"""

from __future__ import annotations

import numpy as np

from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.forward import SerialChain
from dvrk_kinematics.kinematics.jacobian import Mask, jacobian
from dvrk_kinematics.kinematics.limits import LIMIT_TOLERANCE, JointLimits

__all__ = ["settle"]

_ROUNDING = 1e-6
"""Joints that are further outside (rad, m) are outside, and not by rounding."""
_EQUAL = 1e-12
"""Errors (m, rad) that differ by less are the same."""
_SMALLEST = 1e-5
"""Directions of the Jacobian below this part of its largest are those that no tip sees."""
_STEPS = 2
"""Newton steps; each squares an error that is 1e-6 at most."""


def settle(chain: SerialChain, limits: JointLimits, T: Array, q: Array) -> Array:
    """Set joints that are outside by rounding onto their limits.

    Args:
        chain: The arm.
        limits: Its joint limits.
        T: Base to tip, shape (N, 4, 4).
        q: Joint positions for them (rad, m), shape (N, n).

    Returns:
        Shape (N, n): inside the limits where that reaches the pose as well, as given elsewhere.
    """
    outside = limits.excess(q)
    worst = outside.max(axis=1)
    rows = np.flatnonzero((worst > LIMIT_TOLERANCE) & (worst <= _ROUNDING))
    if not len(rows):
        return q
    before = np.add(*se3.pose_error(chain.forward(q[rows]), T[rows]))
    # The joint that is furthest outside; where it goes back, the others follow.
    held = outside[rows] == worst[rows, None]
    moved = np.where(held, limits.clamp(q[rows]), q[rows])
    for _ in range(_STEPS):
        moved += _newton_step(chain, T[rows], moved, held)
    after = np.add(*se3.pose_error(chain.forward(moved), T[rows]))
    # A pose that is out of reach is no matter of rounding.
    better = limits.contains(moved) & (before <= _ROUNDING) & (after <= before + _EQUAL)
    settled: Array = q.copy()
    settled[rows[better]] = limits.clamp(moved[better])
    return settled


def _newton_step(chain: SerialChain, T: Array, q: Array, held: Mask) -> Array:
    """Steps (rad, m), shape (N, n), towards poses (N, 4, 4) with joints that are not held."""
    reached = chain.forward(q)
    turn = so3.log(T[:, :3, :3] @ reached[:, :3, :3].swapaxes(1, 2))
    missing = np.concatenate([T[:, :3, 3] - reached[:, :3, 3], turn], axis=1)
    J = np.where(held[:, None, :], 0.0, jacobian(chain, q))
    step: Array = (np.linalg.pinv(J, rcond=_SMALLEST) @ missing[..., None])[..., 0]
    return step

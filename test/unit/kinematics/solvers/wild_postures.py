"""Joint positions inside limits where inverse kinematics are hard: on limits and singular."""

from __future__ import annotations

import numpy as np

from dvrk_kinematics import Arm
from dvrk_kinematics.geometry.arrays import Array

NEAR = (0.0, 0.0, 0.0, 1e-15, 1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-4)
"""How far from a special place (rad, m)."""


def wild_postures(arm: Arm, rng: np.random.Generator, count: int) -> Array:
    """Random postures, half of their joints at or near a limit or a special value.

    Returns:
        Joint positions inside the limits (rad, m), shape (count, n).
    """
    lower, upper = arm.limits.lower, arm.limits.upper
    q = rng.uniform(lower, upper, (count, len(lower)))
    special = np.array([0.0, np.pi / 2, -np.pi / 2, np.pi, -np.pi])
    kind = rng.integers(0, 8, q.shape)
    offset = rng.choice(NEAR, q.shape) * rng.choice((-1.0, 1.0), q.shape)
    q = np.where(kind == 0, lower + np.abs(offset), q)
    q = np.where(kind == 1, upper - np.abs(offset), q)
    q = np.where((kind == 2) | (kind == 3), rng.choice(special, q.shape) + offset, q)
    if arm.model.ik in ("psm", "snake"):
        _degenerate(arm, rng, q, offset)
    if arm.model.ik == "snake":
        straight = rng.integers(0, 4, len(q)) == 0
        q[straight, 4:6] = offset[straight, 4:6]
        # The controller keeps the halves of the wrist equal.
        q[:, 6], q[:, 7] = q[:, 5], q[:, 4]
    return np.clip(q, lower, upper)


def _degenerate(arm: Arm, rng: np.random.Generator, q: Array, offset: Array) -> None:
    """Puts the wrist on the remote centre here, and that on the last axis there."""
    rows = arm.model.chain
    a, b = rows[5].a, -rows[2].d - rows[3].d
    place = rng.integers(0, 8, len(q))
    # A snake is degenerate with the remote centre at some other places in its wrist, too.
    gaps = rng.choice((0.0, 0.0, -0.5, -1.0, -1.5, -2.0, -3.0), len(q)) if a > 0.0 else 0.0
    inside = gaps * a if arm.model.ik == "snake" else 0.0
    q[:, 2] = np.where(place == 0, b + inside + offset[:, 2], q[:, 2])
    # a + d cos(q5) = 0
    d = q[:, 2] - b
    with np.errstate(all="ignore"):
        bend = np.arccos(-a / d) * np.sign(offset[:, 4] + 1e-30)
    q[:, 4] = np.where((place == 1) & np.isfinite(bend), bend + offset[:, 4], q[:, 4])

"""A look over the whole wrist of a PSM for places to start a search from."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dvrk_kinematics.kinematics.position_follow import best_angle, follow_wrist
from dvrk_kinematics.kinematics.position_state import WristProblem

__all__ = ["survey"]

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

GRID = (25, 9)
GRID_NEAR = (61, 21)
"""Rolls and wrist pitches looked at; more of them near the remote centre, where the shaft turns
far for a small move of the wrist."""
VALLEYS = 8
"""Lowest places of that net, each lower than those around it, that are kept."""
OUTSIDE_WEIGHT = 3.0
"""Weight of leaving the limits of the shaft (per rad, per 0.1 m) against 1 rad of rotation."""


def survey(problem: WristProblem, T: FloatArray) -> FloatArray:
    """Look over the whole wrist of one pose.

    Args:
        problem: The arm.
        T: Base to tip, shape (4, 4).

    Returns:
        Joint positions (rad, m), shape (VALLEYS, 6): the places lower than those around them,
        counting rotation angle and what the shaft's limits are left by.
    """
    R, t = T[:3, :3] @ problem.off.T, T[:3, 3]
    lower, upper = (bound[0] for bound in problem.boxes(t[None]))
    sides = problem.all_sides(t)
    rolls, pitches = (
        np.linspace(lower[i], upper[i], (GRID if len(sides) == 1 else GRID_NEAR)[i])
        for i in range(2)
    )
    grid = np.stack(np.meshgrid(rolls, pitches, indexing="ij"), axis=-1).reshape(-1, 2)
    w = np.zeros((len(grid) * len(sides), 3))
    w[:, :2] = np.repeat(grid, len(sides), axis=0)
    side = np.tile(np.array(sides), (len(grid), 1))
    place = np.broadcast_to(t, (len(w), 3))
    shaft, _, _, R_now, missed = follow_wrist((problem.a, problem.b), place, side, w)
    y4, x5, z6 = np.moveaxis(R_now, 2, 0)
    sine = x5 @ R[:, 0] - y4 @ R[:, 1]
    cosine = y4 @ R[:, 0] + x5 @ R[:, 1]
    w[:, 2] = best_angle(sine, cosine, float(lower[2]), float(upper[2]))
    trace = sine * np.sin(w[:, 2]) + cosine * np.cos(w[:, 2]) + z6 @ R[:, 2]
    angle = np.arccos(np.clip(0.5 * (trace - 1.0), -1.0, 1.0))
    outside = np.maximum(problem.shaft_lower - shaft, shaft - problem.shaft_upper)
    score = angle + OUTSIDE_WEIGHT * (np.maximum(outside, 0.0) @ problem.scale + missed)
    valleys = np.flatnonzero(_valleys(score.reshape(len(rolls), len(pitches), -1)))
    best = valleys[np.argsort(score[valleys], kind="stable")]
    # The array keeps its size by repeating what there is.
    best = best[np.arange(VALLEYS) % min(len(best), VALLEYS)]
    return np.concatenate([shaft[best], w[best]], axis=1)


def _valleys(score: FloatArray) -> BoolArray:
    """Tell which places of a net, shape (rolls, pitches, signs), none around them is below."""
    padded = np.pad(score, ((1, 1), (1, 1), (0, 0)), constant_values=np.inf)
    rolls, pitches, _ = score.shape
    around = [
        padded[1 + i : 1 + i + rolls, 1 + k : 1 + k + pitches]
        for i in (-1, 0, 1)
        for k in (-1, 0, 1)
    ]
    return np.asarray(score <= np.min(around, axis=0))

"""Searches for the place with the most room for a figure: a grid over the reach, then polishing.

Nothing here is random: the same inputs always return the same result.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.arm import Arm
from dvrk_kinematics.kinematics.interruptible import check_in
from dvrk_kinematics.motion.figures.place_margin import COARSE, FINE, FINER, PlaceMargin, Steps
from dvrk_kinematics.motion.planning.progress import UNWATCHED, PlanningProgress

__all__ = ["grid", "polish", "reach_box", "search"]

_GRID = (9, 9, 9, 12)
"""Points of the grid along x, y, z and the turn about the normal."""
_FEW_POSES = 4
"""Maximum number of corners at which a figure is checked first."""
_SHORTLISTS = (1024, 128, 128)
"""How many places are left after checks at a few poses, at the corners, and along the sides."""
_NEIGHBOUR = 1.5
"""Places within this many grid spacings are neighbours."""
_STARTS = 12
"""Separate places from which we search for a better one."""
_FIRST_ROUNDS = 6
"""Rounds of that search for all these places."""
_FINALISTS = 3
"""How many of these places continue to the end."""
_DIFFERENCE = 1e-6
"""Step (m, rad) of the differences that approximate the margin's gradient."""
_SMALLEST_STEP = 1e-3
"""A place is found when its next step is smaller than this (fraction of the first step)."""
_SMALLEST_GAIN = 1e-5
"""After a step that gains less than this (fraction of a joint's range), steps get shorter."""
_MOST_ROUNDS = 40
"""Maximum rounds until a place is found."""
_MOST_ROWS = 16_384
"""Rows of a linear program that we solve as a whole; the Block-O has half as many."""
_MORE_ROWS = 2048
"""How many of its worst rows a larger program starts with, and adds in each round."""
_BROKEN = 1e-9
"""How far a row of a linear program may be violated (fraction of a joint's range)."""


def reach_box(arm: Arm) -> tuple[Array, Array]:
    """The smallest and largest coordinates of the tip inside the joint limits (m), (3,) each."""
    low, high = arm.limits.lower, arm.limits.upper
    count = 5 if len(low) <= 6 else 3
    values = [np.linspace(a, b, count) for a, b in zip(low, high, strict=True)]
    q = np.stack(np.meshgrid(*values, indexing="ij"), axis=-1).reshape(-1, len(low))
    tips = arm.forward(q)[:, :3, 3]
    return tips.min(axis=0), tips.max(axis=0)


def search(
    margin: PlaceMargin,
    box: tuple[Array, Array],
    scale: float,
    density: float = 1.0,
    progress: PlanningProgress = UNWATCHED,
) -> Array:
    """Find the best places of a figure.

    Args:
        margin: Returns the margin of a place.
        box: Where its centre may be: smallest and largest coordinates (m).
        scale: Size of the figure.
        density: How many times more places than usual to check, in the grid and after it.
        progress: Receives progress, and may end planning.

    Returns:
        A few places, the best first, shape (K, 4).
    """
    places, spacing = grid(box, density)
    corners, fine = margin.poses(scale, COARSE), margin.poses(scale, FINE)
    few = corners[:: -(-len(corners) // _FEW_POSES)]
    # A margin of fewer poses is never smaller: a place that is bad for a few is bad for all. They
    # are too far apart to be a path.
    looks = zip((few, corners, fine), _SHORTLISTS, strict=True)
    for number, (poses, count) in enumerate(looks, 1):
        found = margin.margins(places, scale, poses, is_path=poses is not few)
        progress.step(0.1 * number, 1.0)
        places = places[np.argsort(-found, kind="stable")[: _count(count, density)]]
    starts = _apart(places, spacing, _count(_STARTS, density))
    part = progress.part(0.3, 0.6)
    places = polish(margin, starts, scale, spacing, rounds=_FIRST_ROUNDS, progress=part)
    finalists = places[: _count(_FINALISTS, density)]
    places = polish(margin, finalists, scale, spacing, progress=progress.part(0.6, 0.8))
    part = progress.part(0.8, 1.0)
    return polish(margin, places[:1], scale, 0.1 * spacing, FINER, progress=part)


def polish(
    margin: PlaceMargin,
    starts: Array,
    scale: float,
    first_step: Array,
    steps: Steps = FINE,
    rounds: int = _MOST_ROUNDS,
    progress: PlanningProgress = UNWATCHED,
) -> Array:
    """Climb from each start to the nearest best place.

    Args:
        margin: Returns the margin of a place.
        starts: Where to start, shape (K, 4).
        scale: Size of the figure.
        first_step: How far to go at first (m, m, m, rad), shape (4,).
        steps: How densely the figure is sampled.
        rounds: Maximum number of steps.
        progress: Receives progress, and may end planning.

    Returns:
        The improved places, the best first, shape (K, 4).
    """
    poses = margin.poses(scale, steps)
    climbed = []
    for number, start in enumerate(starts):
        part = progress.part(number / len(starts), (number + 1) / len(starts))
        climbed.append(_climb(margin, start, scale, poses, first_step, rounds, part))
    order = np.argsort([-found for _, found in climbed], kind="stable")
    return np.stack([climbed[i][0] for i in order])


def _count(usual: int, density: float) -> int:
    return max(1, round(usual * density))


def _apart(places: Array, spacing: Array, count: int) -> Array:
    """The first places that are not neighbours: neighbours climb to the same top."""
    chosen: list[Array] = []
    for place in places:
        steps = [np.abs(place - other) / spacing for other in chosen]
        if all(step.max() > _NEIGHBOUR for step in steps):
            chosen.append(place)
        if len(chosen) == count:
            break
    return np.stack(chosen)


def _climb(
    margin: PlaceMargin,
    start: Array,
    scale: float,
    poses: Array,
    first_step: Array,
    rounds: int,
    progress: PlanningProgress,
) -> tuple[Array, float]:
    """The best place near a start, and its margin: steps that linear programs choose.

    The margin has edges, where the limiting joint changes, and its best place is on several of
    them; gradients mislead there. The distances to single limits are smooth.
    """
    place, found = start, float(margin.margins(start[None], scale, poses)[0])
    step = 1.0
    for number in range(rounds):
        progress.step(number, rounds)
        if not np.isfinite(found) or step < _SMALLEST_STEP:
            break
        tried = place + _best_step(margin, place, scale, poses, step * first_step)
        value = float(margin.margins(tried[None], scale, poses)[0])
        gain = value - found
        if gain > 0.0:
            place, found = tried, value
        if gain < _SMALLEST_GAIN:
            step *= 0.25
    return place, found


def _best_step(
    margin: PlaceMargin, place: Array, scale: float, poses: Array, bound: Array
) -> Array:
    """The step within a bound after which the margin would be largest, were all joints linear."""
    nearby = place + np.vstack([np.zeros(4), _DIFFERENCE * np.eye(4)])
    room = margin.room(nearby, scale, poses)
    if not np.isfinite(room).all():
        return np.zeros(4)
    gradient = (room[1:] - room[0]) / _DIFFERENCE
    return _largest_margin(gradient.T, room[0], bound)


def _largest_margin(gradient: Array, room: Array, bound: Array) -> Array:
    """The step within a bound with the largest m for which m - gradient . step <= room, all rows.

    A program with a hundred thousand rows takes its solver a second, which cannot be interrupted.
    But few rows matter: rows that were left out and turn out to be violated are added.

    Args:
        gradient: Shape (R, 4).
        room: Shape (R,).
        bound: Shape (4,).
    """
    rows = np.arange(len(room))
    if len(rows) > _MOST_ROWS:
        rows = np.argpartition(room, _MORE_ROWS)[:_MORE_ROWS]
    while True:
        check_in()
        solved = linprog(
            c=[0.0, 0.0, 0.0, 0.0, -1.0],
            A_ub=np.column_stack([-gradient[rows], np.ones(len(rows))]),
            b_ub=room[rows],
            bounds=[*((-b, b) for b in bound), (None, None)],
        )
        if not solved.success:
            return np.zeros(4)
        step, largest = solved.x[:4], solved.x[4]
        broken = np.setdiff1d(np.flatnonzero(largest - gradient @ step > room + _BROKEN), rows)
        if len(rows) == len(room) or not len(broken):
            return np.asarray(step)
        excess = (largest - gradient @ step - room)[broken]
        rows = np.concatenate([rows, broken[np.argsort(-excess)[:_MORE_ROWS]]])


def grid(box: tuple[Array, Array], density: float) -> tuple[Array, Array]:
    """Places all over the box, shape (M, 4), and their spacing, shape (4,)."""
    counts = [max(2, round(count * density**0.25)) for count in _GRID]
    axes = [
        np.linspace(low, high, count) for low, high, count in zip(*box, counts[:3], strict=True)
    ]
    axes.append(np.arange(counts[3]) * (2.0 * np.pi / counts[3]))
    places = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 4)
    return places, np.array([axis[1] - axis[0] for axis in axes])

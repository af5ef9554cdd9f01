"""A segment with its knots, and how playback between them compares with the request."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dvrk_kinematics.errors import PlanReason
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.arm import Arm
from dvrk_kinematics.kinematics.interruptible import check_in
from dvrk_kinematics.kinematics.rates import solve_rates
from dvrk_kinematics.kinematics.result import Breach, IkPolicy
from dvrk_kinematics.motion.extremes import Extremes, find_extremes
from dvrk_kinematics.motion.planning.knots import Grid, Nanoseconds, make_grid
from dvrk_kinematics.motion.planning.path_follower import Loss, PathFollower
from dvrk_kinematics.motion.planning.progress import UNWATCHED, PlanningProgress
from dvrk_kinematics.motion.segments import JointSegment, Segment, TipSegment
from dvrk_kinematics.motion.spline import Spline, evaluate_polynomials
from dvrk_kinematics.motion.tolerances import EXACT_RAD, JOINT_GAP

__all__ = ["Played", "Trial", "make_trial"]

Mask = npt.NDArray[np.bool_]

_CHUNK = 8192
"""Samples that are processed together."""
_FOLLOWING = 0.6
"""Fraction of a trial spent following its path."""
_GIVEN_UP = 0.1
"""The same for a joint move: where orientation was given up, paths end only roughly where they
would with other samples."""


class Played(NamedTuple):
    """What will be played, at the samples.

    Attributes:
        q: Positions (rad, m), shape (N, n).
        qd: Velocities, shape (N, n).
        qdd: Accelerations, shape (N, n).
        position_deviation: Distances of the tip from the exact path (m), shape (N,).
        rotation_deviation: Angles to it (rad), shape (N,).
    """

    q: Array
    qd: Array
    qdd: Array
    position_deviation: Array
    rotation_deviation: Array


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """A segment, planned for one set of knots and not yet judged.

    Attributes:
        segment: The segment.
        times_ns: Times of the knots from the segment's start (ns), shape (K,).
        grid: The samples.
        spline: What will be played.
        played: The same at the samples.
        given_up: Angles given up by position_first (rad), shape (N,).
        extremes: Extremes of what will be played, between samples too.
        singular_values: Smallest singular value of the Jacobian at the samples, shape (N,).
    """

    segment: Segment
    times_ns: Nanoseconds
    grid: Grid
    spline: Spline
    played: Played
    given_up: Array
    extremes: Extremes
    singular_values: Array


def make_trial(
    arm: Arm,
    segment: Segment,
    times_ns: Nanoseconds,
    q_begin: Array,
    follower: PathFollower,
    is_smooth: bool,
    progress: PlanningProgress = UNWATCHED,
) -> Trial | Loss:
    """Solve a segment at its samples and lay a spline through its knots.

    Args:
        arm: The arm.
        segment: The segment.
        times_ns: Times of the knots from the segment's start (ns).
        q_begin: Joint positions at the start (rad, m), shape (n,).
        follower: Solves for the joint positions of a path.
        is_smooth: Whether knots carry accelerations.
        progress: Receives progress, and may end planning.

    Returns:
        The trial, or where the path cannot be followed.
    """
    grid = make_grid(times_ns)
    if isinstance(segment, JointSegment):
        tolerance = JOINT_GAP if follower.policy is IkPolicy.EXACT else _GIVEN_UP
        gap = _find_gap(arm, segment.q_start, q_begin, tolerance)
        if gap is not None:
            return gap
        segment = replace(segment, q_start=q_begin)
        q, given_up = segment.motion(grid.t).q, np.zeros(len(grid.t))
        gap = _find_gap(arm, q[0], q_begin, JOINT_GAP)
        if gap is not None:
            return gap
        spline = _knot_joints(segment, grid, is_smooth)
    else:
        followed = follower.follow(segment, grid.t, q_begin, progress.part(0.0, _FOLLOWING))
        if isinstance(followed, Loss):
            return followed
        q, given_up = followed.q, followed.given_up
        gap = _find_gap(arm, q[0], q_begin, JOINT_GAP)
        if gap is not None:
            return gap
        # The motion continues from where the joints are, to the last bit.
        q[0] = q_begin
        spline = _knot_path(arm, segment, grid, q, given_up, is_smooth)
    progress.step(_FOLLOWING, 1.0)
    played = _play(arm, spline, grid, segment)
    progress.step(0.5 * (1.0 + _FOLLOWING), 1.0)
    return Trial(
        segment,
        times_ns,
        grid,
        spline,
        *_part_given_up(played, grid, given_up),
        find_extremes(spline),
        _singular_values(arm, q),
    )


def _part_given_up(played: Played, grid: Grid, given_up: Array) -> tuple[Played, Array]:
    """Count the angle as given up, not as a deviation, between knots where any is given up."""
    if not given_up.any():
        return played, given_up
    turned = np.zeros(len(grid.knots), dtype=np.bool_)
    rows = np.flatnonzero(given_up > EXACT_RAD)
    turned[grid.interval[rows]] = True
    # A sample that is a knot belongs to the interval before it too.
    turned[np.maximum(grid.interval[rows] - (grid.u[rows] == 0.0), 0)] = True
    is_turned = turned[grid.interval]
    angle = played.rotation_deviation
    return (
        played._replace(rotation_deviation=np.where(is_turned, 0.0, angle)),
        np.where(is_turned, angle, 0.0),
    )


def _find_gap(arm: Arm, q: Array, q_begin: Array, tolerance: float) -> Loss | None:
    """Whether a segment begins elsewhere than where the joints are."""
    gap = np.abs(q - q_begin)
    j = int(np.argmax(gap))
    if gap[j] <= tolerance:
        return None
    return Loss(
        0.0,
        PlanReason.START,
        Breach(arm.joint_names[j], float(q[j]), float(q_begin[j])),
        "the path begins elsewhere than where the joints are",
    )


def _knot_joints(segment: JointSegment, grid: Grid, is_smooth: bool) -> Spline:
    t = grid.t[grid.knots]
    q, qd, qdd = segment.motion(t)
    # As the knots are assembled: from where the joints are, at rest, to rest.
    q[0] = segment.q_start
    qd[[0, -1]] = qdd[[0, -1]] = 0.0
    return Spline(t, q, qd, qdd if is_smooth else None)


def _knot_path(
    arm: Arm, segment: TipSegment, grid: Grid, q: Array, given_up: Array, is_smooth: bool
) -> Spline:
    """Set the exact joint velocities, and accelerations, at the knots."""
    rows = grid.knots
    t, q_knots = grid.t[rows], q[rows]
    motion = segment.motion(t)
    J = arm.jacobian(q_knots)
    is_turned = given_up[rows] > EXACT_RAD
    is_free = q.shape[1] > 6 or bool(is_turned.any())
    guess = np.gradient(q, grid.t, axis=0)[rows] if is_free else np.zeros_like(q_knots)
    qd = _solve_near(J, motion.V, guess, is_turned)
    qd[[0, -1]] = 0.0
    if not is_smooth:
        return Spline(t, q_knots, qd)
    wanted = motion.A - (arm.jacobian_rate(q_knots, qd) @ qd[:, :, None])[..., 0]
    guess = np.gradient(qd, t, axis=0) if is_free else guess
    qdd = _solve_near(J, wanted, guess, is_turned)
    qdd[[0, -1]] = 0.0
    return Spline(t, q_knots, qd, qdd)


def _solve_near(J: Array, wanted: Array, guess: Array, is_turned: Mask) -> Array:
    """Joint rates that move the tip exactly as wanted, and otherwise follow the guess.

    The guess matters for arms with more than six joints, whose solver decides the rest, and where
    orientation is given up: there only the position is as wanted.
    """
    miss = wanted - (J @ guess[..., None])[..., 0]
    miss[is_turned, 3:] = 0.0
    J = np.where(is_turned[:, None, None] & (np.arange(6) >= 3)[:, None], 0.0, J)
    rates: Array = guess + solve_rates(J, miss).rate
    return rates


def _play(arm: Arm, spline: Spline, grid: Grid, segment: Segment) -> Played:
    coefficients = spline.segments(0, len(spline.times) - 1)
    lengths = np.diff(spline.times)
    count, joints = len(grid.t), spline.position.shape[1]
    played = Played(*np.empty((3, count, joints)), *np.empty((2, count)))
    for first in range(0, count, _CHUNK):
        check_in()
        rows = slice(first, first + _CHUNK)
        knots, u = grid.interval[rows], grid.u[rows][:, None]
        q, qd, half_qdd = evaluate_polynomials((row[knots] for row in coefficients[::-1]), u, 2)
        h = lengths[knots][:, None]
        off = arm.forward(q)[:, :3] - segment.pose(grid.t[rows])[:, :3]
        # |R_a - R_b| is 2 sqrt(2) sin(angle / 2), which keeps its digits for small angles.
        chord = np.linalg.norm(off[..., :3].reshape(-1, 9), axis=1)
        played.q[rows] = q
        played.qd[rows] = qd / h
        played.qdd[rows] = 2.0 * half_qdd / (h * h)
        played.position_deviation[rows] = np.linalg.norm(off[..., 3], axis=1)
        played.rotation_deviation[rows] = 2.0 * np.arcsin(np.minimum(chord / np.sqrt(8.0), 1.0))
    return played


def _singular_values(arm: Arm, q: Array) -> Array:
    """The smallest singular values of the Jacobians, shape (N,), good to about 1e-8."""
    smallest = np.empty(len(q))
    for first in range(0, len(q), _CHUNK):
        check_in()
        J = arm.jacobian(q[first : first + _CHUNK])
        Jt = np.swapaxes(J, 1, 2)
        # Eigenvalues of the smaller product take half as long as singular values.
        squares = np.linalg.eigvalsh(J @ Jt if q.shape[1] >= 6 else Jt @ J)[:, 0]
        smallest[first : first + _CHUNK] = np.sqrt(np.maximum(squares, 0.0))
    return smallest

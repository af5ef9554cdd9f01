"""The pick-and-place task of the CYBER 310 paper: a logistic curve for every joint.

Inverse kinematics is needed at both ends only. Where the curves of the joints have different
centres, some joints move before others, which bends the path of the tip around an obstacle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.arm import Arm
from dvrk_kinematics.motion.timing.logistic import hyperbolic

__all__ = ["JointCurves", "PickAndPlace", "Post", "clearance", "curve_joints", "solve_ends"]

_BODY = ("waist_link", "elbow_link", "forearm_roll_link", "tip")
"""Frames at shoulder, elbow, wrist and tip: the ends of the parts that can hit something."""
ARM_RADIUS_M = 0.044
"""Radius of rods around the arm (m): its plates are 50 mm wide and 70 mm apart outside, which puts
their edges 43.0 mm from its middle."""


class Post(NamedTuple):
    """A vertical post with a round top.

    Attributes:
        x: Where it stands (m).
        y: Where it stands (m).
        height: Height of its top (m).
        radius: Half its thickness (m).
    """

    x: float
    y: float
    height: float
    radius: float


_POST = Post(0.30, 0.0, 0.15, 0.03)


@dataclass(frozen=True, slots=True)
class PickAndPlace:
    """From the table on one side, over a post, onto a shelf on the other; the hand points down.

    Attributes:
        pick: Where the tip begins (m), in the arm's base.
        place: Where it ends (m).
        branch: Which of the eight solutions, at both ends.
        post: The post in between.
        duration_s: How long the move takes (s).
        half_width: B of every joint's curve, as a fraction of the duration.
        delta: D of every joint's curve.
    """

    pick: tuple[float, float, float] = (0.28, -0.20, 0.05)
    place: tuple[float, float, float] = (0.20, 0.20, 0.25)
    branch: str = "left/elbow_up/wrist_down"
    post: Post = _POST
    duration_s: float = 14.0
    half_width: float = 0.2
    delta: float = 0.005


class JointCurves(NamedTuple):
    """Joints along a move, shape (N, n) each except the times.

    Attributes:
        t: Times (s), shape (N,).
        q: Positions (rad).
        qd: Velocities (rad/s).
        qdd: Accelerations (rad/s^2).
    """

    t: Array
    q: Array
    qd: Array
    qdd: Array


def solve_ends(arm: Arm, task: PickAndPlace) -> tuple[Array, Array]:
    """Joint positions at both ends (rad), by the branch that the task names.

    Raises:
        UnknownName: The branch does not exist.
        InvalidInput: That branch does not reach an end inside the limits; the text says why.
    """
    ends = []
    for name, position in (("pick", task.pick), ("place", task.place)):
        T = np.diag([1.0, -1.0, -1.0, 1.0])
        T[:3, 3] = position
        found = arm.inverse_branch(T, task.branch)
        if not found.ok:
            raise InvalidInput(name, f"{task.branch} does not reach it: {found.reason}")
        ends.append(found.q)
    return ends[0], ends[1]


def curve_joints(
    arm: Arm, task: PickAndPlace, centres: Sequence[float], samples: int = 401
) -> JointCurves:
    """The move with a centre A for the curve of every joint.

    Args:
        arm: The arm.
        task: The task.
        centres: When each joint has done half of its way, as fractions of the duration, (n,).
        samples: How many samples, both ends included.

    Raises:
        InvalidInput: Not one centre per joint, a centre or width outside its range, or an end out
            of reach.
    """
    if len(centres) != len(arm.joint_names):
        raise InvalidInput("centres", f"needs {len(arm.joint_names)} numbers, has {len(centres)}")
    start, end = solve_ends(arm, task)
    t = np.linspace(0.0, task.duration_s, samples)
    curves = [
        hyperbolic(task.duration_s, centre, task.half_width, task.delta).sample(t)
        for centre in centres
    ]
    s, sd, sdd = (np.stack(parts, axis=1) for parts in zip(*curves, strict=True))
    way = end - start
    return JointCurves(t, start + s * way, sd * way, sdd * way)


def clearance(arm: Arm, q: Array, post: Post) -> Array:
    """How far the arm is from a post (m); negative where it is inside.

    Args:
        arm: The arm, as round rods of ``ARM_RADIUS_M`` between its joints.
        q: Joint positions (rad), shape (N, n).
        post: The post.

    Returns:
        The smallest distance of any part of the arm, shape (N,).
    """
    frames = arm.frames(q)
    joints = [frames[name][:, :3, 3] for name in _BODY]
    foot = np.array([post.x, post.y, 0.0])
    top = np.array([post.x, post.y, post.height])
    rods = [_apart(a, b, foot, top) for a, b in pairwise(joints)]
    return np.asarray(np.min(rods, axis=0) - post.radius - ARM_RADIUS_M)


def _apart(a: Array, b: Array, foot: Array, top: Array) -> Array:
    """Smallest distances between lines a to b, shape (N, 3), and one line foot to top; (N,).

    Two lines of finite length are closest inside both, or at an end of one of them.
    """
    along, up = b - a, top - foot
    found = [_from_line(end, foot, top) for end in (a, b)]
    found += [_from_line(end, a, b) for end in (foot, top)]
    normal = np.cross(along, up)
    size = np.linalg.norm(normal, axis=1)
    safe = np.where(size > 0.0, size, 1.0)
    s = (np.cross(foot - a, up) * normal).sum(axis=1) / safe**2
    t = (np.cross(foot - a, along) * normal).sum(axis=1) / safe**2
    inside = (size > 0.0) & (s >= 0.0) & (s <= 1.0) & (t >= 0.0) & (t <= 1.0)
    between = np.abs(((foot - a) * normal).sum(axis=1)) / safe
    found.append(np.where(inside, between, np.inf))
    return np.asarray(np.min(found, axis=0))


def _from_line(point: Array, a: Array, b: Array) -> Array:
    """Distances of points from lines of finite length; (3,) or (N, 3) each, one of them (N, 3)."""
    along = b - a
    square = (along * along).sum(axis=-1)
    share = ((point - a) * along).sum(axis=-1) / np.where(square > 0.0, square, 1.0)
    nearest = a + np.clip(share, 0.0, 1.0)[..., None] * along
    return np.asarray(np.linalg.norm(point - nearest, axis=-1))

"""How much room a figure has to the joint limits, at many places at once.

The margin is the smallest distance of a joint to its limit along the whole figure, as a fraction
of that joint's range (``arm.limits.margin``). Where the cannula rule is stricter than the lower
limit of the insertion, the rule is the limit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.geometry.arrays import Array, ArrayLike, as_floats
from dvrk_kinematics.kinematics.arm import Arm
from dvrk_kinematics.kinematics.interruptible import check_in
from dvrk_kinematics.kinematics.result import IkStatus
from dvrk_kinematics.models.schema import JointKind
from dvrk_kinematics.motion.cannula import WRIST_DEPTH_M, CannulaRule, make_cannula_rule
from dvrk_kinematics.motion.figures.figure import Figure

__all__ = [
    "CANNULA",
    "COARSE",
    "DENSE",
    "FINE",
    "FINER",
    "FigureTrace",
    "PlaceMargin",
    "Steps",
    "plane_rotation",
]

CANNULA = "cannula"
"""What limits a figure if the wrist comes nearest to the cannula rule."""
_POSES_AT_ONCE = 32_768
"""Poses solved at a time, so that memory stays bounded."""
_LARGEST_STEP_RAD = 0.5 * np.pi
"""A joint that moves farther than this between two neighbouring samples has changed branch."""


class Steps(NamedTuple):
    """How many steps a translation, and 45 degrees of a rotation, are divided into."""

    line: int
    turn: int


COARSE = Steps(2, 1)
FINE = Steps(6, 3)
FINER = Steps(20, 9)
DENSE = Steps(100, 45)


class FigureTrace(NamedTuple):
    """What the joints do along a figure.

    Attributes:
        q: Joint positions (rad, m), roll unwrapped, shape (..., S, n).
        margins: Distances to the nearest limit as fractions, shape (..., S, n); those of joints
            that do not count are infinite, those of poses that have no solution -infinite.
    """

    q: Array
    margins: Array


class PlaceMargin:
    """Margins of one figure on one arm.

    A place is four numbers: where the centre of the figure's box is in the base (m), and how far
    the figure is turned about its normal (rad).

    Args:
        arm: The arm.
        figure: The figure to trace.
        normal: The figure's z in the base, shape (3,).
        wrist_depth_m: Smallest distance of the wrist from the remote centre (m); 0 for no rule.

    Attributes:
        figure: The same.
        joint_names: The arm's joints.
        lower: Smallest joint positions (rad, m), shape (n,), by the cannula rule if it is
            stricter.
        upper: Largest joint positions, shape (n,).
        cannula: The cannula rule where it is stricter than the insertion's lower limit; else None.

    Raises:
        InvalidInput: An invalid normal, or a depth that is negative or not finite.
    """

    def __init__(
        self,
        arm: Arm,
        figure: Figure,
        normal: ArrayLike,
        wrist_depth_m: float = WRIST_DEPTH_M,
    ) -> None:
        if not 0.0 <= wrist_depth_m < np.inf:
            reason = f"must be 0 or positive, and finite, is {wrist_depth_m}"
            raise InvalidInput("wrist_depth_m", reason)
        self._arm = arm
        self.figure = figure
        self._R_base_plane = plane_rotation(normal)
        limits = arm.limits
        self.joint_names = arm.joint_names
        self.lower, self.upper = limits.lower.copy(), limits.upper
        self._span = limits.upper - limits.lower
        self._counts = np.isfinite(self._span) & (self._span > 0.0)
        turns = [joint.kind is JointKind.REVOLUTE for joint in arm.model.joints]
        self._turning = np.array(turns) & self._counts & (self._span >= 2.0 * np.pi)
        rule = make_cannula_rule(arm, wrist_depth_m) if wrist_depth_m > 0.0 else None
        self.cannula: CannulaRule | None = None
        if rule is not None and rule.min_insertion_m > self.lower[rule.joint]:
            self.cannula = rule
            self.lower[rule.joint] = rule.min_insertion_m

    def pose(self, place: Array, scale: float) -> Array:
        """Pose of the figure's frame, T_base_figure; (..., 4) -> (..., 4, 4)."""
        R = self._R_base_plane @ so3.rot_z(place[..., 3])
        centre = np.append(scale * self.figure.centre, 0.0)
        return se3.make(R, place[..., :3] - R @ centre)

    def poses(self, scale: float, steps: Steps) -> Array:
        """The tip's poses in the figure's frame, shape (S, 4, 4)."""
        eighths = np.ceil(np.abs(self.figure.turns).max() / (0.25 * np.pi) - 1e-9)
        return self.figure.sample(scale, steps.line, steps.turn * max(1, int(eighths)))

    def margins(
        self, places: Array, scale: float, T_figure_tip: Array, *, is_path: bool = True
    ) -> Array:
        """The margin of each place for some poses of the figure.

        Args:
            places: Shape (M, 4).
            scale: Size of the figure.
            T_figure_tip: The poses, shape (S, 4, 4).
            is_path: Whether the joints must go from pose to pose; otherwise each counts on its
                own.

        Returns:
            Shape (M,); -infinite where the arm cannot trace the figure at all.
        """
        found = np.empty(len(places))
        chunk = max(1, _POSES_AT_ONCE // len(T_figure_tip))
        for start in range(0, len(places), chunk):
            check_in()
            rows = slice(start, start + chunk)
            T_base_tip = self.pose(places[rows], scale)[:, None] @ T_figure_tip
            found[rows] = self._solve(T_base_tip, is_path).margins.min(axis=(1, 2))
        return found

    def room(self, places: Array, scale: float, T_figure_tip: Array) -> Array:
        """The distances to both limits of all joints, as fractions, shape (M, 2 S n).

        They are smooth in the place, unlike the margin, which is their minimum.
        """
        T_base_tip = self.pose(places, scale)[:, None] @ T_figure_tip
        q = self._solve(T_base_tip).q[..., self._counts]
        span = self._span[self._counts]
        below = (q - self.lower[self._counts]) / span
        above = (self.upper[self._counts] - q) / span
        return np.stack([below, above], axis=1).reshape(len(places), -1)

    def trace(
        self,
        T_base_figure: Array,
        scale: float,
        steps: Steps = DENSE,
        *,
        is_path: bool = True,
    ) -> FigureTrace:
        """What the joints do at one place: q and margins of shape (S, n)."""
        T_base_tip = T_base_figure @ self.poses(scale, steps)
        found = self._solve(T_base_tip[None], is_path)
        return FigureTrace(found.q[0], found.margins[0])

    def name_limit(self, q: Array, joint: int) -> str:
        """The limit that q, shape (n,), would meet first: a joint's name, or ``CANNULA``."""
        is_low = q[joint] - self.lower[joint] < self.upper[joint] - q[joint]
        is_cannula = self.cannula is not None and joint == self.cannula.joint
        return CANNULA if is_low and is_cannula else self.joint_names[joint]

    def is_turning(self, joint: int) -> bool:
        """Whether a joint can turn all the way round, as roll does."""
        return bool(self._turning[joint])

    def _solve(self, T_base_tip: Array, is_path: bool = True) -> FigureTrace:
        """Solve M figures of S poses each, shape (M, S, 4, 4)."""
        shape = T_base_tip.shape[:2]
        solved = self._arm.inverse_batch(T_base_tip.reshape(-1, 4, 4))
        q = solved.q.reshape(*shape, -1)
        q = self._unwrap(q) if is_path else q
        room = np.minimum(q - self.lower, self.upper - q)
        margins = np.full(room.shape, np.inf)
        np.divide(room, self._span, out=margins, where=self._counts)
        exact = solved.status <= IkStatus.OUTSIDE_LIMITS
        margins[~exact.reshape(shape)] = -np.inf
        if is_path:
            steps = np.abs(np.diff(q, axis=1))
            # Written so that NaN counts as a leap.
            leaps = ~(steps <= _LARGEST_STEP_RAD).all(axis=(1, 2))
            margins[leaps] = -np.inf
        return FigureTrace(q, margins)

    def _unwrap(self, q: Array) -> Array:
        """Take whole turns out of each figure, then start it on the turn with the most room."""
        turning: npt.NDArray[np.intp] = np.flatnonzero(self._turning)
        path = np.unwrap(q[..., turning], axis=1)
        middle = 0.5 * (path.min(axis=1, keepdims=True) + path.max(axis=1, keepdims=True))
        wanted = 0.5 * (self.lower + self.upper)[turning]
        q = q.copy()
        q[..., turning] = path + 2.0 * np.pi * np.round((wanted - middle) / (2.0 * np.pi))
        return q


def plane_rotation(normal: ArrayLike) -> Array:
    """The smallest rotation that takes z to a direction; half a turn about x for -z.

    Args:
        normal: The direction, shape (3,), of any length.

    Returns:
        Shape (3, 3).

    Raises:
        InvalidInput: It is not a direction: not three finite numbers, or all zero.
    """
    z = as_floats(normal, "normal")
    if z.shape != (3,) or not np.isfinite(z).all() or not np.linalg.norm(z) > 0.0:
        raise InvalidInput("normal", f"must be three finite numbers, not all 0, is {z.tolist()}")
    z = z / np.linalg.norm(z)
    axis = np.array([-z[1], z[0], 0.0])
    sine = np.linalg.norm(axis)
    if sine < 1e-12:
        return np.eye(3) if z[2] > 0.0 else so3.rot_x(np.pi)
    return so3.exp(axis / sine * np.arctan2(sine, z[2]))

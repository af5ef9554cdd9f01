"""Finds where in the dexterous workspace a figure fits best, and how large it may be.

The user sets the normal of the figure's plane, which is horizontal by default; the search is over
its position and its turn about the normal. Tilting the plane as well gains less than 2 % of margin
on a PSM, at any size of the Block-O, and a figure drawn on a table cannot be tilted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from dvrk_kinematics.errors import DoesNotFit, FitCause, InvalidInput
from dvrk_kinematics.geometry.arrays import Array, ArrayLike, frozen
from dvrk_kinematics.kinematics.arm import Arm
from dvrk_kinematics.motion.cannula import WRIST_DEPTH_M
from dvrk_kinematics.motion.figures.figure import Figure, check_scale
from dvrk_kinematics.motion.figures.place_margin import CANNULA, COARSE, DENSE, PlaceMargin
from dvrk_kinematics.motion.figures.place_search import grid, reach_box, search
from dvrk_kinematics.motion.paths.path import check_pose
from dvrk_kinematics.motion.planning.progress import UNWATCHED, PlanningProgress

__all__ = [
    "CANNULA",
    "Misfit",
    "Placement",
    "find_misfit",
    "largest_scale",
    "measure_placement",
    "place",
]

_NAN = float("nan")


class Misfit(NamedTuple):
    """What keeps a figure from fitting.

    Attributes:
        cause: What kind of obstacle it is.
        reason: The same, in words.
        joint: The joint that prevents it; empty if none does.
        value: What the figure would need: a joint position (rad, m), the angle by which a joint
            would have to turn (rad), the depth of the wrist (m) or the margin; NaN if no number
            applies.
        limit: What is allowed.
    """

    cause: FitCause
    reason: str
    joint: str = ""
    value: float = _NAN
    limit: float = _NAN


def find_misfit(
    margin: PlaceMargin,
    T_base_figure: Array,
    scale: float,
    min_margin: float,
    places: Array,
) -> Misfit:
    """Find out why a figure does not fit.

    Args:
        margin: Returns the margin of a place.
        T_base_figure: The best place, where it still does not fit, shape (4, 4).
        scale: Its size there.
        min_margin: The margin required.
        places: Places all over the arm's reach, shape (M, 4).
    """
    q, margins = margin.trace(T_base_figure, scale)
    at, j = _find_worst(margins)
    if not np.isfinite(margins[at, j]):
        return _find_unreached(margin, scale, places)
    if margins[at, j] >= 0.0:
        name, found = margin.joint_names[j], float(margins[at, j])
        reason = (
            f"its best place has a margin of {found:.4g} ({margin.name_limit(q[at], j)}), and "
            f"{min_margin:.4g} was asked for"
        )
        return Misfit(FitCause.MARGIN, reason, name, found, min_margin)
    turned = float(np.ptp(q[:, j]))
    room = float(margin.upper[j] - margin.lower[j])
    if margin.is_turning(j) and turned > room:
        return _tell_turn(margin, j, turned, room)
    return _tell_limit(margin, q, margins)


def _find_worst(margins: Array) -> tuple[int, int]:
    """Sample and joint of the smallest margin, of shape (S, n)."""
    at, joint = np.unravel_index(int(margins.argmin()), margins.shape)
    return int(at), int(joint)


def _find_unreached(margin: PlaceMargin, scale: float, places: Array) -> Misfit:
    """Distinguish a pose that is out of reach from poses between which the joints jump."""
    corners = margin.poses(scale, COARSE)
    alone = margin.margins(places, scale, corners, is_path=False)
    best = int(np.argmax(alone))
    if not np.isfinite(alone[best]):
        reason = "wherever it lies, no joint positions put the tip into some of its poses"
        return Misfit(FitCause.REACH, reason)
    if alone[best] >= 0.0:
        reason = "the arm reaches each of its poses, but its joints would have to jump in between"
        return Misfit(FitCause.JUMP, reason)
    T_base_figure = margin.pose(places[best], scale)
    return _tell_limit(margin, *margin.trace(T_base_figure, scale, COARSE, is_path=False))


def _tell_turn(margin: PlaceMargin, j: int, turned: float, room: float) -> Misfit:
    name, figure = margin.joint_names[j], margin.figure
    headings = np.cumsum(np.concatenate([[0.0], figure.turns]))
    tool = float(np.ptp(headings))
    what, angle = ("it turns the tool", tool) if tool > room else (f"it turns {name}", turned)
    reason = f"{what} by {np.degrees(angle):.0f} degrees, and {name} has {np.degrees(room):.0f}"
    if tool > 0.0:
        reason += '; the orientation "fixed" needs no turn'
    return Misfit(FitCause.TURN, reason, name, angle, room)


def _tell_limit(margin: PlaceMargin, q: Array, margins: Array) -> Misfit:
    at, j = _find_worst(margins)
    name, value = margin.joint_names[j], float(q[at, j])
    is_low = value < margin.lower[j]
    others = [
        margin.joint_names[k] for k in np.flatnonzero(margins.min(axis=0) < 0.0).tolist() if k != j
    ]
    also = f"; also outside there: {', '.join(others)}" if others else ""
    rule = margin.cannula
    if rule is not None and rule.joint == j and is_low:
        depth = rule.depth(q[at])
        reason = (
            f"at its best place the wrist would be {depth:.4f} m beyond the remote centre, and "
            f"must be {rule.min_depth_m:.4f}{also}"
        )
        return Misfit(FitCause.CANNULA, reason, name, depth, rule.min_depth_m)
    low, high = float(margin.lower[j]), float(margin.upper[j])
    reason = (
        f"at its best place {name} would be {value:.4f}, allowed {low:.4f} to {high:.4f}{also}"
    )
    return Misfit(FitCause.JOINT_LIMIT, reason, name, value, low if is_low else high)


_UP = (0.0, 0.0, 1.0)
"""The normal of a plane level with the base."""
_NEXT_PART = 0.3
"""After a size that is too large, the fraction of it to try next."""
_SMALLEST_PART = 1e-3
"""Smallest fraction tried of a size that is too large."""
_SCALE_TOLERANCE = 1e-3
"""How much smaller than the largest size the result may be, as a fraction."""
_FIRST = 0.2
"""Fraction of the total work that one search takes."""


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """A figure in the workspace of an arm.

    Attributes:
        T_base_figure: Pose of the figure's frame, shape (4, 4).
        scale: Size of the figure, as a factor.
        margin: Smallest distance of a joint to its limit along the figure, as a fraction of that
            joint's range. Where the cannula rule is stricter than the lower limit of the
            insertion, it is the limit. Negative if the figure does not fit.
        limited_by: The joint that comes nearest to its limit, or ``CANNULA``.
        limited_where: Where it does so, as a fraction of the tip's travel.
        q_start: Joint positions (rad, m) for the first corner, shape (n,), on the turn of roll
            from which the whole figure can be traced.
    """

    T_base_figure: Array
    scale: float
    margin: float
    limited_by: str
    limited_where: float
    q_start: Array


def place(
    arm: Arm,
    figure: Figure,
    scale: float | None = None,
    *,
    normal: ArrayLike = _UP,
    min_margin: float = 0.0,
    density: float = 1.0,
    wrist_depth_m: float = WRIST_DEPTH_M,
    progress: PlanningProgress = UNWATCHED,
) -> Placement:
    """Find the place of a figure with the largest margin.

    Args:
        arm: The arm; it needs a closed form.
        figure: The figure to trace.
        scale: Size, as a factor; None for the largest that fits.
        normal: The figure's z in the base, shape (3,); the tool points against it.
        min_margin: Smallest margin that counts as fitting, as a fraction.
        density: How many times more places than usual the search checks, all the way.
        wrist_depth_m: Smallest distance of the wrist from the remote centre (m); 0 for no rule.
        progress: Receives progress, and may end planning.

    Raises:
        InvalidInput: An invalid scale, normal, margin, density or depth, or an arm solved by
            iteration.
        DoesNotFit: No such place exists; reports why, and the largest scale that has one.
        PlanningCancelled: The watcher ended it.
        PlanningTimeout: It took longer than the watcher allows.
    """
    margin = PlaceMargin(arm, figure, normal, wrist_depth_m)
    finder = _Finder(arm, margin, min_margin, density, progress)
    with progress.in_force():
        if scale is None:
            return finder.largest()
        found = finder.best(check_scale(scale))
        if found.margin < min_margin:
            largest = finder.largest_below(min(scale, finder.beyond))
            raise finder.refuse(found, scale, largest)
        return found


def largest_scale(
    arm: Arm, figure: Figure, *, normal: ArrayLike = _UP, min_margin: float = 0.0
) -> float:
    """The largest size, as a factor, at which a figure fits somewhere, to 0.1 %.

    Args:
        arm: The arm.
        figure: The figure to trace.
        normal: The figure's z in the base, shape (3,).
        min_margin: Smallest margin that counts as fitting, as a fraction.

    Raises:
        InvalidInput: An invalid normal or margin.
        DoesNotFit: It does not fit at any size; reports why.
    """
    return place(arm, figure, None, normal=normal, min_margin=min_margin).scale


def measure_placement(
    arm: Arm,
    figure: Figure,
    T_base_figure: ArrayLike,
    scale: float = 1.0,
    *,
    wrist_depth_m: float = WRIST_DEPTH_M,
) -> Placement:
    """The margin of a figure at a given place, and what limits it.

    Args:
        arm: The arm.
        figure: The figure to trace.
        T_base_figure: Pose of the figure's frame, shape (4, 4).
        scale: Size, as a factor.
        wrist_depth_m: Smallest distance of the wrist from the remote centre (m); 0 for no rule.

    Returns:
        The placement; its margin is negative, or -infinite, if the figure does not fit there.

    Raises:
        InvalidInput: An invalid pose, scale or depth.
    """
    placed = check_pose(T_base_figure, "T_base_figure")
    margin = PlaceMargin(arm, figure, placed[:3, 2], wrist_depth_m)
    return _measure(margin, placed, check_scale(scale))


class _Finder:
    """Answers for one figure on one arm."""

    def __init__(
        self,
        arm: Arm,
        margin: PlaceMargin,
        min_margin: float,
        density: float,
        progress: PlanningProgress,
    ) -> None:
        if not arm.solver.is_closed_form:
            reason = f"{arm.model.name} is solved by iteration; looking everywhere takes hours"
            raise InvalidInput("arm", f"{reason}, and needs a closed form")
        if not -1.0 < min_margin < 0.5:
            raise InvalidInput("min_margin", f"must be within (-1, 0.5), is {min_margin}")
        if not 0.0 < density <= 1000.0:
            raise InvalidInput("density", f"must be within (0, 1000], is {density}")
        self._margin = margin
        self._box = reach_box(arm)
        self._min_margin = min_margin
        self._density = density
        self._progress = progress
        self._searches = 0

    @property
    def beyond(self) -> float:
        """A scale at which the figure is larger than the arm's reach."""
        low, high = self._box
        return float(np.linalg.norm(high - low) / self._margin.figure.size.max())

    def best(self, scale: float) -> Placement:
        """The best placement of one size, whether it fits or not."""
        # The number of searches is unknown: just one if the requested size fits.
        part = self._progress.attempt(self._searches, _FIRST)
        self._searches += 1
        places = search(self._margin, self._box, scale, self._density, part)
        return _measure(self._margin, self._margin.pose(places[0], scale), scale)

    def largest(self) -> Placement:
        """The largest that fits."""
        found = self.largest_below(self.beyond)
        if found is None:
            raise self.refuse(self.best(_SMALLEST_PART * self.beyond), None, None)
        return found

    def refuse(
        self, best: Placement, scale: float | None, largest: Placement | None
    ) -> DoesNotFit:
        """Report why the figure does not fit.

        Args:
            best: The best place, where it still does not fit.
            scale: The requested size; None for any size.
            largest: The largest that fits; None if none does.
        """
        misfit = find_misfit(
            self._margin,
            best.T_base_figure,
            best.scale,
            self._min_margin,
            grid(self._box, self._density)[0],
        )
        fits = 0.0 if largest is None else largest.scale
        return DoesNotFit(self._margin.figure.name, scale, fits, *misfit)

    def largest_below(self, too_large: float) -> Placement | None:
        """The largest that fits and is smaller than a scale that does not; None if none does."""

        @cache
        def excess(scale: float) -> float:
            # Where the arm cannot trace the figure at all, there is no slope to follow.
            return max(self.best(scale).margin, -1.0) - self._min_margin

        low, high = _NEXT_PART * too_large, too_large
        while excess(low) < 0.0:
            low, high = _NEXT_PART * low, low
            if low < _SMALLEST_PART * too_large:
                return None
        scale: float = brentq(excess, low, high, xtol=0.5 * _SCALE_TOLERANCE * low)
        # The crossing may be met from either side; the size returned must fit.
        while (found := self.best(scale)).margin < self._min_margin:
            scale = max(low, scale * (1.0 - 0.5 * _SCALE_TOLERANCE))
        return found


def _measure(margin: PlaceMargin, T_base_figure: Array, scale: float) -> Placement:
    q, margins = margin.trace(T_base_figure, scale)
    at, joint = np.unravel_index(int(margins.argmin()), margins.shape)
    positions = margin.poses(scale, DENSE)[:, :3, 3]
    travel = np.linalg.norm(np.diff(positions, axis=0), axis=1)
    return Placement(
        frozen(T_base_figure),
        scale,
        float(margins[at, joint]),
        margin.name_limit(q[at], int(joint)),
        float(travel[:at].sum() / travel.sum()),
        frozen(q[0]),
    )

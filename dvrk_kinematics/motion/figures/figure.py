"""Closed polygons for the tip to trace, and the poses needed to trace them.

Tool z points into the plane, against the figure's z. The tip goes straight from corner to corner.
With the orientation "along" tool x points along the travel, and the tool turns on the spot at each
corner but the first, where it keeps the orientation in which it arrives: a polygon of C corners
has C translations, C - 1 rotations and 2 C poses. With "fixed" the tool keeps the orientation of
the first side, and there are no rotations.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

import numpy as np

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.geometry.angles import wrap_to_pi
from dvrk_kinematics.geometry.arrays import Array, ArrayLike, as_floats, frozen
from dvrk_kinematics.models.read_yaml import read_yaml
from dvrk_kinematics.motion.paths.path import check_pose

__all__ = [
    "SHORTEST_SIDE_M",
    "Figure",
    "Orientation",
    "check_scale",
    "load_figure",
    "read_orientation",
]


class Orientation(str, Enum):
    """How the tool is turned about its z, which points into the plane of the figure."""

    ALONG = "along"
    """Tool x along the travel: the tool turns on the spot at every corner."""
    FIXED = "fixed"
    """As on the first side, all the way round: the tool never turns."""


def read_orientation(text: str) -> Orientation:
    """The orientation of a name.

    Raises:
        InvalidInput: The name is unknown; lists the known names.
    """
    try:
        return Orientation(text)
    except ValueError:
        valid = " or ".join(f'"{item.value}"' for item in Orientation)
        raise InvalidInput("orientation", f"must be {valid}, is {text!r}") from None


def load_figure(path: Path | str) -> Figure:
    """Read a figure from a file.

    Args:
        path: The file. ``corners`` is a list of [x, y] or [x, y, 0] in metres; ``name`` may be
            left out, then the figure takes the file's name; ``orientation`` is along or fixed.

    Raises:
        ModelError: It cannot be read, is not a figure, or holds text where a number belongs; names
            the file and the place in it.
    """
    file = Path(path)
    node = read_yaml(file)
    node.keys(("corners",), ("name", "orientation"))
    corners = [
        corner.numbers(3 if len(corner.elements()) == 3 else 2)
        for corner in node["corners"].elements()
    ]
    if len({len(corner) for corner in corners}) > 1:
        raise node["corners"].error("must all have two numbers, or all three")
    name = node["name"].text() if "name" in node else file.stem
    orientation = node["orientation"].text() if "orientation" in node else "along"
    try:
        return Figure(name, frozen(corners), read_orientation(orientation))
    except InvalidInput as error:
        raise node.error(str(error)) from error


SHORTEST_SIDE_M = 1e-6
"""Neighbouring corners closer than this (m) are the same: there is no direction of travel."""
_LARGEST_M = 1000.0
"""No corner is farther from the origin of its figure (m)."""
_OFF_PLANE_M = 1e-9
"""How far from the plane a corner may be (m): rounding."""
_STRAIGHT_BACK_RAD = 1e-6
"""A corner within this angle (rad) of a half turn leads straight back."""


@dataclass(frozen=True, slots=True, eq=False)
class Figure:
    """A closed polygon in the plane z = 0 of its own frame.

    Attributes:
        name: Its name.
        corners: Its corners in the order of travel (m), shape (C, 2), C >= 3; if given as (C, 3),
            their z must be 0. The path leads back to the first.
        orientation: How the tool is turned while the tip traces it: "along" or "fixed".

    Raises:
        InvalidInput: Fewer than three corners, a corner that is not finite or not in the plane, or
            one that repeats its neighbour; an unknown orientation. With "along", also a corner
            where the path turns straight back.
    """

    name: str
    corners: Array
    orientation: Orientation = Orientation.ALONG

    def __post_init__(self) -> None:
        corners = frozen(_read_corners(self.corners))
        object.__setattr__(self, "corners", corners)
        object.__setattr__(self, "orientation", read_orientation(self.orientation))
        if self.orientation is Orientation.ALONG:
            _check_turns(_turns(self.sides))

    def oriented(self, orientation: str | Orientation) -> Figure:
        """The same figure, traced with the named orientation of the tool.

        Raises:
            InvalidInput: The orientation is unknown, or "along" does not suit the figure's
                corners.
        """
        return replace(self, orientation=read_orientation(orientation))

    @property
    def sides(self) -> Array:
        """From each corner to the next (m), shape (C, 2)."""
        return np.roll(self.corners, -1, axis=0) - self.corners

    @property
    def turns(self) -> Array:
        """How much the tool turns at corners 2 to C, about the figure's z (rad), (C - 1,)."""
        if self.orientation is Orientation.FIXED:
            return np.zeros(len(self.corners) - 1)
        return _turns(self.sides)

    @property
    def length(self) -> float:
        """Length of the way around (m)."""
        return float(np.linalg.norm(self.sides, axis=1).sum())

    @property
    def size(self) -> Array:
        """Width and height of the box around it (m), shape (2,)."""
        return np.asarray(self.corners.max(axis=0) - self.corners.min(axis=0))

    @property
    def centre(self) -> Array:
        """Centre of the box around it (m), shape (2,)."""
        return np.asarray(0.5 * (self.corners.max(axis=0) + self.corners.min(axis=0)))

    def poses(self, T_base_figure: ArrayLike, scale: float = 1.0) -> Array:
        """The start and end of every translation, in order.

        Args:
            T_base_figure: Pose of the figure's frame, shape (4, 4).
            scale: Size, as a factor.

        Returns:
            Poses of the tip in the base, shape (2 C, 4, 4). Rows 2 i and 2 i + 1 have the same
            orientation, rows 2 i + 1 and 2 i + 2 the same position.

        Raises:
            InvalidInput: The input is not a valid pose, or the scale is not positive and finite.
        """
        placed = check_pose(T_base_figure, "T_base_figure")
        corners = self.corners * check_scale(scale)
        ends = np.stack([corners, np.roll(corners, -1, axis=0)], axis=1).reshape(-1, 2)
        sides = self.sides
        along = sides / np.linalg.norm(sides, axis=1, keepdims=True)
        if self.orientation is Orientation.FIXED:
            along = np.broadcast_to(along[0], along.shape)
        T_figure_tip = _tool_poses(ends, np.repeat(along, 2, axis=0))
        return np.asarray(placed @ T_figure_tip)

    def sample(self, scale: float, line_steps: int, turn_steps: int) -> Array:
        """Poses along the whole figure, in its own frame; none is repeated.

        Args:
            scale: Size, as a factor.
            line_steps: Steps into which each translation is divided.
            turn_steps: Steps into which each rotation is divided.

        Returns:
            Shape (C line_steps + (C - 1) turn_steps + 1, 4, 4); without rotations, the same with
            turn_steps = 0.
        """
        turn_steps = 0 if self.orientation is Orientation.FIXED else turn_steps
        corners, sides = self.corners * scale, self.sides * scale
        turns = np.append(self.turns, 0.0)
        first = np.arctan2(sides[0, 1], sides[0, 0])
        headings = first + np.concatenate([[0.0], np.cumsum(turns[:-1])])
        # A side without its end, then the turn at that end without its own end: nothing repeats.
        u = np.arange(line_steps)[:, None] / line_steps
        w = np.arange(turn_steps) / max(1, turn_steps)
        points, angles = [], []
        for i, heading in enumerate(headings):
            end = corners[(i + 1) % len(corners)]
            points += [corners[i] + u * sides[i], np.broadcast_to(end, (turn_steps, 2))]
            angles += [np.full(line_steps, heading), heading + w * turns[i]]
        points[-1], angles[-1] = corners[:1], headings[-1:]
        heading = np.concatenate(angles)
        along = np.stack([np.cos(heading), np.sin(heading)], axis=1)
        return _tool_poses(np.concatenate(points), along)


_SCALES = (1e-6, 1e6)
"""Smallest and largest factor by which a figure may be scaled."""


def check_scale(scale: float) -> float:
    """Refuse an invalid size.

    Raises:
        InvalidInput: The scale is not positive and finite, or is too extreme to compute with.
    """
    if not (np.isfinite(scale) and scale > 0.0):
        raise InvalidInput("scale", f"must be positive and finite, is {scale}")
    smallest, largest = _SCALES
    if not smallest <= scale <= largest:
        raise InvalidInput("scale", f"must be from {smallest:g} to {largest:g}, is {scale:g}")
    return float(scale)


def _tool_poses(points: Array, along: Array) -> Array:
    """Poses with tool x along a direction and z against the figure's z; (N, 2), (N, 2)."""
    T = np.zeros((len(points), 4, 4))
    T[:, :2, 0] = along
    T[:, 0, 1], T[:, 1, 1] = along[:, 1], -along[:, 0]
    T[:, 2, 2] = -1.0
    T[:, :2, 3] = points
    T[:, 3, 3] = 1.0
    return T


def _turns(sides: Array) -> Array:
    headings = np.arctan2(sides[:, 1], sides[:, 0])
    return wrap_to_pi(np.diff(headings))


def _read_corners(corners: ArrayLike) -> Array:
    values = as_floats(corners, "corners")
    if values.ndim != 2 or values.shape[1] not in (2, 3):
        if values.size == 0:
            raise InvalidInput("corners", "there are none; a figure needs at least three")
        raise InvalidInput("corners", f"need shape (C, 2) or (C, 3), got {values.shape}")
    if len(values) < 3:
        raise InvalidInput("corners", f"a figure needs at least three, got {len(values)}")
    for i, corner in enumerate(values):
        if not np.abs(corner).max() <= _LARGEST_M:
            reason = f"must be finite and within {_LARGEST_M:g} m, is {corner.tolist()}"
            raise InvalidInput(f"corners[{i}]", reason)
        if np.abs(corner[2:]).max(initial=0.0) > _OFF_PLANE_M:
            reason = f"lies {corner[2]:g} m off the plane; the z of all corners must be 0"
            raise InvalidInput(f"corners[{i}]", reason)
    _check_sides(values[:, :2])
    return values[:, :2]


def _check_sides(corners: Array) -> None:
    sides = np.roll(corners, -1, axis=0) - corners
    for i, length in enumerate(np.linalg.norm(sides, axis=1)):
        if not length >= SHORTEST_SIDE_M:
            after = (i + 1) % len(corners)
            which = "the first, to which the way leads back by itself" if after == 0 else str(i)
            reason = f"repeats corner {which}: they are {length:.3g} m apart"
            raise InvalidInput(f"corners[{after or i}]", reason)


def _check_turns(turns: Array) -> None:
    """Refuse a tool that could turn either way."""
    for i, turn in enumerate(turns, 1):
        if abs(turn) > np.pi - _STRAIGHT_BACK_RAD:
            reason = 'the way turns straight back there; only the orientation "fixed" allows that'
            raise InvalidInput(f"corners[{i}]", reason)

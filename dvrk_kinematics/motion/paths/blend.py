r"""Corners rounded with a given radius, so that the tip passes them without a stop.

A blend leaves the first line ``radius`` before the corner and joins the second one ``radius``
after it. In between it is the parabola with the corner as its control point: with w from 0 to 1,

    p = p_begin + (2w - w^2) (p_corner - p_begin) + w^2 (p_end - p_corner),

and the orientation is composed in the same way, of the rest of the first turn and the part done of
the second one. So velocity and angular velocity are continuous. With the speed v on both lines and
the corner's angle phi (0 for straight on),

* it passes the corner at exactly (radius / 2) sin(phi / 2);
* the acceleration is constant, v^2 sin(phi / 2) / radius, along the bisector;
* the speed falls to v cos(phi / 2) in the middle and is v at both ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.geometry.arrays import Array, frozen
from dvrk_kinematics.kinematics.interruptible import check_in
from dvrk_kinematics.kinematics.jacobian import cross
from dvrk_kinematics.motion.paths.path import Line, Path
from dvrk_kinematics.motion.tolerances import LEAST_LENGTH

__all__ = ["Blend", "BlendedLines"]

Rows = npt.NDArray[np.bool_]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)
"""Points for integrating speed to length: good to 1e-9 of it, 1e-4 where the path turns back."""


@dataclass(frozen=True, eq=False)
class Blend:
    """The parabola from one line to the next.

    Args:
        T_start: Where it leaves the first line, base to tip, shape (4, 4).
        before: Twist from there to the corner (m, rad), shape (6,).
        after: Twist from the corner to where it joins the second line (m, rad), shape (6,).

    Attributes:
        deviation_m: Its distance from the corner (m).
    """

    T_start: Array
    before: Array
    after: Array
    deviation_m: float = field(init=False)

    def __post_init__(self) -> None:
        gap = self.after[:3] - self.before[:3]
        object.__setattr__(self, "deviation_m", 0.25 * float(np.linalg.norm(gap)))

    @property
    def length(self) -> float:
        """How far the tip travels (m)."""
        return self._integrate(slice(0, 3))

    @property
    def angle(self) -> float:
        """How much it turns on its way (rad)."""
        return self._integrate(slice(3, 6))

    def _integrate(self, part: slice) -> float:
        check_in()
        rates = np.linalg.norm(self.twist(0.5 * (_NODES + 1.0))[:, part], axis=1)
        return 0.5 * float(_WEIGHTS @ rates)

    @property
    def breaks(self) -> Array:
        """None."""
        return frozen([])

    @property
    def peak_twist(self) -> tuple[float, float]:
        """Reached at one of its ends."""
        return _largest(self.twist(np.array([0.0, 1.0])))

    @property
    def peak_bend(self) -> tuple[float, float]:
        """Exact for the position, a bound for the orientation."""
        first, second = (float(np.linalg.norm(turn[3:])) for turn in (self.before, self.after))
        # |2 b - 2 exp(.) a + 4 w (1 - w) b x exp(.) a|, term by term.
        return 8.0 * self.deviation_m, 2.0 * (first + second) + first * second

    def pose(self, u: Array) -> Array:
        """Poses base to tip at fractions u, shape (N,) -> (N, 4, 4)."""
        one, two = ((2.0 - u) * u)[:, None], (u * u)[:, None]
        p = self.T_start[:3, 3] + one * self.before[:3] + two * self.after[:3]
        R = so3.exp(two * self.after[3:]) @ so3.exp(one * self.before[3:])
        return se3.make(R @ self.T_start[:3, :3], p)

    def twist(self, u: Array) -> Array:
        """Derivatives of the pose by u (m, rad), shape (N,) -> (N, 6)."""
        first, second = 2.0 * (1.0 - u)[:, None], 2.0 * u[:, None]
        linear = first * self.before[:3] + second * self.after[:3]
        angular = first * self._carried(u) + second * self.after[3:]
        return np.concatenate([linear, angular], axis=1)

    def bend(self, u: Array) -> Array:
        """Derivatives of the twist by u (m, rad), shape (N,) -> (N, 6)."""
        carried = self._carried(u)
        linear = np.broadcast_to(2.0 * (self.after[:3] - self.before[:3]), carried.shape)
        turning = (4.0 * u * (1.0 - u))[:, None] * cross(self.after[3:], carried)
        angular = 2.0 * (self.after[3:] - carried) + turning
        return np.concatenate([linear, angular], axis=1)

    def _carried(self, u: Array) -> Array:
        """The first turn's axis, carried along by the second turn, shape (N, 3)."""
        return np.asarray(so3.exp((u * u)[:, None] * self.after[3:]) @ self.before[3:])


class BlendedLines:
    """Lines through poses with rounded inner corners: one path, followed without a stop.

    The fraction goes evenly along the lines, and a blend counts as twice its radius. So a steady
    rate of the fraction is a steady speed on the lines, and the speed is nowhere higher.

    Args:
        poses: Base to tip, shape (K, 4, 4), K >= 2.
        radii: Radius of each inner corner (m), K - 2 of them; 0 is not valid for a blend.

    Attributes:
        pieces: The lines, shortened, and the blends between them.
        shares: The fraction at which each piece begins and the last one ends, shape (P + 1,).

    Raises:
        InvalidInput: A pose is invalid, a line has no length, or a radius is not positive or too
            long for its lines.
    """

    def __init__(self, poses: Array, radii: Sequence[float]) -> None:
        lines = [Line(a, b) for a, b in pairwise(poses)]
        _check_radii(lines, radii)
        at_begin = [0.0, *radii]
        at_end = [*radii, 0.0]
        pieces: list[Line | Blend] = []
        ways: list[float] = []
        for k, line in enumerate(lines):
            check_in()
            u = np.array([at_begin[k], line.length - at_end[k]]) / line.length
            begin, end = line.pose(u)
            if line.length - at_begin[k] - at_end[k] > LEAST_LENGTH:
                pieces.append(Line(begin, end))
                ways.append(line.length - at_begin[k] - at_end[k])
            if k + 1 < len(lines):
                pieces.append(_make_blend(end, line, lines[k + 1], radii[k]))
                ways.append(2.0 * radii[k])
        self.pieces: tuple[Path, ...] = tuple(pieces)
        self._nominal = sum(ways)
        self.shares = frozen(np.concatenate([[0.0], np.cumsum(ways)]) / self._nominal)

    @property
    def nominal_length(self) -> float:
        """Length with twice the radius for each blend (m): the fraction is a fraction of this."""
        return self._nominal

    @cached_property
    def length(self) -> float:
        """How far the tip travels (m)."""
        return sum(piece.length for piece in self.pieces)

    @cached_property
    def angle(self) -> float:
        """How much it turns on its way (rad)."""
        return sum(piece.angle for piece in self.pieces)

    @property
    def breaks(self) -> Array:
        """Where pieces meet."""
        return self.shares[1:-1]

    @property
    def peak_twist(self) -> tuple[float, float]:
        """Reached where pieces begin or end: a blend goes evenly from one twist to the other."""
        return _largest(self.twist(self.shares))

    @property
    def peak_bend(self) -> tuple[float, float]:
        """The largest of its pieces', as derivatives by the whole fraction (m, rad)."""
        scale = 1.0 / np.diff(self.shares) ** 2
        bends = np.array([piece.peak_bend for piece in self.pieces]) * scale[:, None]
        linear, angular = bends.max(axis=0).tolist()
        return linear, angular

    def pose(self, u: Array) -> Array:
        """Poses base to tip at fractions u, shape (N,) -> (N, 4, 4)."""
        out = np.empty((len(u), 4, 4))
        for rows, piece, inner, _ in self._split(u):
            out[rows] = piece.pose(inner)
        return out

    def twist(self, u: Array) -> Array:
        """Derivatives of the pose by u (m, rad), shape (N,) -> (N, 6)."""
        out = np.empty((len(u), 6))
        for rows, piece, inner, share in self._split(u):
            out[rows] = piece.twist(inner) / share
        return out

    def bend(self, u: Array) -> Array:
        """Derivatives of the twist by u (m, rad), shape (N,) -> (N, 6)."""
        out = np.empty((len(u), 6))
        for rows, piece, inner, share in self._split(u):
            out[rows] = piece.bend(inner) / (share * share)
        return out

    def _split(self, u: Array) -> list[tuple[Rows, Path, Array, float]]:
        """Rows of u, piece, fractions of the piece and its share, for each piece that has some."""
        which = np.clip(np.searchsorted(self.shares, u, side="right") - 1, 0, len(self.pieces) - 1)
        found = []
        for k in np.unique(which):
            rows = which == k
            share = float(self.shares[k + 1] - self.shares[k])
            inner = np.clip((u[rows] - self.shares[k]) / share, 0.0, 1.0)
            found.append((rows, self.pieces[k], inner, share))
        return found


def _largest(twists: Array) -> tuple[float, float]:
    """The largest linear and angular length of some twists, shape (N, 6)."""
    linear, angular = (float(np.linalg.norm(twists[:, k : k + 3], axis=1).max()) for k in (0, 3))
    return linear, angular


def _make_blend(T_start: Array, first: Line, second: Line, radius: float) -> Blend:
    zero = np.zeros(1)
    before = first.twist(zero)[0] * (radius / first.length)
    after = second.twist(zero)[0] * (radius / second.length)
    return Blend(T_start, before, after)


def _check_radii(lines: Sequence[Line], radii: Sequence[float]) -> None:
    if len(radii) != len(lines) - 1:
        raise InvalidInput(
            "radii", f"needs one for each of {len(lines) - 1} corners, got {len(radii)}"
        )
    for k, radius in enumerate(radii):
        if not 0.0 < radius < float("inf"):
            raise InvalidInput("radii", f"corner {k}: must be positive and finite, is {radius}")
    room = [*radii, 0.0]
    for k, line in enumerate(lines):
        needed = room[k] + (room[k - 1] if k else 0.0)
        if needed > line.length * (1.0 + LEAST_LENGTH):
            raise InvalidInput(
                "radii",
                f"line {k} is {line.length:.6g} m long, its blends need {needed:.6g} m",
            )

"""Circular arcs through three points (MoveC)."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import atan2, tau

import numpy as np

from dvrk_kinematics.errors import CollinearPoints, InvalidInput
from dvrk_kinematics.geometry import se3
from dvrk_kinematics.geometry.arrays import Array, as_floats, frozen
from dvrk_kinematics.motion.paths.path import check_pose, geodesic, turned

__all__ = ["Arc"]

_FLATTEST = 1e-6
"""Smallest sine of an angle between the chords of a circle: flatter arcs count as straight."""


@dataclass(frozen=True, eq=False)
class Arc:
    """A circular arc from a pose through a point to a pose, turning evenly on the way.

    The orientation takes the shortest way from the start to the end, about one fixed axis; the
    orientation at the via point does not count.

    Args:
        T_start: Pose at the start, base to tip, shape (4, 4).
        via: A point on the arc (m), shape (3,).
        T_end: Pose at the end.

    Attributes:
        centre: Centre of the circle (m).
        radius: Its radius (m).
        sweep: Angle of the arc (rad), in (0, 2 pi).

    Raises:
        InvalidInput: A pose is invalid, or the point is not finite.
        CollinearPoints: The three points are collinear, or two of them coincide.
    """

    T_start: Array
    via: Array
    T_end: Array
    centre: Array = field(init=False)
    radius: float = field(init=False)
    sweep: float = field(init=False)
    _axes: Array = field(init=False, repr=False)
    _turn: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        start, end = check_pose(self.T_start, "T_start"), check_pose(self.T_end, "T_end")
        via = as_floats(self.via, "via")
        if via.shape != (3,) or not np.isfinite(via).all():
            raise InvalidInput("via", f"needs three finite numbers, got {via.tolist()}")
        centre, normal = _find_circle(start[:3, 3], via, end[:3, 3])
        out = start[:3, 3] - centre
        radius = float(np.linalg.norm(out))
        ahead = np.cross(normal, out)
        last = end[:3, 3] - centre
        for name, value in (
            ("T_start", start),
            ("via", frozen(via)),
            ("T_end", end),
            ("centre", frozen(centre)),
            ("radius", radius),
            # The via point lies on the way that turns about the normal, so no other test is due.
            ("sweep", atan2(float(ahead @ last), float(out @ last)) % tau),
            ("_axes", frozen([out, ahead])),
            ("_turn", frozen(geodesic(start[:3, :3], end[:3, :3]))),
        ):
            object.__setattr__(self, name, value)

    @property
    def length(self) -> float:
        """How far the tip travels (m)."""
        return self.radius * self.sweep

    @property
    def angle(self) -> float:
        """How much it turns (rad), at most pi."""
        return float(np.linalg.norm(self._turn))

    @property
    def breaks(self) -> Array:
        """None."""
        return frozen([])

    @property
    def peak_twist(self) -> tuple[float, float]:
        """Length and angle: the same everywhere."""
        return self.length, self.angle

    @property
    def peak_bend(self) -> tuple[float, float]:
        """The same everywhere: radius times sweep squared (m)."""
        return self.radius * self.sweep**2, 0.0

    def pose(self, u: Array) -> Array:
        """Poses base to tip at fractions u, shape (N,) -> (N, 4, 4)."""
        p = self.centre + self._around(u, 0.0)
        return se3.make(turned(self.T_start[:3, :3], self._turn, u), p)

    def twist(self, u: Array) -> Array:
        """Derivatives of the pose by u (m, rad), shape (N,) -> (N, 6)."""
        linear = self.sweep * self._around(u, 0.25 * tau)
        return np.concatenate([linear, np.broadcast_to(self._turn, linear.shape)], axis=1)

    def bend(self, u: Array) -> Array:
        """Derivatives of the twist by u (m, rad), towards the centre, shape (N,) -> (N, 6)."""
        linear = -(self.sweep**2) * self._around(u, 0.0)
        return np.concatenate([linear, np.zeros_like(linear)], axis=1)

    def _around(self, u: Array, ahead: float) -> Array:
        """Points relative to the circle's centre (m), some angle ahead (rad); (N,) -> (N, 3)."""
        phi = (self.sweep * u + ahead)[:, None]
        return np.asarray(np.cos(phi) * self._axes[0] + np.sin(phi) * self._axes[1])


def _find_circle(start: Array, via: Array, end: Array) -> tuple[Array, Array]:
    """Centre, and the normal about which start turns through via to end.

    Raises:
        CollinearPoints: No such circle exists.
    """
    a, b = via - start, end - start
    normal = np.cross(a, b)
    area, chords = float(np.linalg.norm(normal)), [a, b, end - via]
    sides = sorted(float(np.linalg.norm(chord)) for chord in chords)
    # The smallest angle of the triangle: its sine is twice the area over the two longer sides.
    if not area > _FLATTEST * sides[1] * sides[2]:
        off = area / sides[2] if sides[2] > 0.0 else 0.0
        raise CollinearPoints(start.tolist(), via.tolist(), end.tolist(), off)
    n2 = area * area
    centre = start + np.cross(normal, a * float(b @ b) - b * float(a @ a)) / (2.0 * n2)
    return centre, normal / area

r"""Every solution of the PSM's inverse kinematics for one pose, guarded where it degenerates.

Seen from frame 6 the remote centre is a spherical joint at

    p = ( -(a + d c5) s6 , -(a + d c5) c6 , d s5 ),   d = q3 - b.

So p alone determines q6 (two ways, by the sign of a + d c5), then q5 and d (two ways, by the sign
of d); the shaft's direction z = R (c5 s6, c5 c6, -s5) gives q1 and q2 (two ways) and the remaining
angle is q4: eight branches. They degenerate in three places, where the seed decides what the pose
leaves open:

* d = 0, the wrist on the remote centre: q5 is free and q1, q2, q4 follow it;
* a + d c5 = 0, the remote centre on the last axis: q6 is free and q1, q2, q4 follow it;
* c2 = 0, the shaft along the yaw axis (outside every PSM's limits): q1 is free, q4 follows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import atan2, cos, pi, sin, sqrt

from dvrk_kinematics.geometry.floats import Rows
from dvrk_kinematics.kinematics.solvers.selector import opposite
from dvrk_kinematics.kinematics.tolerances import AXIS_GUARD_SINE, GUARD_M

__all__ = [
    "NEAR_AXIS",
    "Rotation",
    "Vector",
    "all_branches",
    "family_values",
    "frame6_from_tip",
    "is_singular",
]

Vector = tuple[float, float, float]
Rotation = tuple[float, float, float, float, float, float, float, float, float]

NEAR_AXIS = 1e-3
"""Sine of the angle between shaft and yaw axis below which the roll is measured against the chosen
yaw."""


def frame6_from_tip(T: Rows) -> tuple[Rotation, Vector]:
    """Undo the standard tip of a pose, base to tip.

    Returns:
        The rotation of frame 6 (nine floats row by row), and the remote centre in it (m).
    """
    (r00, r01, r02, tx), (r10, r11, r12, ty), (r20, r21, r22, tz), _ = T
    px = r01 * tx + r11 * ty + r21 * tz
    py = -(r02 * tx + r12 * ty + r22 * tz)
    pz = r00 * tx + r10 * ty + r20 * tz
    return (-r01, r02, -r00, -r11, r12, -r10, -r21, r22, -r20), (px, py, pz)


def is_singular(p: Vector, a: float) -> bool:
    """Whether a pose may leave a joint of the wrist open: p is the remote centre in frame 6 (m).

    True also where only some ways of rounding find the pose degenerate.
    """
    px, py, pz = p
    rho, guard = sqrt(px * px + py * py), 1.01 * GUARD_M
    u = rho - a
    return rho < guard or u * u + pz * pz < guard * guard


def family_values(lower: float, upper: float, count: int) -> list[float]:
    """Spread values over a joint's range, to search a free joint for a place inside limits."""
    low, high = max(lower, -pi), min(upper, pi)
    return [low + (high - low) * i / (count - 1) for i in range(count)]


def all_branches(
    R: Rotation,
    p: Vector,
    lengths: tuple[float, float],
    seed: Sequence[float],
    free: tuple[Sequence[float], Sequence[float]] | None = None,
) -> list[tuple[float, ...]]:
    """Solve one pose on all branches.

    Args:
        R: Rotation of frame 6 in the base, nine floats row by row.
        p: The remote centre in frame 6 (m).
        lengths: ``a`` and ``b`` of the arm's geometry (m).
        seed: Joint positions (rad, m); they decide what a degenerate pose leaves open.
        free: Values of q5 and of q6 to try there instead of the seed's (rad).

    Returns:
        Joint positions (rad, m), angles from -pi to pi: eight sets, fewer or more at degenerate
        poses.
    """
    a, b = lengths
    px, py, pz = p
    free5, free6 = free if free is not None else ((seed[4],), (seed[5],))
    found: list[tuple[float, ...]] = []
    for q6, s6, c6 in _directions(-px, -py, free6):
        # The seed's q6 may be off by the guard's radius: project instead of using s * rho.
        u = -(px * s6 + py * c6) - a
        for q5, s5, c5 in _directions(pz, u, free5):
            d = u * c5 + pz * s5
            for q1, q2, q4 in _shaft(R, (s5, c5, s6, c6), seed[0]):
                found.append((q1, q2, d + b, q4, q5, q6))
    return found


def _directions(y: float, x: float, free: Sequence[float]) -> Iterator[tuple[float, float, float]]:
    """Return the angle of (x, y) and its opposite with sine and cosine; ``free`` at the origin."""
    radius = sqrt(x * x + y * y)
    if radius < GUARD_M:
        for angle in free:
            yield angle, sin(angle), cos(angle)
        return
    # First the direction within a right angle of zero, where every wrist's limits lie.
    if x < 0.0:
        radius = -radius
    s, c = y / radius, x / radius
    angle = atan2(s, c)
    yield angle, s, c
    yield opposite(angle), -s, -c


def _shaft(
    R: Rotation, wrist: tuple[float, float, float, float], seed_yaw: float
) -> Iterator[tuple[float, float, float]]:
    """Return yaw, pitch and roll of the shaft for a wrist (s5, c5, s6, c6): two ways."""
    r00, r01, r02, r10, r11, r12, r20, r21, r22 = R
    s5, c5, s6, c6 = wrist
    mx, my, mz = c5 * s6, c5 * c6, -s5
    zx = r00 * mx + r01 * my + r02 * mz
    zy = r10 * mx + r11 * my + r12 * mz
    zz = r20 * mx + r21 * my + r22 * mz
    h = sqrt(zx * zx + zz * zz)
    q2 = atan2(-zy, h)
    if h > NEAR_AXIS:
        q1 = atan2(zx, -zz)
        q4 = atan2(r10 * c6 - r11 * s6, -(s5 * (r10 * s6 + r11 * c6) + r12 * c5))
    else:
        # Here yaw and roll turn about nearly the same axis: the roll compensates for the yaw.
        q1 = atan2(zx, -zz) if h > AXIS_GUARD_SINE else seed_yaw
        nx, ny = s5 * s6, s5 * c6
        x = r00 * nx + r01 * ny + r02 * c5
        y = r10 * nx + r11 * ny + r12 * c5
        z = r20 * nx + r21 * ny + r22 * c5
        s1, c1, s2, c2 = sin(q1), cos(q1), sin(q2), cos(q2)
        q4 = atan2(-c1 * x - s1 * z, -s1 * s2 * x - c2 * y + c1 * s2 * z)
    yield q1, q2, q4
    yield opposite(q1), (pi if q2 > 0.0 else -pi) - q2, opposite(q4)

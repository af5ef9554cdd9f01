"""Efforts that hold one mass on the shaft against gravity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, sin

__all__ = ["GravityData", "gravity_effort"]


@dataclass(frozen=True, slots=True)
class GravityData:
    """The one mass that gravity compensation of a Classic ECM knows: the endoscope's.

    Attributes:
        mass: Mass (kg).
        above: Distance of its centre above frame 3, along the shaft (m).
        gravity: Gravity in the base frame (m/s^2): the arm hangs at 45 degrees.
    """

    mass: float
    above: float
    gravity: tuple[float, float, float]


def gravity_effort(data: GravityData, insertion_d: float, joints: Sequence[float]) -> list[float]:
    """Efforts of yaw, pitch, insertion and roll (N m, N) that hold the mass.

    The mass lies on the shaft, whose direction is (s1 c2, -s2, -c1 c2), at the distance
    r = insertion + insertion_d - above from the remote centre; efforts are the derivatives of its
    potential.

    Args:
        data: The mass and gravity.
        insertion_d: d of the insertion's row (m).
        joints: yaw, pitch (rad), insertion (m), roll (rad).
    """
    s1, c1, s2, c2 = sin(joints[0]), cos(joints[0]), sin(joints[1]), cos(joints[1])
    r = joints[2] + insertion_d - data.above
    gx, gy, gz = (-data.mass * g for g in data.gravity)
    return [
        r * c2 * (gx * c1 + gz * s1),
        r * (-gx * s1 * s2 - gy * c2 + gz * c1 * s2),
        gx * s1 * c2 - gy * s2 - gz * c1 * c2,
        0.0,
    ]

"""Velocities and accelerations between joints and tip, in both directions.

The inverse is the least-squares one of least norm: exact where the Jacobian is square and regular,
(J^T J)^-1 J^T where the arm has fewer than six joints, J^T (J J^T)^-1 where it has more.
Directions whose singular value falls below EPSILON are damped, the others are unchanged; the
result includes the damping.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dvrk_kinematics.geometry.arrays import Array

__all__ = ["EPSILON", "RateSolution", "solve_rates"]

EPSILON = 1e-3
"""Singular value of J (SI units) below which a direction is damped.

For a PSM it is close to the distance between wrist and remote centre: damping starts at about a
millimetre, where the dVRK refuses Cartesian goals.
"""


class RateSolution(NamedTuple):
    """Joint velocities or accelerations for a wanted motion of the tip.

    Attributes:
        rate: Joint velocities (rad/s, m/s) or accelerations, shape (..., n).
        damping: Largest damping factor used, shape (...); 0 where nothing was damped.
        residual: The rest of the wanted motion, shape (..., 6); 0 where it is exact.
    """

    rate: Array
    damping: Array
    residual: Array


def solve_rates(J: Array, wanted: Array) -> RateSolution:
    """Joint rates with the tip motion nearest to the wanted one.

    Args:
        J: Jacobian, shape (..., 6, n).
        wanted: Twist (m/s, rad/s) or acceleration, linear first, shape (..., 6).
    """
    U, sigma, Vt = np.linalg.svd(J, full_matrices=False)
    ratio = np.minimum(sigma / EPSILON, 1.0)
    damping2 = EPSILON**2 * (1.0 - ratio * ratio)
    gain = sigma / (sigma * sigma + damping2)
    along = np.swapaxes(U, -1, -2) @ wanted[..., None]
    rate = (np.swapaxes(Vt, -1, -2) @ (gain[..., None] * along))[..., 0]
    residual = wanted - (J @ rate[..., None])[..., 0]
    return RateSolution(rate, np.sqrt(damping2.max(axis=-1)), residual)

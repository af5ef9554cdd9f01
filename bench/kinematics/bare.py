"""The PSM's closed form and nothing else: the reference for the full calls.

The formulas with their last line, the roll turn nearest the seed, and no more: no limits on the
other joints, no checks, no guards, no result object, and the poses are those of frame 6, without
an instrument's tip, already plain floats.
"""

from __future__ import annotations

from math import atan2, cos, hypot, pi, sin

import numpy as np
import numpy.typing as npt

__all__ = ["bare_forward", "bare_inverse", "bare_inverse_batch"]

FloatArray = npt.NDArray[np.float64]
TURN = 2.0 * pi
ROLL_LIMIT = 4.53786
"""260 deg, as the instrument 400006 has it (rad)."""


def bare_inverse(T: list[list[float]], seed: list[float], a: float, b: float) -> tuple[float, ...]:
    """Solve one pose of frame 6 in plain floats."""
    (r00, r01, r02, tx), (r10, r11, r12, ty), (r20, r21, r22, tz), _ = T
    px = -(r00 * tx + r10 * ty + r20 * tz)
    py = -(r01 * tx + r11 * ty + r21 * tz)
    pz = -(r02 * tx + r12 * ty + r22 * tz)
    rho = hypot(px, py)
    s = 1.0 if py <= 0.0 else -1.0
    q6 = atan2(-s * px, -s * py)
    u = s * rho - a
    e = 1.0 if u >= 0.0 else -1.0
    d = e * hypot(u, pz)
    q5 = atan2(e * pz, e * u)
    s5, c5, s6, c6 = sin(q5), cos(q5), sin(q6), cos(q6)
    zx = r00 * c5 * s6 + r01 * c5 * c6 - r02 * s5
    zy = r10 * c5 * s6 + r11 * c5 * c6 - r12 * s5
    zz = r20 * c5 * s6 + r21 * c5 * c6 - r22 * s5
    q1 = atan2(zx, -zz)
    q2 = atan2(-zy, hypot(zx, zz))
    q4 = atan2(r10 * c6 - r11 * s6, -(s5 * (r10 * s6 + r11 * c6) + r12 * c5))
    q4 += TURN * round((seed[3] - q4) / TURN)
    if q4 > ROLL_LIMIT:
        q4 -= TURN
    elif q4 < -ROLL_LIMIT:
        q4 += TURN
    return q1, q2, d + b, q4, q5, q6


def bare_forward(q: list[float], a: float, b: float) -> tuple[float, ...]:
    """Compute rotation (row by row) and position of frame 6 in plain floats."""
    q1, q2, q3, q4, q5, q6 = q
    s1, c1, s2, c2, s4, c4 = sin(q1), cos(q1), sin(q2), cos(q2), sin(q4), cos(q4)
    s5, c5, s6, c6, d = sin(q5), cos(q5), sin(q6), cos(q6), q3 - b
    zx, zy, zz = s1 * c2, -s2, -c1 * c2
    xx, xy, xz = -c4 * s1 * s2 - s4 * c1, -c4 * c2, c4 * c1 * s2 - s4 * s1
    yx, yy, yz = s4 * s1 * s2 - c4 * c1, s4 * c2, -s4 * c1 * s2 - c4 * s1
    wx, wy, wz = s5 * xx + c5 * zx, s5 * xy + c5 * zy, s5 * xz + c5 * zz
    return (
        *(s6 * wx + c6 * yx, c6 * wx - s6 * yx, c5 * xx - s5 * zx, d * zx + a * wx),
        *(s6 * wy + c6 * yy, c6 * wy - s6 * yy, c5 * xy - s5 * zy, d * zy + a * wy),
        *(s6 * wz + c6 * yz, c6 * wz - s6 * yz, c5 * xz - s5 * zz, d * zz + a * wz),
    )


def bare_inverse_batch(T: FloatArray, seed: FloatArray, a: float, b: float) -> FloatArray:
    """Solve N poses of frame 6, shape (N, 4, 4), with numpy: joints (N, 6)."""
    R, t = T[:, :3, :3], T[:, :3, 3]
    p = -np.einsum("nij,ni->nj", R, t)
    px, py, pz = p[:, 0], p[:, 1], p[:, 2]
    s = np.where(py <= 0.0, 1.0, -1.0)
    q6 = np.arctan2(-s * px, -s * py)
    u = s * np.hypot(px, py) - a
    e = np.where(u >= 0.0, 1.0, -1.0)
    d = e * np.hypot(u, pz)
    q5 = np.arctan2(e * pz, e * u)
    s5, c5, s6, c6 = np.sin(q5), np.cos(q5), np.sin(q6), np.cos(q6)
    z = np.einsum("nij,nj->ni", R, np.stack([c5 * s6, c5 * c6, -s5], axis=1))
    q1 = np.arctan2(z[:, 0], -z[:, 2])
    q2 = np.arctan2(-z[:, 1], np.hypot(z[:, 0], z[:, 2]))
    r10, r11, r12 = R[:, 1, 0], R[:, 1, 1], R[:, 1, 2]
    q4 = np.arctan2(r10 * c6 - r11 * s6, -(s5 * (r10 * s6 + r11 * c6) + r12 * c5))
    q4 += TURN * np.round((seed[:, 3] - q4) / TURN)
    q4 -= TURN * ((q4 > ROLL_LIMIT).astype(np.float64) - (q4 < -ROLL_LIMIT))
    return np.stack([q1, q2, d + b, q4, q5, q6], axis=1)

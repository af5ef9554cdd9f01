"""A PSM's shaft that holds the tip in place while the wrist moves, many poses at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["best_angle", "follow_wrist", "rotation_vector", "shortfall"]

FloatArray = npt.NDArray[np.float64]

CLEARANCE_M = 1e-7
"""How much farther from the yaw axis than a wrist needs the tip's place should be (m)."""


def best_angle(sine: FloatArray, cosine: FloatArray, lower: float, upper: float) -> FloatArray:
    """Give the angle inside limits with the largest sine * sin(x) + cosine * cos(x)."""
    peak = np.arctan2(sine, cosine)
    at_lower = sine * np.sin(lower) + cosine * np.cos(lower)
    at_upper = sine * np.sin(upper) + cosine * np.cos(upper)
    end = np.where(at_lower > at_upper, lower, upper)
    return np.where((peak >= lower) & (peak <= upper), peak, end)


def follow_wrist(
    lengths: tuple[float, float], t: FloatArray, side: FloatArray, w: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """Find the shaft that puts the tip in place, and how shaft and orientation follow the wrist.

    Returns:
        Shaft joints (M, 3); their derivatives by the wrist's joints (M, 3, 3); angular velocity
        by the wrist's joints with the tip held (M, 3, 3); rotation of frame 6 (M, 3, 3); distance
        by which the tip misses its place (M,).
    """
    a, b = lengths
    q4, q5, q6 = w.T
    s4, c4, s5, c5 = np.sin(q4), np.cos(q4), np.sin(q5), np.cos(q5)
    s6, c6 = np.sin(q6), np.cos(q6)
    tx, ty, tz = t.T
    # The tip in the shaft's axes: (X, Y, W); |t| fixes W, the yaw axis fixes K.
    X, Y = a * s5 * c4, a * s5 * s4
    W = side[:, 0] * np.sqrt(np.maximum(tx * tx + ty * ty + tz * tz - (a * s5) ** 2, 0.0))
    K = side[:, 1] * np.sqrt(np.maximum(tx * tx + tz * tz - Y * Y, 0.0))
    q1 = np.arctan2(-tx * K - tz * Y, tz * K - tx * Y)
    q2 = np.arctan2(-ty * W + K * X, -ty * X - K * W)
    d = W - a * c5
    s1, c1, s2, c2 = np.sin(q1), np.cos(q1), np.sin(q2), np.cos(q2)
    zero = np.zeros_like(s1)
    z = np.stack([s1 * c2, -s2, -c1 * c2], axis=1)
    x3 = np.stack([-s1 * s2, -c2, c1 * s2], axis=1)
    y3 = np.stack([-c1, zero, -s1], axis=1)
    x4 = c4[:, None] * x3 + s4[:, None] * y3
    y4 = c4[:, None] * y3 - s4[:, None] * x3
    x5 = s5[:, None] * x4 + c5[:, None] * z
    z6 = c5[:, None] * x4 - s5[:, None] * z
    x6 = s6[:, None] * x5 + c6[:, None] * y4
    y6 = c6[:, None] * x5 - s6[:, None] * y4
    tip = d[:, None] * z + a * x5
    axis1 = np.stack([zero, zero - 1.0, zero], axis=1)
    moves = np.stack([_cross(axis1, tip), _cross(y3, tip), z], axis=2)
    pushes = np.stack([_cross(z, tip), a * _cross(y4, x5), np.zeros_like(z)], axis=2)
    follow = -_solve3(moves, pushes)
    shaft_axes = np.stack([axis1, y3, np.zeros_like(z)], axis=2)
    turn = np.stack([z, y4, z6], axis=2) + shaft_axes @ follow
    shaft = np.stack([q1, q2, d + b], axis=1)
    R_now = np.stack([x6, y6, z6], axis=2)
    return shaft, follow, turn, R_now, np.linalg.norm(tip - t, axis=1)


def shortfall(a: float, t: FloatArray, w: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Give how far the tip's place is too near the yaw axis for a wrist (m), and derivatives."""
    s4, c4, s5, c5 = np.sin(w[:, 0]), np.cos(w[:, 0]), np.sin(w[:, 1]), np.cos(w[:, 1])
    Y = a * s5 * s4
    short = np.abs(Y) + CLEARANCE_M - np.sqrt(t[:, 0] ** 2 + t[:, 2] ** 2)
    sign = np.where(short > 0.0, np.sign(Y), 0.0) * a
    by_wrist = np.stack([sign * s5 * c4, sign * c5 * s4, np.zeros_like(Y)], axis=1)
    return np.maximum(short, 0.0), by_wrist


def _cross(a: FloatArray, b: FloatArray) -> FloatArray:
    """Give the cross products of many vectors, shape (M, 3); np.cross costs ten times as much."""
    ax, ay, az = a.T
    bx, by, bz = b.T
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=1)


def _solve3(A: FloatArray, B: FloatArray) -> FloatArray:
    """Solve many 3 x 3 systems, least squares with a trace of damping, so never singular."""
    At = np.swapaxes(A, 1, 2)
    return np.asarray(np.linalg.solve(At @ A + 1e-18 * np.eye(3), At @ B))


def rotation_vector(R: FloatArray) -> FloatArray:
    """Give axis times angle of many rotations, shape (M, 3, 3), exact up to half a turn."""
    v = 0.5 * np.stack(
        [R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]], axis=1
    )
    sine = np.linalg.norm(v, axis=1)
    angle = np.arctan2(sine, 0.5 * (np.trace(R, axis1=1, axis2=2) - 1.0))
    factor = np.where(sine > 1e-12, angle / np.maximum(sine, 1e-300), 1.0)
    vector = v * factor[:, None]
    half = (angle > 3.0) & (sine < 1e-6)
    if half.any():
        # Near half a turn the axis is the largest column of R + 1, whatever its sign.
        columns = R[half] + np.eye(3)
        longest = np.argmax(np.linalg.norm(columns, axis=1), axis=1)
        axis = columns[np.arange(len(columns)), :, longest]
        vector[half] = axis / np.linalg.norm(axis, axis=1)[:, None] * angle[half][:, None]
    return np.asarray(vector)

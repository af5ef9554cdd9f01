r"""The snake wrist with equal halves: three numbers from where the remote centre is seen.

The wrist bends by p, then twice by y about the other axis, then by p again, over three gaps e
(modified Denavit-Hartenberg rows of NEEDLE_DRIVER_400117 in sawIntuitiveResearchKit). Seen from
its last frame the remote centre is at P = (X, Y, Z), which the pose alone gives. Seen from its
first frame it must lie on the shaft, at (-d cos p, d sin p, 0) for an insertion d past it. With

    U = -X sin p - Y cos p,   V = X cos p - Y sin p,
    W = e + e cos y + (e + U) cos 2y + Z sin 2y,

that is

    f1 = Z cos 2y - (e + U) sin 2y - e sin y = 0,
    f2 = V cos p + W sin p = 0,                      d = V sin p - W cos p.

Two equations for p and y, smooth and with simple derivatives: Newton's method, from the seed or,
to find every solution, from a net of starts.
"""

from __future__ import annotations

from math import cos, sin

import numpy as np
import numpy.typing as npt

__all__ = ["all_bends", "insertion_of", "is_equal", "refine_bend"]

FloatArray = npt.NDArray[np.float64]
STEPS = 30
SETTLED = 1e-15
"""Step (rad) under which Newton's method has nothing left to gain."""
RESIDUAL_M = 1e-13
"""Distance (m) by which a solution may miss the shaft."""
ROUNDING_M = 1e-17
"""Distance (m) at which it cannot come nearer."""
NET = np.concatenate([np.linspace(-1.5, 1.5, 9), np.linspace(-0.4, 0.4, 7)])
"""Starts of either angle (rad), closer together within the limits of real wrists; beyond a right
angle the wrist would bend back on itself."""
EQUAL_RAD = 1e-7
"""Solutions nearer than this are the same."""


def refine_bend(
    P: tuple[float, float, float], e: float, p: float, y: float
) -> tuple[float, float] | None:
    """Find the solution that Newton's method reaches from one start.

    Args:
        P: The remote centre in the wrist's last frame (m).
        e: Gap between the wrist's axes (m).
        p: Half the pitch to start from (rad).
        y: Half the yaw to start from (rad).

    Returns:
        Half the pitch and half the yaw (rad), or None if it does not get there.
    """
    X, Y, Z = P
    residual = float("inf")
    for left in range(STEPS, -1, -1):
        sp, cp, sy, cy, s2, c2 = sin(p), cos(p), sin(y), cos(y), sin(2.0 * y), cos(2.0 * y)
        U, V = -X * sp - Y * cp, X * cp - Y * sp
        W = e + e * cy + (e + U) * c2 + Z * s2
        f1 = Z * c2 - (e + U) * s2 - e * sy
        f2 = V * cp + W * sp
        # What is returned is a place whose residual was computed: at a degenerate one the step
        # from a residual of rounding leads anywhere.
        residual = abs(f1) + abs(f2)
        if residual < ROUNDING_M or not left:
            break
        # dU/dp = -V, dV/dp = U, dW/dy = f1 - Z c2 - (e + U) s2 + ...: written out below.
        f1_p, f1_y = V * s2, -2.0 * Z * s2 - 2.0 * (e + U) * c2 - e * cy
        f2_p = U * cp - V * sp - V * c2 * sp + W * cp
        f2_y = (-e * sy - 2.0 * (e + U) * s2 + 2.0 * Z * c2) * sp
        det = f1_p * f2_y - f1_y * f2_p
        if det == 0.0:
            break
        step_p = (f1_y * f2 - f2_y * f1) / det
        step_y = (f2_p * f1 - f1_p * f2) / det
        size = max(abs(step_p), abs(step_y))
        if size < SETTLED:
            break
        scale = min(1.0, 0.5 / size)
        p, y = p + scale * step_p, y + scale * step_y
    return (p, y) if residual < RESIDUAL_M else None


def insertion_of(P: tuple[float, float, float], e: float, p: float, y: float) -> float:
    """Give the signed distance d (m) from the remote centre to the wrist for one solution."""
    X, Y, Z = P
    sp, cp = sin(p), cos(p)
    U, V = -X * sp - Y * cp, X * cp - Y * sp
    W = e + e * cos(y) + (e + U) * cos(2.0 * y) + Z * sin(2.0 * y)
    return V * sp - W * cp


def is_equal(bend: tuple[float, float], other: tuple[float, float]) -> bool:
    """Tell whether two solutions, half pitch and half yaw (rad), are the same but for rounding."""
    return abs(bend[0] - other[0]) + abs(bend[1] - other[1]) < EQUAL_RAD


def all_bends(P: tuple[float, float, float], e: float) -> list[tuple[float, float]]:
    """Find every half pitch and half yaw (rad) that Newton's method reaches from a net of starts.

    The net is stepped as one array; what it finds is then refined and sorted by size.
    """
    p, y = (axis.ravel() for axis in np.meshgrid(NET, NET))
    X, Y, Z = P
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for _ in range(STEPS):
            p, y = _newton(X, Y, Z, e, p, y)
    good = np.isfinite(p) & np.isfinite(y) & (np.abs(p) < 1.6) & (np.abs(y) < 1.6)
    found: list[tuple[float, float]] = []
    for start_p, start_y in zip(p[good].tolist(), y[good].tolist(), strict=True):
        if any(is_equal((start_p, start_y), bend) for bend in found):
            continue
        bend = refine_bend(P, e, start_p, start_y)
        if bend is not None and not any(is_equal(bend, other) for other in found):
            found.append(bend)
    return sorted(found, key=lambda bend: abs(bend[0]) + abs(bend[1]))


def _newton(
    X: float, Y: float, Z: float, e: float, p: FloatArray, y: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Take one limited Newton step from many places."""
    sp, cp, sy, cy, s2, c2 = (
        np.sin(p),
        np.cos(p),
        np.sin(y),
        np.cos(y),
        np.sin(2 * y),
        np.cos(2 * y),
    )
    U, V = -X * sp - Y * cp, X * cp - Y * sp
    W = e + e * cy + (e + U) * c2 + Z * s2
    f1, f2 = Z * c2 - (e + U) * s2 - e * sy, V * cp + W * sp
    f1_p, f1_y = V * s2, -2.0 * Z * s2 - 2.0 * (e + U) * c2 - e * cy
    f2_p = U * cp - V * sp - V * c2 * sp + W * cp
    f2_y = (-e * sy - 2.0 * (e + U) * s2 + 2.0 * Z * c2) * sp
    det = f1_p * f2_y - f1_y * f2_p
    step_p, step_y = (f1_y * f2 - f2_y * f1) / det, (f2_p * f1 - f1_p * f2) / det
    size = np.maximum(np.abs(step_p), np.abs(step_y))
    scale = np.minimum(1.0, 0.5 / size)
    return np.asarray(p + scale * step_p), np.asarray(y + scale * step_y)

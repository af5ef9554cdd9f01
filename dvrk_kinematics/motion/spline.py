"""Interpolation between knots: cubic where they carry velocities, quintic with accelerations too.

Straight segments are cubics as well, so that everything played has one form.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dvrk_kinematics.geometry.arrays import Array

__all__ = [
    "Sample",
    "Spline",
    "cubic_coefficients",
    "evaluate_polynomials",
    "quintic_coefficients",
]


class Sample(NamedTuple):
    """A point of a motion.

    Attributes:
        q: Positions (rad, m), shape (n,).
        qd: Velocities (rad/s, m/s), shape (n,).
    """

    q: Array
    qd: Array


def evaluate_polynomials(rows: Iterable[Array], u: Array | float, order: int) -> list[Array]:
    """Evaluate polynomials and their derivatives by Horner's rule.

    Args:
        rows: Coefficients, constant last; more of them than ``order``.
        u: Where to evaluate them; broadcasts with each row.
        order: The highest derivative wanted.

    Returns:
        The values, then the k-th derivatives by u, each divided by k!.
    """
    ordered = iter(rows)
    found = [next(ordered)]
    for row in ordered:
        last = len(found) - 1
        if last < order:
            # Each derivative starts as the one below it did: with the leading coefficient.
            found.append(found[last])
        for k in range(last, 0, -1):
            found[k] = found[k] * u + found[k - 1]
        found[0] = found[0] * u + row
    return found


def cubic_coefficients(h: Array, q0: Array, v0: Array, q1: Array, v1: Array) -> Array:
    """Coefficients of cubics in u = (t - t0) / h, constant first.

    Args:
        h: Durations (s), shape (..., 1).
        q0: Positions at the start (rad, m), shape (..., n).
        v0: Velocities at the start, shape (..., n).
        q1: Positions at the end, shape (..., n).
        v1: Velocities at the end, shape (..., n).

    Returns:
        Shape (4, ..., n).
    """
    return np.stack(_cubic_rows(h, q0, v0, q1, v1))


def _cubic_rows(
    h: Array | float, q0: Array, v0: Array, q1: Array, v1: Array
) -> tuple[Array, Array, Array, Array]:
    d, m0, m1 = q1 - q0, h * v0, h * v1
    return q0, m0, 3.0 * d - 2.0 * m0 - m1, m0 + m1 - 2.0 * d


def quintic_coefficients(
    h: Array, q0: Array, v0: Array, a0: Array, q1: Array, v1: Array, a1: Array
) -> Array:
    """Coefficients of quintics in u = (t - t0) / h, constant first; shape (6, ..., n).

    Args:
        h: Durations (s), shape (..., 1).
        q0: Positions at the start (rad, m), shape (..., n).
        v0: Velocities at the start.
        a0: Accelerations at the start.
        q1: Positions at the end.
        v1: Velocities at the end.
        a1: Accelerations at the end.
    """
    m0, m1, c0, c1 = h * v0, h * v1, 0.5 * h * h * a0, 0.5 * h * h * a1
    # What the start's quadratic leaves to reach the end: position, slope, curvature.
    p, s, c = q1 - q0 - m0 - c0, m1 - m0 - 2.0 * c0, 2.0 * (c1 - c0)
    return np.stack(
        [
            q0,
            m0,
            c0,
            10.0 * p - 4.0 * s + 0.5 * c,
            -15.0 * p + 7.0 * s - c,
            6.0 * p - 3.0 * s + 0.5 * c,
        ]
    )


@dataclass(frozen=True, slots=True)
class Spline:
    """Knots with what lies between them.

    Attributes:
        times: Increasing times of the knots (s), shape (K,), K >= 1.
        position: Positions (rad, m), shape (K, n).
        velocity: Velocities, shape (K, n).
        acceleration: Accelerations, shape (K, n); None for cubics.
    """

    times: Array
    position: Array
    velocity: Array
    acceleration: Array | None = None

    @property
    def start(self) -> float:
        """Time of the first knot (s)."""
        return float(self.times[0])

    @property
    def end(self) -> float:
        """Time of the last knot (s)."""
        return float(self.times[-1])

    def segments(self, first: int, last: int) -> Array:
        """Coefficients of the segments first to last - 1, shape (4 or 6, last - first, n)."""
        a, b = slice(first, last), slice(first + 1, last + 1)
        h = (self.times[b] - self.times[a])[:, None]
        q, v = self.position, self.velocity
        if self.acceleration is None:
            return cubic_coefficients(h, q[a], v[a], q[b], v[b])
        w = self.acceleration
        return quintic_coefficients(h, q[a], v[a], w[a], q[b], v[b], w[b])

    def sample(self, t: float) -> Sample:
        """Position and velocity at a time (s); outside the knots, those of the nearest one."""
        k = int(self.times.searchsorted(t, side="right")) - 1
        if k < 0 or k >= len(self.times) - 1:
            k = 0 if k < 0 else len(self.times) - 1
            return Sample(self.position[k], self.velocity[k])
        h = float(self.times[k + 1] - self.times[k])
        u = (t - float(self.times[k])) / h
        q = self.position
        rows: Sequence[Array]
        if self.acceleration is None:
            # A control loop calls this every tick, so it builds no array of coefficients.
            rows = _cubic_rows(h, q[k], self.velocity[k], q[k + 1], self.velocity[k + 1])
        else:
            rows = list(self.segments(k, k + 1)[:, 0])
        value, slope = evaluate_polynomials(rows[::-1], u, 1)
        return Sample(value, slope / h)

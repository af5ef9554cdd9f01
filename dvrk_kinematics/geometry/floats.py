"""SE(3) in plain floats: for one pose, many times faster than arrays.

Here a pose is four rows of four floats, or its seven numbers x y z qx qy qz qw.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import copysign, sqrt
from typing import TypeAlias

__all__ = ["Rows", "pose_from_numbers", "pose_numbers", "times_rows"]

Rows: TypeAlias = Sequence[Sequence[float]]
"""A pose as four rows of four floats."""


def times_rows(A: Rows, B: Rows) -> list[list[float]]:
    """Multiply two poses, four rows of four floats each."""
    (b00, b01, b02, b03), (b10, b11, b12, b13), (b20, b21, b22, b23), _ = B
    return [
        [
            x * b00 + y * b10 + z * b20,
            x * b01 + y * b11 + z * b21,
            x * b02 + y * b12 + z * b22,
            x * b03 + y * b13 + z * b23 + t,
        ]
        for x, y, z, t in A
    ]


def pose_from_numbers(numbers: Sequence[float]) -> list[list[float]]:
    """Turn x y z (m) and a unit quaternion qx qy qz qw into the four rows of a pose."""
    px, py, pz, x, y, z, w = numbers
    return [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w), px],
        [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w), py],
        [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y), pz],
        [0.0, 0.0, 0.0, 1.0],
    ]


def pose_numbers(T: Rows) -> tuple[float, ...]:
    """Turn the four rows of a pose into x y z qx qy qz qw, with qw >= 0."""
    (a, b, c, x), (d, e, f, y), (g, h, i, z), _ = T
    # Four times the squares of the quaternion's entries; the largest divides with the least error.
    squares = (1.0 + a - e - i, 1.0 - a + e - i, 1.0 - a - e + i, 1.0 + a + e + i)
    largest = max(squares)
    if largest == squares[3]:
        q = (h - f, c - g, d - b, largest)
    elif largest == squares[0]:
        q = (largest, b + d, c + g, h - f)
    elif largest == squares[1]:
        q = (b + d, largest, f + h, c - g)
    else:
        q = (c + g, f + h, largest, d - b)
    scale = copysign(0.5 / sqrt(largest), q[3])
    return (x, y, z, q[0] * scale, q[1] * scale, q[2] * scale, q[3] * scale)

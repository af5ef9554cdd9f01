r"""The PSM's chain as two lengths and a tip, and its forward kinematics in plain floats.

A PSM with a standard wrist (pitch then yaw) has, in modified Denavit-Hartenberg rows
:math:`(\alpha, a, d, \theta)`,

    yaw (pi/2, 0, 0, q1 + pi/2), pitch (-pi/2, 0, 0, q2 - pi/2), insertion (pi/2, 0, q3 - D3, 0),
    roll (0, 0, D4, q4), wrist_pitch (-pi/2, 0, 0, q5 - pi/2), wrist_yaw (-pi/2, a, 0, q6 - pi/2)

(source: share/kinematic/psm.json and share/tool of sawIntuitiveResearchKit). Three axes meet at
the remote centre of motion, which is the base, so only ``a`` and ``b = D3 - D4`` matter. With
:math:`d = q_3 - b` the wrist lies at distance d from the remote centre along the shaft,

    z = (s1 c2, -s2, -c1 c2),   wrist = d z,   frame 6 = wrist + a (s5 x4 + c5 z),

where x4 is the shaft's x axis after the roll. The tip is frame 6 times a constant pose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import cos, pi, sin

import numpy as np

from dvrk_kinematics.errors import ModelError
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.geometry.floats import Rows, times_rows
from dvrk_kinematics.kinematics.chain import has_angles
from dvrk_kinematics.models.schema import ArmModel

__all__ = [
    "STANDARD_TIP",
    "PsmGeometry",
]

PSM_ROWS = (
    (pi / 2, pi / 2),
    (-pi / 2, -pi / 2),
    (pi / 2, 0.0),
    (0.0, 0.0),
    (-pi / 2, -pi / 2),
    (-pi / 2, -pi / 2),
)
"""alpha and theta (rad) of the rows that the closed form requires."""


STANDARD_TIP: tuple[tuple[float, ...], ...] = (
    (0.0, -1.0, 0.0, 0.0),
    (0.0, 0.0, 1.0, 0.0),
    (-1.0, 0.0, 0.0, 0.0),
    (0.0, 0.0, 0.0, 1.0),
)
"""The tip in frame 6 for all instruments but one; the fast code is written for it."""


@dataclass(frozen=True, slots=True)
class PsmGeometry:
    """Lengths and tip of a PSM with one instrument.

    Attributes:
        a: Distance from the wrist's pitch axis to its yaw axis (m).
        b: Insertion at which the wrist lies on the remote centre (m).
        tip: Pose of the tip in frame 6, four rows of four floats.
        is_standard: Whether the tip is the standard one.
        to_standard: Transform from the tip to the standard tip, four rows of four floats.
    """

    a: float
    b: float
    tip: Rows = STANDARD_TIP
    is_standard: bool = field(init=False)
    to_standard: Rows = field(init=False)

    def __post_init__(self) -> None:
        tip = [[float(value) for value in row] for row in self.tip]
        fix = np.linalg.inv(np.array(tip)) @ np.array(STANDARD_TIP)
        object.__setattr__(self, "tip", tip)
        object.__setattr__(self, "is_standard", tip == [list(row) for row in STANDARD_TIP])
        object.__setattr__(self, "to_standard", fix.tolist())

    def forward(self, q: Array) -> Array:
        """Compute poses of the tip, shape (N, 4, 4), for a few joint positions, shape (N, 6)."""
        return np.array([self.forward_floats(row) for row in q.tolist()])

    def jacobian(self, q: Array) -> Array:
        """Compute Jacobians, shape (N, 6, 6), for a few joint positions, shape (N, 6)."""
        return np.array([self.jacobian_floats(row) for row in q.tolist()])

    def forward_floats(self, q: Sequence[float]) -> list[list[float]]:
        """Compute the pose of the tip in the base.

        Args:
            q: Joint positions (rad, m), six floats.

        Returns:
            Base to tip, four rows of four floats.
        """
        frame = _frame6(q, self.a, self.b)
        _, _, _, _, _, _, x0, x1, x2, y0, y1, y2, z0, z1, z2, t0, t1, t2 = frame
        if self.is_standard:
            return [
                [-z0, -x0, y0, t0],
                [-z1, -x1, y1, t1],
                [-z2, -x2, y2, t2],
                [0.0, 0.0, 0.0, 1.0],
            ]
        T6 = [[x0, y0, z0, t0], [x1, y1, z1, t1], [x2, y2, z2, t2], [0.0, 0.0, 0.0, 1.0]]
        return times_rows(T6, self.tip)

    def jacobian_floats(self, q: Sequence[float]) -> list[list[float]]:
        """Compute the geometric Jacobian: tip velocity and angular velocity in base axes.

        The axes of yaw, pitch and roll pass through the base's origin, so their columns are z x t.

        Args:
            q: Joint positions (rad, m), six floats.

        Returns:
            Six rows of six floats: the linear rows (m/s per rad/s or m/s), then the angular ones.
        """
        frame = _frame6(q, self.a, self.b)
        y4x, y4y, y4z, zx, zy, zz, x0, x1, x2, y0, y1, y2, z0, z1, z2, tx, ty, tz = frame
        s1, c1, d = sin(q[0]), cos(q[0]), q[2] - self.b
        lx = ly = lz = 0.0
        if not self.is_standard:
            # The lever arm of the last joint, from frame 6 to the tip.
            ox, oy, oz = (row[3] for row in self.tip[:3])
            lx = x0 * ox + y0 * oy + z0 * oz
            ly = x1 * ox + y1 * oy + z1 * oz
            lz = x2 * ox + y2 * oy + z2 * oz
            tx, ty, tz = tx + lx, ty + ly, tz + lz
        ex, ey, ez = tx - d * zx, ty - d * zy, tz - d * zz
        rx, ry, rz = z1 * lz - z2 * ly, z2 * lx - z0 * lz, z0 * ly - z1 * lx
        # Axes: yaw (0, -1, 0), pitch (-c1, 0, -s1), roll z, wrist pitch y4, wrist yaw z6.
        return [
            [-tz, s1 * ty, zx, zy * tz - zz * ty, y4y * ez - y4z * ey, rx],
            [0.0, c1 * tz - s1 * tx, zy, zz * tx - zx * tz, y4z * ex - y4x * ez, ry],
            [tx, -c1 * ty, zz, zx * ty - zy * tx, y4x * ey - y4y * ex, rz],
            [0.0, -c1, 0.0, zx, y4x, z0],
            [-1.0, 0.0, 0.0, zy, y4y, z1],
            [0.0, -s1, 0.0, zz, y4z, z2],
        ]

    @staticmethod
    def from_model(model: ArmModel) -> PsmGeometry:
        """Read the geometry from an arm.

        Raises:
            ModelError: The arm's chain is not a PSM's with a standard wrist.
        """
        rows = model.chain
        fits = (
            has_angles(model, PSM_ROWS)
            and bool(np.array_equal(model.T_base, np.eye(4)))
            and not any(row.a for row in rows[:5])
            and not any(rows[i].d for i in (0, 1, 4, 5))
        )
        if not fits:
            raise ModelError(
                f"{model.file}: chain", "ik 'psm' needs a PSM's chain with a standard wrist"
            )
        return PsmGeometry(rows[5].a, -rows[2].d - rows[3].d, model.T_tip_offset.tolist())


def _frame6(q: Sequence[float], a: float, b: float) -> tuple[float, ...]:
    """Return y4, z, then x, y, z and position of frame 6 in the base: 18 floats."""
    q1, q2, q3, q4, q5, q6 = q
    s1, c1, s2, c2, s4, c4 = sin(q1), cos(q1), sin(q2), cos(q2), sin(q4), cos(q4)
    s5, c5, s6, c6, d = sin(q5), cos(q5), sin(q6), cos(q6), q3 - b
    zx, zz, ux, uz = s1 * c2, -c1 * c2, -s1 * s2, c1 * s2
    xx, xy, xz = c4 * ux - s4 * c1, -c4 * c2, c4 * uz - s4 * s1
    yx, yy, yz = -s4 * ux - c4 * c1, s4 * c2, -s4 * uz - c4 * s1
    # w is the wrist's x axis, from its pitch axis to its yaw axis; x6 and y6 turn about z6.
    wx, wy, wz = s5 * xx + c5 * zx, s5 * xy - c5 * s2, s5 * xz + c5 * zz
    return (
        *(yx, yy, yz, zx, -s2, zz),
        *(s6 * wx + c6 * yx, s6 * wy + c6 * yy, s6 * wz + c6 * yz),
        *(c6 * wx - s6 * yx, c6 * wy - s6 * yy, c6 * wz - s6 * yz),
        *(c5 * xx - s5 * zx, c5 * xy + s5 * s2, c5 * xz - s5 * zz),
        *(d * zx + a * wx, a * wy - d * s2, d * zz + a * wz),
    )

r"""The PSM's chain as two lengths and a tip, and its forward kinematics in plain floats.

A PSM with a standard wrist (pitch then yaw) has, in modified Denavit-Hartenberg rows
:math:`(\alpha, a, d, \theta)`,

    yaw (pi/2, 0, 0, q1 + pi/2), pitch (-pi/2, 0, 0, q2 - pi/2), insertion (pi/2, 0, q3 - D3, 0),
    roll (0, 0, D4, q4), wrist_pitch (-pi/2, 0, 0, q5 - pi/2), wrist_yaw (-pi/2, a, 0, q6 - pi/2)

(source: share/kinematic/psm.json and share/tool of sawIntuitiveResearchKit). Three axes meet at
the remote centre of motion, which is the base: so only ``a`` and ``b = D3 - D4`` matter. With
:math:`d = q_3 - b` the wrist lies at distance d from the remote centre along the shaft,

    z = (s1 c2, -s2, -c1 c2),   wrist = d z,   frame 6 = wrist + a (s5 x4 + c5 z),

where x4 is the shaft's x axis after the roll. The tip is frame 6 times a constant pose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, pi, sin

import numpy as np
import numpy.typing as npt

from dvrk_kinematics.errors import ModelError
from dvrk_kinematics.models.schema import ArmModel, Convention

__all__ = ["PsmGeometry", "Rows", "forward_floats", "jacobian_floats", "origin_from_tip"]

FloatArray = npt.NDArray[np.float64]
Vector = tuple[float, float, float]
Rows = Sequence[Sequence[float]]
"""A pose as four rows of four floats, or a rotation as three rows of three."""


PSM_ROWS = (
    (pi / 2, pi / 2),
    (-pi / 2, -pi / 2),
    (pi / 2, 0.0),
    (0.0, 0.0),
    (-pi / 2, -pi / 2),
    (-pi / 2, -pi / 2),
)
"""alpha and theta (rad) of the rows that the closed form is made for."""


@dataclass(frozen=True, slots=True)
class PsmGeometry:
    """Lengths and tip of a PSM with one instrument.

    Attributes:
        a: Distance from the wrist's pitch axis to its yaw axis (m).
        b: Insertion at which the wrist lies on the remote centre (m).
        R_off: Rotation of the tip in frame 6, three rows.
        p_off: Position of the tip in frame 6 (m).
    """

    a: float
    b: float
    R_off: tuple[Vector, Vector, Vector]
    p_off: Vector = (0.0, 0.0, 0.0)

    @staticmethod
    def from_offset(a: float, b: float, T_off: FloatArray) -> PsmGeometry:
        """Make it from the tip's pose in frame 6, shape (4, 4)."""
        x, y, z = (tuple(float(v) for v in row) for row in T_off[:3].tolist())
        return PsmGeometry(
            a=float(a),
            b=float(b),
            R_off=((x[0], x[1], x[2]), (y[0], y[1], y[2]), (z[0], z[1], z[2])),
            p_off=(x[3], y[3], z[3]),
        )

    @staticmethod
    def from_model(model: ArmModel) -> PsmGeometry:
        """Read it from an arm.

        Raises:
            ModelError: The arm's chain is not that of a PSM with a standard wrist.
        """
        rows = model.chain
        fits = (
            model.convention is Convention.MODIFIED
            and len(rows) == len(PSM_ROWS) == len(model.joints)
            and bool(np.array_equal(model.T_base, np.eye(4)))
            and np.allclose([(row.alpha, row.theta) for row in rows], PSM_ROWS, atol=1e-12)
            and not any(row.a for row in rows[:5])
            and not any(rows[i].d for i in (0, 1, 4, 5))
        )
        if not fits:
            raise ModelError(model.name, "ik 'psm' needs a PSM's chain with a standard wrist")
        return PsmGeometry.from_offset(rows[5].a, -rows[2].d - rows[3].d, model.T_tip_offset)

    def is_permutation(self) -> bool:
        """Whether the tip's axes are frame 6's axes, but for their order and signs."""
        entries = [value for row in self.R_off for value in row]
        return all(value in (-1.0, 0.0, 1.0) for value in entries)

    def permutation(self) -> tuple[tuple[int, int, int], Vector]:
        """Give, for each axis of frame 6, the tip's axis along it and its sign."""
        index = [max(range(3), key=lambda k: abs(row[k])) for row in self.R_off]
        sign = [row[k] for row, k in zip(self.R_off, index, strict=True)]
        return (index[0], index[1], index[2]), (sign[0], sign[1], sign[2])


def origin_from_tip(T: Rows, geometry: PsmGeometry) -> tuple[list[list[float]], Vector]:
    """Undo the tip offset of a pose.

    Args:
        T: Base to tip, four rows of four floats.
        geometry: The arm.

    Returns:
        The rotation of frame 6 (three rows), and the remote centre seen from frame 6 (m).
    """
    (r00, r01, r02, tx), (r10, r11, r12, ty), (r20, r21, r22, tz), _ = T
    off, (ox, oy, oz) = geometry.R_off, geometry.p_off
    rows = ((r00, r01, r02), (r10, r11, r12), (r20, r21, r22))
    R = [[r[0] * o[0] + r[1] * o[1] + r[2] * o[2] for o in off] for r in rows]
    px = ox - (R[0][0] * tx + R[1][0] * ty + R[2][0] * tz)
    py = oy - (R[0][1] * tx + R[1][1] * ty + R[2][1] * tz)
    pz = oz - (R[0][2] * tx + R[1][2] * ty + R[2][2] * tz)
    return R, (px, py, pz)


def _frame6(q: Sequence[float], geometry: PsmGeometry) -> tuple[float, ...]:
    """Give x4, y4, z, then the columns x6, y6, z6 and the position of frame 6: 21 floats."""
    q1, q2, q3, q4, q5, q6 = q
    s1, c1, s2, c2, s4, c4 = sin(q1), cos(q1), sin(q2), cos(q2), sin(q4), cos(q4)
    s5, c5, s6, c6 = sin(q5), cos(q5), sin(q6), cos(q6)
    zx, zy, zz = s1 * c2, -s2, -c1 * c2
    ux, uz = -s1 * s2, c1 * s2
    x4x, x4y, x4z = c4 * ux - s4 * c1, -c4 * c2, c4 * uz - s4 * s1
    y4x, y4y, y4z = -s4 * ux - c4 * c1, s4 * c2, -s4 * uz - c4 * s1
    # w is the wrist's x axis, from its pitch axis to its yaw axis; x6 and y6 turn about z6.
    wx, wy, wz = s5 * x4x + c5 * zx, s5 * x4y + c5 * zy, s5 * x4z + c5 * zz
    a, d = geometry.a, q3 - geometry.b
    return (
        *(x4x, x4y, x4z, y4x, y4y, y4z, zx, zy, zz),
        *(s6 * wx + c6 * y4x, s6 * wy + c6 * y4y, s6 * wz + c6 * y4z),
        *(c6 * wx - s6 * y4x, c6 * wy - s6 * y4y, c6 * wz - s6 * y4z),
        *(c5 * x4x - s5 * zx, c5 * x4y - s5 * zy, c5 * x4z - s5 * zz),
        *(d * zx + a * wx, d * zy + a * wy, d * zz + a * wz),
    )


def forward_floats(q: Sequence[float], geometry: PsmGeometry) -> list[list[float]]:
    """Compute the pose of the tip in the base.

    Args:
        q: Joint positions (rad, m), six floats.
        geometry: The arm.

    Returns:
        Base to tip, four rows of four floats.
    """
    frame = _frame6(q, geometry)
    _, _, _, _, _, _, _, _, _, x0, x1, x2, y0, y1, y2, z0, z1, z2, t0, t1, t2 = frame
    (a0, a1, a2), (b0, b1, b2), (c0, c1, c2) = geometry.R_off
    ox, oy, oz = geometry.p_off
    return [
        [
            x0 * a0 + y0 * b0 + z0 * c0,
            x0 * a1 + y0 * b1 + z0 * c1,
            x0 * a2 + y0 * b2 + z0 * c2,
            t0 + x0 * ox + y0 * oy + z0 * oz,
        ],
        [
            x1 * a0 + y1 * b0 + z1 * c0,
            x1 * a1 + y1 * b1 + z1 * c1,
            x1 * a2 + y1 * b2 + z1 * c2,
            t1 + x1 * ox + y1 * oy + z1 * oz,
        ],
        [
            x2 * a0 + y2 * b0 + z2 * c0,
            x2 * a1 + y2 * b1 + z2 * c1,
            x2 * a2 + y2 * b2 + z2 * c2,
            t2 + x2 * ox + y2 * oy + z2 * oz,
        ],
        [0.0, 0.0, 0.0, 1.0],
    ]


def jacobian_floats(q: Sequence[float], geometry: PsmGeometry) -> list[list[float]]:
    """Compute the geometric Jacobian: tip velocity and angular velocity in base axes.

    The axes of yaw, pitch and roll pass through the base's origin, so their columns are z x t.

    Args:
        q: Joint positions (rad, m), six floats.
        geometry: The arm.

    Returns:
        Six rows of six floats: the linear rows (m/s per rad/s or m/s), then the angular ones.
    """
    frame = _frame6(q, geometry)
    _, _, _, y4x, y4y, y4z, zx, zy, zz, x0, x1, x2, y0, y1, y2, z0, z1, z2, tx, ty, tz = frame
    s1, c1, d = sin(q[0]), cos(q[0]), q[2] - geometry.b
    ox, oy, oz = geometry.p_off
    # The lever of the last joint, from frame 6 to the tip, then the tip itself.
    lx = x0 * ox + y0 * oy + z0 * oz
    ly = x1 * ox + y1 * oy + z1 * oz
    lz = x2 * ox + y2 * oy + z2 * oz
    tx, ty, tz = tx + lx, ty + ly, tz + lz
    ex, ey, ez = tx - d * zx, ty - d * zy, tz - d * zz
    # Axes: yaw (0, -1, 0), pitch (-c1, 0, -s1), roll z, wrist pitch y4, wrist yaw z6.
    return [
        [-tz, s1 * ty, zx, zy * tz - zz * ty, y4y * ez - y4z * ey, z1 * lz - z2 * ly],
        [0.0, c1 * tz - s1 * tx, zy, zz * tx - zx * tz, y4z * ex - y4x * ez, z2 * lx - z0 * lz],
        [tx, -c1 * ty, zz, zx * ty - zy * tx, y4x * ey - y4y * ex, z0 * ly - z1 * lx],
        [0.0, -c1, 0.0, zx, y4x, z0],
        [-1.0, 0.0, 0.0, zy, y4y, z1],
        [0.0, -s1, 0.0, zz, y4z, z2],
    ]

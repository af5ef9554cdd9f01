"""Inverse kinematics of six revolute joints whose last three axes meet: a PUMA without offsets.

The hand's pose gives the wrist's centre; waist, shoulder and elbow put it there, in two times two
ways; the three joints of the wrist then turn the hand, in two ways. The eight branches have the
names that PUMA users give them:

* arm ``left`` or ``right``: the waist faces the wrist, or looks away from it.
* elbow ``up`` or ``down``: above or below the line from shoulder to wrist.
* wrist ``up`` or ``down``: wrist_pitch is positive or negative. Positive is up where forearm_roll
  is 0 and the fore arm points forward.
"""

from __future__ import annotations

from itertools import product
from math import hypot, pi

import numpy as np
import numpy.typing as npt

from dvrk_kinematics.errors import ModelError
from dvrk_kinematics.geometry import se3
from dvrk_kinematics.kinematics.branches import BranchSolver
from dvrk_kinematics.kinematics.limits import JointLimits
from dvrk_kinematics.kinematics.planar_elbow import PlanarElbow
from dvrk_kinematics.kinematics.result import IkResult
from dvrk_kinematics.models.schema import ArmModel, Convention

__all__ = ["SphericalWristSolver"]

FloatArray = npt.NDArray[np.float64]

_ALPHAS = (0.0, -pi / 2, 0.0, -pi / 2, -pi / 2, pi / 2)
"""alpha (rad) of the rows that the closed form is made for."""
_GUARD_M = 1e-9
"""A wrist nearer than this to the waist's axis leaves the waist to the seed."""
_GUARD = 1e-9
"""Sine of wrist_pitch under which the seed decides how its two rolls share their sum."""


class SphericalWristSolver(BranchSolver):
    """Closed-form kinematics of an arm with a spherical wrist.

    Args:
        model: The arm.
        limits: Its joint limits.

    Raises:
        ModelError: The arm's chain is another one.
    """

    branch_names = tuple(
        f"{arm}/elbow_{elbow}/wrist_{wrist}"
        for arm, elbow, wrist in product(("left", "right"), ("up", "down"), ("up", "down"))
    )

    def __init__(self, model: ArmModel, limits: JointLimits) -> None:
        super().__init__(model, limits)
        rows = model.chain
        fits = (
            model.convention is Convention.MODIFIED
            and len(rows) == len(_ALPHAS) == len(model.joints)
            and np.allclose([row.alpha for row in rows], _ALPHAS, atol=1e-12)
            and not any(row.theta for row in rows)
            and not any(row.a for k, row in enumerate(rows) if k != 2)
            and not any(rows[k].d for k in (1, 2, 4))
        )
        if not fits:
            raise ModelError(
                model.name, "ik 'spherical_wrist' needs a PUMA's chain without offsets"
            )
        self._T_to_arm = se3.inverse(model.T_base)
        self._T_to_hand = se3.inverse(model.T_tip_offset)
        self._height, self._hand = rows[0].d, rows[5].d
        self._elbow = PlanarElbow(rows[2].a, rows[3].d)

    def _branches(self, T: FloatArray, seed: FloatArray) -> FloatArray:
        hand = self._T_to_arm @ T @ self._T_to_hand
        wrist = self._wrist(hand)
        x, y, z = wrist.T
        radius = np.hypot(x, y)
        facing = np.where(radius > _GUARD_M, np.arctan2(y, x), seed[:, 0])
        found = []
        for away, up in product((False, True), (True, False)):
            waist = facing + pi if away else facing
            # An elbow is up on the left as its angle is negative, on the right as it is positive.
            shoulder, elbow = self._elbow.angles(
                -radius if away else radius, z, 1.0 if up == away else -1.0
            )
            arm = np.stack([waist, -shoulder, -elbow - pi / 2], axis=1)
            found += [
                np.concatenate([arm, turns], axis=1)
                for turns in _wrist_turns(_in_forearm(hand, arm), seed[:, 3])
            ]
        return np.stack(found, axis=1)

    def _wrist(self, hand: FloatArray) -> FloatArray:
        """Where the wrist's axes meet, seen from the shoulder (m), shape (N, 3)."""
        wrist: FloatArray = hand[:, :3, 3] - self._hand * hand[:, :3, 2]
        wrist[:, 2] -= self._height
        return wrist

    def _reason(self, T: FloatArray, result: IkResult) -> str:
        x, y, z = self._wrist((self._T_to_arm @ T @ self._T_to_hand)[None])[0]
        return self._elbow.why_not(hypot(x, y, z))


def _in_forearm(hand: FloatArray, arm: FloatArray) -> FloatArray:
    """Give the hand's rotation before the wrist's first turn, z along the fore arm, (N, 3, 3)."""
    s1, c1 = np.sin(arm[:, 0]), np.cos(arm[:, 0])
    s23, c23 = np.sin(arm[:, 1] + arm[:, 2]), np.cos(arm[:, 1] + arm[:, 2])
    x = np.stack([c23 * c1, c23 * s1, -s23], axis=1)
    y = np.stack([s1, -c1, np.zeros_like(s1)], axis=1)
    z = np.stack([-s23 * c1, -s23 * s1, -c23], axis=1)
    turned: FloatArray = np.stack([x, y, z], axis=1) @ hand[:, :3, :3]
    return turned


def _wrist_turns(U: FloatArray, seed_roll: FloatArray) -> list[FloatArray]:
    """Solve U = Rot_z(q4) Rot_y(q5) Rot_z(q6) in both ways, q5 positive first; (N, 3) each."""
    bent = np.hypot(U[:, 0, 2], U[:, 1, 2]) > _GUARD
    up = np.where(bent, np.arctan2(U[:, 1, 2], U[:, 0, 2]), seed_roll)
    found = []
    for roll in (up, np.where(bent, up + pi, up)):
        s, c = np.sin(roll)[:, None], np.cos(roll)[:, None]
        # Rot_y(q5) Rot_z(q6), row by row: its first row ends with s5, its second is (s6, c6, 0).
        first, second = c * U[:, 0] + s * U[:, 1], c * U[:, 1] - s * U[:, 0]
        pitch = np.arctan2(first[:, 2], U[:, 2, 2])
        last = np.arctan2(second[:, 0], second[:, 1])
        found.append(np.stack([roll, pitch, last], axis=1))
    return found

"""Inverse kinematics of six revolute joints whose last three axes meet: a PUMA without offsets.

The hand's pose determines the wrist's centre. Waist, shoulder and elbow put it there, in two times
two ways. The three wrist joints then turn the hand, in two ways. The eight branches have their
usual PUMA names:

* arm ``left`` or ``right``: the waist faces the wrist, or looks away from it.
* elbow ``up`` or ``down``: above or below the line from shoulder to wrist.
* wrist ``up`` or ``down``: wrist_pitch is positive or negative. Positive is up where forearm_roll
  is 0 and the forearm points forward.
"""

from __future__ import annotations

from itertools import product
from math import hypot, pi

import numpy as np
import numpy.typing as npt

from dvrk_kinematics.errors import ModelError
from dvrk_kinematics.geometry import se3
from dvrk_kinematics.kinematics.chain import has_angles
from dvrk_kinematics.kinematics.limits import JointLimits
from dvrk_kinematics.kinematics.result import IkResult
from dvrk_kinematics.kinematics.solvers.branch_solver import BranchSolver
from dvrk_kinematics.kinematics.solvers.planar_elbow import PlanarElbow
from dvrk_kinematics.kinematics.tolerances import (
    AXIS_GUARD_SINE,
    NEAR_GUARD_M,
    SINGULAR,
)
from dvrk_kinematics.models.schema import ArmModel

__all__ = ["SphericalWristSolver"]

FloatArray = npt.NDArray[np.float64]

_ALPHAS = (0.0, -pi / 2, 0.0, -pi / 2, -pi / 2, pi / 2)
"""alpha (rad) of the rows that the closed form requires."""
_WAISTS = 361
"""Number of waists to try then, one per degree."""
_TURNS = 2.0 * pi * np.arange(-2.0, 3.0)
"""Whole turns (rad) between which two rolls of a straight wrist can share their sum."""


class SphericalWristSolver(BranchSolver):
    """Closed-form kinematics of an arm with a spherical wrist.

    Args:
        model: The arm.
        limits: Its joint limits.

    Raises:
        ModelError: The arm's chain does not match.
    """

    branch_names = tuple(
        f"{arm}/elbow_{elbow}/wrist_{wrist}"
        for arm, elbow, wrist in product(("left", "right"), ("up", "down"), ("up", "down"))
    )

    def __init__(self, model: ArmModel, limits: JointLimits) -> None:
        super().__init__(model, limits)
        rows = model.chain
        fits = (
            has_angles(model, [(alpha, 0.0) for alpha in _ALPHAS])
            and not any(row.theta for row in rows)
            and not any(row.a for k, row in enumerate(rows) if k != 2)
            and not any(rows[k].d for k in (1, 2, 4))
        )
        if not fits:
            raise ModelError(
                f"{model.file}: chain", "ik 'spherical_wrist' needs a PUMA's chain without offsets"
            )
        self._T_to_arm = se3.inverse(model.T_base)
        self._T_to_hand = se3.inverse(model.T_tip_offset)
        self._height, self._hand = rows[0].d, rows[5].d
        self._elbow = PlanarElbow(rows[2].a, rows[3].d)

    def _branches(self, T: FloatArray, seed: FloatArray) -> FloatArray:
        hand = self._T_to_arm @ T @ self._T_to_hand
        x, y, _ = self._wrist(hand).T
        found = self._at_waist(hand, np.arctan2(y, x), seed[:, 3])
        for i in np.flatnonzero(np.hypot(x, y) <= NEAR_GUARD_M):
            found[i] = self._at_any_waist(hand[i], seed[i])
        return found

    def _at_any_waist(self, hand: FloatArray, seed: FloatArray) -> FloatArray:
        """Solve a pose (4, 4) with the wrist on the waist's axis, where any waist angle works.

        For each branch separately, take the waist nearest the seed (6,) that leaves the wrist
        inside its limits; the seed's if none does. Shape (8, 6).
        """
        waists = seed[0] + np.linspace(-pi, pi, _WAISTS)
        many = np.broadcast_to(hand, (_WAISTS, 4, 4))
        found = self._at_waist(many, waists, np.full(_WAISTS, seed[3]))
        shape = found.shape
        found = self._selector.choose_batch(found.reshape(-1, 1, 6), seed).reshape(shape)
        outside = np.where(self.limits.contains(found), 0.0, 4.0 * pi)
        best = np.argmin(np.abs(found[..., 0] - seed[0]) + outside, axis=0)
        return np.asarray(found[best, np.arange(shape[1])])

    def _at_waist(self, hand: FloatArray, facing: FloatArray, seed_roll: FloatArray) -> FloatArray:
        """Return the eight branches, (N, 8, 6), for hands (N, 4, 4) that left waists (N,) face."""
        x, y, z = self._wrist(hand).T
        radius = np.hypot(x, y)
        found = []
        for away, up in product((False, True), (True, False)):
            waist = facing + pi if away else facing
            # On the left an elbow is up if its angle is negative, on the right if it is positive.
            shoulder, elbow = self._elbow.angles(
                -radius if away else radius, z, 1.0 if up == away else -1.0
            )
            arm = np.stack([waist, -shoulder, -elbow - pi / 2], axis=1)
            found += [
                np.concatenate([arm, turns], axis=1)
                for turns in self._wrist_turns(_in_forearm(hand, arm), seed_roll)
            ]
        return np.stack(found, axis=1)

    def _wrist(self, hand: FloatArray) -> FloatArray:
        """Intersection of the wrist's axes, from the shoulder (m), shape (N, 3)."""
        wrist: FloatArray = hand[:, :3, 3] - self._hand * hand[:, :3, 2]
        wrist[:, 2] -= self._height
        return wrist

    def _wrist_turns(self, U: FloatArray, seed_roll: FloatArray) -> list[FloatArray]:
        """Solve U = Rot_z(q4) Rot_y(q5) Rot_z(q6) in both ways, q5 positive first; (N, 3) each."""
        bent = np.hypot(U[:, 0, 2], U[:, 1, 2]) > AXIS_GUARD_SINE
        up = np.arctan2(U[:, 1, 2], U[:, 0, 2])
        if not bent.all():
            up = np.where(bent, up, self._straight_roll(U, seed_roll))
        found = []
        for roll in (up, np.where(bent, up + pi, up)):
            s, c = np.sin(roll)[:, None], np.cos(roll)[:, None]
            # Rot_y(q5) Rot_z(q6), row by row: its first row ends with s5, its second is
            # (s6, c6, 0).
            first, second = c * U[:, 0] + s * U[:, 1], c * U[:, 1] - s * U[:, 0]
            pitch = np.arctan2(first[:, 2], U[:, 2, 2])
            last = np.arctan2(second[:, 0], second[:, 1])
            found.append(np.stack([roll, pitch, last], axis=1))
        return found

    def _straight_roll(self, U: FloatArray, seed_roll: FloatArray) -> FloatArray:
        """Return forearm_roll of a straight wrist, where only the sum of both rolls matters.

        It is as near to the seed as possible with both rolls inside their limits; the seed's if
        they cannot be. For a wrist folded back by half a turn, the difference matters instead of
        the sum.
        """
        lower, upper = self.limits.lower, self.limits.upper
        total = np.arctan2(U[:, 1, 0], U[:, 1, 1])[:, None]
        sign = np.where(U[:, 2, 2] > 0.0, 1.0, -1.0)[:, None]
        # The forearm_roll values with wrist_roll at its limits, whole turns apart.
        ends = sign * (total - np.array([lower[5], upper[5]]))
        low = np.maximum(ends.min(axis=1, keepdims=True) + _TURNS, lower[3])
        high = np.minimum(ends.max(axis=1, keepdims=True) + _TURNS, upper[3])
        roll = np.clip(seed_roll[:, None], low, high)
        away = np.where(low <= high, np.abs(roll - seed_roll[:, None]), np.inf)
        best = np.argmin(away, axis=1)[:, None]
        nearest = np.take_along_axis(roll, best, axis=1)[:, 0]
        possible = np.isfinite(np.take_along_axis(away, best, axis=1)[:, 0])
        return np.where(possible, nearest, seed_roll)

    def singularities(self, q: FloatArray) -> tuple[str, ...]:
        """Name what is singular at joint positions (rad), shape (6,); see ``BranchSolver``."""
        names = self._elbow.singularities(-float(q[2]) - pi / 2)
        if abs(np.sin(q[4])) < SINGULAR:
            names += ("wrist straight",) if np.cos(q[4]) > 0.0 else ("wrist folded",)
        hand = self._T_to_arm @ self._chain.forward(q) @ self._T_to_hand
        if np.hypot(*self._wrist(hand[None])[0, :2]) < SINGULAR:
            names += ("wrist on the waist's axis",)
        return names

    def _reason(self, T: FloatArray, result: IkResult) -> str:
        x, y, z = self._wrist((self._T_to_arm @ T @ self._T_to_hand)[None])[0]
        return self._elbow.why_not(hypot(x, y, z))


def _in_forearm(hand: FloatArray, arm: FloatArray) -> FloatArray:
    """Return the hand's rotation before the wrist's first turn, z along the forearm, (N, 3, 3)."""
    s1, c1 = np.sin(arm[:, 0]), np.cos(arm[:, 0])
    s23, c23 = np.sin(arm[:, 1] + arm[:, 2]), np.cos(arm[:, 1] + arm[:, 2])
    x = np.stack([c23 * c1, c23 * s1, -s23], axis=1)
    y = np.stack([s1, -c1, np.zeros_like(s1)], axis=1)
    z = np.stack([-s23 * c1, -s23 * s1, -c23], axis=1)
    turned: FloatArray = np.stack([x, y, z], axis=1) @ hand[:, :3, :3]
    return turned

"""Inverse kinematics of five revolute joints: waist, shoulder, elbow, wrist pitch, wrist roll.

The waist turns a vertical plane, in which the other joints move the hand: its axis cannot leave
that plane. The requested position determines the plane, in two ways (the waist faces the tip or
looks away from it). In the plane, the pitch is that of the requested axis, or of its projection
onto the plane, which is as near as this arm can come; the angle between the two is the error.
Shoulder and elbow then put the wrist in place, in two ways, and the roll follows.

Branches are named for the waist (``front`` or ``back``: it faces the tip or looks away) and the
elbow (``up`` or ``down``: above or below the line from shoulder to wrist, seen from that side).
"""

from __future__ import annotations

from itertools import product
from math import hypot, pi

import numpy as np
import numpy.typing as npt

from dvrk_kinematics.errors import ModelError
from dvrk_kinematics.kinematics.chain import has_angles
from dvrk_kinematics.kinematics.limits import JointLimits
from dvrk_kinematics.kinematics.result import IkResult, IkStatus
from dvrk_kinematics.kinematics.solvers.branch_solver import BranchSolver
from dvrk_kinematics.kinematics.solvers.planar_elbow import PlanarElbow
from dvrk_kinematics.kinematics.tolerances import (
    AXIS_GUARD_SINE,
    NEAR_GUARD_M,
    ORIENTATION_TOLERANCE_RAD,
    POSITION_TOLERANCE_M,
    SINGULAR,
)
from dvrk_kinematics.models.schema import ArmModel

__all__ = ["FiveAxisSolver"]

FloatArray = npt.NDArray[np.float64]

_ALPHAS = (0.0, pi / 2, 0.0, 0.0, pi / 2)
"""alpha (rad) of the rows that the closed form requires."""
_PITCHES = 721
_FINER = 20
_ROUNDS = 4
"""How position_first searches: pitches half a degree apart and some across those with the wrist in
reach, then four times as many again within one step of the best, down to steps of 5e-8 rad."""


class FiveAxisSolver(BranchSolver):
    """Closed-form kinematics of a five-axis arm.

    Args:
        model: The arm.
        limits: Its joint limits.

    Raises:
        ModelError: The arm's chain does not match.
    """

    exact_only = ""
    branch_names = tuple(
        f"{side}/elbow_{elbow}" for side, elbow in product(("front", "back"), ("up", "down"))
    )

    def __init__(self, model: ArmModel, limits: JointLimits) -> None:
        super().__init__(model, limits)
        rows, tip = model.chain, model.T_tip_offset
        fits = (
            has_angles(model, [(alpha, 0.0) for alpha in _ALPHAS])
            and not any(row.theta for row in rows)
            and not any(row.d for row in rows[1:4])
            and not any(rows[k].a for k in (0, 1, 4))
            and np.array_equal(model.T_base, np.eye(4))
            and np.array_equal(tip[:3, :3], np.eye(3))
            and not tip[:2, 3].any()
        )
        if not fits:
            raise ModelError(
                f"{model.file}: chain",
                "ik 'five_axis' needs parallel pitch axes and the tip on the last one",
            )
        self._height = rows[0].d
        self._elbow = PlanarElbow(rows[2].a, rows[3].a)
        self._hand = rows[4].d + float(tip[2, 3])

    def _branches(self, T: FloatArray, seed: FloatArray) -> FloatArray:
        facing = _facing(T, seed)
        found = []
        for away in (False, True):
            waist = facing + pi if away else facing
            pitch = _pitch(_in_plane(T[:, :3, 2], waist), seed[:, 1:4].sum(axis=1))
            found += self._at_pitch(T, waist, pitch, away)
        return np.stack(found, axis=1)

    def _at_pitch(
        self, T: FloatArray, waist: FloatArray, pitch: FloatArray, away: bool
    ) -> list[FloatArray]:
        """Return both elbows for tips in the waist's plane and hand pitches; (N, 5) each."""
        s, c = np.sin(pitch), np.cos(pitch)
        tip = _in_plane(T[:, :3, 3], waist)
        x, z = tip[:, 0] - self._hand * s, tip[:, 2] - self._height + self._hand * c
        roll = _roll(_in_plane(T[:, :3, :3], waist), s, c)
        found = []
        for up in (True, False):
            shoulder, elbow = self._elbow.angles(x, z, 1.0 if up == away else -1.0)
            wrist = pitch - shoulder - elbow
            found.append(np.stack([waist, shoulder, elbow, wrist, roll], axis=1))
        return found

    def _keep_position(self, T: FloatArray, seed: FloatArray) -> IkResult:
        """Search for the pitch nearest to the orientation inside the limits."""
        step = 2.0 * pi / (_PITCHES - 1)
        grid = np.linspace(-pi, pi, _PITCHES)
        best = self._best_pitch(T, seed, np.concatenate([grid, self._pitches_in_reach(T)]))
        if best is None:
            return self.solve(T, seed)._replace(status=IkStatus.POSITION_UNREACHABLE)
        for _ in range(_ROUNDS):
            pitches = float(best.q[1:4].sum()) + np.linspace(-step, step, 2 * _FINER + 1)
            found = self._best_pitch(T, seed, pitches)
            if found is not None and found.rotation_error < best.rotation_error:
                best = found
            step /= _FINER
        return best

    def _pitches_in_reach(self, T: FloatArray) -> FloatArray:
        """Return pitches (rad) across those with the wrist in reach, for both ways of the waist.

        Near full reach they are so few that a full grid misses them: the triangle of shoulder, tip
        and hand limits how far the hand may leave the line from shoulder to tip.
        """
        radius, height = hypot(T[0, 3], T[1, 3]), float(T[2, 3]) - self._height
        square = radius * radius + height * height
        _, far = self._elbow.reach
        side = 2.0 * max(np.sqrt(square), NEAR_GUARD_M) * self._hand
        widest = np.arccos(np.clip((square + self._hand**2 - far * far) / side, -1.0, 1.0))
        around = widest * np.linspace(-1.0, 1.0, 2 * _FINER + 1)
        along = np.arctan2(radius, -height)
        return np.concatenate([along + around, -along + around])

    def _best_pitch(self, T: FloatArray, seed: FloatArray, pitches: FloatArray) -> IkResult | None:
        """The best of some pitches that reaches the position inside limits, if any does."""
        many = np.broadcast_to(T, (len(pitches), 4, 4))
        near = np.broadcast_to(seed, (len(pitches), 5))
        facing = _facing(many, near)
        found = [
            self._selector.choose_batch(one[:, None], near)
            for away in (False, True)
            for one in self._at_pitch(many, facing + pi if away else facing, pitches, away)
        ]
        q = np.concatenate(found)
        q[:, 4] = self.limits.clamp(q)[:, 4]
        position_error, rotation_error = (e[:, 0] for e in self._errors(T[None], q[:, None]))
        usable = self.limits.contains(q) & (position_error <= POSITION_TOLERANCE_M)
        if not usable.any():
            return None
        i = int(np.argmin(np.where(usable, rotation_error, np.inf)))
        joints = q[i].copy()
        joints.setflags(write=False)
        errors = float(position_error[i]), float(rotation_error[i])
        return IkResult(joints, IkStatus.OK, (), *errors)

    def _reason(self, T: FloatArray, result: IkResult) -> str:
        reasons = []
        if result.position_error > POSITION_TOLERANCE_M:
            x, _, z = _in_plane(T[None, :3, 3], result.q[None, 0])[0]
            pitch = float(result.q[1:4].sum())
            x, z = x - self._hand * np.sin(pitch), z - self._height + self._hand * np.cos(pitch)
            reasons.append(self._elbow.why_not(hypot(x, z)))
        if result.rotation_error > ORIENTATION_TOLERANCE_RAD:
            reasons.append(
                f"five joints keep the hand's axis in the vertical plane through waist and tip; "
                f"the axis asked for leaves it by {result.rotation_error:.3g} rad"
            )
        return "; ".join(reasons)

    def singularities(self, q: FloatArray) -> tuple[str, ...]:
        """Name what is singular at joint positions (rad), shape (5,); see ``BranchSolver``."""
        names = self._elbow.singularities(float(q[2]))
        T = self._chain.forward(q)
        # Only both together: a tip on the waist's axis still turns with it, about its hand.
        if max(np.hypot(*T[:2, 3]), np.hypot(*T[:2, 2])) < SINGULAR:
            names += ("hand along the waist's axis",)
        return names


def _facing(T: FloatArray, seed: FloatArray) -> FloatArray:
    """Return waists that face the tip; for a tip above, by the hand's axis, then the seed."""
    x, y = T[:, 0, 3], T[:, 1, 3]
    across, along = T[:, 1, 2], T[:, 0, 2]
    turned = np.where(
        np.hypot(along, across) > AXIS_GUARD_SINE, np.arctan2(across, along), seed[:, 0]
    )
    return np.where(np.hypot(x, y) > NEAR_GUARD_M, np.arctan2(y, x), turned)


def _in_plane(vectors: FloatArray, waist: FloatArray) -> FloatArray:
    """Return vectors (N, 3), or the columns of (N, 3, 3), along the axes of the turned waist."""
    shape = (-1,) + (1,) * (vectors.ndim - 2)
    s, c = np.sin(waist).reshape(shape), np.cos(waist).reshape(shape)
    x, y, z = vectors[:, 0], vectors[:, 1], vectors[:, 2]
    return np.stack([c * x + s * y, c * y - s * x, z], axis=1)


def _pitch(axis: FloatArray, seed: FloatArray) -> FloatArray:
    """Return the pitch of an axis projected onto the plane; the seed's if nothing is left."""
    length = np.hypot(axis[:, 0], axis[:, 2])
    return np.where(length > AXIS_GUARD_SINE, np.arctan2(axis[:, 0], -axis[:, 2]), seed)


def _roll(M: FloatArray, s: FloatArray, c: FloatArray) -> FloatArray:
    """Return the roll nearest to rotations (N, 3, 3) in the plane's axes, at a pitch.

    The hand's axes before its roll are x = (c, 0, s) and y = (0, -1, 0).
    """
    x = c[:, None] * M[:, 0] + s[:, None] * M[:, 2]
    y = -M[:, 1]
    return np.arctan2(y[:, 0] - x[:, 1], x[:, 0] + y[:, 1])

"""The ECM's inverse kinematics for many poses at once, with numpy, in bounded memory."""

from __future__ import annotations

from math import pi
from typing import Protocol

import numpy as np
import numpy.typing as npt

from dvrk_kinematics.kinematics.interruption import check_in
from dvrk_kinematics.kinematics.limits import JointLimits
from dvrk_kinematics.kinematics.result import BatchIkResult, IkPolicy, IkResult, IkStatus
from dvrk_kinematics.kinematics.selection import TIE, Selector, opposite_batch

__all__ = ["ORIENTATION_TOLERANCE", "EcmBatch"]

FloatArray = npt.NDArray[np.float64]
CHUNK = 4096
"""Rows worked on at once."""
NEAR_M = 1e-9
"""A tip nearer than this to the remote centre is left to the scalar solver."""
NEAR_AXIS = 1e-8
"""So is a shaft whose angle to the yaw axis has a smaller sine."""
ORIENTATION_TOLERANCE = 1e-6
"""Rotation error (rad) up to which an orientation counts as reached."""


class SolveOne(Protocol):
    """The scalar solver."""

    def __call__(
        self, T: list[list[float]], seed: list[float], policy: IkPolicy, /
    ) -> IkResult: ...


class EcmBatch:
    """Closed-form kinematics of one ECM for many poses.

    Args:
        R_off: Rotation of the tip in the last frame, shape (3, 3).
        reach: Distance of the tip from the remote centre at zero insertion (m).
        limits: The arm's joint limits.
        selector: Ranks the solutions.
        solve_one: Solves one pose: degenerate ones and, position first, those outside limits.
    """

    __slots__ = ("_R_off", "_limits", "_reach", "_selector", "_solve_one")

    def __init__(
        self,
        R_off: FloatArray,
        reach: float,
        limits: JointLimits,
        selector: Selector,
        solve_one: SolveOne,
    ) -> None:
        self._R_off = R_off
        self._reach = reach
        self._limits = limits
        self._selector = selector
        self._solve_one = solve_one

    def solve(
        self,
        T: FloatArray,
        seed: FloatArray | None,
        policy: IkPolicy,
        good: npt.NDArray[np.bool_] | None,
    ) -> BatchIkResult:
        """Solve N poses, shape (N, 4, 4); rows that are not ``good`` come back invalid."""
        result = BatchIkResult.empty(len(T), 4)
        rest = np.array(self._selector.rest) if seed is None else seed
        near = np.broadcast_to(rest, (len(T), 4))
        usable = np.arange(len(T)) if good is None else np.flatnonzero(good)
        for start in range(0, len(usable), CHUNK):
            check_in()
            rows = usable[start : start + CHUNK]
            self._solve_rows(T[rows], near[rows], policy, result, rows)
        return result

    def _solve_rows(
        self,
        T: FloatArray,
        seed: FloatArray,
        policy: IkPolicy,
        result: BatchIkResult,
        rows: npt.NDArray[np.intp],
    ) -> None:
        """Solve one chunk into its place in the result."""
        q, error, hard = self._closed_form(T, seed)
        mask = self._limits.mask_batch(q)
        status = np.where(mask != 0, IkStatus.OUTSIDE_LIMITS, IkStatus.OK).astype(np.uint8)
        if policy is IkPolicy.POSITION_FIRST:
            hard |= mask != 0
        else:
            status[error > ORIENTATION_TOLERANCE] = IkStatus.UNREACHABLE
        for i in np.flatnonzero(hard):
            check_in()
            one = self._solve_one(T[i].tolist(), seed[i].tolist(), policy)
            q[i], error[i], status[i] = one.q, one.rotation_error, one.status
        mask[hard] = self._limits.mask_batch(q[hard])
        result.q[rows] = q
        result.status[rows] = status
        result.violations[rows] = mask
        result.position_error[rows] = 0.0
        result.rotation_error[rows] = error

    def _closed_form(
        self, T: FloatArray, seed: FloatArray
    ) -> tuple[FloatArray, FloatArray, npt.NDArray[np.bool_]]:
        """Give joints (M, 4), rotation errors (M,) and which rows need the scalar solver (M,)."""
        R = T[:, :3, :3] @ self._R_off.T
        t = T[:, :3, 3]
        length = np.sqrt((t * t).sum(axis=1))
        hard = length < NEAR_M
        z = t / np.where(hard, 1.0, length)[:, None]
        forward = self._one_side(R, z)
        backward = self._one_side(R, -z)
        hard |= np.abs(forward[2] - backward[2]) < 10.0 * TIE
        hard |= z[:, 0] ** 2 + z[:, 2] ** 2 < NEAR_AXIS**2
        back = backward[2] < forward[2]
        shaft, roll, error = (
            np.where(back.reshape(-1, *[1] * (f.ndim - 1)), b, f)
            for f, b in zip(forward, backward, strict=True)
        )
        d = np.where(back, -length, length) - self._reach
        q1, q2 = shaft.T
        mirrored = np.where(q2 > 0.0, pi, -pi) - q2
        first = np.stack([q1, q2, d, roll], axis=1)
        second = np.stack([opposite_batch(q1), mirrored, d, opposite_batch(roll)], axis=1)
        q = self._selector.choose_batch(np.stack([first, second], axis=1), seed)
        return q, np.asarray(error), hard

    @staticmethod
    def _one_side(R: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Give yaw and pitch (M, 2), best roll (M,) and rotation error (M,) of shafts along z."""
        h = np.sqrt(z[:, 0] ** 2 + z[:, 2] ** 2)
        safe = np.where(h > 0.0, h, 1.0)
        s1, c1 = z[:, 0] / safe, np.where(h > 0.0, -z[:, 2] / safe, 1.0)
        s2, c2 = -z[:, 1], h
        x3 = np.stack([-s1 * s2, -c2, c1 * s2], axis=1)
        y3 = np.stack([-c1, np.zeros_like(c1), -s1], axis=1)
        M = np.stack([x3, y3, z], axis=1) @ R
        sine, cosine = M[:, 1, 0] - M[:, 0, 1], M[:, 0, 0] + M[:, 1, 1]
        roll = np.arctan2(sine, cosine)
        s, c = np.sin(roll), np.cos(roll)
        x = M[:, 2, 1] + s * M[:, 0, 2] - c * M[:, 1, 2]
        y = c * M[:, 0, 2] + s * M[:, 1, 2] - M[:, 2, 0]
        trace = c * cosine + s * sine + M[:, 2, 2]
        error = np.arctan2(np.sqrt(x * x + y * y), trace - 1.0)
        return np.stack([np.arctan2(s1, c1), np.arctan2(s2, c2)], axis=1), roll, error

"""The poses for every system, the judging of answers, and the timing."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dvrk_kinematics import Arm

__all__ = ["RIGHT_M", "RIGHT_RAD", "Cases", "Row", "Verdict", "best_times"]

FloatArray = npt.NDArray[np.float64]
RIGHT_M = 1e-6
RIGHT_RAD = 1e-6
"""An answer is right if its pose is closer than both of these to the requested one."""
NEAR_SPREAD = 0.05
"""Standard deviation of a near seed from a solution (rad); a tenth of it in metres."""
SLICE_S = 0.1
"""Time that a row gets in a pass (s); a longer one runs once."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """How many answers are right, and how many of these are inside the limits."""

    right: int
    inside: int
    count: int


@dataclass(slots=True)
class Row:
    """One measurement: a callable over all items, timed as a whole.

    Attributes:
        system: The system measured.
        task: The task measured.
        run: Does the task for every item and returns the answers.
        items: Number of calls, or of poses in a batch.
        judge: Judges the answers; None where there is nothing to judge.
        seconds: Best time of a pass, for all items.
        verdict: The judge's verdict on the last pass.
    """

    system: str
    task: str
    run: Callable[[], Any]
    items: int
    judge: Callable[[Any], Verdict] | None = None
    seconds: float = float("inf")
    verdict: Verdict | None = None

    @property
    def us(self) -> float:
        """Microseconds per call, or per pose of a batch."""
        return 1e6 * self.seconds / self.items


@dataclass(frozen=True, slots=True)
class Cases:
    """Poses over the full joint range of an arm, with far and near seeds.

    Attributes:
        q: Joint positions of the poses, shape (N, n).
        T: Base to tip, shape (N, 4, 4).
        far: Seeds drawn separately from the whole range, shape (N, n).
        near: Seeds close to q, inside the limits, shape (N, n).
    """

    arm: Arm
    q: FloatArray
    T: FloatArray
    far: FloatArray
    near: FloatArray

    @staticmethod
    def draw(arm: Arm, count: int, seed: int) -> Cases:
        """Draw them; the same seed yields the same poses."""
        rng = np.random.default_rng(seed)
        q = arm.random_q(rng, count)
        far = arm.random_q(rng, count)
        spread = [NEAR_SPREAD * (0.1 if name == "insertion" else 1.0) for name in arm.joint_names]
        near = arm.limits.clamp(q + rng.normal(size=q.shape) * np.array(spread))
        return Cases(arm, q, arm.forward(q), far, near)

    def judge(self, answers: Sequence[Any] | FloatArray) -> Verdict:
        """Judge one set of joint positions per pose, by the arm's own forward kinematics."""
        q = np.array([np.asarray(answer, dtype=np.float64) for answer in answers])
        reached = self.arm.forward(q)
        away = np.swapaxes(reached[:, :3, :3], 1, 2) @ self.T[:, :3, :3]
        skew = away - np.swapaxes(away, 1, 2)
        sine = 0.5 * np.sqrt(0.5 * (skew**2).sum(axis=(1, 2)))
        angle = np.arctan2(sine, 0.5 * (np.trace(away, axis1=1, axis2=2) - 1.0))
        distance = np.linalg.norm(reached[:, :3, 3] - self.T[:, :3, 3], axis=1)
        right = (distance < RIGHT_M) & (angle < RIGHT_RAD)
        inside = right & self.arm.limits.contains(q)
        return Verdict(int(right.sum()), int(inside.sum()), len(q))


def best_times(rows: Sequence[Row], passes: int) -> None:
    """Run all rows in turn, several times, and keep each one's best time.

    Going round and round lets a busy moment of the machine spoil one pass of every row rather
    than every pass of one. Short rows run several times a pass, so that every row has about the
    same chance of a quiet moment.
    """
    for _ in range(passes):
        for row in rows:
            repeats = 1 if row.seconds > SLICE_S else min(20, int(SLICE_S / row.seconds))
            for _ in range(max(1, repeats)):
                start = time.perf_counter()
                answers = row.run()
                row.seconds = min(row.seconds, time.perf_counter() - start)
            if row.judge is not None:
                row.verdict = row.judge(answers)

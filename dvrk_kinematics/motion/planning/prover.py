"""Tries versions of a segment until one is proven: dense enough, slow enough, inside limits."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np
import numpy.typing as npt

from dvrk_kinematics.errors import PlanReason
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.arm import Arm
from dvrk_kinematics.kinematics.interruptible import check_in
from dvrk_kinematics.kinematics.result import Breach
from dvrk_kinematics.motion.cannula import CannulaRule
from dvrk_kinematics.motion.extremes import (
    Excess,
    SplineQuantity,
    find_excess,
    find_relapse,
)
from dvrk_kinematics.motion.limits import MotionLimits
from dvrk_kinematics.motion.planning.knots import (
    LONGEST_S,
    Nanoseconds,
    make_knot_times,
    split_knots,
)
from dvrk_kinematics.motion.planning.path_follower import Loss, PathFollower
from dvrk_kinematics.motion.planning.progress import UNWATCHED, PlanningProgress
from dvrk_kinematics.motion.planning.trial import Trial, make_trial
from dvrk_kinematics.motion.segments import Segment, TipSegment
from dvrk_kinematics.motion.tolerances import (
    POSITION_TOLERANCE_M,
    RELATIVE_SLACK,
    ROTATION_TOLERANCE_RAD,
)

__all__ = ["REASONS", "ROTATION_TOLERANCE_RAD", "Prover", "Refusal"]


_AIM = 0.5
"""Fraction of the tolerances to aim for: between samples the error may be a little larger."""
_SHORTEST_S = 5e-4
"""Smallest spacing of knots."""
_ATTEMPTS = 40
"""Maximum number of times a segment is planned before it is refused."""
_FIRST = 0.6
"""Fraction of a segment's planning done after one attempt: about half need only one."""
_SLOWEST = 1000.0
"""Maximum factor by which a segment is slowed down."""
_ROOM = 1e-4
"""How much more than needed a segment is slowed down, so that the next trial fits."""

REASONS = {
    SplineQuantity.POSITION: PlanReason.POSITION_LIMIT,
    SplineQuantity.VELOCITY: PlanReason.VELOCITY_LIMIT,
    SplineQuantity.ACCELERATION: PlanReason.ACCELERATION_LIMIT,
}
"""Why a motion beyond a limit is refused."""


@dataclass(frozen=True, slots=True, eq=False)
class Refusal:
    """A segment that cannot be proven.

    Attributes:
        loss: When, why, and by which joint.
        trial: The last trial of it; None if the path could not be followed.
    """

    loss: Loss
    trial: Trial | None = None


class Prover:
    """Proves the segments of one motion.

    Args:
        arm: The arm.
        limits: Limits of its joints.
        cannula: How deep its wrist must be; None for no such rule.
        follower: Solves for the joint positions of a path.
        q_start: Where the motion starts (rad, m), shape (n,).
        is_smooth: Whether knots carry accelerations.
        slow_down: Whether to slow down what is too fast, rather than to refuse it.
        spacing_s: Longest time between two knots (s).
    """

    def __init__(
        self,
        arm: Arm,
        limits: MotionLimits,
        cannula: CannulaRule | None,
        follower: PathFollower,
        q_start: Array,
        is_smooth: bool,
        slow_down: bool,
        spacing_s: float,
    ) -> None:
        self._arm = arm
        self._limits = limits
        self._cannula = cannula
        self._follower = follower
        self._q_start = q_start
        self._is_smooth = is_smooth
        self._slow_down = slow_down
        self._spacing_s = spacing_s
        self.slowed_for = ""
        """What has needed the most slowing down so far."""
        self._slowest = 1.0

    def prove(
        self, segment: Segment, q_begin: Array, progress: PlanningProgress = UNWATCHED
    ) -> Trial | Refusal:
        """Plan one segment.

        Args:
            segment: The segment as requested.
            q_begin: Joint positions at its start (rad, m), shape (n,).
            progress: Receives progress, and may end planning.
        """
        times_ns = make_knot_times(segment, self._spacing_s)
        last: Trial | None = None
        for number in range(_ATTEMPTS):
            trial = make_trial(
                self._arm,
                segment,
                times_ns,
                q_begin,
                self._follower,
                self._is_smooth,
                progress.attempt(number, _FIRST),
            )
            if isinstance(trial, Loss):
                return Refusal(trial, last)
            better = self._improve(trial)
            if better is None:
                shallow = self._find_shallow(trial, q_begin)
                return trial if shallow is None else Refusal(shallow, trial)
            if isinstance(better, Loss):
                return Refusal(better, trial)
            segment, times_ns = better
            last = trial
        return Refusal(Loss(0.0, PlanReason.DEVIATION, detail="no end to improving"), last)

    def _improve(self, trial: Trial) -> tuple[Segment, Nanoseconds] | Loss | None:
        """What to try next, why it cannot be improved, or None if no improvement is needed."""
        pieces = _find_pieces(trial)
        if pieces is not None and not self._is_too_fast(trial):
            denser = split_knots(trial.times_ns, pieces, _SHORTEST_S)
            if denser is not None:
                return trial.segment, denser
        excess = self._find_excess(trial)
        if excess is not None:
            factor = self._find_factor(trial, excess)
            if factor is None:
                return self._as_loss(excess, trial)
            slower = trial.segment.slowed(factor)
            self._note(slower, excess)
            return slower, make_knot_times(slower, self._spacing_s)
        return _find_deviation(trial)

    def _find_excess(self, trial: Trial) -> Excess | None:
        """The limit that a trial violates.

        A joint that is outside may come back. It may be no farther out than at the start of the
        segment, so it does not leave the limits again once it is inside.
        """
        begin = trial.spline.position[0]
        excess = find_excess(trial.extremes, self._limits, begin)
        return find_relapse(trial.spline, self._limits) if excess is None else excess

    def _is_too_fast(self, trial: Trial) -> bool:
        """Whether the velocities at the knots, which are exact, exceed the limits."""
        speeds = np.abs(trial.spline.velocity).max(axis=0)
        return bool((speeds > self._limits.velocity * (1.0 + RELATIVE_SLACK)).any())

    def _find_factor(self, trial: Trial, excess: Excess) -> float | None:
        """The factor to slow down by; None if that would not help."""
        if not self._slow_down or excess.quantity is SplineQuantity.POSITION:
            return None
        return self._find_slowing(trial)

    def _find_slowing(self, trial: Trial) -> float | None:
        """The slowdown at which a trial keeps all speeds and accelerations; None if too slow."""
        found = trial.extremes
        speed = float((found.speed / self._limits.velocity).max())
        acceleration = float((found.acceleration / self._limits.acceleration).max())
        factor = max(speed, sqrt(acceleration)) * (1.0 + _ROOM)
        slowed_by, duration_s = trial.segment.slowed_by, trial.segment.duration_s
        return (
            factor if slowed_by * factor <= _SLOWEST and duration_s * factor <= LONGEST_S else None
        )

    def _advise(self, trial: Trial) -> str:
        """What to do about a joint that is too fast."""
        factor = self._find_slowing(trial)
        if factor is None:
            return "not even slow_down helps: it would take too long"
        return (
            f"this step fits {_round_up(factor)} times slower: set slow_down to true, in the goal "
            "or in PlanOptions, or ask for less speed and acceleration"
        )

    def _note(self, segment: Segment, excess: Excess) -> None:
        if segment.slowed_by > self._slowest:
            self._slowest = segment.slowed_by
            what = f"{excess.quantity.value} of {excess.breach.joint}"
            self.slowed_for = f"{what} in step {segment.step}"

    def _find_shallow(self, trial: Trial, q_begin: Array) -> Loss | None:
        """Where the wrist comes too near to the remote centre.

        A path of the tip must not bring the wrist farther out than where the path began; a joint
        move that goes with such a path, not farther out than where the motion started.
        """
        rule = self._cannula
        start = q_begin if isinstance(trial.segment, TipSegment) else self._q_start
        if rule is None or not rule.forbids(trial.extremes.lowest, start):
            return None
        # Where the rule is first broken; between two samples, where it is nearest to being broken.
        row = int(np.argmin(trial.played.q[:, rule.joint]))
        for k, q in enumerate(trial.played.q):
            check_in()
            if rule.forbids(q, start):
                row = k
                break
        return Loss(
            float(trial.grid.t[row]),
            PlanReason.IN_CANNULA,
            Breach(
                self._limits.names[rule.joint],
                rule.depth(trial.extremes.lowest),
                rule.min_depth_m,
            ),
            "depth of the wrist beyond the remote centre, m",
        )

    def _as_loss(self, excess: Excess, trial: Trial) -> Loss:
        joint, value, limit = excess.breach
        j = self._limits.names.index(joint)
        if excess.quantity is SplineQuantity.POSITION:
            q = trial.played.q[:, j]
            row = int(np.argmax(q) if value > limit else np.argmin(q))
        else:
            is_speed = excess.quantity is SplineQuantity.VELOCITY
            rates = trial.played.qd if is_speed else trial.played.qdd
            row = int(np.argmax(np.abs(rates[:, j])))
        at = float(trial.grid.t[row])
        reason = REASONS[excess.quantity]
        advice = "" if excess.quantity is SplineQuantity.POSITION else self._advise(trial)
        return Loss(at, reason, excess.breach, advice)


def _round_up(factor: float) -> str:
    """A sufficient factor with two decimals."""
    return f"{ceil(100.0 * factor) / 100.0:.2f}"


def _find_pieces(trial: Trial) -> npt.NDArray[np.int64] | None:
    """How many pieces to split each interval into; None if what is played is close enough."""
    off = _relative_deviation(trial)
    if float(off.max()) <= _AIM:
        return None
    worst = np.zeros(len(trial.times_ns) - 1)
    np.maximum.at(worst, trial.grid.interval, off)
    # The error of a cubic falls with the fourth power of its length.
    return np.ceil(np.clip((2.0 * worst / _AIM) ** 0.25, 1.0, 8.0)).astype(np.int64)


def _relative_deviation(trial: Trial) -> Array:
    """How far what is played is from the exact path, as a fraction of what is allowed."""
    return np.maximum(
        trial.played.position_deviation / POSITION_TOLERANCE_M,
        trial.played.rotation_deviation / ROTATION_TOLERANCE_RAD,
    )


def _find_deviation(trial: Trial) -> Loss | None:
    off = _relative_deviation(trial)
    row = int(np.argmax(off))
    if off[row] <= 1.0:
        return None
    played = trial.played
    return Loss(
        float(trial.grid.t[row]),
        PlanReason.DEVIATION,
        Breach("", float(played.position_deviation[row]), POSITION_TOLERANCE_M),
        f"m; {played.rotation_deviation[row]:.3g} rad, allowed {ROTATION_TOLERANCE_RAD:g}; "
        f"smallest singular value {trial.singular_values[row]:.3g}",
    )

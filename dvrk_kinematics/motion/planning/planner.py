"""Plans a motion as a whole: solved, proven and knotted, or refused with the place and the reason.

docs/motion.md describes what a plan proves, and the wording of its refusals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dvrk_kinematics.errors import InvalidInput, PlanReason, PlanRefused
from dvrk_kinematics.geometry.arrays import Array, ArrayLike, frozen
from dvrk_kinematics.kinematics.arm import Arm
from dvrk_kinematics.kinematics.result import IkPolicy
from dvrk_kinematics.kinematics.validation import joint_array
from dvrk_kinematics.motion.cannula import CannulaRule
from dvrk_kinematics.motion.extremes import find_excess, find_extremes
from dvrk_kinematics.motion.limits import MotionLimits
from dvrk_kinematics.motion.moves import Move
from dvrk_kinematics.motion.planning.flight_plan import FlightPlan
from dvrk_kinematics.motion.planning.knots import KNOT_SPACING_S, check_duration
from dvrk_kinematics.motion.planning.make_path import make_path
from dvrk_kinematics.motion.planning.path_follower import PathFollower
from dvrk_kinematics.motion.planning.progress import UNWATCHED, PlanningProgress
from dvrk_kinematics.motion.planning.prover import REASONS, Prover, Refusal
from dvrk_kinematics.motion.planning.summarise import summarise, summarise_rest
from dvrk_kinematics.motion.planning.timed_path import TimedPath
from dvrk_kinematics.motion.planning.trial import Trial
from dvrk_kinematics.motion.segments import JointSegment, Segment, TipSegment
from dvrk_kinematics.motion.spline import Spline
from dvrk_kinematics.motion.timing.speeds import find_scaling

__all__ = ["Plan", "PlanOptions", "Planner", "plan_motion"]


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """How to plan.

    Attributes:
        scaling: Time scaling of moves: "trapezoid", "quintic", "hyperbolic" or "normalised".
        policy: "exact", or "position_first": orientation as near as the limits allow.
        slow_down: Slow down what would be too fast for a joint, instead of refusing it.
        max_knots: Maximum number of knots in a goal.

    Raises:
        InvalidInput: The policy does not exist, or fewer than 2 knots are allowed.
        UnknownName: The scaling is unknown.
    """

    scaling: str = "trapezoid"
    policy: IkPolicy = IkPolicy.EXACT
    slow_down: bool = False
    max_knots: int = 10_000

    def __post_init__(self) -> None:
        find_scaling(self.scaling)
        try:
            object.__setattr__(self, "policy", IkPolicy(self.policy))
        except ValueError:
            valid = ", ".join(item.value for item in IkPolicy)
            raise InvalidInput("policy", f"must be one of {valid}, is {self.policy!r}") from None
        if self.max_knots < 2:
            raise InvalidInput("max_knots", f"must be at least 2, is {self.max_knots}")


_FULL = 0.8
"""Fraction of the knots that even spacing may use; phase changes and densifying get the rest."""
_ROUNDS = 4
"""How often the spacing is widened for a motion that has too many knots."""
_FIRST = 0.95
"""Fraction of the planning that is done once all segments are proven: hardly any motion needs a
second round."""


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """A proven motion.

    Attributes:
        joint_names: The joints, in the order of the columns.
        times_ns: When each knot is, from the start (ns), shape (K,).
        spline: The knots, ready to be sent: positions and velocities, and accelerations where the
            motion is twice continuously differentiable; and what lies between them.
        path: The exact path.
        flight_plan: What was found.
        is_cartesian: Whether the tip follows a path anywhere, so that the cannula rule applies.
    """

    joint_names: tuple[str, ...]
    times_ns: npt.NDArray[np.int64]
    spline: Spline
    path: TimedPath
    flight_plan: FlightPlan
    is_cartesian: bool

    @property
    def duration_s(self) -> float:
        """How long it takes (s)."""
        return self.spline.end


class Planner:
    """The state of one motion during planning.

    Args:
        arm: The arm.
        q_start: Its joint positions at the start (rad, m), shape (n,).
        limits: Limits of the joints.
        cannula: How deep its wrist must be; None for no such rule.
        options: How to plan.

    Attributes:
        q_start: The same.
    """

    def __init__(
        self,
        arm: Arm,
        q_start: Array,
        limits: MotionLimits,
        cannula: CannulaRule | None,
        options: PlanOptions,
    ) -> None:
        self.q_start = q_start
        self._arm = arm
        self._limits = limits
        self._cannula = cannula
        self._options = options
        self._segments: tuple[Segment, ...] = ()
        self._trials: list[Trial] = []
        self._slowed_for = ""

    def plan(self, segments: tuple[Segment, ...], progress: PlanningProgress = UNWATCHED) -> Plan:
        """Prove all segments; with wider spacing if there are too many knots.

        Args:
            segments: What to plan.
            progress: Receives progress, and may end planning.

        Raises:
            PlanRefused: With the reason, the place, the joint, and what was found so far.
            InvalidInput: It takes too long to be planned.
        """
        self._segments = segments
        duration = sum(segment.duration_s for segment in segments)
        check_duration(duration)
        spacing = max(KNOT_SPACING_S, duration / (_FULL * self._options.max_knots))
        for number in range(_ROUNDS):
            self._prove(spacing, progress.attempt(number, _FIRST))
            knots = sum(len(trial.times_ns) - 1 for trial in self._trials) + 1
            if knots <= self._options.max_knots:
                return self._assemble()
            spacing *= knots / (_FULL * self._options.max_knots)
        raise PlanRefused(
            PlanReason.TOO_MANY_KNOTS,
            self._segments[0].step,
            0.0,
            0.0,
            value=knots,
            limit=self._options.max_knots,
        )

    def _prove(self, spacing_s: float, progress: PlanningProgress) -> None:
        options = self._options
        is_cartesian = any(isinstance(segment, TipSegment) for segment in self._segments)
        is_exact = options.policy is IkPolicy.EXACT
        prover = Prover(
            self._arm,
            self._limits,
            self._cannula if is_cartesian else None,
            PathFollower(self._arm, self._limits.position, options.policy),
            self.q_start,
            is_exact and all(segment.is_smooth for segment in self._segments),
            options.slow_down,
            spacing_s,
        )
        self._trials, q = [], self.q_start
        duration = whole = sum(segment.duration_s for segment in self._segments)
        done = 0.0
        for segment in self._segments:
            until = done + segment.duration_s / whole
            proven = prover.prove(segment, q, progress.part(done, until))
            done = until
            self._slowed_for = prover.slowed_for
            if isinstance(proven, Refusal):
                raise self._refuse(segment, proven)
            self._trials.append(proven)
            # Segments that were slowed down may make the motion too long.
            duration += float(proven.times_ns[-1]) * 1e-9 - segment.duration_s
            check_duration(duration)
            q = proven.spline.position[-1]

    def _path(self) -> TimedPath:
        """The exact path, with the times of the proven segments."""
        planned = [trial.segment for trial in self._trials]
        segments = [*planned, *self._segments[len(planned) :]]
        lengths = [trial.times_ns[-1] * 1e-9 for trial in self._trials]
        lengths += [segment.duration_s for segment in self._segments[len(planned) :]]
        starts = np.concatenate([[0.0], np.cumsum(lengths)])
        return TimedPath(segments, starts, self._arm.forward(self.q_start))

    def _refuse(self, segment: Segment, refusal: Refusal) -> PlanRefused:
        loss = refusal.loss
        slowed_by = 1.0 if refusal.trial is None else refusal.trial.segment.slowed_by
        start = sum(float(trial.times_ns[-1]) for trial in self._trials) * 1e-9
        # A segment that was slowed down on trial has its place on its own, longer time.
        time_s = start + min(loss.time_s / slowed_by, segment.duration_s * (1.0 - 1e-12))
        step, distance, fraction = self._path().place(time_s)
        refused = PlanRefused(
            loss.reason,
            step,
            distance,
            fraction,
            *loss.breach,
            loss.detail,
        )
        refused.flight_plan = self.describe(str(refused), refusal.trial)
        return refused

    def describe(self, reason: str = "", last: Trial | None = None) -> FlightPlan:
        """The flight plan of what was checked so far."""
        trials = [*self._trials, *([] if last is None else [last])]
        if not trials:
            return summarise_rest(self._arm, self.q_start, self._cannula, reason)
        path = self._path()
        return summarise(
            trials,
            self._limits,
            self._cannula,
            lambda time_s: path.place(time_s)[2],
            self._slowed_for,
            reason,
        )

    def _assemble(self) -> Plan:
        start_ns, times = 0, [np.zeros(1, dtype=np.int64)]
        position, velocity = [self.q_start[None]], [np.zeros((1, len(self.q_start)))]
        acceleration = [np.zeros((1, len(self.q_start)))]
        for trial in self._trials:
            times.append(trial.times_ns[1:] + start_ns)
            start_ns += int(trial.times_ns[-1])
            position.append(trial.spline.position[1:])
            velocity.append(trial.spline.velocity[1:])
            if trial.spline.acceleration is not None:
                acceleration.append(trial.spline.acceleration[1:])
        times_ns = np.concatenate(times)
        times_ns.setflags(write=False)
        is_smooth = len(acceleration) > 1
        spline = Spline(
            frozen(times_ns * 1e-9),
            frozen(np.concatenate(position)),
            frozen(np.concatenate(velocity)),
            frozen(np.concatenate(acceleration)) if is_smooth else None,
        )
        self._check(spline)
        is_cartesian = any(isinstance(segment, TipSegment) for segment in self._segments)
        return Plan(
            self._arm.joint_names,
            times_ns,
            spline,
            self._path(),
            self.describe(),
            is_cartesian,
        )

    def _check(self, spline: Spline) -> None:
        """Check all knots once more as they will be sent: proofs of parts are not enough."""
        excess = find_excess(find_extremes(spline), self._limits, self.q_start)
        if excess is not None:
            raise PlanRefused(
                REASONS[excess.quantity],
                self._segments[0].step,
                0.0,
                0.0,
                *excess.breach,
                "somewhere in the motion as a whole",
            )


_READING = 0.2
"""Fraction of the planning done before anything is proven."""


def plan_motion(
    arm: Arm,
    motion: Sequence[Move] | Sequence[Segment],
    q_start: ArrayLike,
    limits: MotionLimits,
    cannula: CannulaRule | None = None,
    options: PlanOptions | None = None,
    *,
    progress: PlanningProgress = UNWATCHED,
) -> Plan:
    """Plan moves or segments from a place where the arm is at rest.

    Args:
        arm: The arm.
        motion: Moves, or segments from ``make_segments``, at least one.
        q_start: Joint positions at the start (rad, m), shape (n,).
        limits: Limits of the joints.
        cannula: How deep the wrist must be; None for no such rule.
        options: How to plan.
        progress: Receives progress, and may end planning.

    Raises:
        PlanRefused: With the reason, the place, the joint, and what was found so far.
        InvalidInput: An argument that makes no sense for any arm: NaN, no moves, a wrong shape.
        CollinearPoints: An arc whose points are collinear.
        PlanningCancelled: The watcher ended it.
        PlanningTimeout: It took longer than the watcher allows.
    """
    options = PlanOptions() if options is None else options
    q = joint_array(q_start, arm.joint_names, "q_start")
    if q.ndim != 1:
        raise InvalidInput("q_start", f"needs shape ({len(arm.joint_names)},), got {q.shape}")
    planner = Planner(arm, frozen(q), limits, cannula, options)
    try:
        with progress.in_force():
            read = progress.part(0.0, _READING)
            segments = _read(motion, planner.q_start, arm, limits, options, read)
            return planner.plan(segments, progress.part(_READING, 1.0))
    except PlanRefused as refused:
        if refused.flight_plan is None:
            refused.flight_plan = planner.describe(str(refused))
        raise


def _read(
    motion: Sequence[Move] | Sequence[Segment],
    q_start: Array,
    arm: Arm,
    limits: MotionLimits,
    options: PlanOptions,
    progress: PlanningProgress,
) -> tuple[Segment, ...]:
    segments = [one for one in motion if isinstance(one, (TipSegment, JointSegment))]
    if segments and len(segments) == len(motion):
        return tuple(segments)
    moves = [one for one in motion if not isinstance(one, (TipSegment, JointSegment))]
    if len(moves) != len(motion):
        raise InvalidInput("motion", "holds moves and segments; give one kind")
    return make_path(moves, q_start, arm, limits, options.scaling, options.policy, progress)

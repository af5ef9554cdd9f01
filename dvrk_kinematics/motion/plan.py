"""Plans a motion as a whole: solved, proven and knotted, or refused with the place and the reason.

What a plan proves, and the words of its refusals, stand in docs/motion.md.
"""

from __future__ import annotations

from collections.abc import Sequence

from dvrk_kinematics.errors import InvalidInput, PlanRefused
from dvrk_kinematics.geometry.arrays import Array, ArrayLike, frozen
from dvrk_kinematics.kinematics.arm import Arm
from dvrk_kinematics.kinematics.validation import joint_array
from dvrk_kinematics.motion.cannula import CannulaRule
from dvrk_kinematics.motion.motion_limits import MotionLimits
from dvrk_kinematics.motion.move_paths import make_path
from dvrk_kinematics.motion.moves import Move
from dvrk_kinematics.motion.plan_options import PlanOptions
from dvrk_kinematics.motion.planner import Plan, Planner
from dvrk_kinematics.motion.planning_progress import UNWATCHED, PlanningProgress
from dvrk_kinematics.motion.segments import JointSegment, Segment, TipSegment

__all__ = ["Plan", "PlanOptions", "plan_motion"]

_READING = 0.2
"""Part of the planning that goes by before anything is proven."""


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
        q_start: Where the joints are (rad, m), shape (n,).
        limits: What the joints may do.
        cannula: How deep the wrist must be; None to have no such rule.
        options: How to plan.
        progress: Who hears how far it is, and may end it.

    Raises:
        PlanRefused: With the reason, the place, the joint, and what was found until then.
        InvalidInput: Something no arm could make sense of: NaN, no moves, a wrong shape.
        CollinearPoints: An arc whose points are on a line.
        PlanningCancelled: Whoever watches ended it.
        PlanningTimeout: It took longer than whoever watches allows.
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

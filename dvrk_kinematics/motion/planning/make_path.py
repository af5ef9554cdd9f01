"""Turns moves into segments, one after the other, from the current joint positions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dvrk_kinematics.errors import InvalidInput, PlanReason, PlanRefused
from dvrk_kinematics.geometry.arrays import Array, ArrayLike
from dvrk_kinematics.kinematics.arm import Arm
from dvrk_kinematics.kinematics.result import IkPolicy, IkResult
from dvrk_kinematics.kinematics.tolerances import LIMIT_TOLERANCE
from dvrk_kinematics.kinematics.validation import joint_array
from dvrk_kinematics.motion.limits import MotionLimits, make_allowed
from dvrk_kinematics.motion.moves import (
    Move,
    MoveAbsJ,
    MoveC,
    MoveJ,
    MoveL,
    find_target,
    find_via,
)
from dvrk_kinematics.motion.paths.arc import Arc
from dvrk_kinematics.motion.paths.blend import BlendedLines
from dvrk_kinematics.motion.paths.path import Line, Path
from dvrk_kinematics.motion.planning.knots import check_duration, make_grid, make_knot_times
from dvrk_kinematics.motion.planning.path_follower import Loss, PathFollower
from dvrk_kinematics.motion.planning.progress import UNWATCHED, PlanningProgress
from dvrk_kinematics.motion.segments import JointSegment, Segment, TipSegment
from dvrk_kinematics.motion.timing.speeds import TipSpeeds, find_scaling, time_path
from dvrk_kinematics.motion.timing.time_joints import time_joints
from dvrk_kinematics.motion.tolerances import SAME_POSE

__all__ = ["make_path"]


def make_path(
    moves: Sequence[Move],
    q_start: ArrayLike,
    arm: Arm,
    limits: MotionLimits,
    scaling: str = "trapezoid",
    policy: IkPolicy = IkPolicy.EXACT,
    progress: PlanningProgress = UNWATCHED,
) -> tuple[Segment, ...]:
    """Make the segments of some moves. Moves that are already done have none.

    Args:
        moves: At least one move.
        q_start: Joint positions at the start (rad, m), shape (n,).
        arm: The arm.
        limits: Limits of its joints, for joint moves.
        scaling: Name of the time scaling.
        policy: What to give up where a pose is outside the limits.
        progress: Receives progress, and may end planning.

    Raises:
        InvalidInput: There are no moves, a radius does not fit, joints do not match the arm, or
            the motion takes too long to be planned.
        CollinearPoints: An arc whose points are collinear.
        PlanRefused: A joint move to a pose that cannot be reached, or beyond the limits.
        UnknownName: The scaling is unknown.
    """
    if not moves:
        raise InvalidInput("moves", "is empty")
    find_scaling(scaling)
    maker = _Maker(arm, joint_array(q_start, arm.joint_names, "q_start"), limits, scaling, policy)
    k = 0
    while k < len(moves):
        progress.step(k, len(moves))
        k = maker.add(moves, k)
    return tuple(maker.segments)


class _Maker:
    """Where the arm is after the moves read so far, and their segments."""

    def __init__(
        self, arm: Arm, q_start: Array, limits: MotionLimits, scaling: str, policy: IkPolicy
    ) -> None:
        self._arm = arm
        self._limits = limits
        self._scaling = scaling
        self._follower = PathFollower(arm, limits.position, policy)
        self._q = q_start
        self._T = arm.forward(q_start)
        self._followed = 0
        self._duration_s = 0.0
        self.segments: list[Segment] = []

    def add(self, moves: Sequence[Move], k: int) -> int:
        """Read move k, with those blended with it; return the next one to read."""
        move = moves[k]
        if isinstance(move, MoveAbsJ):
            if len(move.jp) != len(self._q):
                raise InvalidInput(
                    "jp", f"step {k}: has {len(move.jp)} joints, must have {len(self._q)}"
                )
            self._add_joint_move(move, move.jp, k)
        elif isinstance(move, MoveJ):
            T = find_target(move, self._T)
            self._catch_up()
            self._add_joint_move(move, self._reach(T, k), k)
        elif isinstance(move, MoveC):
            arc = Arc(self._T, find_via(move, self._T), find_target(move, self._T))
            self._add_path(arc, arc.T_end, move.speeds, k)
        else:
            return self._add_lines(moves, k)
        return k + 1

    def _add_lines(self, moves: Sequence[Move], k: int) -> int:
        """Read a MoveL, with those blended with it."""
        poses, radii, speeds, last = [self._T], [], [], k
        while True:
            move = moves[last] if last < len(moves) else None
            if not isinstance(move, MoveL):
                raise InvalidInput(
                    "blend_radius", f"step {last - 1}: corners are rounded between MoveL only"
                )
            poses.append(find_target(move, poses[-1]))
            speeds.append(move.speeds)
            last += 1
            if move.blend_radius == 0.0:
                break
            radii.append(move.blend_radius)
        path: Path = BlendedLines(np.array(poses), radii) if radii else Line(*poses)
        self._add_path(path, poses[-1], _slowest(speeds), k)
        return last

    def _add_path(self, path: Path, T_end: Array, speeds: TipSpeeds, step: int) -> None:
        if path.length > SAME_POSE or path.angle > SAME_POSE:
            scaling = time_path(self._scaling, path, speeds)
            self._append(TipSegment(path, scaling, step))
            self._T = T_end

    def _add_joint_move(self, move: MoveAbsJ | MoveJ, q_end: Array, step: int) -> None:
        self._catch_up()
        self._check_target(q_end, step)
        if np.abs(q_end - self._q).max() > SAME_POSE:
            scalings = time_joints(move, q_end - self._q, self._limits, self._scaling)
            self._append(JointSegment(self._arm, self._q, q_end, scalings, step))
            self._q, self._T = q_end, self._arm.forward(q_end)
        self._followed = len(self.segments)

    def _append(self, segment: Segment) -> None:
        """Add a segment, unless the motion gets too long to be checked everywhere."""
        self._duration_s += segment.duration_s
        check_duration(self._duration_s)
        self.segments.append(segment)

    def _check_target(self, q_end: Array, step: int) -> None:
        """Refuse joint positions beyond the limits, before checking the way there."""
        allowed = make_allowed(self._limits.position, self._q)
        q = np.clip(q_end, *allowed)
        beyond = np.abs(q_end - q)
        j = int(np.argmax(beyond))
        if beyond[j] <= LIMIT_TOLERANCE:
            return
        tip = self._arm.forward(q)[:3, 3]
        distance = sum(one.length for one in self.segments)
        distance += float(np.linalg.norm(tip - self._T[:3, 3]))
        raise PlanRefused(
            PlanReason.POSITION_LIMIT,
            step,
            distance,
            1.0,
            self._arm.joint_names[j],
            float(q_end[j]),
            float(q[j]),
            "the target",
        )

    def _catch_up(self) -> None:
        """Follow the paths since the last joint move: only that shows where the joints end."""
        for segment in self.segments[self._followed :]:
            if isinstance(segment, TipSegment):
                t = make_grid(make_knot_times(segment)).t
                followed = self._follower.follow(segment, t, self._q)
                if isinstance(followed, Loss):
                    # The prover finds the same, and reports where on the path.
                    raise self._refuse(segment, followed)
                self._q = followed.q[-1]
        self._followed = len(self.segments)

    def _refuse(self, segment: TipSegment, loss: Loss) -> PlanRefused:
        before = self.segments[: self.segments.index(segment)]
        distance = sum(one.length for one in before)
        distance += float(segment.travel(np.array([loss.time_s]))[0])
        whole = sum(one.length for one in self.segments)
        return PlanRefused(
            loss.reason,
            segment.step,
            distance,
            distance / whole if whole > SAME_POSE else 0.0,
            *loss.breach,
            loss.detail,
        )

    def _reach(self, T: Array, step: int) -> Array:
        """Joint positions for the target of a joint move."""
        policy = self._follower.policy
        result = self._arm.inverse(T, seed=self._q, policy=policy)
        if result.ok:
            return result.q
        distance = sum(one.length for one in self.segments)
        distance += float(np.linalg.norm(T[:3, 3] - self._T[:3, 3]))
        raise _refuse_target(result, step, distance)


def _refuse_target(result: IkResult, step: int, distance: float) -> PlanRefused:
    if result.violations and result.position_error < SAME_POSE:
        others = ", ".join(v.joint for v in result.violations[1:])
        detail = f"the target; also outside: {others}" if others else "the target"
        breach = result.violations[0].breach
        return PlanRefused(PlanReason.POSITION_LIMIT, step, distance, 1.0, *breach, detail)
    detail = (
        f"the target; the nearest pose misses by {result.position_error:.3g} m and "
        f"{result.rotation_error:.3g} rad"
    )
    return PlanRefused(PlanReason.UNREACHABLE, step, distance, 1.0, detail=detail)


def _slowest(speeds: Sequence[TipSpeeds]) -> TipSpeeds:
    return TipSpeeds(
        min(one.speed for one in speeds),
        min(one.acceleration for one in speeds),
        min(one.angular_speed for one in speeds),
        min(one.angular_acceleration for one in speeds),
    )

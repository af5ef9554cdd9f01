"""Recordings: a series of moves or taught points, for replay on one arm or several.

    lesson = Program("lesson", arm.joint_names).teach(q_here).teach(q_there)
    plan_recording(arm, lesson, q_now, limits)

A recording never changes; recording a step returns a longer one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from dvrk_kinematics.errors import DvrkError, InvalidInput, ReplayRefused
from dvrk_kinematics.geometry.arrays import ArrayLike, as_floats
from dvrk_kinematics.kinematics.arm import Arm
from dvrk_kinematics.motion.cannula import CannulaRule, make_cannula_rule
from dvrk_kinematics.motion.limits import MotionLimits, make_motion_limits
from dvrk_kinematics.motion.moves import Move, MoveAbsJ, repeat_moves
from dvrk_kinematics.motion.planning.planner import Plan, PlanOptions, plan_motion
from dvrk_kinematics.motion.planning.progress import UNWATCHED, PlanningProgress

__all__ = ["Program", "Replay", "plan_recording", "plan_together"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """A series of moves.

    Attributes:
        name: Letters, digits, _ and -, so that it can be a file name.
        joint_names: The joints of its taught points, in order; empty if it holds only poses, so
            that any arm can replay it.
        steps: The moves, in order.

    Raises:
        InvalidInput: The name cannot be a file name, or a taught point has the wrong number of
            joints.
    """

    name: str
    joint_names: tuple[str, ...] = ()
    steps: tuple[Move, ...] = ()

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            reason = f"must be 1 to 64 letters, digits, _ or -, is {self.name!r}"
            raise InvalidInput("name", reason)
        for i, step in enumerate(self.steps):
            if isinstance(step, MoveAbsJ) and len(step.jp) != len(self.joint_names):
                reason = f"has {len(step.jp)} joints, the recording {len(self.joint_names)}"
                raise InvalidInput(f"steps[{i}]", reason)

    def add(self, step: Move) -> Program:
        """Record a move.

        Raises:
            InvalidInput: The number of joint positions is wrong.
        """
        return replace(self, steps=(*self.steps, step))

    def teach(self, q: ArrayLike, speed: float = 0.2, acceleration: float = 0.2) -> Program:
        """Record the current joint positions, as at the press of a button.

        Args:
            q: Joint positions (rad, m), shape (n,).
            speed: Fraction of the joints' speeds to use on the way there, in (0, 1].
            acceleration: Fraction of their accelerations.

        Raises:
            InvalidInput: Not one finite number per joint, or a fraction outside (0, 1].
        """
        return self.add(MoveAbsJ(as_floats(q, "q"), speed, acceleration))


def plan_recording(
    arm: Arm,
    recording: Program,
    q_start: ArrayLike,
    limits: MotionLimits,
    cannula: CannulaRule | None = None,
    options: PlanOptions | None = None,
    *,
    repeat: int = 1,
    progress: PlanningProgress = UNWATCHED,
) -> Plan:
    """Plan a whole replay, from the position where the arm is at rest.

    Args:
        arm: The arm.
        recording: What to replay.
        q_start: Joint positions at the start (rad, m), shape (n,).
        limits: Limits of the joints.
        cannula: How deep the wrist must be; None for no such rule.
        options: How to plan.
        repeat: How many times.
        progress: Receives progress, and may end planning.

    Raises:
        InvalidInput: The recording is empty, has other joints, or is repeated less than once.
        PlanRefused: A step cannot be done; reports which and where.
        PlanningCancelled: The watcher ended it.
        PlanningTimeout: It took longer than the watcher allows.
    """
    if not recording.steps:
        raise InvalidInput("recording", f"{recording.name} holds no steps")
    has_points = any(isinstance(step, MoveAbsJ) for step in recording.steps)
    if has_points and recording.joint_names != arm.joint_names:
        theirs, ours = ", ".join(recording.joint_names), ", ".join(arm.joint_names)
        reason = f"{recording.name} was taught on joints {theirs}; the arm has {ours}"
        raise InvalidInput("recording", reason)
    moves = repeat_moves(recording.steps, repeat)
    return plan_motion(arm, moves, q_start, limits, cannula, options, progress=progress)


class Replay(NamedTuple):
    """One arm's part in a replay on several.

    Attributes:
        arm: The arm.
        q_start: Its joint positions at the start (rad, m), shape (n,).
        recording: What it replays.
        limits: Limits of its joints; by default those of its model.
    """

    arm: Arm
    q_start: ArrayLike
    recording: Program
    limits: MotionLimits | None = None


def plan_together(
    parts: Mapping[str, Replay], options: PlanOptions | None = None, *, repeat: int = 1
) -> dict[str, Plan]:
    """Plan a replay on several arms that start at the same time.

    Each plan begins at time 0, the common start; none is stretched, so each arm ends when its own
    plan is done. The arms are planned independently: collisions are not checked.

    Args:
        parts: What each arm does, by the arm's name.
        options: How to plan, for all.
        repeat: How many times, for all.

    Returns:
        The plans by the arm's name; all or none.

    Raises:
        InvalidInput: There are no arms.
        ReplayRefused: An arm cannot do its part; reports which and why.
    """
    if not parts:
        raise InvalidInput("parts", "there is no arm")
    plans = {}
    for name, (arm, q_start, recording, limits) in parts.items():
        try:
            plans[name] = plan_recording(
                arm,
                recording,
                q_start,
                make_motion_limits(arm) if limits is None else limits,
                make_cannula_rule(arm),
                options,
                repeat=repeat,
            )
        except DvrkError as error:
            raise ReplayRefused(name, error) from error
    return plans

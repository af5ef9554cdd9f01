"""Turns the goals of trajectory_server into plans."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dvrk_kinematics.errors import InvalidInput, UnknownName, shorten
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.arm import Arm
from dvrk_kinematics.kinematics.result import IkPolicy
from dvrk_kinematics.motion.cannula import CannulaRule
from dvrk_kinematics.motion.figures.block_o import PRESETS, trace_figure
from dvrk_kinematics.motion.figures.figure import Figure, check_scale
from dvrk_kinematics.motion.figures.placement import Placement, measure_placement, place
from dvrk_kinematics.motion.limits import MotionLimits
from dvrk_kinematics.motion.moves import Frame, MoveAbsJ, repeat_moves
from dvrk_kinematics.motion.planning.planner import Plan, PlanOptions, plan_motion
from dvrk_kinematics.motion.planning.progress import PlanningProgress
from dvrk_kinematics.motion.programs.program import Program, plan_recording
from dvrk_kinematics.motion.programs.program_file import load_recording, save_recording
from dvrk_kinematics.motion.timing.speeds import TipSpeeds
from dvrk_kinematics.ros.common.conversions import pose_to_matrix
from dvrk_kinematics.ros.common.user_path import user_path
from dvrk_kinematics.ros.servers.motion_messages import (
    FindFrame,
    read_figure,
    read_options,
    read_repeat,
    read_speeds,
    read_steps,
)

__all__ = ["Job", "JobPlanner", "PlanFrom", "frame_or_base"]

_SAME = 1e-6
"""Joints closer than this to a figure's first corner need no approach (rad, m)."""
_PLACING = 0.5
"""Fraction of a figure's planning spent on its placement."""


@dataclass(frozen=True, slots=True)
class Job:
    """The planned motions of a goal.

    Attributes:
        plan: The requested motion.
        approach: The motion to its start; None if the arm is already there.
        placement: Where the figure lies; None for moves.
    """

    plan: Plan
    approach: Plan | None = None
    placement: Placement | None = None


PlanFrom = Callable[[Array, PlanningProgress], Job]
"""Plans a goal from joint positions at rest (rad, m), shape (n,)."""


@dataclass(frozen=True, slots=True)
class JobPlanner:
    """Plans goals for one arm.

    Attributes:
        arm: The arm.
        limits: What its joints may do.
        cannula: How deep the wrist must be; None for no rule.
        find_frame: Finds a frame on tf in the arm's base.
        folder: Where recordings are kept.
        max_knots: Maximum knots of a goal.
        speeds: Speeds of the tip for goals without their own.
        fraction: Fraction of the joints' speeds and accelerations for goals without their own.
    """

    arm: Arm
    limits: MotionLimits
    cannula: CannulaRule | None
    find_frame: FindFrame
    folder: Path
    max_knots: int
    speeds: TipSpeeds = field(default_factory=lambda: TipSpeeds(0.02, 0.05, 0.5, 1.0))
    fraction: float = 0.2

    def read_moves(self, goal: Any) -> PlanFrom:
        """Read a Move goal, with its frames as they are now.

        Args:
            goal: A Move.Goal.

        Returns:
            The function that plans it. It raises a DvrkError that reports what cannot be done,
            and where.

        Raises:
            DvrkError: The goal is invalid.
        """
        options = read_options(goal, self.max_knots)
        if goal.recording:
            return self._read_replay(goal, options)
        if not goal.steps:
            raise InvalidInput("steps", "there are none, and no recording")
        repeat = read_repeat(goal.repeat, len(goal.steps), self.max_knots)
        moves = read_steps(goal.steps, self.find_frame, self.speeds, self.fraction)
        recording = None
        if goal.record_as:
            recording = Program(goal.record_as, self.arm.joint_names, moves)

        def plan(q_start: Array, progress: PlanningProgress) -> Job:
            repeated = repeat_moves(moves, repeat)
            limits, cannula = self.limits, self.cannula
            job = Job(
                plan_motion(
                    self.arm, repeated, q_start, limits, cannula, options, progress=progress
                )
            )
            if recording is not None:
                self._save(recording)
            return job

        return plan

    def _read_replay(self, goal: Any, options: PlanOptions) -> PlanFrom:
        if goal.steps:
            raise InvalidInput("recording", "give either a recording or steps, not both")
        if goal.record_as:
            raise InvalidInput("record_as", "what is replayed is recorded already")
        recording = self._load(goal.recording)
        repeat = read_repeat(goal.repeat, len(recording.steps), self.max_knots)

        def plan(q_start: Array, progress: PlanningProgress) -> Job:
            return Job(
                plan_recording(
                    self.arm,
                    recording,
                    q_start,
                    self.limits,
                    self.cannula,
                    options,
                    repeat=repeat,
                    progress=progress,
                )
            )

        return plan

    def read_trace(self, goal: Any) -> PlanFrom:
        """Read a TraceBlockO goal; arguments, result and errors as in ``read_moves``."""
        figure = read_figure(goal.corners, goal.orientation)
        speeds = read_speeds(goal, PRESETS["a"])
        options = read_options(goal, self.max_knots)
        repeat = read_repeat(goal.repeat, len(figure.corners), self.max_knots)
        find_place = self._read_place(goal, figure)

        def plan(q_start: Array, progress: PlanningProgress) -> Job:
            placement = find_place(progress.part(0.0, _PLACING))
            segments = trace_figure(
                figure,
                placement.T_base_figure,
                placement.scale,
                speeds,
                scaling=options.scaling,
                repeat=repeat,
            )
            T_first = segments[0].pose(np.zeros(1))[0]
            first = self._first_corner(placement, T_first, q_start, options.policy)
            rest = progress.part(_PLACING, 1.0)
            planned = plan_motion(
                self.arm, segments, first, self.limits, self.cannula, options, progress=rest
            )
            return Job(planned, self._plan_approach(q_start, first), placement)

        return plan

    def _read_place(self, goal: Any, figure: Figure) -> Callable[[PlanningProgress], Placement]:
        """Return a function that finds where a figure lies."""
        depth = 0.0 if self.cannula is None else self.cannula.min_depth_m
        if goal.place:
            scale = check_scale(goal.scale) if goal.scale else None
            return lambda progress: place(
                self.arm, figure, scale, wrist_depth_m=depth, progress=progress
            )
        size, T = check_scale(goal.scale), self._figure_pose(goal.figure)
        return lambda _: measure_placement(self.arm, figure, T, size, wrist_depth_m=depth)

    def _figure_pose(self, stamped: Any) -> Array:
        T = pose_to_matrix(stamped.pose)
        frame = self.find_frame(stamped.header.frame_id)
        if isinstance(frame, str):
            if frame != "base":
                raise InvalidInput("figure", "its frame must be the base or a frame on tf")
            return T
        return np.asarray(frame @ T)

    def _first_corner(
        self, placement: Placement, T_first: Array, q_start: Array, policy: IkPolicy
    ) -> Array:
        """Joint positions at the first corner: those of the placement if the figure fits there.

        If it does not fit, the plan explains more than a margin can, but planning needs a
        reachable first corner.
        """
        if self.arm.limits.contains(placement.q_start):
            return placement.q_start
        solved = self.arm.inverse(T_first, seed=q_start, policy=policy)
        if not solved.ok:
            at = ", ".join(f"{value:.4f}" for value in T_first[:3, 3])
            reason = f"its first corner ({at}) m is out of reach: {solved.reason}"
            raise InvalidInput("figure", reason)
        return solved.q

    def _plan_approach(self, q_start: Array, first: Array) -> Plan | None:
        if np.abs(first - q_start).max() <= _SAME:
            return None
        move = MoveAbsJ(first, self.fraction, self.fraction)
        return plan_motion(
            self.arm, [move], q_start, self.limits, None, PlanOptions(max_knots=self.max_knots)
        )

    def _load(self, name: str) -> Program:
        file = self._file(name)
        if not file.is_file():
            known = sorted(path.stem for path in self.folder.glob("*.yaml"))
            raise UnknownName("recording", name, known or ("none yet",))
        return load_recording(file)

    def _save(self, recording: Program) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidInput("record_as", f"{self.folder} cannot be made: {error}") from error
        save_recording(recording, self._file(recording.name))

    def _file(self, name: str) -> Path:
        path = user_path(name, "recording")
        if path.suffix == ".yaml":
            return path if path.is_absolute() else self.folder / path
        if "/" in name or name in (".", ".."):
            reason = f"{shorten(name)!r} is neither a name nor a .yaml file"
            raise InvalidInput("recording", reason)
        return self.folder / f"{name}.yaml"


def frame_or_base(frame_id: str, base: str) -> Frame | None:
    """The frame that a frame_id denotes on its own; None if it needs a lookup."""
    if frame_id in ("", base):
        return "base"
    return "tool" if frame_id == "tool" else None

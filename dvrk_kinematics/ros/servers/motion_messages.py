"""Converts moves, figures and flight plans to and from messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from dvrk_kinematics_interfaces.msg import FlightPlan as FlightPlanMessage
from dvrk_kinematics_interfaces.msg import MotionStep
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.motion.figures.block_o import BLOCK_O
from dvrk_kinematics.motion.figures.figure import Figure, Orientation, read_orientation
from dvrk_kinematics.motion.moves import Frame, Move, MoveAbsJ, MoveC, MoveJ, MoveL
from dvrk_kinematics.motion.planning.flight_plan import FlightPlan
from dvrk_kinematics.motion.planning.planner import Plan, PlanOptions
from dvrk_kinematics.motion.timing.speeds import TipSpeeds
from dvrk_kinematics.ros.common.conversions import pose_to_matrix, to_flat
from dvrk_kinematics.ros.common.stamps import write_stamp

__all__ = [
    "FindFrame",
    "make_flight_plan",
    "make_trajectory",
    "read_figure",
    "read_options",
    "read_repeat",
    "read_speeds",
    "read_steps",
]

FindFrame = Callable[[str], Frame]
"""Maps a frame_id to the frame of a move's pose."""


_FAR = 1e6
"""Positions beyond this (m) are refused before any computation."""

_SPEEDS = (1e-30, 1e30)
"""Range of usable speeds and accelerations (SI, or fractions of 1)."""


def make_flight_plan(plan: FlightPlan) -> FlightPlanMessage:
    """The message of a flight plan; the fields have the same names."""
    return FlightPlanMessage(**{field.name: getattr(plan, field.name) for field in fields(plan)})


def make_trajectory(plan: Plan, names: Sequence[str], frame_id: str) -> JointTrajectory:
    """The knots of a plan as a message.

    Args:
        plan: The plan.
        names: The bridge's names of its joints.
        frame_id: The arm's base; only written into Cartesian motions, which tells the bridge that
            the cannula rule applies.
    """
    trajectory = JointTrajectory(joint_names=list(names))
    trajectory.header.frame_id = frame_id if plan.is_cartesian else ""
    spline = plan.spline
    for k, ns in enumerate(plan.times_ns.tolist()):
        point = JointTrajectoryPoint(
            positions=to_flat(spline.position[k]), velocities=to_flat(spline.velocity[k])
        )
        if spline.acceleration is not None:
            point.accelerations = to_flat(spline.acceleration[k])
        write_stamp(point.time_from_start, ns)
        trajectory.points.append(point)
    return trajectory


def read_options(goal: Any, max_knots: int) -> PlanOptions:
    """The plan options of a goal; empty texts mean the defaults.

    Raises:
        InvalidInput: The policy does not exist.
        UnknownName: There is no such scaling.
    """
    policy: Any = goal.policy or "exact"
    return PlanOptions(
        scaling=goal.scaling or "trapezoid",
        policy=policy,
        slow_down=goal.slow_down,
        max_knots=max_knots,
    )


def read_repeat(repeat: int, steps: int, max_knots: int) -> int:
    """The number of repetitions; 0 and 1 both mean once.

    Args:
        repeat: The number in the goal.
        steps: How many steps are repeated; each needs at least one knot.
        max_knots: Maximum knots of a goal.

    Raises:
        InvalidInput: It exceeds what a goal can hold.
    """
    times = max(1, int(repeat))
    if times * steps > max_knots:
        reason = f"{times} times {steps} steps are more than the {max_knots} knots of a goal"
        raise InvalidInput("repeat", reason)
    return times


def read_speeds(message: Any, default: TipSpeeds) -> TipSpeeds:
    """The speeds of a step or a figure; 0 means the default.

    Raises:
        InvalidInput: A speed is negative, not finite, or too large or small to compute with.
    """
    given = {field.name: getattr(message, field.name) for field in fields(default)}
    for name, value in given.items():
        _check_speed(name, value)
    return TipSpeeds(
        **{
            name: value if value != 0.0 else getattr(default, name)
            for name, value in given.items()
        }
    )


def read_steps(
    steps: Sequence[Any], find_frame: FindFrame, speeds: TipSpeeds, fraction: float
) -> tuple[Move, ...]:
    """The moves of a goal.

    Args:
        steps: MotionSteps.
        find_frame: Finds the frame of a pose.
        speeds: Speeds of the tip for steps without their own.
        fraction: Fraction of the joints' speeds and accelerations for steps without their own.

    Raises:
        InvalidInput: A pose, point or number is invalid, or a kind does not exist; names the
            step.
        FrameError: A frame cannot be used.
    """
    moves = []
    for i, step in enumerate(steps):
        try:
            moves.append(_read_step(step, find_frame, speeds, fraction))
        except InvalidInput as error:
            raise InvalidInput(f"steps[{i}].{error.argument}", error.reason) from error
    return tuple(moves)


def _read_step(step: Any, find_frame: FindFrame, speeds: TipSpeeds, fraction: float) -> Move:
    if step.blend_radius != 0.0 and step.kind != MotionStep.MOVE_L:
        reason = f"corners are rounded between MOVE_L only; must be 0, is {step.blend_radius:g}"
        raise InvalidInput("blend_radius", reason)
    _check_far("cp.position", _position(step.cp))
    _check_far("via.position", _position(step.via))
    _check_speed("speed", step.speed)
    _check_speed("acceleration", step.acceleration)
    parts = (step.speed or fraction, step.acceleration or fraction)
    is_step = bool(step.relative)
    if step.kind == MotionStep.MOVE_ABS_J:
        if is_step:
            raise InvalidInput("relative", "is for poses; MOVE_ABS_J takes joint positions")
        return MoveAbsJ(np.array(step.jp), *parts)
    makers: dict[int, Callable[[Array, Frame], Move]] = {
        MotionStep.MOVE_J: lambda T, frame: MoveJ(T, frame, *parts, is_step),
        MotionStep.MOVE_L: lambda T, frame: MoveL(
            T, frame, read_speeds(step, speeds), step.blend_radius, is_step
        ),
        MotionStep.MOVE_C: lambda T, frame: MoveC(
            T, _position(step.via), frame, read_speeds(step, speeds), is_step
        ),
    }
    if step.kind not in makers:
        raise InvalidInput("kind", f"must be 0 to 3, is {step.kind}")
    return makers[step.kind](pose_to_matrix(step.cp), find_frame(step.frame_id))


def _position(pose: Any) -> Array:
    return np.array([pose.position.x, pose.position.y, pose.position.z])


def _check_far(name: str, values: Array) -> None:
    """Refuse values that would overflow and then cause a misleading error."""
    far = np.abs(values[np.isfinite(values)]).max(initial=0.0)
    if far > _FAR:
        raise InvalidInput(name, f"{far:g} is too far away; at most {_FAR:g} is looked at")


def _check_speed(name: str, value: float) -> None:
    slow, fast = _SPEEDS
    if 0.0 < value < slow or fast < value < np.inf:
        reason = f"must be from {slow:g} to {fast:g}, or 0 for the default, is {value:g}"
        raise InvalidInput(name, reason)


def read_figure(corners: Sequence[Any], orientation: str = "") -> Figure:
    """The polygon of a goal; the Block-O if it has none.

    Args:
        corners: Points in the figure's plane (m); none for the Block-O.
        orientation: How the tool is oriented, "along" or "fixed"; empty means "along".

    Raises:
        InvalidInput: The points are not a polygon in the plane z = 0, or there is no such
            orientation.
    """
    turned = read_orientation(orientation or Orientation.ALONG)
    if not corners:
        return BLOCK_O.oriented(turned)
    points = np.array([[corner.x, corner.y, corner.z] for corner in corners])
    _check_far("corners", points)
    if not (points[:, 2] == 0.0).all():
        raise InvalidInput("corners", "must lie in the plane z = 0 of the figure")
    return Figure("polygon", points[:, :2], turned)

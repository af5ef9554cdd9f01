"""The curves of one arm: everything to draw, over the time in which it moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dvrk_kinematics.cli.report.contour import Contour, follow_played
from dvrk_kinematics.cli.report.model import FoundModel, find_model
from dvrk_kinematics.cli.report.motion import (
    MARGIN_S,
    Periods,
    acceleration_of,
    crop,
    find_motion,
    fitted_velocity_of,
    measure_periods,
    setpoint_at,
    velocity_of,
)
from dvrk_kinematics.cli.report.played_paths import PlayedPath, find_played
from dvrk_kinematics.cli.report.recording import (
    ArmRecording,
    RecordedFlightPlan,
    RecordedJoints,
    RecordedSpeed,
)
from dvrk_kinematics.cli.report.slow_downs import SlowDowns, measure_slow_downs
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.arm import Arm

__all__ = ["ArmCurves", "JointBounds", "trace_arm"]


class JointBounds(NamedTuple):
    """Bounds of the joints (rad, m, s), shape (n,) each; infinite where unknown."""

    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array


@dataclass(frozen=True, slots=True)
class ArmCurves:
    """Curves of one arm.

    Attributes:
        name: The arm.
        model: The model that its tip was computed with; "" if there is none.
        tip_source: Source of the tip, in words.
        joint_names: The joints.
        joint_units: "rad" or "m" for each; "rad or m" if there is no model.
        times: Times (s), shape (N,).
        position: Measured positions, shape (N, n).
        bounds: Bounds of its joints.
        velocity: Velocities, of a fit over 0.1 s, shape (N, n).
        told_velocity: Velocities as the arm reported them, or differences of its positions, shape
            (N, n).
        acceleration: Accelerations, of a fit over 0.1 s, shape (N, n).
        setpoint: Setpoints at the same times, shape (N, n); None if not recorded.
        tip: Where the tip was (m), shape (M, 3).
        tip_tracking: Distance between measured tip and tip of the setpoints (m), shape (N,).
        contours: The tip compared with each planned path.
        state: Rate of measured_js.
        command: Rate of servo_jp.
        motion: Start and end of the stretch shown, margins included (s).
        hardware: "simulated" or "dvrk"; "" if that was not recorded.
        flight_plans: Flight plans of its motions.
        scaling: How fast it was played; None if that was not recorded.
        slow_downs: How often and how long it was below the planned speed; None if not recorded.
        counted_slow_downs: Its bridge's count of slow-downs by lateness; None if not reported.
    """

    name: str
    model: str
    tip_source: str
    joint_names: tuple[str, ...]
    joint_units: tuple[str, ...]
    times: Array
    position: Array
    bounds: JointBounds
    velocity: Array
    told_velocity: Array
    acceleration: Array
    setpoint: Array | None
    tip: Array
    tip_tracking: Array | None
    contours: tuple[Contour, ...]
    motion: tuple[float, float]
    hardware: str
    flight_plans: tuple[RecordedFlightPlan, ...]
    state: Periods | None
    command: Periods | None
    scaling: RecordedSpeed | None
    slow_downs: SlowDowns | None
    counted_slow_downs: int | None

    @property
    def joint_tracking(self) -> Array | None:
        """Measured minus setpoint (rad, m), shape (N, n)."""
        return None if self.setpoint is None else self.position - self.setpoint


def trace_arm(arm: ArmRecording) -> ArmCurves | None:
    """The curves of an arm; None if it did not move."""
    played = find_played(arm)
    motion = _stretch(arm, played)
    if motion is None:
        return None
    measured = crop(arm.measured, *motion)
    setpoint = None
    if arm.setpoint is not None and arm.setpoint.names == measured.names:
        setpoint = setpoint_at(arm.setpoint, measured.times)
    found = find_model(arm)
    model = None if found is None else found.arm
    tip, source = _tip(arm, found, measured)
    return ArmCurves(
        name=arm.name,
        model="" if found is None else str(found),
        tip_source=source,
        joint_names=measured.names,
        joint_units=_units(model, measured.names),
        times=measured.times,
        position=measured.position,
        bounds=_bounds(model, len(measured.names)),
        velocity=fitted_velocity_of(measured),
        told_velocity=velocity_of(measured),
        acceleration=acceleration_of(measured),
        setpoint=setpoint,
        tip=tip,
        tip_tracking=_tip_tracking(model, measured, setpoint),
        contours=() if model is None else follow_played(model, played, measured),
        motion=motion,
        hardware=arm.hardware,
        flight_plans=arm.flight_plans,
        state=measure_periods(measured),
        command=None if arm.command is None else measure_periods(crop(arm.command, *motion)),
        scaling=arm.scaling,
        slow_downs=_slow_downs(arm, played, motion),
        counted_slow_downs=arm.slow_downs,
    )


def _stretch(arm: ArmRecording, played: Sequence[PlayedPath]) -> tuple[float, float] | None:
    """The time to show (s): that of the plans, so that homing and the like stay out.

    None if it contains fewer than two states.
    """
    planned = [
        (min(p.start for p in played) - MARGIN_S, max(p.end for p in played) + 2.0 * MARGIN_S)
        for _ in played[:1]
    ]
    for motion in (*planned, find_motion(arm)):
        if motion is not None and len(crop(arm.measured, *motion).times) > 1:
            return motion
    return None


def _slow_downs(
    arm: ArmRecording, played: Sequence[PlayedPath], motion: tuple[float, float]
) -> SlowDowns | None:
    if arm.scaling is None:
        return None
    if not played:
        begin, end = motion
        return measure_slow_downs(arm.scaling, [(begin + MARGIN_S, end - MARGIN_S)])
    starts = [*(path.start for path in played[1:]), np.inf]
    spans = [(p.start, min(p.end, after)) for p, after in zip(played, starts, strict=True)]
    return measure_slow_downs(arm.scaling, [(begin, end) for begin, end in spans if begin < end])


def _units(model: Arm | None, names: tuple[str, ...]) -> tuple[str, ...]:
    if model is None:
        return ("rad or m",) * len(names)
    units = {"revolute": "rad", "prismatic": "m"}
    return tuple(units[joint.kind.value] for joint in model.model.joints)


def _bounds(model: Arm | None, count: int) -> JointBounds:
    most = np.full(count, np.inf)
    if model is None:
        return JointBounds(-most, most, most, most)
    joints = model.model.joints
    rows = [(joint.lower, joint.upper, joint.velocity, joint.acceleration) for joint in joints]
    lower, upper, velocity, acceleration = np.array(rows, dtype=float).T
    # Joints without a motor report no speeds.
    return JointBounds(
        lower, upper, *(np.where(row > 0.0, row, np.inf) for row in (velocity, acceleration))
    )


def _tip(
    arm: ArmRecording, found: FoundModel | None, measured: RecordedJoints
) -> tuple[Array, str]:
    """The tip in the base of the arm if its model is known, otherwise as the arm reports it."""
    if found is not None:
        tip = found.arm.forward(measured.position)[:, :3, 3]
        return tip, f"measured_js and the model {found}, in the arm's base"
    if arm.tip is not None:
        begin, end = measured.times[0], measured.times[-1]
        kept = (arm.tip.times >= begin) & (arm.tip.times <= end)
        return arm.tip.position[kept], f"measured_cp, in {arm.tip.frame_id or 'its base frame'}"
    return np.empty((0, 3)), "not known: no model has these joints, and measured_cp is missing"


def _tip_tracking(
    model: Arm | None, measured: RecordedJoints, setpoint: Array | None
) -> Array | None:
    if model is None or setpoint is None:
        return None
    apart = model.forward(measured.position) - model.forward(setpoint)
    return np.asarray(np.linalg.norm(apart[:, :3, 3], axis=1))

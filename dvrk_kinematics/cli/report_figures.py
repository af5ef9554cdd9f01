"""The figures of a report: what a recorded motion was like, in numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dvrk_kinematics.cli.report_contour import Contour
from dvrk_kinematics.cli.report_curves import ArmCurves, trace_arm
from dvrk_kinematics.cli.report_motion import Periods, moving_times
from dvrk_kinematics.cli.report_recording import ArmRecording, Recording, TopicCount
from dvrk_kinematics.cli.report_slow_downs import SlowDowns
from dvrk_kinematics.errors import BagError, shorten
from dvrk_kinematics.geometry.arrays import Array

__all__ = [
    "ArmFigures",
    "ContourFigures",
    "JointFigures",
    "MaxRms",
    "ReportFigures",
    "compute_figures",
]


@dataclass(frozen=True, slots=True)
class MaxRms:
    """An error over time: its largest value and its root mean square."""

    max: float
    rms: float


@dataclass(frozen=True, slots=True)
class JointFigures:
    """One joint (rad or m, and per s).

    Attributes:
        name: The joint.
        lowest: Its smallest position.
        highest: Its largest position.
        peak_velocity: Its largest speed.
        peak_acceleration: Its largest acceleration, of a fit over 0.1 s.
        tracking: Measured against setpoint; None if no setpoint was recorded.
    """

    name: str
    lowest: float
    highest: float
    peak_velocity: float
    peak_acceleration: float
    tracking: MaxRms | None


@dataclass(frozen=True, slots=True)
class ContourFigures:
    """The tip against its planned path.

    Attributes:
        position: Distance from the nearest point of the path (m).
        rotation: Angle to the orientation there (rad).
        lag_mean: How much later than planned it was there (s).
        lag_max: The same at worst (s).
        samples: States of the arm that were compared.
    """

    position: MaxRms
    rotation: MaxRms
    lag_mean: float
    lag_max: float
    samples: int


@dataclass(frozen=True, slots=True)
class ArmFigures:
    """One arm.

    Attributes:
        name: The arm.
        model: The model that its tip was computed with; "" if there is none.
        tip_source: Where the tip comes from, in words.
        moved: How long it moved, margins included (s).
        travel: How far the tip went (m).
        state: Rate of measured_js; None if there are too few.
        command: Rate of servo_jp; None if there are too few.
        joints: Every joint.
        tracking_tip: Measured tip against that of the setpoints (m); None without either.
        contour: The tip against its plan; None if no plan was recorded.
        slow_downs: How often and how long it moved slower than planned; None if not recorded.
    """

    name: str
    model: str
    tip_source: str
    moved: float
    travel: float
    state: Periods | None
    command: Periods | None
    joints: tuple[JointFigures, ...]
    tracking_tip: MaxRms | None
    contour: ContourFigures | None
    slow_downs: SlowDowns | None


@dataclass(frozen=True, slots=True)
class ReportFigures:
    """All figures of a report.

    Attributes:
        bag: Where the bag is.
        duration: Of the whole bag (s).
        topics: What it holds, and what is missing.
        arms: The arms that moved.
        remarks: What is not as it should be and what was left out for it, as sentences.
    """

    bag: str
    duration: float
    topics: tuple[TopicCount, ...]
    arms: tuple[ArmFigures, ...]
    remarks: tuple[str, ...]


def compute_figures(recording: Recording) -> tuple[ReportFigures, tuple[ArmCurves, ...]]:
    """The figures of a recording, and the curves that they are about.

    Raises:
        BagError: If no arm moved.
    """
    traced = [trace_arm(arm) for arm in recording.arms]
    curves = tuple(curve for curve in traced if curve is not None)
    if not curves:
        raise BagError(recording.bag, _explain_no_motion(recording))
    arms = tuple(_arm_figures(curve) for curve in curves)
    figures = ReportFigures(
        recording.bag, recording.duration, recording.topics, arms, recording.remarks
    )
    return figures, curves


def _explain_no_motion(recording: Recording) -> str:
    told = [_explain_rest(arm) for arm in recording.arms]
    if not told and any(topic.name.endswith("/measured_js") for topic in recording.topics):
        told = ["its arms never told where their joints are"]
        told += [] if recording.remarks else ["were they enabled?"]
    elif not told:
        told = ["it has no topic <arm>/measured_js"]
    return f"no motion in it: {'; '.join([*told, *recording.remarks])}"


def _explain_rest(arm: ArmRecording) -> str:
    name = shorten(arm.name)
    if len(arm.measured.times) < 2:
        return f"there is one state of {name}"
    if moving_times(arm).size:
        return f"the setpoint of {name} moves where no states of it were recorded"
    return f"the joints of {name} stayed where they were"


def max_rms(values: Array) -> MaxRms:
    """Largest value and root mean square; NaN of nothing."""
    if not values.size:
        return MaxRms(float("nan"), float("nan"))
    return MaxRms(float(np.abs(values).max()), float(np.sqrt(np.mean(values**2))))


def _arm_figures(curves: ArmCurves) -> ArmFigures:
    steps = np.linalg.norm(np.diff(curves.tip, axis=0), axis=1)
    tracking = curves.tip_tracking
    return ArmFigures(
        name=curves.name,
        model=curves.model,
        tip_source=curves.tip_source,
        moved=float(curves.times[-1] - curves.times[0]),
        travel=float(steps.sum()),
        state=curves.state,
        command=curves.command,
        joints=tuple(_joint_figures(curves, k) for k in range(len(curves.joint_names))),
        tracking_tip=None if tracking is None else max_rms(tracking),
        contour=_contour_figures(curves.contours) if curves.contours else None,
        slow_downs=curves.slow_downs,
    )


def _joint_figures(curves: ArmCurves, k: int) -> JointFigures:
    tracking = curves.joint_tracking
    return JointFigures(
        name=curves.joint_names[k],
        lowest=float(curves.position[:, k].min()),
        highest=float(curves.position[:, k].max()),
        peak_velocity=float(np.abs(curves.velocity[:, k]).max()),
        peak_acceleration=float(np.abs(curves.acceleration[:, k]).max()),
        tracking=None if tracking is None else max_rms(tracking[:, k]),
    )


def _contour_figures(contours: tuple[Contour, ...]) -> ContourFigures:
    lag = np.concatenate([contour.lag for contour in contours])
    lag = lag[np.isfinite(lag)]
    return ContourFigures(
        position=max_rms(np.concatenate([c.position_error for c in contours])),
        rotation=max_rms(np.concatenate([c.rotation_error for c in contours])),
        lag_mean=float(lag.mean()) if lag.size else float("nan"),
        lag_max=float(lag.max()) if lag.size else float("nan"),
        samples=sum(len(c.times) for c in contours),
    )

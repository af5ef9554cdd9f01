"""The figures of a report: a recorded motion in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan

import numpy as np

from dvrk_kinematics.cli.report.contour import Contour
from dvrk_kinematics.cli.report.curves import ArmCurves, trace_arm
from dvrk_kinematics.cli.report.motion import MARGIN_S, Periods, moving_times, slope
from dvrk_kinematics.cli.report.recording import ArmRecording, Recording, TopicCount
from dvrk_kinematics.cli.report.slow_downs import SlowDowns
from dvrk_kinematics.errors import BagError, shorten
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.motion.planning.tip_follower import FollowingFigures, summarise_following

__all__ = [
    "ArmFigures",
    "JointFigures",
    "MaxRms",
    "MotionFigures",
    "ReportFigures",
    "compute_figures",
]


_SPIKE = 1.5
_SPIKE_FLOOR = 1e-3
"""A reported speed that exceeds the fitted and the planned one by this factor, and by this much
(rad/s, m/s), is a spike."""

_SAME_S = 1e-6
"""Durations that differ by less than this (s) belong to one plan."""


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
        lower: Its lower limit; minus infinity if not known.
        upper: Its upper limit; infinity if not known.
        peak_velocity: Its largest speed, of a fit over 0.1 s.
        planned_velocity: The largest planned speed; None without a plan.
        told_velocity: The largest speed that the arm reported.
        peak_acceleration: Its largest acceleration, of a fit over 0.1 s.
        tracking: Measured minus setpoint; None if no setpoint was recorded.
    """

    name: str
    lowest: float
    highest: float
    lower: float
    upper: float
    peak_velocity: float
    planned_velocity: float | None
    told_velocity: float
    peak_acceleration: float
    tracking: MaxRms | None

    @property
    def has_spikes(self) -> bool:
        """Whether the arm reported a speed that its positions do not show."""
        shown = max(self.peak_velocity, self.planned_velocity or 0.0)
        return self.told_velocity > _SPIKE * shown + _SPIKE_FLOOR


@dataclass(frozen=True, slots=True)
class MotionFigures:
    """One planned path that was played.

    Attributes:
        start: When it began (s since the bag began).
        planned: Its planned duration (s).
        took: How long it took, from its start until the tip stopped (s).
        following: The tip compared with it.
        deviation: How far the planned path is from the exact one (m, rad), by the flight plan;
            None if that was not recorded.
    """

    start: float
    planned: float
    took: float
    following: FollowingFigures
    deviation: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class ArmFigures:
    """One arm.

    Attributes:
        name: The arm.
        model: The model that its tip was computed with; "" if there is none.
        tip_source: Where the tip comes from, in words.
        hardware: "simulated" or "dvrk"; "" if that was not recorded.
        moved: How long it moved (s): with plans, from the first start to the last arrival.
        travel: Distance that the tip travelled (m).
        state: Rate of measured_js; None if there are too few.
        command: Rate of servo_jp; None if there are too few.
        joints: Every joint.
        tracking_tip: Measured tip compared with that of the setpoints (m); None without either.
        motions: The planned paths that were played, oldest first.
        slow_downs: How often and how long it moved slower than planned; None if not recorded.
        counted_slow_downs: Its bridge's count of slow-downs by lateness; None if not reported.
    """

    name: str
    model: str
    tip_source: str
    hardware: str
    moved: float
    travel: float
    state: Periods | None
    command: Periods | None
    joints: tuple[JointFigures, ...]
    tracking_tip: MaxRms | None
    motions: tuple[MotionFigures, ...]
    slow_downs: SlowDowns | None
    counted_slow_downs: int | None


@dataclass(frozen=True, slots=True)
class ReportFigures:
    """All figures of a report.

    Attributes:
        bag: Where the bag is.
        duration: Of the whole bag (s).
        topics: What it holds, and what is missing.
        arms: The arms that moved.
        remarks: Problems, and the data left out because of them, as sentences.
    """

    bag: str
    duration: float
    topics: tuple[TopicCount, ...]
    arms: tuple[ArmFigures, ...]
    remarks: tuple[str, ...]


def compute_figures(recording: Recording) -> tuple[ReportFigures, tuple[ArmCurves, ...]]:
    """The figures of a recording, and their curves.

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
    motions = tuple(_motion_figures(curves, contour) for contour in curves.contours)
    return ArmFigures(
        name=curves.name,
        model=curves.model,
        tip_source=curves.tip_source,
        hardware=curves.hardware,
        moved=_moved(curves, motions),
        travel=float(steps.sum()),
        state=curves.state,
        command=curves.command,
        joints=tuple(_joint_figures(curves, k) for k in range(len(curves.joint_names))),
        tracking_tip=None if tracking is None else max_rms(tracking),
        motions=motions,
        slow_downs=curves.slow_downs,
        counted_slow_downs=curves.counted_slow_downs,
    )


def _moved(curves: ArmCurves, motions: Sequence[MotionFigures]) -> float:
    arrivals = [motion.start + motion.took for motion in motions if not isnan(motion.took)]
    if arrivals:
        return max(arrivals) - motions[0].start
    begin, end = curves.motion
    return max(end - begin - 2.0 * MARGIN_S, 0.0)


def _joint_figures(curves: ArmCurves, k: int) -> JointFigures:
    tracking = curves.joint_tracking
    planned = [_peak(slope(c.planned_times, c.planned_q)[:, k]) for c in curves.contours]
    return JointFigures(
        name=curves.joint_names[k],
        lowest=float(curves.position[:, k].min()),
        highest=float(curves.position[:, k].max()),
        lower=float(curves.bounds.lower[k]),
        upper=float(curves.bounds.upper[k]),
        peak_velocity=_peak(curves.velocity[:, k]),
        planned_velocity=max(planned) if planned else None,
        told_velocity=_peak(curves.told_velocity[:, k]),
        peak_acceleration=_peak(curves.acceleration[:, k]),
        tracking=None if tracking is None else max_rms(tracking[:, k]),
    )


def _peak(values: Array) -> float:
    return float(np.abs(values).max())


def _motion_figures(curves: ArmCurves, contour: Contour) -> MotionFigures:
    following = contour.following
    went_on = following.times[following.weights > 0.0]
    return MotionFigures(
        start=contour.start,
        planned=contour.planned_s,
        took=float(went_on[-1]) if went_on.size else float("nan"),
        following=summarise_following([following]),
        deviation=_find_deviation(curves, contour),
    )


def _find_deviation(curves: ArmCurves, contour: Contour) -> tuple[float, float] | None:
    """Deviation by the newest flight plan before the start for a motion of the same duration."""
    fitting = [
        plan
        for plan in curves.flight_plans
        if plan.announced <= contour.start and abs(plan.duration - contour.planned_s) < _SAME_S
    ]
    return (fitting[-1].position_deviation, fitting[-1].rotation_deviation) if fitting else None

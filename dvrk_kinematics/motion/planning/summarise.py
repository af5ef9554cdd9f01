"""The numbers of a flight plan, gathered from proven segments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import nan
from typing import NamedTuple

import numpy as np

from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.interruptible import check_in
from dvrk_kinematics.kinematics.limits import JointLimits
from dvrk_kinematics.kinematics.serial_arm import SerialArm
from dvrk_kinematics.motion.cannula import CannulaRule
from dvrk_kinematics.motion.limits import MotionLimits
from dvrk_kinematics.motion.planning.flight_plan import FlightPlan
from dvrk_kinematics.motion.planning.trial import Trial

__all__ = ["summarise", "summarise_rest"]


class _Found(NamedTuple):
    """An extreme value with its joint and its time on the whole path (s)."""

    value: float
    joint: int
    time_s: float


def summarise(
    trials: Sequence[Trial],
    limits: MotionLimits,
    cannula: CannulaRule | None,
    where: Callable[[float], float],
    slowed_for: str,
    reason: str = "",
) -> FlightPlan:
    """Make the flight plan of a motion.

    Args:
        trials: Its segments as planned, at least one, including a refused one.
        limits: Limits of the joints.
        cannula: Where the wrist is; None without a remote centre.
        where: Returns the fraction of the path at a time (s).
        slowed_for: What needed slowing down.
        reason: Why the motion is refused; empty if it is not.
    """
    margin = min(_each(trials, lambda trial: _find_margin(trial, limits)))
    speed = max(_each(trials, lambda trial: _find_peak(trial, limits, is_speed=True)))
    gain = max(_each(trials, lambda trial: _find_peak(trial, limits, is_speed=False)))
    sigma = min(_each(trials, _find_singular))
    depth = _Found(nan, 0, 0.0)
    if cannula is not None:
        rule = cannula
        depth = min(_each(trials, lambda trial: _find_depth(trial, rule)))
    names = limits.names
    return FlightPlan(
        ok=not reason,
        reason=reason,
        duration=sum(float(trial.times_ns[-1]) for trial in trials) * 1e-9,
        length=sum(trial.segment.length for trial in trials),
        # Two adjacent segments share a knot.
        samples=sum(len(trial.grid.t) - 1 for trial in trials) + 1,
        knots=sum(len(trial.times_ns) - 1 for trial in trials) + 1,
        position_deviation=max(float(t.played.position_deviation.max()) for t in trials),
        rotation_deviation=max(float(t.played.rotation_deviation.max()) for t in trials),
        limit_margin=margin.value,
        limit_margin_joint=names[margin.joint],
        limit_margin_where=where(margin.time_s),
        peak_velocity=speed.value,
        peak_velocity_joint=names[speed.joint],
        peak_velocity_where=where(speed.time_s),
        peak_acceleration=gain.value,
        peak_acceleration_joint=names[gain.joint],
        peak_acceleration_where=where(gain.time_s),
        smallest_singular_value=sigma.value,
        smallest_singular_value_where=where(sigma.time_s),
        wrist_depth=depth.value,
        wrist_depth_where=where(depth.time_s),
        slowed_by=max(trial.segment.slowed_by for trial in trials),
        slowed_for=slowed_for,
        orientation_given_up=max(float(trial.given_up.max()) for trial in trials),
    )


def _each(trials: Sequence[Trial], find: Callable[[Trial], _Found]) -> list[_Found]:
    """The extremes of each segment, on the whole path's time."""
    found, start_ns = [], 0
    for trial in trials:
        check_in()
        value, joint, time_s = find(trial)
        found.append(_Found(value, joint, start_ns * 1e-9 + time_s))
        start_ns += int(trial.times_ns[-1])
    return found


def _find_margin(trial: Trial, limits: MotionLimits) -> _Found:
    lower, upper = limits.position.lower, limits.position.upper
    span = upper - lower
    counts = (span > 0.0) & np.isfinite(span)
    below, above = trial.extremes.lowest - lower, upper - trial.extremes.highest
    margins = np.where(counts, np.minimum(below, above) / np.where(counts, span, 1.0), np.inf)
    j = int(np.argmin(margins))
    q = trial.played.q[:, j]
    row = int(np.argmin(q) if below[j] < above[j] else np.argmax(q))
    return _Found(float(margins[j]), j, float(trial.grid.t[row]))


def _find_peak(trial: Trial, limits: MotionLimits, is_speed: bool) -> _Found:
    if is_speed:
        peaks, rates = trial.extremes.speed / limits.velocity, trial.played.qd
    else:
        peaks, rates = trial.extremes.acceleration / limits.acceleration, trial.played.qdd
    j = int(np.argmax(peaks))
    row = int(np.argmax(np.abs(rates[:, j])))
    return _Found(float(peaks[j]), j, float(trial.grid.t[row]))


def _find_singular(trial: Trial) -> _Found:
    return _at_smallest(trial, trial.singular_values)


def _find_depth(trial: Trial, rule: CannulaRule) -> _Found:
    at = _at_smallest(trial, trial.played.q[:, rule.joint])
    return _Found(rule.depth(trial.extremes.lowest), rule.joint, at.time_s)


def _at_smallest(trial: Trial, values: Array) -> _Found:
    row = int(np.argmin(values))
    return _Found(float(values[row]), 0, float(trial.grid.t[row]))


def summarise_rest(
    arm: SerialArm, q: Array, cannula: CannulaRule | None, reason: str = ""
) -> FlightPlan:
    """Make the flight plan of an arm that does not move.

    Args:
        arm: The arm.
        q: Its current joint positions (rad, m), shape (n,).
        cannula: Where the wrist is; None without a remote centre.
        reason: Why a motion is refused; empty if none was requested.
    """
    near = [
        JointLimits([name], [low], [high]).margin(q[k : k + 1])
        for k, (name, (low, high)) in enumerate(
            zip(arm.joint_names, arm.limits.pairs, strict=True)
        )
    ]
    j = int(np.argmin(near))
    return FlightPlan(
        ok=not reason,
        reason=reason,
        samples=1,
        knots=1,
        limit_margin=float(near[j]),
        limit_margin_joint=arm.joint_names[j],
        smallest_singular_value=float(np.linalg.svd(arm.jacobian(q), compute_uv=False)[-1]),
        wrist_depth=nan if cannula is None else cannula.depth(q),
    )

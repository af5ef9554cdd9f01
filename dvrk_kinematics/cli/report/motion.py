"""Numbers about one arm's motion: its stretch of time, rates, derivatives, tracking."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.signal import savgol_filter

from dvrk_kinematics.cli.report.recording import ArmRecording, RecordedJoints
from dvrk_kinematics.geometry.arrays import Array

__all__ = [
    "MARGIN_S",
    "Periods",
    "acceleration_of",
    "crop",
    "find_motion",
    "fitted_velocity_of",
    "measure_periods",
    "moving_times",
    "setpoint_at",
    "slope",
    "velocity_of",
]

MARGIN_S = 0.2
"""Time shown before and after a motion."""

_STILL = 1e-7
"""Changes of a setpoint (rad, m) up to this are rounding; setpoints have no noise."""

_SLOW = 1e-3
"""Speed (rad/s, m/s) below which an arm without setpoints counts as at rest."""

_WITHOUT_S = 1.0
"""Farther than this from the first and the last setpoint (s), speeds show what moved."""

_MADE_UP = 0.75
"""Fraction of a period below which a message came early, after a late one."""

_FIT_S = 0.1
"""Stretch of time over which velocities and accelerations are fitted."""

_FEWEST = 5
"""Least number of samples for fitting a cubic."""

_FINEST = 10
"""Largest number of evenly spaced samples for each message."""

_PAUSE_S = 0.25
"""A longer gap means that the stream paused, not that ticks were missed."""


@dataclass(frozen=True, slots=True)
class Periods:
    """How regular a stream is.

    Attributes:
        messages: Number of messages.
        rate: Messages a second while it ran (Hz).
        p50: Median period (s), which counts as the intended one.
        p99: 99 of 100 periods are at most this (s).
        longest: The longest period (s).
        missed: Ticks that went by without a message.
        pauses: Gaps of more than 0.25 s, which count neither as periods nor as missed ticks.
        is_stamped: Whether by the messages' stamps; if not, by their arrival, which is less even.
        periods: All periods (s), shape (N,).
    """

    messages: int
    rate: float
    p50: float
    p99: float
    longest: float
    missed: int
    pauses: int
    is_stamped: bool
    periods: Array


def measure_periods(stream: RecordedJoints) -> Periods | None:
    """How regular a stream is; None if it has fewer than three messages in a row."""
    gaps = np.diff(stream.times)
    periods = gaps[gaps <= _PAUSE_S]
    if periods.size < 2:
        return None
    p50, p99 = np.percentile(periods, [50, 99])
    return Periods(
        messages=len(stream.times),
        rate=float(periods.size / periods.sum()),
        p50=float(p50),
        p99=float(p99),
        longest=float(periods.max()),
        missed=_count_missed(periods.tolist(), float(p50)),
        pauses=int(gaps.size - periods.size),
        is_stamped=stream.is_stamped,
        periods=periods,
    )


def _count_missed(periods: list[float], period: float) -> int:
    """Count missed ticks: a late message that the next one makes up for is not one."""
    missed, at = 0, 0
    while at < len(periods):
        end = at + 1
        while end < len(periods) and periods[end] < _MADE_UP * period:
            end += 1
        missed += max(round(sum(periods[at:end]) / period) - (end - at), 0)
        at = end
    return missed


def find_motion(arm: ArmRecording) -> tuple[float, float] | None:
    """From when to when an arm moved (s), with a margin; None if it did not."""
    moving = moving_times(arm)
    if not moving.size:
        return None
    return float(moving[0]) - MARGIN_S, float(moving[-1]) + MARGIN_S


def moving_times(arm: ArmRecording) -> Array:
    """Times at which an arm was moving (s), by its setpoints while there are some."""
    by_speed = np.empty(0)
    if len(arm.measured.times) > 1:
        speed = np.abs(velocity_of(arm.measured)).max(axis=1)
        by_speed = arm.measured.times[speed > _SLOW]
    if arm.setpoint is None:
        return by_speed
    times = arm.setpoint.times
    steps = np.abs(np.diff(arm.setpoint.position, axis=0)).max(axis=1)
    without = (by_speed < times[0] - _WITHOUT_S) | (by_speed > times[-1] + _WITHOUT_S)
    return np.sort(np.r_[times[1:][steps > _STILL], by_speed[without]])


def crop(stream: RecordedJoints, begin: float, end: float) -> RecordedJoints:
    """The part of a stream between two times (s)."""
    kept = (stream.times >= begin) & (stream.times <= end)
    velocity = None if stream.velocity is None else stream.velocity[kept]
    return RecordedJoints(
        stream.times[kept], stream.names, stream.position[kept], velocity, stream.is_stamped
    )


def velocity_of(stream: RecordedJoints) -> Array:
    """Velocities (rad/s, m/s): as reported, or differences of the positions."""
    if stream.velocity is not None:
        return stream.velocity
    return np.asarray(np.gradient(stream.position, stream.times, axis=0))


def fitted_velocity_of(stream: RecordedJoints) -> Array:
    """Velocities (rad/s, m/s) of cubics fitted to the positions, over 0.1 s each.

    Reported ones, which are differences from one sample to the next, show the beat of two clocks
    as spikes: an arm takes one setpoint a cycle, and now and then none or two arrive.
    """
    return _fit(stream, 1)


def acceleration_of(stream: RecordedJoints) -> Array:
    """Accelerations (rad/s^2, m/s^2) of cubics fitted to the positions, over 0.1 s each."""
    return _fit(stream, 2)


def _fit(stream: RecordedJoints, derivative: int) -> Array:
    pauses = np.flatnonzero(np.diff(stream.times) > _PAUSE_S) + 1
    runs = np.split(np.arange(len(stream.times)), pauses)
    return np.concatenate(
        [_fit_run(stream.times[run], stream.position[run], derivative) for run in runs]
    )


def _fit_run(times: Array, position: Array, derivative: int) -> Array:
    """Derivatives of positions without a pause in between; (N,), (N, n) -> (N, n)."""
    if len(times) < _FEWEST:
        return np.zeros_like(position)
    # At most a few samples for each measured one, however close two of them are.
    finest = float(times[-1] - times[0]) / (_FINEST * len(times))
    period = max(float(np.median(np.diff(times))), finest)
    even = np.arange(times[0], times[-1] + 0.5 * period, period)
    window = min(2 * round(0.5 * _FIT_S / period) + 1, len(even) - 1 + len(even) % 2)
    if window < _FEWEST:
        return np.zeros_like(position)
    columns = [np.interp(even, times, column) for column in position.T]
    fitted = savgol_filter(columns, window, polyorder=3, deriv=derivative, delta=period)
    return np.stack([np.interp(times, even, column) for column in fitted], axis=1)


def slope(times: Array, values: Array) -> Array:
    """Differences of values that are as even as a plan; (N,), (N, n) -> (N, n)."""
    return np.asarray(np.gradient(values, times, axis=0))


def setpoint_at(setpoint: RecordedJoints, times: Array) -> Array:
    """Setpoints at other times (s); (N,) -> (N, n)."""
    columns = setpoint.position.T
    return np.stack([np.interp(times, setpoint.times, column) for column in columns], axis=1)

"""Makes the /diagnostics reports of one arm and its bridge."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np

from dvrk_kinematics.driver import ArmState, Finding
from dvrk_kinematics.ros.bridge.arm_drive import ArmDrive
from dvrk_kinematics.ros.bridge.diagnostics import ERROR, WARN, OtherPublishers, Report
from dvrk_kinematics.ros.bridge.frames_watch import FramesWatch
from dvrk_kinematics.ros.bridge.settings import BridgeSettings
from dvrk_kinematics.ros.common.steady_loop import SteadyLoop
from dvrk_kinematics.ros.rclpy_ext.dropped_messages import DroppedMessages

__all__ = ["BridgeReports"]

_MISSED_WARNING = 0.05
"""Fraction of missed ticks in the last second up to which there is no warning."""

_MARGIN_WARNING = 0.02
"""Distance to a limit, as a fraction of the joint's range, below which we warn."""


class BridgeReports:
    """Makes the reports of a bridge.

    Args:
        settings: Parameters of the bridge.
        drive: Moves the arm.
        loop: Returns the control loop.
        others: Finds other publishers of our topics.
        frames: Finds other publishers of our frames; None if we publish none.
        dropped: Counts unreadable messages.
    """

    def __init__(
        self,
        settings: BridgeSettings,
        drive: ArmDrive,
        loop: Callable[[], SteadyLoop],
        others: OtherPublishers,
        frames: FramesWatch | None,
        dropped: DroppedMessages,
    ) -> None:
        self._settings = settings
        self._drive = drive
        self._loop = loop
        self._others = others
        self._frames = frames
        self._dropped = dropped
        self._dropped_before = 0
        self._counted = (0, 0, 0, time.monotonic())

    def __call__(self) -> Iterator[Report]:
        """The current reports."""
        log, measured = self._loop().log, self._drive.port.measured
        ticks, missed, count, before = self._counted
        now = time.monotonic()
        self._counted = (log.ticks, log.missed, measured.count, now)
        elapsed = max(now - before, 1e-3)
        yield self._connection((measured.count - count) / elapsed)
        yield self._control_loop(log.ticks - ticks, log.missed - missed)
        state = self._drive.state
        if state is not None:
            yield self._motion(state)
        yield self._stops()
        yield self._strangers()
        yield self._unread()

    def _connection(self, rate: float) -> Report:
        drive, state = self._drive, self._drive.state
        report = Report("connection")
        arrival = None if state is None else state.measured_arrival_ns
        if state is None or arrival is None:
            report.worsen(ERROR, f"nothing was heard of {self._settings.arm}")
            return report
        age = (time.monotonic_ns() - arrival) * 1e-9
        report.values = {
            "publisher": ", ".join(drive.identity.publishers),
            "hardware": self._settings.hardware,
            "state": state.operating_state.value,
            "is_homed": state.is_homed,
            "is_busy": state.is_busy,
            "tool": state.tool,
            "enabled_here": drive.commands.is_released,
            "state_age_s": age,
            "state_rate_hz": rate,
        }
        refusal = drive.identity.find_refusal()
        if age > max(1.0, self._settings.max_age):
            report.worsen(ERROR, "no state arrives any more")
        elif refusal is not None:
            report.worsen(WARN, str(refusal))
        else:
            report.message = state.operating_state.value
        return report

    def _control_loop(self, ticks: int, missed: int) -> Report:
        loop = self._loop()
        summary = loop.log.summary()
        report = Report("control loop")
        report.values = {
            "rate_hz": self._settings.rate,
            "ticks": summary.ticks,
            "missed_ticks": summary.missed,
            "missed_last_second": missed,
            "period_p50_s": summary.p50,
            "period_p99_s": summary.p99,
            "period_max_s": summary.longest,
        }
        if not loop.is_running:
            report.worsen(ERROR, "not running")
        elif missed > _MISSED_WARNING * (ticks + missed):
            report.worsen(WARN, f"{missed} of {ticks + missed} ticks missed in the last second")
        return report

    def _motion(self, state: ArmState) -> Report:
        limits = self._drive.guard.settings.limits
        report = Report("motion", "moving" if not self._drive.is_idle else "at rest")
        shape = (len(limits.names),)
        is_valid = state.measured_stamp_ns != 0
        if is_valid and state.measured_q.shape == shape == state.setpoint_q.shape:
            error = np.abs(state.measured_q - state.setpoint_q)
            j = int(np.argmax(error / self._drive.guard.settings.pid_tolerance))
            margins = limits.position.margins(state.measured_q)
            nearest = int(np.argmin(margins))
            margin, name = float(margins[nearest]), limits.names[nearest]
            report.values = {
                "tracking_error": float(error[j]),
                "tracking_error_joint": limits.names[j],
                "limit_margin": margin,
                "limit_margin_joint": name,
            }
            if margin < _MARGIN_WARNING:
                report.worsen(WARN, f"{name} is near a limit: {margin:.1%} of its range are left")
        scaling = self._drive.player.scaling
        report.values |= {
            "speed_scaling": self._drive.player.speed,
            "speed_scaling_input": scaling.wish,
            "slow_downs": self._drive.slow_downs,
        }
        if scaling.is_overdue:
            report.worsen(WARN, "late: it rests, and goes on when the arm is in time")
        elif scaling.wish < 1.0 and not self._drive.is_idle:
            report.message = "paused" if scaling.wish == 0.0 else f"moving at {scaling.wish:.0%}"
        slowed = self._drive.jog.slowed_by
        if slowed is not None:
            report.values |= {"jog_factor": self._drive.jog.factor, "jog_slowed_by": str(slowed)}
            report.message = f"jog: {slowed}"
        return report

    def _stops(self) -> Report:
        report = Report("last stop", "none")
        stop, refusal = self._drive.player.last_stop, self._drive.last_refusal
        jaw_stop = self._drive.last_jaw_stop
        now_s = time.monotonic()
        if stop is not None:
            report.message = str(stop)
            report.values |= {
                "stop": stop.reason.name,
                "kind": _kind(stop),
                "stop_age_s": now_s - self._drive.stopped_s,
            }
        if jaw_stop is not None:
            report.values |= {
                "jaw_stop": jaw_stop.reason.name,
                "jaw_stop_kind": _kind(jaw_stop),
                "jaw_stopped": str(jaw_stop),
                "jaw_stop_age_s": now_s - self._drive.jaw_stopped_s,
            }
        if refusal is not None:
            report.values |= {
                "refusal": refusal.reason.name,
                "refused": str(refusal),
                "refusal_age_s": now_s - self._drive.refused_s,
            }
        return report

    def _strangers(self) -> Report:
        report = Report("other publishers", "none")
        for topic, names in self._others.find().items():
            report.values[topic] = ", ".join(names)
        frames = [] if self._frames is None else self._frames.look()
        if frames:
            report.values["frames"] = ", ".join(frames)
        if report.values:
            report.worsen(WARN, f"others publish {', '.join(report.values)} too")
        return report

    def _unread(self) -> Report:
        counts = self._dropped.counts
        total = sum(counts.values())
        new, self._dropped_before = total - self._dropped_before, total
        report = Report("dropped messages", f"{total} so far" if total else "none", values=counts)
        if new:
            report.worsen(WARN, f"{new} since the last report could not be read")
        return report


def _kind(finding: Finding) -> str:
    return finding.stop_kind.value if finding.stop_kind else "end"

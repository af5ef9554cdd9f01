"""How steady a bridge's loop was between two moments, by its own report on /diagnostics."""

from __future__ import annotations

from dataclasses import dataclass

from dvrk_kinematics.ros.client.heard_diagnostics import DiagnosticLine

__all__ = ["LoopFigures", "compare_lines"]


@dataclass(frozen=True, slots=True)
class LoopFigures:
    """How steady a loop was.

    Attributes:
        aimed_hz: The target rate.
        measured_hz: Ticks made per second.
        ticks: Ticks made.
        missed: Ticks missed.
        p50_s: Median period since the loop began, like the next two.
        p99_s: 99 of 100 periods are at most this.
        longest_s: The longest period.
    """

    aimed_hz: float
    measured_hz: float
    ticks: int
    missed: int
    p50_s: float
    p99_s: float
    longest_s: float


def compare_lines(
    before: DiagnosticLine | None, after: DiagnosticLine | None
) -> LoopFigures | None:
    """Return what a loop did between two of its lines; None if there are not two."""
    if before is None or after is None or after.stamp_ns <= before.stamp_ns:
        return None
    began, ended = before.values, after.values
    ticks = int(ended["ticks"]) - int(began["ticks"])
    return LoopFigures(
        aimed_hz=float(ended["rate_hz"]),
        measured_hz=ticks / ((after.stamp_ns - before.stamp_ns) * 1e-9),
        ticks=ticks,
        missed=int(ended["missed_ticks"]) - int(began["missed_ticks"]),
        p50_s=float(ended["period_p50_s"]),
        p99_s=float(ended["period_p99_s"]),
        longest_s=float(ended["period_max_s"]),
    )

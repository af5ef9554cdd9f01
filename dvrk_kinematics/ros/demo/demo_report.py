"""Text that a demonstration prints: the flight plan before, the measurements after."""

from __future__ import annotations

from math import isnan
from typing import Any

from dvrk_kinematics.motion.cannula import WRIST_DEPTH_M
from dvrk_kinematics.motion.planning.tip_follower import (
    EXACT,
    FINEST,
    describe_contour,
    describe_lag,
)
from dvrk_kinematics.ros.common.terminal import table
from dvrk_kinematics.ros.demo.loop_figures import LoopFigures
from dvrk_kinematics.ros.servers.tip_error import read_tip_error

__all__ = ["MAX_POSITION_M", "MAX_ROTATION_RAD", "describe_plan", "describe_result", "is_traced"]

MAX_POSITION_M = 2e-6
MAX_ROTATION_RAD = 2e-6
"""How far the tip of a simulated arm may be from the exact figure."""


def describe_plan(plan: Any) -> str:
    """Format a flight plan as text.

    Args:
        plan: A FlightPlan message.
    """
    return table(
        [
            ("duration", f"{plan.duration:.1f} s for {plan.length * 1e3:.0f} mm"),
            ("checked", f"{plan.samples} poses, {plan.knots} knots"),
            (
                "planned path off the exact figure",
                f"{1e6 * plan.position_deviation:.3g} um, "
                f"{1e6 * plan.rotation_deviation:.3g} urad",
            ),
            (
                "nearest joint limit",
                f"{100.0 * plan.limit_margin:.1f} % of the range of {plan.limit_margin_joint} "
                f"at {100.0 * plan.limit_margin_where:.0f} % of the way",
            ),
            (
                "fastest joint",
                f"{plan.peak_velocity_joint}, {100.0 * plan.peak_velocity:.1f} % of its limit",
            ),
            (
                "hardest accelerated joint",
                f"{plan.peak_acceleration_joint}, {100.0 * plan.peak_acceleration:.1f} %",
            ),
            ("smallest singular value", f"{plan.smallest_singular_value:.4f}"),
            ("wrist beyond the cannula's rule", _describe_depth(plan.wrist_depth)),
        ]
    )


def _describe_depth(wrist_depth_m: float) -> str:
    if isnan(wrist_depth_m):
        return "no cannula"
    return f"{(wrist_depth_m - WRIST_DEPTH_M) * 1e3:.0f} mm"


def describe_result(result: Any, loop: LoopFigures | None) -> str:
    """Format the measurements as text.

    Args:
        result: A TraceBlockO.Result.
        loop: How steady the bridge's loop was during the trace; None if unknown.
    """
    figures = read_tip_error(result.error)
    exact = f": {EXACT}" if figures.position_max < FINEST else ""
    rows = [
        ("result", result.message),
        ("contour error, max / RMS", f"{describe_contour(figures)}{exact}"),
        ("lag, mean / max", describe_lag(figures)),
        ("states compared with the plan", str(figures.samples)),
    ]
    if result.slow_downs:
        rows.append(("slow-downs, on the way to its start too", str(result.slow_downs)))
    if loop is not None:
        due = max(loop.ticks + loop.missed, 1)
        rows += [
            (
                "control loop while tracing",
                f"{loop.measured_hz:.1f} Hz of {loop.aimed_hz:.0f} Hz, "
                f"{100.0 * loop.ticks / due:.1f} % of {due} ticks",
            ),
            (
                "its period since it began",
                f"p50 {loop.p50_s * 1e3:.2f} ms, p99 {loop.p99_s * 1e3:.2f} ms, "
                f"max {loop.longest_s * 1e3:.1f} ms",
            ),
        ]
    return table(rows)


def is_traced(result: Any) -> bool:
    """Return whether the figure was traced to its end, and within its bounds."""
    error, plan = result.error, result.plan
    # The path may deviate this far from the exact figure, and the tip this far from the path.
    return bool(
        result.success
        and error.samples > 0
        and error.contour_position_max + plan.position_deviation <= MAX_POSITION_M
        and error.contour_rotation_max + plan.rotation_deviation <= MAX_ROTATION_RAD
    )

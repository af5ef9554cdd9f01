"""What a demonstration prints: the flight plan before, what was measured after."""

from __future__ import annotations

from typing import Any

from dvrk_kinematics.ros.loop_figures import LoopFigures
from dvrk_kinematics.ros.terminal import table

__all__ = ["MAX_POSITION_M", "MAX_ROTATION_RAD", "describe_plan", "describe_result", "is_traced"]

MAX_POSITION_M = 2e-6
MAX_ROTATION_RAD = 2e-6
"""How far the tip of a simulated arm may be from the exact figure."""


def describe_plan(plan: Any) -> str:
    """A flight plan as text.

    Args:
        plan: A FlightPlan message.
    """
    return table(
        [
            ("duration", f"{plan.duration:.1f} s for {plan.length * 1e3:.0f} mm"),
            ("checked", f"{plan.samples} poses, {plan.knots} knots"),
            (
                "played is off the exact figure by",
                f"{_nm(plan.position_deviation)}, {_nrad(plan.rotation_deviation)}",
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
            ("wrist beyond the cannula's rule", f"{(plan.wrist_depth - 0.045) * 1e3:.0f} mm"),
        ]
    )


def describe_result(result: Any, loop: LoopFigures | None) -> str:
    """What was measured, as text.

    Args:
        result: A TraceBlockO.Result.
        loop: How steady the bridge's loop was meanwhile; None if unknown.
    """
    error = result.error
    rows = [
        ("result", result.message),
        (
            "tip off the exact figure (contour)",
            f"max {_nm(error.contour_position_max)}, {_nrad(error.contour_rotation_max)}; "
            f"RMS {_nm(error.contour_position_rms)}, {_nrad(error.contour_rotation_rms)}",
        ),
        (
            "tip behind the plan (lag)",
            f"max {error.lag_max * 1e3:.1f} ms, mean {error.lag_mean * 1e3:.1f} ms",
        ),
        ("states compared", str(error.samples)),
    ]
    if result.slow_downs:
        rows.append(("slowed down by lateness", f"{result.slow_downs} times"))
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
    """Whether the figure was traced to its end, and within its bounds."""
    error = result.error
    return bool(
        result.success
        and error.samples > 0
        and error.contour_position_max <= MAX_POSITION_M
        and error.contour_rotation_max <= MAX_ROTATION_RAD
    )


def _nm(metres: float) -> str:
    return f"{metres * 1e9:.2f} nm"


def _nrad(angle: float) -> str:
    return f"{angle * 1e9:.1f} nrad"

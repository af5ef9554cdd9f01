"""How well a tip followed its path, in words: the same ones on a terminal and in a report."""

from __future__ import annotations

from math import isnan

from dvrk_kinematics.motion.following import FollowingFigures

__all__ = ["EXACT", "FINEST", "describe_contour", "describe_lag", "describe_off"]

FINEST = 1e-9
"""Errors below this (m, rad) are the rounding of numbers, not of arms."""

EXACT = "a simulated arm follows its setpoints exactly"
"""What errors below that tell."""


def describe_contour(figures: FollowingFigures, micro: str = "u") -> str:
    """Contour errors, max and RMS.

    Args:
        figures: The figures.
        micro: How a millionth is written.
    """
    return (
        f"{describe_off(figures.position_max, figures.position_rms, f'{micro}m')}, "
        f"{describe_off(figures.rotation_max, figures.rotation_rms, f'{micro}rad')}"
    )


def describe_off(largest: float, rms: float, unit: str) -> str:
    """Two errors (m, rad) in millionths, with three digits; or that they are too small for it."""
    if isnan(largest):
        return "not known"
    if largest < FINEST:
        return f"under {1e6 * FINEST:g} {unit}"
    return f"{1e6 * largest:.3g} / {1e6 * rms:.3g} {unit}"


def describe_lag(figures: FollowingFigures) -> str:
    """Mean and largest lag."""
    if isnan(figures.lag_mean):
        return "not known"
    return f"{1e3 * figures.lag_mean:.1f} / {1e3 * figures.lag_max:.1f} ms"

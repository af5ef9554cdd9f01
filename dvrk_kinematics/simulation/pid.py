"""The PID as far as a kinematic simulation shows it: tracking errors, and efforts to send."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["pid_effort", "tracking_mask", "tracking_text"]


def tracking_mask(error: Sequence[float], tolerance: Sequence[float]) -> list[bool] | None:
    """Which actuators are farther from their set-points than allowed; None if none is.

    Args:
        error: Set-point minus measured, of every actuator (rad, m).
        tolerance: Largest errors.
    """
    mask = [abs(e) > limit for e, limit in zip(error, tolerance, strict=True)]
    return mask if any(mask) else None


def tracking_text(arm: str, mask: Sequence[bool]) -> str:
    """What the arm says when its PID reports a tracking error."""
    columns = "".join(f"{int(bit):>13}" for bit in mask)
    return f"received [{arm}_PID: tracking error, mask (1 for error):{columns}]"


def pid_effort(
    error: Sequence[float],
    rate_error: Sequence[float],
    p_gain: Sequence[float],
    d_gain: Sequence[float],
) -> list[float]:
    """Efforts of the actuators (N m, N) for errors of position and velocity."""
    return [p * e + d * r for e, r, p, d in zip(error, rate_error, p_gain, d_gain, strict=True)]

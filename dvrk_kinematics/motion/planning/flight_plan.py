"""The figures of a planned motion; the fields are those of FlightPlan.msg."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, nan

__all__ = ["FlightPlan"]


@dataclass(frozen=True, slots=True)
class FlightPlan:
    """A motion in numbers, proven before anything moves.

    "Where" is a fraction of the path, 0 to 1: of the tip's travel, or of the time if it does not
    travel.

    Attributes:
        ok: False if it was refused; the numbers then hold what was found so far.
        reason: Why and where it was refused; empty if it was not.
        duration: How long it takes (s).
        length: How far the tip travels (m).
        samples: Number of poses checked.
        knots: Knots to be sent.
        position_deviation: Worst distance of what will be played from the exact path (m).
        rotation_deviation: Worst angle between them (rad).
        limit_margin: Smallest distance of a joint to its limit, as a fraction of its range.
        limit_margin_joint: Which joint that is.
        limit_margin_where: Where.
        peak_velocity: Largest joint speed, as a fraction of the joint's limit.
        peak_velocity_joint: Which joint that is.
        peak_velocity_where: Where.
        peak_acceleration: Largest joint acceleration, as a fraction of the joint's limit.
        peak_acceleration_joint: Which joint that is.
        peak_acceleration_where: Where.
        smallest_singular_value: Of the Jacobian (SI units).
        smallest_singular_value_where: Where.
        wrist_depth: Smallest depth of the wrist beyond the remote centre (m); NaN without one.
        wrist_depth_where: Where.
        slowed_by: Factor by which the motion was slowed down to fit; 1 if it was not.
        slowed_for: What required it.
        orientation_given_up: Largest angle by which position_first turned the tool away (rad).
    """

    ok: bool = False
    reason: str = ""
    duration: float = 0.0
    length: float = 0.0
    samples: int = 0
    knots: int = 0
    position_deviation: float = 0.0
    rotation_deviation: float = 0.0
    limit_margin: float = inf
    limit_margin_joint: str = ""
    limit_margin_where: float = 0.0
    peak_velocity: float = 0.0
    peak_velocity_joint: str = ""
    peak_velocity_where: float = 0.0
    peak_acceleration: float = 0.0
    peak_acceleration_joint: str = ""
    peak_acceleration_where: float = 0.0
    smallest_singular_value: float = inf
    smallest_singular_value_where: float = 0.0
    wrist_depth: float = nan
    wrist_depth_where: float = 0.0
    slowed_by: float = 1.0
    slowed_for: str = ""
    orientation_given_up: float = 0.0

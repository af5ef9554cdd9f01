"""Scalings by name, and scalings for moves that translate and turn at the same time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf, pi, sqrt
from types import MappingProxyType

from dvrk_kinematics.errors import InvalidInput, UnknownName
from dvrk_kinematics.motion.paths.path import Path
from dvrk_kinematics.motion.timing.logistic import hyperbolic_within
from dvrk_kinematics.motion.timing.scalings import (
    Scaling,
    check_positive,
    normalised,
    quintic,
    trapezoid,
)
from dvrk_kinematics.motion.tolerances import LEAST_LENGTH

__all__ = ["SCALINGS", "TipSpeeds", "combined", "find_scaling", "time_path"]

MakeScaling = Callable[[float, float, float], Scaling]

SCALINGS: Mapping[str, MakeScaling] = MappingProxyType(
    {
        "trapezoid": trapezoid,
        "quintic": quintic,
        "hyperbolic": hyperbolic_within,
        "normalised": lambda length, speed, acceleration: normalised(speed, acceleration),
    }
)
"""Makers of scalings from length, speed and acceleration, by the names that nodes use."""


@dataclass(frozen=True, slots=True)
class TipSpeeds:
    """How fast the tip may move.

    Attributes:
        speed: Along the path (m/s).
        acceleration: Along the path, and across it where it is curved (m/s^2).
        angular_speed: For turning (rad/s).
        angular_acceleration: For turning (rad/s^2).

    Raises:
        InvalidInput: A number is not positive and finite.
    """

    speed: float = 0.005
    acceleration: float = 0.01
    angular_speed: float = pi / 12.0
    angular_acceleration: float = pi / 6.0

    def __post_init__(self) -> None:
        check_positive(
            speed=self.speed,
            acceleration=self.acceleration,
            angular_speed=self.angular_speed,
            angular_acceleration=self.angular_acceleration,
        )


def find_scaling(name: str) -> MakeScaling:
    """Look up a scaling.

    Raises:
        UnknownName: The name is unknown; lists the known names.
    """
    if name not in SCALINGS:
        raise UnknownName("scaling", name, SCALINGS)
    return SCALINGS[name]


def combined(name: str, length: float, angle: float, speeds: TipSpeeds) -> Scaling:
    """A scaling on the fraction of a path that translates and turns: the slower one governs.

    Both the translation's and the rotation's limits are kept, and the governing one is met.

    Args:
        name: Which of ``SCALINGS``.
        length: How far the tip travels (m); 0 for a pure turn.
        angle: How much it turns (rad); 0 for a pure translation.
        speeds: The limits.

    Raises:
        UnknownName: The scaling is unknown.
        InvalidInput: The path goes nowhere, or length or angle is negative or not finite.
    """
    if not (0.0 <= length < inf and 0.0 <= angle < inf):
        raise InvalidInput("length", f"must be finite and not negative: {length} m, {angle} rad")
    return _make_within(name, (length, angle), (0.0, 0.0), speeds)


def time_path(name: str, path: Path, speeds: TipSpeeds) -> Scaling:
    """A scaling on the fraction of a path, as :func:`combined`, also across where it is curved.

    The acceleration across the path, v^2 / r on an arc, stays within the limit along it; on a
    curved path the speed is reduced for that. The rule "normalised" ignores lengths and curves.

    Args:
        name: Which of ``SCALINGS``.
        path: The path.
        speeds: The limits.

    Raises:
        UnknownName: The scaling is unknown.
        InvalidInput: The path goes nowhere.
    """
    return _make_within(name, path.peak_twist, path.peak_bend, speeds)


def _make_within(
    name: str, ways: tuple[float, float], bends: tuple[float, float], speeds: TipSpeeds
) -> Scaling:
    make = find_scaling(name)
    limits = (
        (speeds.speed, speeds.acceleration),
        (speeds.angular_speed, speeds.angular_acceleration),
    )
    rates: list[float] = []
    gains: list[float] = []
    for way, bend, (speed, acceleration) in zip(ways, bends, limits, strict=True):
        if way <= LEAST_LENGTH:
            continue
        # The normalised rates are those of the fraction itself.
        by = 1.0 if name == "normalised" else way
        rates.append(speed / by)
        gains.append(acceleration / by)
        if bend > 0.0 and name != "normalised":
            rates.append(sqrt(acceleration / bend))
    if not rates:
        raise InvalidInput("path", "neither translates nor turns, so it takes no time")
    return make(1.0, min(rates), min(gains))

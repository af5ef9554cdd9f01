"""Angles, lengths and times as people write and read them: ``30deg``, ``-5mm/s``, ``2s``.

Inside the project everything is in rad, m and s; a plain number is in one of these.
"""

from __future__ import annotations

import math
import re
from enum import Enum

from dvrk_kinematics.errors import InvalidInput, shorten

__all__ = ["Quantity", "read_quantity", "show_quantity"]

_NUMBER = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*([^\d\s].*)?", re.IGNORECASE)


class Quantity(Enum):
    """What a number measures; the value holds its units, SI first, and an example."""

    ANGLE = ({"rad": 1.0, "deg": math.pi / 180.0}, "30deg")
    LENGTH = ({"m": 1.0, "mm": 1e-3}, "12mm")
    ANGULAR_SPEED = ({"rad/s": 1.0, "deg/s": math.pi / 180.0}, "10deg/s")
    SPEED = ({"m/s": 1.0, "mm/s": 1e-3}, "5mm/s")
    TIME = ({"s": 1.0, "ms": 1e-3}, "2s")

    @property
    def units(self) -> dict[str, float]:
        """Size of each unit in SI units, the SI unit first."""
        return self.value[0]

    @property
    def example(self) -> str:
        """An example of how to write one."""
        return self.value[1]


def read_quantity(name: str, text: str, quantity: Quantity) -> float:
    """Read a number with its unit.

    Args:
        name: Its name, for the error.
        text: The number, with a unit or in SI units.
        quantity: What it measures.

    Returns:
        The number in SI units.

    Raises:
        InvalidInput: It is not a number, or its unit is not one of this quantity.
    """
    si = next(iter(quantity.units))
    found = _NUMBER.fullmatch(text)
    unit = (found[2] or si).strip() if found else ""
    if found is None or unit not in quantity.units or not math.isfinite(float(found[1])):
        units = " or ".join(quantity.units)
        raise InvalidInput(
            name,
            f"{shorten(text)!r} cannot be read; write a number in {units}, such as "
            f"{quantity.example} (without a unit it is in {si})",
        )
    return float(found[1]) * quantity.units[unit]


def show_quantity(value: float, quantity: Quantity, digits: int = 2) -> str:
    """Format a number for people, with its unit: degrees and millimetres."""
    unit, factor = list(quantity.units.items())[0 if quantity is Quantity.TIME else 1]
    # Adding 0.0 turns a rounded -0.0 into 0.0.
    return f"{round(value / factor, digits) + 0.0:.{digits}f} {unit}"

"""How the tool is turned while the tip traces a figure."""

from __future__ import annotations

from enum import Enum

from dvrk_kinematics.errors import InvalidInput

__all__ = ["Orientation", "read_orientation"]


class Orientation(str, Enum):
    """How the tool is turned about its z, which points into the plane of the figure."""

    ALONG = "along"
    """Tool x along the travel: the tool turns on the spot at every corner."""
    FIXED = "fixed"
    """As on the first side, all the way round: the tool never turns."""


def read_orientation(text: str) -> Orientation:
    """The orientation of a name.

    Raises:
        InvalidInput: There is none of that name; lists those that exist.
    """
    try:
        return Orientation(text)
    except ValueError:
        valid = " or ".join(f'"{item.value}"' for item in Orientation)
        raise InvalidInput("orientation", f"must be {valid}, is {text!r}") from None

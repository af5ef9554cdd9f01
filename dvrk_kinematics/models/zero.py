"""Which zero the joints of an arm have: the ideal arm's, or the controller's.

The tables of the dVRK say 1.5708 where they mean a right angle. Its library makes the twists
(alpha) exact and leaves the offsets of the joints as they are (cisst fe84bf08, robDH and
robModifiedDH), so its forward kinematics is that of an ideal arm whose joints are off by 3.7 urad:
up to 0.95 um and 10 urad at the tip of a PSM. 161 recorded pairs of joints and poses agree with
these offsets to 1e-15.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.models.schema import ArmModel

__all__ = ["Zero", "with_zero"]


class Zero(str, Enum):
    """Where a joint position of 0 is."""

    IDEAL = "ideal"
    """Right angles are right angles."""
    CONTROLLER = "controller"
    """Where the controller's own table puts it."""


def with_zero(model: ArmModel, zero: str | Zero) -> ArmModel:
    """An arm whose joints have the requested zero.

    Args:
        model: The ideal arm.
        zero: "ideal" or "controller"; the same for an arm whose controller keeps exact offsets.

    Raises:
        InvalidInput: The zero is unknown.
    """
    try:
        chosen = Zero(zero)
    except ValueError:
        valid = ", ".join(item.value for item in Zero)
        raise InvalidInput("zero", f"must be one of {valid}, is {zero!r}") from None
    shift = {
        row.joint: row.controller_theta - row.theta
        for row in model.chain
        if row.joint is not None and row.controller_theta is not None
    }
    if chosen is Zero.IDEAL or not any(shift.values()):
        return model
    chain = tuple(
        row if row.controller_theta is None else replace(row, theta=row.controller_theta)
        for row in model.chain
    )
    links = tuple(
        replace(link, offset=link.offset + link.multiplier * shift.get(link.joint or "", 0.0))
        for link in model.links
    )
    return replace(model, chain=chain, links=links, ideal=model)

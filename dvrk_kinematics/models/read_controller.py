"""The controller of a plain serial arm, as its model file describes it."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from dvrk_kinematics.models.read_yaml import Node
from dvrk_kinematics.models.schema import ControllerModel, JointModel

__all__ = ["read_controller"]

_KEYS = ("home", "p_gain", "d_gain")


def read_controller(node: Node, joints: Sequence[JointModel]) -> ControllerModel:
    """Reads home posture and gains, one entry per joint.

    Raises:
        ModelError: If a joint is missing or unknown, homing would leave the limits, a gain is
            negative, or a joint has no PID tolerance; names file and place.
    """
    node.keys([joint.name for joint in joints])
    columns: dict[str, list[float]] = {key: [] for key in _KEYS}
    for joint in joints:
        entry = node[joint.name]
        entry.keys(_KEYS)
        for key in _KEYS:
            columns[key].append(entry[key].number())
        home = columns["home"][-1]
        if not joint.lower <= home <= joint.upper:
            raise entry["home"].error(
                f"must be within [{joint.lower}, {joint.upper}], the joint's limits, is {home}"
            )
        if not isfinite(joint.pid_tolerance):
            raise entry.error("a joint with a controller needs a pid_tolerance among the joints")
        for key in ("p_gain", "d_gain"):
            if columns[key][-1] < 0.0:
                raise entry[key].error(f"must not be negative, is {columns[key][-1]}")
    return ControllerModel(**{key: tuple(values) for key, values in columns.items()})

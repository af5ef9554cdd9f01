"""Joints of a URDF: checked one by one, mimics followed to the joint that moves."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dvrk_kinematics.errors import ModelError
from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.geometry.arrays import Array, frozen
from dvrk_kinematics.models.schema import JointKind, JointModel

__all__ = ["Mimic", "UrdfJoint", "follow_mimics", "read_joint", "read_pose"]

_KINDS = {
    "revolute": JointKind.REVOLUTE,
    "continuous": JointKind.REVOLUTE,
    "prismatic": JointKind.PRISMATIC,
    "fixed": JointKind.FIXED,
}
# Axes are written with few digits by hand (0.7071) and with rounding by CAD tools.
_AXIS_TOLERANCE = 1e-4


@dataclass(frozen=True, slots=True)
class Mimic:
    """The joint that a joint follows: its position is ``multiplier * joint + offset``."""

    joint: str
    multiplier: float
    offset: float


@dataclass(frozen=True, slots=True)
class UrdfJoint:
    """One joint of a URDF.

    Attributes:
        name: Its name.
        parent: Parent link.
        child: Child link.
        T_pre: Constant before the joint, which moves along or about z, shape (4, 4).
        T_post: Constant after it, shape (4, 4).
        model: Kind and limits; without limits for a fixed or continuous one.
        mimic: The joint it follows; None if it moves on its own or is fixed.
    """

    name: str
    parent: str
    child: str
    T_pre: Array
    T_post: Array
    model: JointModel
    mimic: Mimic | None


def read_joint(joint: Any, source: str) -> UrdfJoint:
    """Checks a joint of urdf_parser_py.

    Args:
        joint: A ``urdf_parser_py.urdf.Joint``.
        source: Name of the file, for errors.

    Raises:
        ModelError: If its type, axis, limits or numbers cannot be used.
    """
    where = f"{source}: joint {joint.name}"
    if joint.type not in _KINDS:
        raise ModelError(where, f"type {joint.type!r} is not supported; valid: {_names(_KINDS)}")
    kind = _KINDS[joint.type]
    T_origin = read_pose(joint.origin, where)
    T_axis = np.eye(4)
    if kind is not JointKind.FIXED:
        T_axis[:3, :3] = _turn_to(_read_axis(joint, where))
    return UrdfJoint(
        name=joint.name,
        parent=joint.parent,
        child=joint.child,
        T_pre=frozen(T_origin @ T_axis),
        T_post=frozen(T_axis.T),
        model=_read_limits(joint, kind, where),
        mimic=_read_mimic(joint, where),
    )


def read_pose(origin: Any, where: str) -> Array:
    """The matrix of an origin, R = Rot_z(yaw) Rot_y(pitch) Rot_x(roll); identity for None.

    Returns:
        Shape (4, 4).
    """
    if origin is None:
        return np.eye(4)
    x, y, z = _finite(origin.xyz or (0.0, 0.0, 0.0), "origin xyz", where)
    roll, pitch, yaw = _finite(origin.rpy or (0.0, 0.0, 0.0), "origin rpy", where)
    return se3.make(so3.rot_z(yaw) @ so3.rot_y(pitch) @ so3.rot_x(roll), [x, y, z])


def _finite(values: Iterable[float], what: str, where: str) -> list[float]:
    numbers = [float(value) for value in values]
    if not all(math.isfinite(number) for number in numbers):
        raise ModelError(where, f"{what} must be finite, is {numbers}")
    return numbers


def _read_axis(joint: Any, where: str) -> Array:
    axis = np.array(_finite(joint.axis or (1.0, 0.0, 0.0), "axis", where))
    length = float(np.linalg.norm(axis))
    if abs(length - 1.0) > _AXIS_TOLERANCE:
        raise ModelError(where, f"axis must have length 1, {axis.tolist()} has {length:.6g}")
    return axis / length


def _turn_to(axis: Array) -> Array:
    """A rotation whose z is the axis; exact where the axis is one of the three."""
    i = int(np.abs(axis).argmin())
    x = np.cross(axis, np.eye(3)[i])
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(axis, x), axis])


def _read_limits(joint: Any, kind: JointKind, where: str) -> JointModel:
    lower, upper, velocity, effort = -math.inf, math.inf, math.inf, math.inf
    limit = joint.limit
    bounded = joint.type in ("revolute", "prismatic")
    if bounded and limit is None:
        raise ModelError(where, f"a {joint.type} joint needs a <limit>")
    if limit is not None and kind is not JointKind.FIXED:
        numbers = (limit.velocity or 0.0, limit.effort or 0.0)
        velocity, effort = _finite(numbers, "limit", where)
        if bounded:
            lower, upper = _finite((limit.lower or 0.0, limit.upper or 0.0), "limit", where)
            if lower > upper:
                raise ModelError(where, f"lower limit {lower} is above upper limit {upper}")
    return JointModel(joint.name, kind, lower, upper, velocity, math.inf, effort)


def _read_mimic(joint: Any, where: str) -> Mimic | None:
    if joint.mimic is None or joint.type == "fixed":
        return None
    multiplier = 1.0 if joint.mimic.multiplier is None else joint.mimic.multiplier
    offset = 0.0 if joint.mimic.offset is None else joint.mimic.offset
    multiplier, offset = _finite((multiplier, offset), "mimic", where)
    return Mimic(joint.mimic.joint, multiplier, offset)


def follow_mimics(joints: Mapping[str, UrdfJoint], source: str) -> dict[str, Mimic]:
    """For every moving joint, the joint that drives it; mimics of mimics are followed.

    A joint that moves on its own follows itself with factor 1.

    Raises:
        ModelError: If a mimic is circular, or follows a joint that is missing or fixed.
    """
    found: dict[str, Mimic] = {}
    for joint in joints.values():
        if joint.model.kind is not JointKind.FIXED:
            _follow(joint, joints, source, found)
    return found


def _follow(
    joint: UrdfJoint, joints: Mapping[str, UrdfJoint], source: str, found: dict[str, Mimic]
) -> None:
    """Adds a joint and all that it follows; joints already found are not followed again."""
    where = f"{source}: joint {joint.name}"
    followers: dict[str, Mimic] = {}
    while joint.name not in found:
        if joint.mimic is None:
            found[joint.name] = Mimic(joint.name, 1.0, 0.0)
            break
        followers[joint.name] = joint.mimic
        name = joint.mimic.joint
        if name not in joints:
            raise ModelError(
                where, f"mimics {name!r}, which does not exist; valid: {_names(joints)}"
            )
        if name in followers:
            raise ModelError(where, f"mimics in a circle: {' -> '.join((*followers, name))}")
        joint = joints[name]
        if joint.model.kind is JointKind.FIXED:
            raise ModelError(where, f"mimics {name!r}, which is fixed")
    leader = found[joint.name]
    for name, mimic in reversed(followers.items()):
        factors = (mimic.multiplier * leader.multiplier, mimic.multiplier * leader.offset)
        multiplier, offset = _finite(factors, "mimic of a mimic", f"{source}: joint {name}")
        leader = found[name] = Mimic(leader.joint, multiplier, offset + mimic.offset)


def _names(valid: Iterable[str]) -> str:
    return ", ".join(valid)

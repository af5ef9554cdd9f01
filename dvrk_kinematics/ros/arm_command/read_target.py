"""Targets for an arm as people type them: ``yaw=10deg insertion+=5mm`` or ``z=-120mm``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from dvrk_kinematics.errors import InvalidInput, UnknownName, shorten
from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.arm import Arm
from dvrk_kinematics.models.schema import JointKind
from dvrk_kinematics.motion.limits import MotionLimits
from dvrk_kinematics.ros.common.quantity import Quantity, read_quantity

__all__ = ["find_duration", "joint_quantity", "read_target"]

_AXES = ("x", "y", "z")
_TURN = "quaternion"
_TARGET = re.compile(r"(\w+)(\+?)=(.+)")
_SHORTEST_S = 0.2

_Target = tuple[str, bool, str]
"""Name, whether it adds to the current value, and the value as text."""


def joint_quantity(kind: JointKind) -> Quantity:
    """Return the quantity of a joint's position: an angle, or a length for slides."""
    return Quantity.LENGTH if kind is JointKind.PRISMATIC else Quantity.ANGLE


def read_target(arm: Arm, q: Array, texts: Sequence[str]) -> Array:
    """Read the joint positions that a user requests.

    Args:
        arm: The arm.
        q: Its current joint positions (rad, m), shape (n,).
        texts: ``NAME=VALUE``, or ``NAME+=VALUE`` to add to the current value. Either joints of
            the arm, or x, y, z of the tip in the arm's base with or without
            ``quaternion=X,Y,Z,W``. Values not named stay.

    Returns:
        The joint positions (rad, m), shape (n,).

    Raises:
        InvalidInput: A text cannot be read, or the tip cannot get there within the limits.
        UnknownName: There is no such joint or axis.
    """
    targets = [_split(text) for text in texts]
    names = [name for name, _, _ in targets]
    if len(set(names)) != len(names):
        raise InvalidInput("target", f"{', '.join(names)}: each may be named once")
    cartesian = {*_AXES, _TURN}
    if not cartesian & set(names):
        return _read_joints(arm, q, targets)
    if not set(names) <= cartesian:
        raise InvalidInput("target", "name joints or axes of the tip, not both")
    T = _read_pose(arm.forward(q), targets)
    result = arm.inverse(T, seed=q)
    if not result.ok:
        raise InvalidInput("target", f"the tip cannot get there: {result.reason}")
    return np.array(result.q)


def find_duration(q: Array, target: Array, limits: MotionLimits, speed: float) -> float:
    """Return a motion's duration (s) at a fraction of the joints' top speed and acceleration.

    Args:
        q: Current joint positions (rad, m), shape (n,).
        target: Target joint positions.
        limits: The joints' motion limits.
        speed: The fraction used, in (0, 1].
    """
    way = np.abs(target - q)
    by_velocity = way / (speed * limits.velocity)
    by_acceleration = 2.0 * np.sqrt(way / (speed * limits.acceleration))
    return float(max(_SHORTEST_S, *by_velocity, *by_acceleration))


def _split(text: str) -> _Target:
    found = _TARGET.fullmatch(text.strip())
    if found is None:
        raise InvalidInput(
            "target", f"{shorten(text)!r} cannot be read; write NAME=VALUE, such as yaw=10deg"
        )
    return found[1], bool(found[2]), found[3]


def _read_joints(arm: Arm, q: Array, targets: Iterable[_Target]) -> Array:
    joints = {joint.name: joint for joint in arm.model.joints}
    wanted: dict[str, float] = dict(zip(arm.joint_names, q.tolist(), strict=True))
    for name, is_added, text in targets:
        if name not in joints:
            raise UnknownName("joint or axis", name, (*arm.joint_names, *_AXES, _TURN))
        value = read_quantity(name, text, joint_quantity(joints[name].kind))
        wanted[name] = value + (wanted[name] if is_added else 0.0)
    return np.array(list(wanted.values()))


def _read_pose(T: Array, targets: Iterable[_Target]) -> Array:
    R, p = T[:3, :3], T[:3, 3].copy()
    for name, is_added, text in targets:
        if name == _TURN:
            R = _read_turn(text, is_added=is_added)
            continue
        value = read_quantity(name, text, Quantity.LENGTH)
        k = _AXES.index(name)
        p[k] = value + (p[k] if is_added else 0.0)
    return se3.make(R, p)


def _read_turn(text: str, *, is_added: bool) -> Array:
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        values = []
    if is_added or len(values) != 4:
        raise InvalidInput(_TURN, f"{shorten(text)!r} cannot be read; write {_TURN}=X,Y,Z,W")
    return so3.from_quaternion(values)

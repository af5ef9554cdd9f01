"""Joints and Denavit-Hartenberg rows: from file to records, and from rows to matrices."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable

import numpy as np

from dvrk_kinematics.geometry.arrays import Array, frozen
from dvrk_kinematics.models.read_yaml import Node
from dvrk_kinematics.models.schema import Convention, DhRow, JointKind, JointModel

__all__ = ["DH_KEYS", "dh_constants", "read_chain", "read_dh", "read_joint", "read_joints"]

DH_KEYS = ("alpha", "a", "d", "theta")
_LIMIT_KEYS = ("lower", "upper", "velocity", "acceleration", "effort")
_TOLERANCE_KEY = "pid_tolerance"
_CONTROLLER_KEY = "controller_theta"
_NEAR_RAD = 1e-4
"""A controller's offset is the ideal arm's, rounded."""


def read_joint(name: str, node: Node) -> JointModel:
    """Reads one joint; refuses limits in the wrong order and negative rates."""
    node.keys(("kind", *_LIMIT_KEYS), (_TOLERANCE_KEY,))
    kinds = (JointKind.REVOLUTE.value, JointKind.PRISMATIC.value)
    kind = node["kind"].text()
    if kind not in kinds:
        raise node["kind"].error(f"must be one of {', '.join(kinds)}, is {kind!r}")
    numbers = {key: node[key].number() for key in _LIMIT_KEYS}
    if not numbers["lower"] < numbers["upper"]:
        raise node.error(f"lower {numbers['lower']} must be below upper {numbers['upper']}")
    for key in _LIMIT_KEYS[2:]:
        if numbers[key] < 0.0:
            raise node[key].error(f"must not be negative, is {numbers[key]}")
    if _TOLERANCE_KEY in node:
        numbers[_TOLERANCE_KEY] = node[_TOLERANCE_KEY].number()
        if not numbers[_TOLERANCE_KEY] > 0.0:
            raise node[_TOLERANCE_KEY].error(f"must be positive, is {numbers[_TOLERANCE_KEY]}")
    return JointModel(name=name, kind=JointKind(kind), **numbers)


def read_joints(node: Node, prefix: str = "") -> tuple[JointModel, ...]:
    """Reads the joints of an arm or instrument, in the order of the file."""
    return tuple(read_joint(prefix + name, entry) for name, entry in node.items())


def read_dh(node: Node, joint: JointModel | None) -> DhRow:
    """Reads alpha, a, d and theta of one row; other keys are up to the caller."""
    values = {key: node[key].number() for key in DH_KEYS}
    kind = joint.kind if joint else JointKind.FIXED
    rounded = node[_CONTROLLER_KEY].number() if _CONTROLLER_KEY in node else None
    if rounded is not None and (
        kind is not JointKind.REVOLUTE or abs(rounded - values["theta"]) > _NEAR_RAD
    ):
        raise node[_CONTROLLER_KEY].error(
            f"must be theta of a revolute joint, {values['theta']}, to {_NEAR_RAD}, is {rounded}"
        )
    return DhRow(
        **values, joint=joint.name if joint else None, kind=kind, controller_theta=rounded
    )


def read_chain(node: Node, joints: Iterable[JointModel], prefix: str = "") -> tuple[DhRow, ...]:
    """Reads a chain: each row names its joint, or is marked as fixed.

    Raises:
        ModelError: If a row belongs to no joint, or a joint has no row or is out of order.
    """
    by_name = {joint.name: joint for joint in joints}
    rows = []
    for name, entry in node.items():
        entry.keys(DH_KEYS, ("fixed", _CONTROLLER_KEY))
        fixed = "fixed" in entry and entry["fixed"].flag()
        joint = None if fixed else by_name.get(prefix + name)
        if joint is None and not fixed:
            raise entry.error(f"is no joint ({', '.join(by_name)}) and does not say fixed: true")
        rows.append(read_dh(entry, joint))
    _check_order(node, [row.joint for row in rows if row.joint], by_name)
    return tuple(rows)


def _check_order(node: Node, moving: list[str], joints: Collection[str]) -> None:
    if moving != list(joints):
        raise node.error(f"moves {', '.join(moving)}, but the joints are {', '.join(joints)}")


def dh_constants(row: DhRow, convention: Convention) -> tuple[Array, Array]:
    """The constant matrices before and after the joint of a row.

    Quarter turns come out exact: cos(pi/2) is 0 and not 6e-17.

    Returns:
        (T_pre, T_post), both (4, 4) and read-only, such that the row's matrix is T_pre J(q) T_post
        with J along or about z.
    """
    x_part = np.eye(4)
    c, s = _cos_sin(row.alpha)
    x_part[1:3, 1:3] = [[c, -s], [s, c]]
    x_part[0, 3] = row.a
    z_part = np.eye(4)
    c, s = _cos_sin(row.theta)
    z_part[:2, :2] = [[c, -s], [s, c]]
    z_part[2, 3] = row.d
    if convention is Convention.MODIFIED:
        return frozen(x_part @ z_part), frozen(np.eye(4))
    return frozen(z_part), frozen(x_part)


def _cos_sin(angle: float) -> tuple[float, float]:
    quarter = angle / (math.pi / 2.0)
    if quarter == round(quarter):
        return ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[int(quarter) % 4]
    return math.cos(angle), math.sin(angle)

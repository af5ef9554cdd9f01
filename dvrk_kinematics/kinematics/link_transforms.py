"""Each link in its parent, as translations and quaternions: what tf needs for a moving tree.

A pose in the parent needs neither a walk down the tree nor a matrix: with x the joint's position,
a turn's quaternion is linear in cos(x/2) and sin(x/2), and its translation in cos(x) and sin(x).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dvrk_kinematics.errors import UnknownName
from dvrk_kinematics.geometry import so3
from dvrk_kinematics.geometry.arrays import Array, frozen
from dvrk_kinematics.models.schema import JointKind, LinkModel

__all__ = ["FixedTransform", "LinkTransforms"]


class FixedTransform(NamedTuple):
    """A link that does not move in its parent.

    Attributes:
        parent: The link above.
        child: The link.
        T_parent_child: Its pose, shape (4, 4).
    """

    parent: str
    child: str
    T_parent_child: Array


class LinkTransforms:
    """The transforms of a tree, with moving and fixed ones separate.

    Args:
        links: Parents before children; the first is the root, whose pose is not among them.
        joints: The joint names of the vector that ``numbers`` takes, in order.

    Raises:
        UnknownName: If a link follows a joint that is not among them.

    Attributes:
        moving: (parent, child) of each row of ``numbers``.
        fixed: The links that do not move in their parents.
    """

    def __init__(self, links: Sequence[LinkModel], joints: Sequence[str]) -> None:
        below = [link for link in links if link.parent is not None]
        moves = [link for link in below if link.joint is not None]
        for link in moves:
            if link.joint not in joints:
                raise UnknownName(f"joint of link {link.name}", str(link.joint), joints)
        self.moving = tuple((str(link.parent), link.name) for link in moves)
        self.fixed = tuple(
            FixedTransform(str(link.parent), link.name, frozen(link.T_pre @ link.T_post))
            for link in below
            if link.joint is None
        )
        columns = {name: i for i, name in enumerate(joints)}
        self._columns = np.array([columns[str(link.joint)] for link in moves], dtype=np.intp)
        self._factors = np.array([link.multiplier for link in moves])
        self._offsets = np.array([link.offset for link in moves])
        # A slide does not turn, whatever its position.
        self._half_turns = np.array([0.5 * (link.kind is JointKind.REVOLUTE) for link in moves])
        # Shapes (M, 4, 3) and (M, 2, 4): what 1, cos, sin and x contribute to the translation, and
        # what cos(x/2) and sin(x/2) contribute to the quaternion.
        self._translations = np.array([_translation_parts(link) for link in moves])
        self._rotations = np.array([_rotation_parts(link) for link in moves])
        self._rows = np.empty((len(moves), 7))
        self._weights = np.ones((len(moves), 1, 4))
        self._halves = np.empty((len(moves), 1, 2))

    def numbers(self, q: Array) -> Array:
        """Poses of the moving links in their parents.

        Args:
            q: Positions of the joints (rad, m), shape (n,).

        Returns:
            Shape (M, 7): x y z qx qy qz qw. The array is overwritten by the next call.
        """
        if not self.moving:
            return self._rows
        value = q.take(self._columns) * self._factors + self._offsets
        self._weights[:, 0, 1] = np.cos(value)
        self._weights[:, 0, 2] = np.sin(value)
        self._weights[:, 0, 3] = value
        half = value * self._half_turns
        self._halves[:, 0, 0] = np.cos(half)
        self._halves[:, 0, 1] = np.sin(half)
        self._rows[:, :3] = (self._weights @ self._translations)[:, 0]
        self._rows[:, 3:] = (self._halves @ self._rotations)[:, 0]
        return self._rows


def _translation_parts(link: LinkModel) -> Array:
    R, p = link.T_pre[:3, :3], link.T_pre[:3, 3]
    x, y, z = link.T_post[:3, 3]
    if link.kind is JointKind.PRISMATIC:
        return np.array([p + R @ [x, y, z], np.zeros(3), np.zeros(3), R[:, 2]])
    return np.array([p + R[:, 2] * z, R @ [x, y, 0.0], R @ [-y, x, 0.0], np.zeros(3)])


def _rotation_parts(link: LinkModel) -> Array:
    before = so3.to_quaternion(link.T_pre[:3, :3])
    after = so3.to_quaternion(link.T_post[:3, :3])
    about_z = np.array([0.0, 0.0, 1.0, 0.0])
    return np.array([_product(before, after), _product(_product(before, about_z), after)])


def _product(a: Array, b: Array) -> Array:
    """Product of two quaternions x y z w."""
    u, v = a[:3], b[:3]
    vector = a[3] * v + b[3] * u + np.cross(u, v)
    return np.array([*vector, a[3] * b[3] - u @ v])

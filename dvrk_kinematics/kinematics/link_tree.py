"""Poses of every link of an arm, mimic links included, in a handful of numpy calls."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dvrk_kinematics.errors import UnknownName
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.models.schema import JointKind, LinkModel

__all__ = ["LinkTree"]

_TURNING = np.diag([1.0, 1.0, 0.0, 0.0])
_QUARTER = np.zeros((4, 4))
_QUARTER[1, 0], _QUARTER[0, 1] = 1.0, -1.0
_SLIDING = np.zeros((4, 4))
_SLIDING[2, 3] = 1.0


class LinkTree:
    """The links of an arm, ready for evaluation.

    Two ideas make it fast. A joint's matrix is affine in (1, cos q, sin q, q), so the matrices of
    all links come from one product with a constant tensor. The poses down the tree follow by
    pointer jumping: each round multiplies every link by its ancestor and doubles how far up it has
    reached, so a tree of depth 15 takes four batched products instead of fifteen levels.

    Args:
        links: Parents before children; the first is the root.
        joints: The joint names of the vector that ``poses`` takes, in order.

    Raises:
        UnknownName: If a link follows a joint that is not among them.

    Attributes:
        names: The links in the order of ``poses``: by depth, the root first.
    """

    def __init__(self, links: Sequence[LinkModel], joints: Sequence[str]) -> None:
        depth: dict[str, int] = {}
        for link in links:
            depth[link.name] = depth[link.parent] + 1 if link.parent else 0
        ordered = sorted(links, key=lambda link: depth[link.name])
        self.names = tuple(link.name for link in ordered)
        index = {name: i for i, name in enumerate(self.names)}
        parents = [index[link.parent] if link.parent else -1 for link in ordered]
        self._rounds = _jump_rounds(parents)
        columns = {name: i for i, name in enumerate(joints)}
        for link in links:
            if link.joint is not None and link.joint not in columns:
                raise UnknownName(f"joint of link {link.name}", link.joint, joints)
        # A fixed link follows the first joint with factor 0.
        self._columns = np.array([columns.get(link.joint or "", 0) for link in ordered])
        self._factors = np.array([link.multiplier if link.joint else 0.0 for link in ordered])
        self._offsets = np.array([link.offset for link in ordered])
        self._basis = np.array([_basis(link) for link in ordered])

    def poses(self, q: Array) -> Array:
        """The poses of all links in the root's frame.

        Args:
            q: Positions of the tree's joints (rad, m), shape (n,) or (N, n).

        Returns:
            Shape (L, 4, 4) or (N, L, 4, 4), in the order of ``names``.
        """
        value = q.take(self._columns, axis=-1)
        value *= self._factors
        value += self._offsets
        weights = np.ones((*value.shape, 1, 4))
        weights[..., 0, 1] = np.cos(value)
        weights[..., 0, 2] = np.sin(value)
        weights[..., 0, 3] = value
        T: Array = (weights @ self._basis).reshape(*value.shape, 4, 4)
        for first, ancestors in self._rounds:
            below = T[..., first:, :, :]
            below[...] = T.take(ancestors, axis=-3) @ below
        return T

    def frames(self, q: Array) -> dict[str, Array]:
        """The poses of all links by name; shape (4, 4) or (N, 4, 4) each."""
        poses = self.poses(q)
        if q.ndim == 1:
            return dict(zip(self.names, poses, strict=True))
        return {name: poses[:, i] for i, name in enumerate(self.names)}


def _basis(link: LinkModel) -> Array:
    """The matrices that 1, cos, sin and a slide contribute to a link, shape (4, 16)."""
    zero = np.zeros((4, 4))
    parts = {
        JointKind.FIXED: (np.eye(4), zero, zero, zero),
        JointKind.REVOLUTE: (np.eye(4) - _TURNING, _TURNING, _QUARTER, zero),
        JointKind.PRISMATIC: (np.eye(4), zero, zero, _SLIDING),
    }[link.kind]
    return np.array([(link.T_pre @ part @ link.T_post).ravel() for part in parts])


def _jump_rounds(parents: list[int]) -> list[tuple[int, npt.NDArray[np.intp]]]:
    """For each round, the first link that still has an ancestor to include, and those ancestors.

    Links are sorted by depth, so links with none left come before those with some.
    """
    rounds = []
    ancestors = parents
    while any(a >= 0 for a in ancestors):
        first = sum(a < 0 for a in ancestors)
        rounds.append((first, np.array(ancestors[first:], dtype=np.intp)))
        ancestors = [ancestors[a] if a >= 0 else -1 for a in ancestors]
    return rounds

"""Poses of every link of an arm, mimic links included, in a handful of numpy calls."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.models.schema import JointKind, LinkModel

__all__ = ["LinkTree"]


class LinkTree:
    """The links of an arm, ready for evaluation.

    Two ideas make it fast. A joint's matrix is affine in (cos q, sin q, q), so all links' matrices
    come from three products with constant tensors. And the poses down the tree follow by pointer
    jumping: each round multiplies every link by its ancestor and doubles how far up it has looked,
    so a tree of depth 15 takes four batched products instead of fifteen levels.

    Args:
        links: Parents before children; the first is the root.
        joints: The joint names of the vector that ``poses`` takes, in order.
    """

    def __init__(self, links: Sequence[LinkModel], joints: Sequence[str]) -> None:
        self.names = tuple(link.name for link in links)
        index = {name: i for i, name in enumerate(self.names)}
        parents = [index[link.parent] if link.parent else len(links) for link in links]
        self._rounds = _jump_rounds(parents)
        self._count = len(links)
        order = {name: i for i, name in enumerate(joints)}
        moving = [i for i, link in enumerate(links) if link.joint is not None]
        self._columns = np.array([order[str(links[i].joint)] for i in moving], dtype=np.intp)
        self._factor = np.array([links[i].multiplier for i in moving])
        self._offset = np.array([links[i].offset for i in moving])
        self._fill(links, moving)

    def _fill(self, links: Sequence[LinkModel], moving: list[int]) -> None:
        """The constant tensors: fixed part of every link, and what cos, sin and a slide add."""
        turning = np.zeros((4, 4))
        turning[0, 0] = turning[1, 1] = 1.0
        quarter = np.zeros((4, 4))
        quarter[1, 0], quarter[0, 1] = 1.0, -1.0
        slide = np.zeros((4, 4))
        slide[2, 3] = 1.0
        fixed = np.zeros((self._count + 1, 4, 4))
        fixed[-1] = np.eye(4)
        for i, link in enumerate(links):
            still = np.eye(4) - turning if link.kind is JointKind.REVOLUTE else np.eye(4)
            fixed[i] = link.T_pre @ still @ link.T_post
        parts = np.zeros((3, self._count, 4, 4))
        for i in moving:
            link = links[i]
            terms = (slide,) if link.kind is JointKind.PRISMATIC else (turning, quarter)
            slots = (2,) if link.kind is JointKind.PRISMATIC else (0, 1)
            for slot, term in zip(slots, terms, strict=True):
                parts[slot, i] = link.T_pre @ term @ link.T_post
        self._fixed = fixed
        # Only the links that move have such parts.
        self._moving = np.array(moving, dtype=np.intp)
        self._parts = np.ascontiguousarray(parts[:, self._moving])

    def poses(self, q: Array) -> Array:
        """The poses of all links in the root's frame.

        Args:
            q: Positions of the tree's joints (rad, m), shape (n,) or (N, n).

        Returns:
            Shape (L, 4, 4) or (N, L, 4, 4), in the order of ``names``.
        """
        value = (q[..., self._columns] * self._factor + self._offset)[..., None, None]
        turning, quarter, slide = self._parts
        local = np.cos(value) * turning
        local += np.sin(value) * quarter
        local += value * slide
        if q.ndim == 1:
            T = self._fixed.copy()
            T[self._moving] += local
        else:
            T = np.repeat(self._fixed[None], len(q), axis=0)
            T[:, self._moving] += local
        for ancestors in self._rounds:
            T[..., :-1, :, :] = T.take(ancestors, axis=-3) @ T[..., :-1, :, :]
        poses: Array = T[..., :-1, :, :]
        return poses

    def frames(self, q: Array) -> dict[str, Array]:
        """The poses of all links by name; shape (4, 4) or (N, 4, 4) each."""
        poses = self.poses(q)
        if q.ndim == 1:
            return dict(zip(self.names, poses, strict=True))
        return {name: poses[:, i] for i, name in enumerate(self.names)}


def _jump_rounds(parents: list[int]) -> list[npt.NDArray[np.intp]]:
    """For each round the link whose product every link takes in; the last index is nobody."""
    nobody = len(parents)
    rounds = []
    ancestors = [*parents, nobody]
    while any(a != nobody for a in ancestors):
        rounds.append(np.array(ancestors[:-1], dtype=np.intp))
        ancestors = [ancestors[a] for a in ancestors]
    return rounds

"""Links that are not hinged to each other do not meet, anywhere in the joint range."""

from __future__ import annotations

import itertools
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from dvrk_kinematics import load_arm

pin = pytest.importorskip("pinocchio")


def _hinged(text: str) -> set[frozenset[str]]:
    joints = ElementTree.fromstring(text).iter("joint")
    return {frozenset(str(j.find(end).get("link")) for end in ("parent", "child")) for j in joints}  # type: ignore[union-attr]


class Collisions:
    """The collision solids of a URDF, every pair of links that no joint connects."""

    def __init__(self, text: str) -> None:
        self.model = pin.buildModelFromXML(text, mimic=True)
        self.solids = pin.buildGeomFromUrdfString(self.model, text, pin.GeometryType.COLLISION)
        hinged = _hinged(text)
        frames = self.model.frames
        self.links = [frames[s.parentFrame].name for s in self.solids.geometryObjects]
        for i, j in itertools.combinations(range(len(self.links)), 2):
            pair = frozenset((self.links[i], self.links[j]))
            if len(pair) == 2 and pair not in hinged:
                self.solids.addCollisionPair(pin.CollisionPair(i, j))
        self.data, self.found = self.model.createData(), self.solids.createData()

    def at(self, **positions: float) -> set[frozenset[str]]:
        """The pairs of links that meet."""
        q = pin.neutral(self.model)
        for name, value in positions.items():
            q[self.model.joints[self.model.getJointId(name)].idx_q] = value
        pin.computeCollisions(self.model, self.data, self.solids, self.found, q, False)
        pairs = zip(self.solids.collisionPairs, self.found.collisionResults, strict=True)
        return {
            frozenset((self.links[pair.first], self.links[pair.second]))
            for pair, result in pairs
            if result.isCollision()
        }


@pytest.mark.parametrize("name", ["PSM1", "ECM"])
def test_no_link_meets_another(name: str, described: Any) -> None:
    collisions = Collisions(described(name))
    limits = load_arm(name.rstrip("0123456789")).limits
    yaws, pitches, insertions = (
        np.linspace(limits.lower[i], limits.upper[i], n) for i, n in ((0, 3), (1, 9), (2, 3))
    )
    for yaw, pitch, insertion in itertools.product(yaws, pitches, insertions):
        met = collisions.at(yaw=yaw, pitch=pitch, insertion=insertion)
        assert not met, f"yaw {yaw:.2f} pitch {pitch:.2f} insertion {insertion:.2f}"


def test_jaws_meet_when_they_close_beyond_zero(described: Any) -> None:
    """Which also shows that the check sees what it is meant to see."""
    collisions = Collisions(described("PSM1"))
    assert collisions.at(insertion=0.1, jaw=0.2) == set()
    halves = frozenset(("PSM1_jaw_left_link", "PSM1_jaw_right_link"))
    assert collisions.at(insertion=0.1, jaw=-0.2) == {halves}

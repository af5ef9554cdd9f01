"""Descriptions, each expanded once, and pinocchio, which says where their links are."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.models.urdf.describe_urdf import describe, expand

# Test modules are imported one by one, not as a package: what they share is found here.
sys.path.insert(0, str(Path(__file__).parent))

Expand = Callable[..., str]


@lru_cache(maxsize=64)
def _described(arm: str, arguments: tuple[tuple[str, str], ...]) -> str:
    return describe(arm, **dict(arguments))


@lru_cache(maxsize=16)
def _expanded(name: str, arguments: tuple[tuple[str, str], ...]) -> str:
    return expand(name, **dict(arguments))


@pytest.fixture(scope="session")
def described() -> Expand:
    """The URDF of an arm; every combination is expanded once."""
    return lambda arm, **arguments: _described(arm, tuple(sorted(arguments.items())))


@pytest.fixture(scope="session")
def expanded() -> Expand:
    """The URDF of a xacro file; every combination is expanded once."""
    return lambda name, **arguments: _expanded(name, tuple(sorted(arguments.items())))


class Oracle:
    """A URDF as pinocchio understands it, mimics included."""

    def __init__(self, text: str) -> None:
        # Here and not above: reading and expanding is tested without it, too.
        self.pin: Any = pytest.importorskip("pinocchio")
        self.model = self.pin.buildModelFromXML(text, mimic=True)
        self.data = self.model.createData()

    @property
    def joints(self) -> set[str]:
        """Names of the joints that move by themselves."""
        moving = list(zip(self.model.names, self.model.joints, strict=True))[1:]
        return {name for name, joint in moving if "Mimic" not in joint.shortname()}

    def frames(self, positions: Mapping[str, float]) -> dict[str, Array]:
        """Poses of all links, shape (4, 4) each; joints without a position are at 0."""
        q = self.pin.neutral(self.model)
        for name, value in positions.items():
            q[self.model.joints[self.model.getJointId(name)].idx_q] = value
        self.pin.framesForwardKinematics(self.model, self.data, q)
        poses: dict[str, Any] = {}
        for i, frame in enumerate(self.model.frames):
            if frame.type == self.pin.FrameType.BODY:
                poses[frame.name] = np.array(self.data.oMf[i].homogeneous)
        return poses


@pytest.fixture(scope="session")
def oracle() -> Callable[[str], Oracle]:
    """Pinocchio's reading of a URDF."""
    return lru_cache(maxsize=64)(Oracle)

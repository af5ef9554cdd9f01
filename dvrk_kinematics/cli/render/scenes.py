"""Scenes of the documentation's pictures: a description, joint positions and a camera."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from dvrk_kinematics.geometry import se3
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.arm import load_arm
from dvrk_kinematics.kinematics.link_tree import LinkTree
from dvrk_kinematics.models.urdf.describe_urdf import expand
from dvrk_kinematics.models.urdf.urdf_model import parse_urdf

__all__ = ["SCENES", "Scene"]


@dataclass(frozen=True, slots=True)
class Scene:
    """One picture.

    Attributes:
        description: Name of the xacro file.
        eye: Where the camera is (m), in the description's root.
        target: What it looks at (m).
        joints: Positions of joints (rad, m) by name; 0 for the others.
        angle: Vertical opening of the camera (deg).
        floor: Height of the floor (m), None for a picture without one.
        posed: Adds joint positions that depend on the description.
    """

    description: str
    eye: tuple[float, float, float]
    target: tuple[float, float, float]
    joints: Mapping[str, float] = field(default_factory=dict)
    angle: float = 28.0
    floor: float | None = None
    posed: Callable[[str], Mapping[str, float]] | None = None

    def text(self) -> str:
        """The URDF."""
        return expand(self.description)

    def positions(self, text: str) -> dict[str, float]:
        """Joint positions (rad, m) by name, including those derived from the description."""
        posed = self.posed(text) if self.posed else {}
        return {**self.joints, **posed}


def _rows(prefix: str, names: str, values: list[float]) -> dict[str, float]:
    return {prefix + name: value for name, value in zip(names.split(), values, strict=True)}


_PSM_JOINTS = "yaw pitch insertion roll wrist_pitch wrist_yaw jaw"
_SUJ_JOINTS = "J0 J1 J2 J3 J4 J5"
_RVM1_JOINTS = "waist shoulder elbow wrist_pitch wrist_roll"
_CYBER310_JOINTS = "waist shoulder elbow forearm_roll wrist_pitch wrist_roll"

# Arms spread as before an operation: PSM2 mirrors PSM1, PSM3 reaches in from the side.
_CART = {
    **_rows("SUJ_ECM_", "J0 J1 J2 J3", [0.62, 0.6, -1.2, 3.7416]),
    **_rows("SUJ_PSM1_", _SUJ_JOINTS, [0.10, 0.3, -2.0, -0.1, 0.0, 0.25]),
    **_rows("SUJ_PSM2_", _SUJ_JOINTS, [0.10, -0.3, 2.0, 0.1, 0.0, -0.25]),
    **_rows("SUJ_PSM3_", _SUJ_JOINTS, [0.0, -2.1, 1.5, 0.75, 0.0, 0.35]),
    **_rows("PSM1_", _PSM_JOINTS, [0.15, -0.1, 0.11, 0.0, 0.3, 0.2, 0.4]),
    **_rows("PSM2_", _PSM_JOINTS, [-0.15, -0.1, 0.11, 0.0, 0.3, -0.2, 0.4]),
    **_rows("PSM3_", _PSM_JOINTS, [-0.1, 0.2, 0.10, 0.0, 0.2, 0.0, 0.3]),
    **_rows("ECM_", "yaw pitch insertion roll", [0.0, 0.0, 0.09, 0.0]),
}

# How far the wrists bend from the straight line through the port (rad), so that they can be seen.
_BENDS = {
    "PSM1_": {"wrist_pitch1": 0.2, "wrist_yaw1": 0.3, "wrist_yaw2": 0.3, "wrist_pitch2": 0.2},
    "PSM2_": {"wrist_pitch": -0.4, "wrist_yaw": 0.5},
}


def _meeting(text: str) -> dict[str, float]:
    """Both instruments reach through their ports to the middle of the abdomen."""
    urdf = parse_urdf(text, "torso_scene")
    rest = LinkTree(urdf.links, urdf.joint_names).frames(np.zeros(len(urdf.joint_names)))
    joints: dict[str, float] = {"PSM1_jaw": 0.6, "PSM2_jaw": 0.8}
    for prefix, instrument, side in (("PSM1_", "400117", -1.0), ("PSM2_", "CAUDIER", 1.0)):
        arm = load_arm("PSM", instrument=instrument)
        T_world_base = rest[f"{prefix}base"]
        tip = np.array([0.0, side * 0.02, 0.11])
        T_world_tip = se3.make(_pointing(tip - T_world_base[:3, 3]), tip)
        found = arm.inverse(se3.inverse(T_world_base) @ T_world_tip)
        values = dict(zip(arm.joint_names, found.q.tolist(), strict=True))
        for name, value in values.items():
            joints[prefix + name] = value + _BENDS[prefix].get(name, 0.0)
    return joints


def _pointing(direction: Array) -> Array:
    """A rotation whose z is a direction across the x axis."""
    z = direction / np.linalg.norm(direction)
    x = np.array([1.0, 0.0, 0.0])
    return np.column_stack([x, np.cross(z, x), z])


SCENES: dict[str, Scene] = {
    "psm": Scene(
        "psm",
        eye=(1.45, 0.95, 0.62),
        target=(0.0, -0.375, 0.175),
        joints=_rows("", _PSM_JOINTS, [0.0, 0.0, 0.12, 0.0, 0.0, 0.0, 0.3]),
        angle=24.0,
    ),
    "psm_pitched": Scene(
        "psm",
        eye=(1.45, 0.95, 0.62),
        target=(0.0, -0.345, 0.075),
        joints=_rows("", _PSM_JOINTS, [0.45, -0.6, 0.2, 0.4, 0.5, 0.4, 0.8]),
        angle=24.0,
    ),
    "psm_wrist": Scene(
        "psm",
        eye=(0.14, 0.0, -0.085),
        target=(0.0, 0.002, -0.111),
        joints=_rows("", _PSM_JOINTS, [0.0, 0.0, 0.12, -1.25, 0.3, 0.4, 0.9]),
        angle=16.0,
    ),
    "ecm": Scene(
        "ecm",
        eye=(1.75, 1.05, 0.75),
        target=(0.0, -0.345, 0.165),
        joints=_rows("", "yaw pitch insertion roll", [0.0, 0.25, 0.12, 0.3]),
        angle=24.0,
    ),
    "cart": Scene(
        "patient_cart",
        eye=(1.5, 4.7, 2.0),
        target=(0.08, 0.33, 0.77),
        joints=_CART,
        floor=-0.167458,
        angle=26.0,
    ),
    "torso": Scene(
        "torso_scene",
        eye=(1.75, -1.55, 1.45),
        target=(0.0, -0.10, 0.12),
        posed=_meeting,
        angle=32.0,
    ),
    "rvm1": Scene(
        "rvm1",
        eye=(1.25, -1.35, 0.85),
        target=(0.16, 0.0, 0.25),
        joints=_rows("", _RVM1_JOINTS, [0.2, 0.9, -1.4, 1.9, 0.4]),
        angle=26.0,
        floor=0.0,
    ),
    "cyber310": Scene(
        "cyber310",
        eye=(1.05, -1.15, 0.75),
        target=(0.10, 0.0, 0.24),
        joints=_rows("", _CYBER310_JOINTS, [0.2, -1.3, 0.1, 0.3, -0.9, 0.5]),
        angle=26.0,
        floor=0.0,
    ),
}

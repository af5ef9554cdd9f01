"""Tools as the dVRK names them, and their effect on the joints of a PSM."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dvrk_kinematics.errors import InvalidInput, UnknownName
from dvrk_kinematics.geometry.arrays import Array, frozen
from dvrk_kinematics.kinematics.arm import Arm, load_arm
from dvrk_kinematics.models.schema import JointModel

__all__ = ["Tool", "find_tool", "load_tool"]

_ALIASES = {
    "BLACK_DIAMOND_MICRO_FORCEPS:400033": "MICRO_FORCEPS:400033",
    "5MM_NEEDLE_DRIVER:400117": "NEEDLE_DRIVER:400117",
    "5MM_MARYLAND_DISSECTOR:400143": "MARYLAND_DISSECTOR:400143",
    "BIPOLAR_MARYLAND_FORCEPS:400172": "MARYLAND_BIPOLAR_FORCEPS:400172",
    "MONOPOLAR_CURVED_SCISSOR:400179": "MONOPOLAR_CURVED_SCISSORS:400179",
}
"""Second names in the dVRK's list of tools (share/tool/index.json)."""

_DESCRIPTIONS = {
    "MICRO_FORCEPS": "Black Diamond Micro Forceps",
    "DEBAKEY_FORCEPS": "DeBakey Forceps",
    "NEEDLE_DRIVER": "5mm Needle Driver",
    "MARYLAND_DISSECTOR": "5mm Maryland Dissector",
    "LRG_SUTURECUT_NEEDLE_DRIVER": "Large Suturecut Needle Driver",
}
"""Descriptions in that list that are not just the name in lower case."""

_SNAKE_JOINTS = 8
"""A snake has two more pitch and two more yaw joints; the controller drives their sums."""


@dataclass(frozen=True, slots=True, eq=False)
class Tool:
    """A tool on a PSM.

    The controller drives seven joints: the arm's three, roll, wrist pitch, wrist yaw and jaw.

    Attributes:
        type_text: Value of tool_type: "LARGE_NEEDLE_DRIVER:400006[..]".
        file: Name of the dVRK's file for it, for texts.
        description: Its description in status texts.
        arm: Kinematics of the PSM with it.
        lower: Smallest positions of the seven joints (rad, m).
        upper: Largest positions.
        velocity: Largest speeds of moves at ratio 1.
        acceleration: Accelerations of moves at ratio 1.
        to_joints: Actuators to joints, shape (7, 7).
        to_actuators: Joints to actuators, shape (7, 7).
        is_snake: Whether two joints of the chain share one actuated joint, twice.
    """

    type_text: str
    file: str
    description: str
    arm: Arm
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    velocity: tuple[float, ...]
    acceleration: tuple[float, ...]
    to_joints: Array
    to_actuators: Array
    is_snake: bool


def find_tool(text: str, generation: str) -> Tool | None:
    """Find the tool of a set_tool_type text: NAME:MODEL, with or without a version in brackets.

    Returns:
        The tool; None if the dVRK would not know it on an arm of that generation.
    """
    name, bracket, version = text.partition("[")
    if bracket and not version.endswith("]"):
        return None
    name = _ALIASES.get(name, name)
    base, colon, model = name.partition(":")
    if not colon or not base or not model or base != base.upper():
        return None
    try:
        tool = load_tool(model, generation)
    except (UnknownName, InvalidInput):
        return None
    return tool if tool.type_text.startswith(f"{base}:{model}[") else None


@lru_cache(maxsize=64)
def load_tool(name: str, generation: str) -> Tool:
    """Load a tool by number or name.

    Raises:
        UnknownName: The instrument does not exist.
        InvalidInput: It is made for another generation, or four discs cannot drive it.
    """
    arm = load_arm("PSM", instrument=name, generation=generation, zero="controller")
    instrument = arm.model.instrument
    jaw = arm.model.jaw
    if instrument is None or jaw is None or instrument.coupling is None:
        raise InvalidInput("tool", f"{name} has no jaw or no coupling, the dVRK needs both")
    base = instrument.name.removesuffix(f"_{instrument.number}")
    joints = _driven_joints(arm, jaw)
    coupling = np.eye(7)
    coupling[3:, 3:] = instrument.coupling
    words = _DESCRIPTIONS.get(base, base.replace("_", " ").title())
    return Tool(
        type_text=f"{base}:{instrument.number}[..]",
        file=f"{instrument.name}.json",
        description=f"{words} for da Vinci {generation} ({instrument.number}[..])",
        arm=arm,
        lower=tuple(joint[0] for joint in joints),
        upper=tuple(joint[1] for joint in joints),
        velocity=tuple(joint[2] for joint in joints),
        acceleration=tuple(joint[3] for joint in joints),
        to_joints=frozen(coupling),
        to_actuators=frozen(np.linalg.inv(coupling)),
        is_snake=len(arm.joint_names) == _SNAKE_JOINTS,
    )


def _driven_joints(arm: Arm, jaw: JointModel) -> list[tuple[float, float, float, float]]:
    """Lower, upper, speed and acceleration of the seven joints that the controller drives."""
    joints = [(j.lower, j.upper, j.velocity, j.acceleration) for j in arm.model.joints]
    if len(joints) == _SNAKE_JOINTS:
        # Each sum of two equal joints has twice their range.
        joints = [*joints[:4], *((2 * lo, 2 * up, v, a) for lo, up, v, a in joints[4:6])]
    return [*joints, (jaw.lower, jaw.upper, jaw.velocity, jaw.acceleration)]

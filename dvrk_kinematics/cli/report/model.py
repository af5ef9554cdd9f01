"""Which model a recorded arm had: by its name, its joints, its tool and its description.

The generations of the dVRK have arms and joints with the same names. A tool is made for one of
them, and a robot_description has the limits of one of them. Where a bag has neither, we assume the
older one, and report the assumption.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dvrk_kinematics.cli.report.recording import ArmRecording
from dvrk_kinematics.errors import DvrkError
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.arm import Arm, load_arm
from dvrk_kinematics.models.model_files import model_name
from dvrk_kinematics.models.schema import JointModel
from dvrk_kinematics.models.urdf.urdf_model import parse_urdf

__all__ = ["FoundModel", "find_model"]

_GENERATIONS = ("Classic", "Si")
_SAME_LIMIT = 1e-3
"""How far limits (rad, m) of one arm may differ between two files: those of a URDF are rounded."""


@dataclass(frozen=True, slots=True)
class FoundModel:
    """The model of a recorded arm.

    Attributes:
        arm: The arm.
        is_assumed: Whether nothing in the bag shows its generation.
    """

    arm: Arm
    is_assumed: bool

    def __str__(self) -> str:
        model = self.arm.model
        words = [model.name, model.generation]
        words += [f"with {model.instrument.name}"] if model.instrument else []
        words += ["(generation assumed)"] if self.is_assumed else []
        return " ".join(word for word in words if word)


def find_model(arm: ArmRecording) -> FoundModel | None:
    """The model of an arm with the tool that it reported; None if its joints differ."""
    made = [_load(arm, generation) for generation in _GENERATIONS]
    fitting = [model for model in made if model is not None]
    if not fitting:
        return None
    if len(fitting) == 1:
        return FoundModel(fitting[0], is_assumed=False)
    described = _find_described(fitting, _read_described(arm))
    return FoundModel(described or fitting[0], is_assumed=described is None)


def _load(arm: ArmRecording, generation: str) -> Arm | None:
    """The arm of a generation; None if none has this tool and these joints."""
    *spaces, name = arm.name.split("/")
    is_setup = bool(spaces) and spaces[-1] == "SUJ"
    number = arm.tool_type.partition(":")[2].partition("[")[0] or None
    try:
        wanted = f"SUJ_{name}" if is_setup else model_name(name)
        model = load_arm(wanted, instrument=number, generation=generation)
    except DvrkError:
        return None
    return model if tuple(model.joint_names) == arm.measured.names else None


def _read_described(arm: ArmRecording) -> Sequence[JointModel]:
    """The joints of an arm from its description; none if that has different ones.

    Joints of a description may carry a prefix, as in ``PSM1_yaw``.
    """
    if not arm.description:
        return ()
    try:
        joints = {joint.name: joint for joint in parse_urdf(arm.description).joints}
    except DvrkError:
        return ()
    first = arm.measured.names[0]
    for prefix in (name.removesuffix(first) for name in joints if name.endswith(first)):
        wanted = [f"{prefix}{name}" for name in arm.measured.names]
        if all(name in joints for name in wanted):
            return [joints[name] for name in wanted]
    return ()


def _find_described(models: Sequence[Arm], described: Sequence[JointModel]) -> Arm | None:
    """The one model with the description's limits, where the models differ; None if none."""
    if not described:
        return None
    rows = [_limits(model.model.joints) for model in models]
    # Ignore an instrument's limits: the bag may not say which one it was.
    telling = ~np.isclose(rows, rows[0], rtol=0.0, atol=_SAME_LIMIT).all(axis=0)
    given = _limits(described)[telling]
    fitting = [
        model
        for model, limits in zip(models, rows, strict=True)
        if np.allclose(given, limits[telling], rtol=0.0, atol=_SAME_LIMIT)
    ]
    return fitting[0] if len(fitting) == 1 else None


def _limits(joints: Sequence[JointModel]) -> Array:
    """Lower and upper limits (rad, m), shape (n, 2)."""
    return np.array([(joint.lower, joint.upper) for joint in joints])

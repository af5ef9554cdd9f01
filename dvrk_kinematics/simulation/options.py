"""The configuration of a simulated system: arms, tools and options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.simulation.plants import Plant

__all__ = ["ArmSpec", "SystemOptions", "ToolDetection"]


class ToolDetection(str, Enum):
    """How a PSM learns which tool it carries: the dVRK's ``tool_detection``."""

    FIXED = "FIXED"
    """Configured: the tool is present from the first homing on."""
    MANUAL = "MANUAL"
    """Requested (tool_type_request) and set by set_tool_type."""


@dataclass(frozen=True, slots=True)
class ArmSpec:
    """One arm of a system.

    Attributes:
        name: Name on the graph: "PSM1", "ECM", "RVM1", ...
        model: Its model; by default the one with its name, with or without its digits.
        generation: "Classic" (the only one that the recordings cover).
        tool: Number or name of the instrument of a PSM; for an ECM the endoscope type.
        tool_detection: How a PSM learns its tool.
        base_frame: Pose of the base in ``base_frame_id``, shape (4, 4), without setup joints.
        base_frame_id: Frame of measured_cp and setpoint_cp; ``<name>_base`` by default.
        plant: Mechanics that the motors drive; by default the kinematic plant, which follows
            exactly.
    """

    name: str
    model: str = ""
    generation: str = "Classic"
    tool: str = ""
    tool_detection: ToolDetection = ToolDetection.FIXED
    base_frame: Array | None = None
    base_frame_id: str = ""
    plant: Plant | None = None


@dataclass(frozen=True, slots=True)
class SystemOptions:
    """Options of all arms.

    Attributes:
        with_suj: Setup joints carry the arms and drive their base frames.
        suj_joints: Where the setup joints start (rad, m), by the name of the arm they carry, shape
            (6,); those of the dVRK's suj-simulated.json for arms that are not named here.
        reset_joints_on_enable: Joints jump to zero when an arm is enabled again. The dVRK's own
            simulation does that, hardware does not.
        powering_s: How long motor power takes to come on (s).
    """

    with_suj: bool = False
    suj_joints: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    reset_joints_on_enable: bool = False
    powering_s: float = 0.0

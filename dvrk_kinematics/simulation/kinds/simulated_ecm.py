"""A simulated ECM: an arm that carries an endoscope."""

from __future__ import annotations

from dvrk_kinematics.errors import UnknownName
from dvrk_kinematics.kinematics.arm import load_arm
from dvrk_kinematics.simulation.arm import ArmCore, SimulatedArm
from dvrk_kinematics.simulation.control import CONTROLLERS
from dvrk_kinematics.simulation.kinds.ecm_manipulator import ENDOSCOPES
from dvrk_kinematics.simulation.kinds.ecm_mechanism import EcmMechanism
from dvrk_kinematics.simulation.kinds.endoscope_attachment import EndoscopeAttachment
from dvrk_kinematics.simulation.options import ArmSpec, SystemOptions

__all__ = ["SimulatedEcm"]

_DEFAULT_ENDOSCOPE = "Classic_SD_STRAIGHT"


class SimulatedEcm(SimulatedArm):
    """An ECM; one command beyond those of every arm.

    Args:
        spec: Which arm, and its endoscope.
        options: What holds for the whole system.

    Raises:
        UnknownName: There is no such endoscope.
    """

    def __init__(self, spec: ArmSpec, options: SystemOptions) -> None:
        endoscope = spec.tool or _DEFAULT_ENDOSCOPE
        if endoscope not in ENDOSCOPES:
            raise UnknownName("endoscope", endoscope, ENDOSCOPES)
        data = CONTROLLERS["ECM"]
        arm = load_arm("ECM", generation=spec.generation, zero="controller")
        mechanism = EcmMechanism(arm, data, endoscope)
        core = ArmCore(spec, data, mechanism)
        attachment = EndoscopeAttachment(core, mechanism, endoscope)
        super().__init__(core, "ECM", attachment, options)
        self.set_endoscope_type = attachment.set_endoscope_type
        self.commands["set_endoscope_type"] = self.set_endoscope_type

"""A simulated plain serial arm: joints, no tool that comes and goes, no cannula.

Which arm it is, its home and its controller are data of its model. States, commands, texts and
readings are those of every arm here, so that whoever drives a PSM can drive it.
"""

from __future__ import annotations

from dvrk_kinematics.kinematics.arm import load_arm
from dvrk_kinematics.models.loader import model_name
from dvrk_kinematics.simulation.arm import ArmCore, Attachment, SimulatedArm
from dvrk_kinematics.simulation.control import Mechanism, MotorLimits, make_controller
from dvrk_kinematics.simulation.kinds.serial_manipulator import SerialManipulator
from dvrk_kinematics.simulation.options import ArmSpec, SystemOptions

__all__ = ["SimulatedSerialArm"]


class SimulatedSerialArm(SimulatedArm):
    """A plain serial arm.

    Args:
        spec: Which arm; it carries no tool.
        options: What holds for the whole system.

    Raises:
        ModelError: Its model describes no controller.
    """

    def __init__(self, spec: ArmSpec, options: SystemOptions) -> None:
        arm = load_arm(spec.model or model_name(spec.name), generation=spec.generation)
        mechanism = Mechanism(SerialManipulator(arm), MotorLimits.of(arm.model.joints))
        core = ArmCore(spec, make_controller(arm.model), mechanism)
        super().__init__(core, arm.model.kind, Attachment(), options)

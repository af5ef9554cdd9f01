"""One simulated arm: its states, commands and readings, around its controller."""

from dvrk_kinematics.simulation.arm.arm_core import ArmCore
from dvrk_kinematics.simulation.arm.attachment import Attachment
from dvrk_kinematics.simulation.arm.simulated_arm import SimulatedArm

__all__ = ["ArmCore", "Attachment", "SimulatedArm"]

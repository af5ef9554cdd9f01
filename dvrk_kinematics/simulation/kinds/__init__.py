"""The kinds of simulated arms and their attachments: PSM, ECM, serial arms, setup joints."""

from dvrk_kinematics.simulation.kinds.ecm_manipulator import ENDOSCOPES, endoscope_tip
from dvrk_kinematics.simulation.kinds.simulated_ecm import SimulatedEcm
from dvrk_kinematics.simulation.kinds.simulated_psm import SimulatedPsm
from dvrk_kinematics.simulation.kinds.simulated_serial_arm import SimulatedSerialArm
from dvrk_kinematics.simulation.kinds.simulated_suj import CART, SIMULATED_POSITIONS, SimulatedSuj
from dvrk_kinematics.simulation.kinds.tool import Tool, find_tool, load_tool

__all__ = [
    "CART",
    "ENDOSCOPES",
    "SIMULATED_POSITIONS",
    "SimulatedEcm",
    "SimulatedPsm",
    "SimulatedSerialArm",
    "SimulatedSuj",
    "Tool",
    "endoscope_tip",
    "find_tool",
    "load_tool",
]

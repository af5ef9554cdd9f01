"""Simulated arms that behave like the dVRK's, without ROS and without a clock of their own.

::

    system = SimulatedSystem([ArmSpec("PSM1"), ArmSpec("ECM")])
    system.power_on()
    for cycle in range(400):
        system.step(cycle * 5_000_000)
    system.arms["PSM1"].measured_js
"""

from dvrk_kinematics.simulation.arm import SimulatedArm
from dvrk_kinematics.simulation.deviations import DEVIATIONS, Deviation
from dvrk_kinematics.simulation.driven_joints import driven_joints
from dvrk_kinematics.simulation.faults import Fault, FaultKind
from dvrk_kinematics.simulation.kinds import (
    SimulatedEcm,
    SimulatedPsm,
    SimulatedSerialArm,
    SimulatedSuj,
)
from dvrk_kinematics.simulation.options import ArmSpec, SystemOptions, ToolDetection
from dvrk_kinematics.simulation.plants import KinematicPlant, Plant
from dvrk_kinematics.simulation.readings import (
    Event,
    ForwardAnswer,
    FrameTransform,
    InverseAnswer,
    JointReading,
    OperatingStateReading,
    PoseReading,
    TwistReading,
    WrenchReading,
)
from dvrk_kinematics.simulation.simulated_system import SimulatedSystem
from dvrk_kinematics.simulation.timing import ArmThread, ClockReadings, Lateness, LatePublisher

__all__ = [
    "DEVIATIONS",
    "ArmSpec",
    "ArmThread",
    "ClockReadings",
    "Deviation",
    "Event",
    "Fault",
    "FaultKind",
    "ForwardAnswer",
    "FrameTransform",
    "InverseAnswer",
    "JointReading",
    "KinematicPlant",
    "LatePublisher",
    "Lateness",
    "OperatingStateReading",
    "Plant",
    "PoseReading",
    "SimulatedArm",
    "SimulatedEcm",
    "SimulatedPsm",
    "SimulatedSerialArm",
    "SimulatedSuj",
    "SimulatedSystem",
    "SystemOptions",
    "ToolDetection",
    "TwistReading",
    "WrenchReading",
    "driven_joints",
]

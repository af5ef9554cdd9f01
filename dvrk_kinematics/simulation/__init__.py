"""Simulated arms that behave as the dVRK's, without ROS and without a clock of their own.

::

    system = SimulatedSystem([ArmSpec("PSM1"), ArmSpec("ECM")])
    system.power_on()
    for cycle in range(400):
        system.step(cycle * 5_000_000)
    system.arms["PSM1"].measured_js
"""

from dvrk_kinematics.simulation.arm import SimulatedArm
from dvrk_kinematics.simulation.arm_thread import ArmThread
from dvrk_kinematics.simulation.clock_readings import ClockReadings
from dvrk_kinematics.simulation.deviations import DEVIATIONS, Deviation
from dvrk_kinematics.simulation.ecm import SimulatedEcm
from dvrk_kinematics.simulation.faults import Fault, FaultKind
from dvrk_kinematics.simulation.late_publisher import Lateness, LatePublisher
from dvrk_kinematics.simulation.options import ArmSpec, SystemOptions, ToolDetection
from dvrk_kinematics.simulation.plant import KinematicPlant, Plant
from dvrk_kinematics.simulation.psm import SimulatedPsm
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
from dvrk_kinematics.simulation.serial import SimulatedSerialArm
from dvrk_kinematics.simulation.suj import SimulatedSuj
from dvrk_kinematics.simulation.system import SimulatedSystem

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
]

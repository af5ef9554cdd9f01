"""When the dVRK's threads make, stamp and send data, with their stalls and delays."""

from dvrk_kinematics.simulation.timing.arm_thread import ArmThread
from dvrk_kinematics.simulation.timing.clock_readings import ClockReadings
from dvrk_kinematics.simulation.timing.late_publisher import Lateness, LatePublisher

__all__ = ["ArmThread", "ClockReadings", "LatePublisher", "Lateness"]

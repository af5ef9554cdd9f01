"""The controller of a simulated arm: operating state, mechanism, servo, moves and events."""

from dvrk_kinematics.simulation.control.controller_data import (
    CONTROLLERS,
    ControllerData,
    make_controller,
)
from dvrk_kinematics.simulation.control.joint_trajectory import JointTrajectory
from dvrk_kinematics.simulation.control.manipulator import Inverse, Manipulator, spatial_jacobian
from dvrk_kinematics.simulation.control.mechanism import Mechanism, MotorLimits
from dvrk_kinematics.simulation.control.motion_controller import Mode, MotionController, Space
from dvrk_kinematics.simulation.control.operating_state import (
    ACCEPTED,
    COMMANDS,
    OperatingStateMachine,
    State,
    SubState,
)
from dvrk_kinematics.simulation.control.reporter import Reporter

__all__ = [
    "ACCEPTED",
    "COMMANDS",
    "CONTROLLERS",
    "ControllerData",
    "Inverse",
    "JointTrajectory",
    "Manipulator",
    "Mechanism",
    "Mode",
    "MotionController",
    "MotorLimits",
    "OperatingStateMachine",
    "Reporter",
    "Space",
    "State",
    "SubState",
    "make_controller",
    "spatial_jacobian",
]

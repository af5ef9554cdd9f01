"""Numbers of the controllers that are not geometry: PID, cannula, homing.

Source, unless said otherwise: sawIntuitiveResearchKit 9e535e68, share/pid and share/arm files of
the Classic arms, checked against the running software.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from dvrk_kinematics.errors import ModelError
from dvrk_kinematics.models.schema import ArmModel
from dvrk_kinematics.simulation.control.gravity import GravityData

__all__ = ["CONTROLLERS", "ControllerData", "make_controller"]


@dataclass(frozen=True, slots=True)
class ControllerData:
    """One kind of arm.

    Attributes:
        tolerance: Largest |set-point - measured| of each actuator (rad, m) before the PID faults.
        p_gain: Proportional gain of each actuator (N m/rad, N/m).
        d_gain: Derivative gain of each actuator (N m s/rad, N s/m).
        home: Where homing goes in simulation (rad, m).
        arm_joints: How many joints the arm itself has; a tool adds the others.
        cannula_frame: The frame whose distance from the RCM shows whether it is past the cannula;
            None if the insertion itself shows it.
        cannula_switch: Least distance of that frame, or insertion, for Cartesian control (m).
        cannula_keep: Least distance, or insertion, that inverse kinematics returns (m).
        gravity: Data of gravity compensation, None where it is not loaded.
    """

    tolerance: tuple[float, ...]
    p_gain: tuple[float, ...]
    d_gain: tuple[float, ...]
    home: tuple[float, ...]
    arm_joints: int
    cannula_frame: int | None = None
    cannula_switch: float = 0.0
    cannula_keep: float = 0.0
    gravity: GravityData | None = None


CONTROLLERS: dict[str, ControllerData] = {
    "PSM": ControllerData(
        tolerance=(0.5, 0.5, 0.05, 0.6, 0.6, 0.6, 0.6),
        p_gain=(120.0, 120.0, 6000.0, 6.0, 6.0, 6.0, 6.0),
        d_gain=(6.0, 5.0, 200.0, 0.09, 0.09, 0.09, 0.09),
        home=(0.0, 0.0, 0.12, 0.0, 0.0, 0.0, 0.0),
        arm_joints=3,
        cannula_frame=4,
        cannula_switch=0.043,
        cannula_keep=0.045,
    ),
    "ECM": ControllerData(
        tolerance=(0.6, 0.6, 0.03, 0.25),
        p_gain=(400.0, 1000.0, 10000.0, 20.0),
        d_gain=(30.0, 80.0, 1200.0, 0.5),
        home=(0.0, 0.0, 0.12, 0.0),
        arm_joints=4,
        cannula_frame=None,
        cannula_switch=0.05,
        cannula_keep=0.04,
        # Mass and lever follow from efforts recorded at six poses; they agree to 1e-4.
        gravity=GravityData(1.5, 0.1, (0.0, 9.81 / sqrt(2.0), -9.81 / sqrt(2.0))),
    ),
}
"""The dVRK's own, by kind of arm."""


def make_controller(model: ArmModel) -> ControllerData:
    """The controller of a plain serial arm, from its model: every joint has its own motor.

    Raises:
        ModelError: The model describes no controller.
    """
    described = model.controller
    if described is None:
        raise ModelError(model.name, "has no controller, without which it cannot be simulated")
    return ControllerData(
        tolerance=tuple(joint.pid_tolerance for joint in model.joints),
        p_gain=described.p_gain,
        d_gain=described.d_gain,
        home=described.home,
        arm_joints=len(model.joints),
    )

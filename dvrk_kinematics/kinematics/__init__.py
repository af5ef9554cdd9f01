"""Forward, inverse and differential kinematics of every arm."""

from dvrk_kinematics.kinematics.arm import Arm, load_arm
from dvrk_kinematics.kinematics.limits import JointLimits
from dvrk_kinematics.kinematics.link_tree import LinkTree
from dvrk_kinematics.kinematics.rates import RateSolution
from dvrk_kinematics.kinematics.result import (
    BatchIkResult,
    Breach,
    IkPolicy,
    IkResult,
    IkStatus,
    Violation,
)
from dvrk_kinematics.kinematics.serial_arm import SerialArm

__all__ = [
    "Arm",
    "BatchIkResult",
    "Breach",
    "IkPolicy",
    "IkResult",
    "IkStatus",
    "JointLimits",
    "LinkTree",
    "RateSolution",
    "SerialArm",
    "Violation",
    "load_arm",
]

"""The guard, the one exit to an arm, and what it checks."""

from dvrk_kinematics.driver.guard.freshness import (
    Freshness,
    StreamWatch,
)
from dvrk_kinematics.driver.guard.guard import Guard
from dvrk_kinematics.driver.guard.jaw_setpoint import JawSetpoint
from dvrk_kinematics.driver.guard.setpoint_watch import SetpointWatch

__all__ = ["Freshness", "Guard", "JawSetpoint", "SetpointWatch", "StreamWatch"]

"""Jogs: moves while commands keep coming, and stops when they do not."""

from dvrk_kinematics.driver.jog.jog import (
    Jog,
    JogSession,
)
from dvrk_kinematics.driver.jog.jog_command import (
    JogCommand,
    JogSettings,
    JogSpace,
)

__all__ = ["Jog", "JogCommand", "JogSession", "JogSettings", "JogSpace"]

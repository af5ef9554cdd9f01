"""A simulated PSM: an arm with a tool, its discs and its jaw."""

from __future__ import annotations

from collections.abc import Sequence

from dvrk_kinematics.simulation.arm import SimulatedArm
from dvrk_kinematics.simulation.readings import JointReading

__all__ = ["SimulatedPsm"]


class SimulatedPsm(SimulatedArm):
    """A PSM; commands and readings beyond those of every arm."""

    def jaw_servo_jp(self, position: Sequence[float]) -> None:
        raise NotImplementedError

    def jaw_servo_jf(self, effort: Sequence[float]) -> None:
        raise NotImplementedError

    def jaw_move_jp(self, position: Sequence[float]) -> None:
        raise NotImplementedError

    def set_tool_type(self, text: str) -> None:
        raise NotImplementedError

    def emulate_adapter_present(self, present: bool) -> None:
        raise NotImplementedError

    def emulate_tool_present(self, present: bool) -> None:
        raise NotImplementedError

    @property
    def jaw_measured_js(self) -> JointReading:
        raise NotImplementedError

    @property
    def jaw_setpoint_js(self) -> JointReading:
        """Position and effort; the velocity is empty."""
        raise NotImplementedError

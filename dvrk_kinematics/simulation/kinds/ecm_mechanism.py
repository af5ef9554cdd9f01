"""The mechanism of an ECM: four joints and an endoscope."""

from __future__ import annotations

from dvrk_kinematics.kinematics.arm import Arm
from dvrk_kinematics.simulation.control import ControllerData, Mechanism, MotorLimits
from dvrk_kinematics.simulation.kinds.ecm_manipulator import EcmManipulator, endoscope_tip

__all__ = ["EcmMechanism"]

_INSERTION = 2


class EcmMechanism(Mechanism):
    """Four joints with a motor each, and an endoscope that can be exchanged.

    Args:
        arm: The ECM.
        data: The controller's numbers.
        endoscope: Type of the endoscope, one of ``ENDOSCOPES``.
    """

    def __init__(self, arm: Arm, data: ControllerData, endoscope: str) -> None:
        super().__init__(
            EcmManipulator(arm, data, endoscope_tip(endoscope)), MotorLimits.of(arm.model.joints)
        )
        self._arm = arm
        self._data = data
        self.gravity_arm_m = arm.model.chain[_INSERTION].d

    def mount(self, endoscope: str) -> None:
        """Takes over the tip of another endoscope."""
        self.manipulator = EcmManipulator(self._arm, self._data, endoscope_tip(endoscope))

    def is_past_cannula(self, measured: list[float]) -> bool:
        """Whether the insertion is deep enough."""
        return measured[_INSERTION] > self._data.cannula_switch

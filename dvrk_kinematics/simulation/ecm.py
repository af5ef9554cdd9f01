"""A simulated ECM: an arm that carries an endoscope."""

from __future__ import annotations

from dvrk_kinematics.errors import UnknownName
from dvrk_kinematics.kinematics.arm import load_arm
from dvrk_kinematics.simulation.arm import SimulatedArm
from dvrk_kinematics.simulation.ecm_manipulator import ENDOSCOPES, EcmManipulator, endoscope_tip
from dvrk_kinematics.simulation.manipulator import Manipulator
from dvrk_kinematics.simulation.options import ArmSpec, SystemOptions

__all__ = ["SimulatedEcm"]

_DEFAULT_ENDOSCOPE = "Classic_SD_STRAIGHT"
_INSERTION = 2


class SimulatedEcm(SimulatedArm):
    """An ECM; commands beyond those of every arm.

    Args:
        spec: Which arm, and its endoscope.
        options: What holds for the whole system.

    Raises:
        UnknownName: There is no such endoscope.
    """

    _manipulator: Manipulator

    def __init__(self, spec: ArmSpec, options: SystemOptions) -> None:
        self._endoscope = spec.tool or _DEFAULT_ENDOSCOPE
        if self._endoscope not in ENDOSCOPES:
            raise UnknownName("endoscope", self._endoscope, ENDOSCOPES)
        self._endoscope_is_told = False
        self._arm = load_arm("ECM", generation=spec.generation, zero="controller")
        super().__init__(spec, options, "ECM")
        self._mount(self._endoscope)

    def _limits_of_joints(self) -> None:
        self._take_limits(self._arm.model.joints)

    def _gravity_arm_d(self) -> float:
        return self._arm.model.chain[_INSERTION].d

    def _is_past_cannula(self) -> bool:
        return self._measured[_INSERTION] > self._data.cannula_switch

    def _mount(self, endoscope: str) -> None:
        self._endoscope = endoscope
        self._manipulator = EcmManipulator(self._arm, self._data, endoscope_tip(endoscope))
        self._forget()

    def _on_homed(self) -> None:
        if not self._endoscope_is_told:
            self._endoscope_is_told = True
            self._report.event("endoscope_type", self._endoscope)

    def set_endoscope_type(self, text: str) -> None:
        """Mounts another endoscope; one that does not exist changes nothing but endoscope_type."""
        self._report.status(f'setting up for endoscope type "{text}"')
        if text not in ENDOSCOPES:
            self._report.error(f'endoscope type "{text}" is not supported')
            self._report.event("endoscope_type", "ERROR")
            return
        self._endoscope_is_told = True
        self._report.event("endoscope_type", text)
        self._mount(text)

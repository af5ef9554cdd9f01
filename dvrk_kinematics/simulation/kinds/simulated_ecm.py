"""A simulated ECM: an arm that carries an endoscope."""

from __future__ import annotations

from dvrk_kinematics.errors import UnknownName
from dvrk_kinematics.kinematics.arm import Arm, load_arm
from dvrk_kinematics.simulation.arm import ArmCore, Attachment, SimulatedArm
from dvrk_kinematics.simulation.control import CONTROLLERS, ControllerData, Mechanism, MotorLimits
from dvrk_kinematics.simulation.kinds.ecm_manipulator import (
    ENDOSCOPES,
    EcmManipulator,
    endoscope_tip,
)
from dvrk_kinematics.simulation.options import ArmSpec, SystemOptions

__all__ = ["SimulatedEcm"]

_DEFAULT_ENDOSCOPE = "Classic_SD_STRAIGHT"
_INSERTION = 2


class SimulatedEcm(SimulatedArm):
    """An ECM; it adds one command to those of every arm.

    Args:
        spec: Which arm, and its endoscope.
        options: Options of the whole system.

    Raises:
        UnknownName: The endoscope does not exist.
    """

    def __init__(self, spec: ArmSpec, options: SystemOptions) -> None:
        endoscope = spec.tool or _DEFAULT_ENDOSCOPE
        if endoscope not in ENDOSCOPES:
            raise UnknownName("endoscope", endoscope, ENDOSCOPES)
        data = CONTROLLERS["ECM"]
        arm = load_arm("ECM", generation=spec.generation, zero="controller")
        mechanism = EcmMechanism(arm, data, endoscope)
        core = ArmCore(spec, data, mechanism)
        attachment = EndoscopeAttachment(core, mechanism, endoscope)
        super().__init__(core, "ECM", attachment, options)
        self.set_endoscope_type = attachment.set_endoscope_type
        self.commands["set_endoscope_type"] = self.set_endoscope_type


class EcmMechanism(Mechanism):
    """Four joints with a motor each, and an exchangeable endoscope.

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


class EndoscopeAttachment(Attachment):
    """An endoscope that is always there.

    Args:
        core: The parts of the arm.
        mechanism: Its mechanism, which changes with the endoscope.
        endoscope: Type of the endoscope, reported when the arm is homed.
    """

    def __init__(self, core: ArmCore, mechanism: EcmMechanism, endoscope: str) -> None:
        self._report = core.report
        self._memo = core.memo
        self._mechanism = mechanism
        self._untold: str | None = endoscope

    def on_homed(self) -> None:
        """Reports the endoscope, once."""
        if self._untold is not None:
            self._report.event("endoscope_type", self._untold)
            self._untold = None

    def set_endoscope_type(self, text: str) -> None:
        """Mounts another endoscope; one that does not exist changes only endoscope_type."""
        self._report.status(f'setting up for endoscope type "{text}"')
        if text not in ENDOSCOPES:
            self._report.error(f'endoscope type "{text}" is not supported')
            self._report.event("endoscope_type", "ERROR")
            return
        self._untold = None
        self._report.event("endoscope_type", text)
        self._mechanism.mount(text)
        self._memo.forget()

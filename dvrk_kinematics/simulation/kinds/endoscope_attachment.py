"""The endoscope of an ECM: which one it is, and when that is told."""

from __future__ import annotations

from dvrk_kinematics.simulation.arm import ArmCore, Attachment
from dvrk_kinematics.simulation.kinds.ecm_manipulator import ENDOSCOPES
from dvrk_kinematics.simulation.kinds.ecm_mechanism import EcmMechanism

__all__ = ["EndoscopeAttachment"]


class EndoscopeAttachment(Attachment):
    """An endoscope that is always there.

    Args:
        core: The parts of the arm.
        mechanism: Its mechanism, which changes with the endoscope.
        endoscope: Type of the endoscope, told when the arm is homed.
    """

    def __init__(self, core: ArmCore, mechanism: EcmMechanism, endoscope: str) -> None:
        self._report = core.report
        self._memo = core.memo
        self._mechanism = mechanism
        self._untold: str | None = endoscope

    def on_homed(self) -> None:
        """Tells the endoscope, once."""
        if self._untold is not None:
            self._report.event("endoscope_type", self._untold)
            self._untold = None

    def set_endoscope_type(self, text: str) -> None:
        """Mounts another endoscope; one that does not exist changes nothing but endoscope_type."""
        self._report.status(f'setting up for endoscope type "{text}"')
        if text not in ENDOSCOPES:
            self._report.error(f'endoscope type "{text}" is not supported')
            self._report.event("endoscope_type", "ERROR")
            return
        self._untold = None
        self._report.event("endoscope_type", text)
        self._mechanism.mount(text)
        self._memo.forget()

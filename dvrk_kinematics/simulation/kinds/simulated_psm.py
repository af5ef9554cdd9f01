"""A simulated PSM: an arm with a tool and its jaw."""

from __future__ import annotations

from dvrk_kinematics.simulation.arm import ArmCore, SimulatedArm
from dvrk_kinematics.simulation.control import CONTROLLERS
from dvrk_kinematics.simulation.kinds.psm_mechanism import PsmMechanism
from dvrk_kinematics.simulation.kinds.simulated_jaw import SimulatedJaw
from dvrk_kinematics.simulation.kinds.tool import load_tool
from dvrk_kinematics.simulation.kinds.tool_attachment import ToolAttachment
from dvrk_kinematics.simulation.options import ArmSpec, SystemOptions
from dvrk_kinematics.simulation.readings import JointReading

__all__ = ["SimulatedPsm"]

_DEFAULT_TOOL = "400006"


class SimulatedPsm(SimulatedArm):
    """A PSM; it adds commands and readings to those of every arm.

    Args:
        spec: Which arm, and its tool.
        options: Options of the whole system.

    Raises:
        UnknownName: The tool does not exist.
        InvalidInput: The tool does not fit.
    """

    def __init__(self, spec: ArmSpec, options: SystemOptions) -> None:
        tool = load_tool(spec.tool or _DEFAULT_TOOL, spec.generation)
        data = CONTROLLERS["PSM"]
        mechanism = PsmMechanism(tool, data)
        core = ArmCore(spec, data, mechanism)
        attachment = ToolAttachment(core, mechanism, tool, spec.tool_detection, spec.generation)
        jaw = SimulatedJaw(core)
        super().__init__(core, "PSM", attachment, options, readings=[jaw])
        self._tool = attachment
        self._jaw = jaw
        self.jaw_servo_jp = jaw.servo_jp
        self.jaw_servo_jf = jaw.servo_jf
        self.jaw_move_jp = jaw.move_jp
        self.commands |= {
            "jaw/servo_jp": self.jaw_servo_jp,
            "jaw/servo_jf": self.jaw_servo_jf,
            "jaw/move_jp": self.jaw_move_jp,
            "set_tool_type": self.set_tool_type,
            "emulate_adapter_present": self.emulate_adapter_present,
            "emulate_tool_present": self.emulate_tool_present,
        }
        self.readings |= {
            "jaw/measured_js": jaw.measured_js,
            "jaw/setpoint_js": jaw.setpoint_js,
        }

    @property
    def jaw_measured_js(self) -> JointReading:
        """Position, velocity and effort of the jaw; empty before there is a tool."""
        return self._jaw.measured_js()

    @property
    def jaw_setpoint_js(self) -> JointReading:
        """Position and effort of the jaw; the velocity is empty."""
        return self._jaw.setpoint_js()

    def set_tool_type(self, text: str) -> None:
        """Mounts another tool; see ``ToolAttachment.change``."""
        if self._tool.change(text):
            self._states.stumble("vctDynamicVector: Invalid index")

    def emulate_adapter_present(self, present: bool) -> None:
        """Without effect: the simulated adapter is always there."""

    def emulate_tool_present(self, present: bool) -> None:
        """Takes the tool off, or puts it back."""
        self._tool.show(present)

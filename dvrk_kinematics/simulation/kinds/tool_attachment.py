"""The tool of a PSM: mounting, removal, and what the discs drive with it."""

from __future__ import annotations

import numpy as np

from dvrk_kinematics.simulation.arm import ArmCore, Attachment
from dvrk_kinematics.simulation.control import SubState
from dvrk_kinematics.simulation.kinds.psm_mechanism import PsmMechanism
from dvrk_kinematics.simulation.kinds.tool import Tool, find_tool
from dvrk_kinematics.simulation.options import ToolDetection

__all__ = ["ToolAttachment"]


class ToolAttachment(Attachment):
    """The adapter and the tool of a PSM.

    Args:
        core: The parts of the arm.
        mechanism: Its mechanism, which changes with the tool.
        fixed: The tool that is configured.
        detection: How the arm learns its tool.
        generation: Generation of the arm, which decides what tools it knows.
    """

    def __init__(
        self,
        core: ArmCore,
        mechanism: PsmMechanism,
        fixed: Tool,
        detection: ToolDetection,
        generation: str,
    ) -> None:
        self._controller = core.controller
        self._servo = core.servo
        self._readiness = core.readiness
        self._memo = core.memo
        self._report = core.report
        self._mechanism = mechanism
        self._fixed = fixed
        self._detection = detection
        self._generation = generation
        self._is_present = False
        self._was_requested = False
        self._adapter_is_engaged = False

    def on_homed(self) -> None:
        """Reports the configured tool."""
        if self._detection is ToolDetection.FIXED:
            self._mount_fixed()

    def _mount_fixed(self) -> None:
        self._configure(self._mechanism.tool or self._fixed, "for fixed tool")
        self._tell(present=True, configured=True)

    def next_state(self, sub_state: SubState) -> SubState | None:
        """Engages the adapter, then the tool as soon as it is known."""
        mechanism = self._mechanism
        if sub_state is SubState.ENGAGING_ADAPTER:
            self._adapter_is_engaged = True
            return SubState.HOMED
        if sub_state is SubState.ENGAGING_TOOL:
            mechanism.engage()
            self._memo.forget()
            return SubState.TOOL_ENGAGED
        if sub_state is SubState.TOOL_ENGAGED:
            return SubState.HOMED
        if not self._adapter_is_engaged:
            return SubState.ENGAGING_ADAPTER
        if not mechanism.is_engaged:
            self._tell(present=True, configured=mechanism.is_configured)
            if mechanism.is_configured:
                return SubState.ENGAGING_TOOL
            if not self._was_requested:
                self._request()
        return None

    def change(self, text: str) -> bool:
        """Mounts another tool: NAME:MODEL, with or without a version in brackets.

        It reports tool_type if a tool is present and was unknown; not when another tool replaces
        a known one, and not before a tool is present.

        Returns:
            Whether the number of joints has changed while the controller runs.
        """
        self._report.status(f'setting up for tool type "{text}"')
        tool = find_tool(text, self._generation)
        if tool is None:
            self._report.event("tool_type", "ERROR")
            self._report.error(f'tool type "{text}" is not supported, see cisstLog for details')
            return False
        mechanism = self._mechanism
        before = mechanism.tool if mechanism.is_configured else None
        if self._controller.move is not None:
            # Its goal is in the joints of the old tool.
            self._controller.end_move(False)
        self._configure(tool, "for")
        self._tell(self._is_present, configured=True)
        self._was_requested = False
        return before is not None and before.is_snake != tool.is_snake and self._readiness.tip

    def show(self, present: bool) -> None:
        """Takes the tool off, or puts it back."""
        if not present:
            self._tell(present=False, configured=False)
        elif self._detection is ToolDetection.FIXED:
            self._mount_fixed()
        else:
            # A client that puts a tool on has to name it.
            self._tell(present=True, configured=False)
            if self._readiness.joints:
                self._request()

    def put_back(self) -> None:
        """Puts the tool back if it was taken off."""
        if self._mechanism.tool is not None and not self._is_present:
            self.show(True)

    def _configure(self, tool: Tool, how: str) -> None:
        """Takes over a tool's kinematics: the discs stay, and determine its joints."""
        self._report.status(f'using tool file "{tool.file}" {how}: {tool.description}')
        mechanism = self._mechanism
        if tool is not mechanism.tool:
            discs = np.array(mechanism.to_actuators(self._servo.setpoint))
            mechanism.couple(tool)
            self._controller.place((tool.to_joints @ discs).tolist())
        mechanism.configure(tool)
        self._memo.forget()

    def _tell(self, present: bool, configured: bool) -> None:
        """Reports changes: whether a tool is present, and whether it is known."""
        mechanism = self._mechanism
        if (present, configured) == (self._is_present, mechanism.is_configured):
            return
        if present is not self._is_present:
            if not present:
                self._report.event("tool_type", "")
            self._report.status("tool detected" if present else "no tool detected")
        if mechanism.is_configured and not configured:
            mechanism.strip()
            self._memo.forget()
        self._is_present, mechanism.is_configured = present, configured
        if present and configured and mechanism.tool is not None:
            self._report.event("tool_type", mechanism.tool.type_text)

    def _request(self) -> None:
        self._was_requested = True
        self._report.event("tool_type_request", None)
        self._report.warning("tool type requested from user")

"""The tool of a simulated PSM: how it comes and goes, and what it makes of the discs."""

from __future__ import annotations

from collections.abc import Sequence
from math import radians

import numpy as np

from dvrk_kinematics.simulation.arm import SimulatedArm
from dvrk_kinematics.simulation.manipulator import BareManipulator, Manipulator
from dvrk_kinematics.simulation.operating_state import SubState
from dvrk_kinematics.simulation.options import ArmSpec, SystemOptions, ToolDetection
from dvrk_kinematics.simulation.psm_manipulator import PsmManipulator
from dvrk_kinematics.simulation.tools import Tool, find_tool, load_tool

__all__ = ["JAW", "ToolArm"]

JAW = 6
"""The jaw is the last of the seven driven joints."""
_DISCS = ("disc_1", "disc_2", "disc_3", "disc_4")
_DISC_LIMIT = radians(172.0)
"""How far a disc turns while no tool says how far its joints do (rad)."""
_DEFAULT_TOOL = "400006"


class ToolArm(SimulatedArm):
    """An arm that carries a tool, driven by four discs.

    Args:
        spec: Which arm, and its tool.
        options: What holds for the whole system.

    Raises:
        UnknownName: There is no such tool.
        InvalidInput: The tool does not fit.
    """

    def __init__(self, spec: ArmSpec, options: SystemOptions) -> None:
        self._generation = spec.generation
        self._detection = spec.tool_detection
        # Limits and rows of the arm itself are those with any tool; a fixed tool is known already.
        self._reference = load_tool(spec.tool or _DEFAULT_TOOL, spec.generation)
        self._tool: Tool | None = None
        self._tool_is_present = False
        self._tool_is_configured = False
        self._tool_was_requested = False
        self._adapter_is_engaged = False
        self._tool_is_engaged = False
        self._manipulator: Manipulator = BareManipulator(self._reference.arm)
        super().__init__(spec, options, "PSM")

    # Joints of the arm with its tool.

    def _limits_of_joints(self) -> None:
        tool = self._tool or self._reference
        self._lower, self._upper = tool.lower, tool.upper
        self._v_max, self._a_max = tool.velocity, tool.acceleration
        if self._tool is None:
            self._lower = (*tool.lower[:3], *([-_DISC_LIMIT] * len(_DISCS)))
            self._upper = (*tool.upper[:3], *([_DISC_LIMIT] * len(_DISCS)))

    @property
    def _is_cartesian_ready(self) -> bool:
        return self._is_joint_ready and self._tool_is_engaged

    def _names_now(self) -> tuple[str, ...]:
        if self._tool is not None and self._tool_is_engaged:
            return self._tool.arm.joint_names
        return (*self._reference.arm.joint_names[:3], *_DISCS)

    def _driven_names(self) -> tuple[str, ...]:
        names = self._names_now()
        return names if len(names) == JAW + 1 else (*names[:JAW], "jaw")

    def _kinematic(self, joints: list[float]) -> list[float]:
        if self._tool is not None and self._tool_is_engaged:
            return self._tool.kinematic(joints)
        return joints

    def _driven_of(self, q: list[float]) -> list[float]:
        return q if self._tool is None else self._tool.driven(q)

    def _driven(self, joints: list[float], rest: Sequence[float]) -> list[float]:
        driven = self._driven_of(joints) if len(joints) > JAW + 1 else joints
        return [*driven, *rest[len(driven) :]]

    def _to_actuators(self, joints: Sequence[float]) -> Sequence[float]:
        return joints if self._tool is None else self._tool.actuators(joints)

    def _from_actuator_effort(self, effort: list[float]) -> list[float]:
        if self._tool is None or not any(effort[3:]):
            return effort
        # Power is the same on both sides of the coupling.
        joints: list[float] = (self._tool.to_actuators.T @ np.array(effort)).tolist()
        return joints

    def _is_past_cannula(self) -> bool:
        if not isinstance(self._manipulator, PsmManipulator):
            return True
        q = self._q("measured")
        return self._manipulator.shaft_end(q) >= self._data.cannula_switch

    # The tool comes and goes.

    def _on_homed(self) -> None:
        if self._detection is ToolDetection.FIXED:
            self._configure(self._tool or self._reference, "for fixed tool")
            self._tell_tool(present=True, configured=True)

    def _configure(self, tool: Tool, how: str) -> None:
        """Takes the kinematics of a tool: the discs stay, the joints are what they mean for it."""
        self._report.status(f'using tool file "{tool.file}" {how}: {tool.description}')
        if tool is not self._tool:
            discs = np.array(self._to_actuators(self._setpoint))
            self._tool = tool
            self._limits_of_joints()
            self._place((tool.to_joints @ discs).tolist())
        self._manipulator = PsmManipulator(tool, self._data)
        self._forget()

    def _tell_tool(self, present: bool, configured: bool) -> None:
        """Tells what changes: whether a tool is there, and whether it is known which."""
        if (present, configured) == (self._tool_is_present, self._tool_is_configured):
            return
        if present is not self._tool_is_present:
            if not present:
                self._report.event("tool_type", "")
            self._report.status("tool detected" if present else "no tool detected")
        if self._tool_is_configured and not configured and self._tool is not None:
            self._manipulator = BareManipulator(self._tool.arm)
            self._forget()
        self._tool_is_present, self._tool_is_configured = present, configured
        if present and configured and self._tool is not None:
            self._report.event("tool_type", self._tool.type_text)

    def _request_tool_type(self) -> None:
        self._tool_was_requested = True
        self._report.event("tool_type_request", None)
        self._report.warning("tool type requested from user")

    def _transition_homed(self) -> None:
        sub_state = self._states.sub_state
        if sub_state is SubState.ENGAGING_ADAPTER:
            self._adapter_is_engaged = True
            self._enter(SubState.HOMED)
        elif sub_state is SubState.ENGAGING_TOOL:
            self._tool_is_engaged = True
            self._forget()
            self._enter(SubState.TOOL_ENGAGED)
        elif sub_state is SubState.TOOL_ENGAGED:
            self._enter(SubState.HOMED)
        elif not self._adapter_is_engaged:
            self._enter(SubState.ENGAGING_ADAPTER)
        elif not self._tool_is_engaged:
            self._tell_tool(present=True, configured=self._tool_is_configured)
            if self._tool_is_configured:
                self._enter(SubState.ENGAGING_TOOL)
            elif not self._tool_was_requested:
                self._request_tool_type()

    def set_tool_type(self, text: str) -> None:
        """Mounts another tool: NAME:MODEL, with or without a version in brackets.

        tool_type is told where a tool is there and was not known; not when one that is known is
        replaced by another, and not before a tool is there.
        """
        self._report.status(f'setting up for tool type "{text}"')
        tool = find_tool(text, self._generation)
        if tool is None:
            self._report.event("tool_type", "ERROR")
            self._report.error(f'tool type "{text}" is not supported, see cisstLog for details')
            return
        before = self._tool if self._tool_is_configured else None
        if self._move is not None:
            # Its goal is in the joints of the tool that goes.
            self._end_move(False)
        self._configure(tool, "for")
        self._tell_tool(self._tool_is_present, configured=True)
        self._tool_was_requested = False
        if before is not None and before.is_snake != tool.is_snake and self._is_cartesian_ready:
            # The number of joints changes under the feet of the controller.
            state = self._states.sub_state.value
            self._report.error(
                f'in state {state}, caught exception "vctDynamicVector: Invalid index"'
            )
            self._states.set_desired(SubState.DISABLED)
            self._enter(SubState.DISABLED)

    def emulate_adapter_present(self, present: bool) -> None:
        """Without effect: the simulated adapter is always there."""

    def emulate_tool_present(self, present: bool) -> None:
        """Takes the tool off, or puts it back."""
        self._show_tool(present)

    def _show_tool(self, present: bool) -> None:
        if not present:
            self._tell_tool(present=False, configured=False)
        elif self._detection is ToolDetection.FIXED:
            self._configure(self._tool or self._reference, "for fixed tool")
            self._tell_tool(present=True, configured=True)
        else:
            # Whoever puts a tool on has to say which.
            self._tell_tool(present=True, configured=False)
            if self._is_joint_ready:
                self._request_tool_type()

    def _put_tool_back(self) -> None:
        if self._tool is not None and not self._tool_is_present:
            self._show_tool(True)

    def _chain_error(self, jp: Sequence[float]) -> str:
        error = super()._chain_error(jp)
        arm_frames = self._data.arm_joints + 1
        if not error and len(jp) > arm_frames and not self._tool_is_configured:
            # Here the dVRK dies: it reads beyond the end of its list of links.
            return "no tool is configured"
        return error

"""The mechanism of a PSM: four discs that move the joints of its tool."""

from __future__ import annotations

from collections.abc import Sequence
from math import radians

import numpy as np

from dvrk_kinematics.simulation.control import ControllerData, Mechanism, MotorLimits
from dvrk_kinematics.simulation.kinds.psm_manipulator import BareManipulator, PsmManipulator
from dvrk_kinematics.simulation.kinds.tool import Tool

__all__ = ["JAW", "PsmMechanism"]

JAW = 6
"""The jaw is the last of the seven driven joints."""
_DISCS = ("disc_1", "disc_2", "disc_3", "disc_4")
_DISC_LIMIT = radians(172.0)
"""How far a disc turns while no tool defines the range of its joints (rad)."""


class PsmMechanism(Mechanism):
    """Three joints of the arm and four discs.

    Args:
        reference: Provides limits and rows of the arm itself, which are the same with any tool.
        data: The controller's numbers.

    Attributes:
        tool: The tool whose coupling is used; None before the first one.
        is_configured: Whether the present tool is known.
        is_engaged: Whether the discs hold a tool.
    """

    def __init__(self, reference: Tool, data: ControllerData) -> None:
        discs = (_DISC_LIMIT,) * len(_DISCS)
        super().__init__(
            BareManipulator(reference.arm),
            MotorLimits(
                (*reference.lower[:3], *(-limit for limit in discs)),
                (*reference.upper[:3], *discs),
                reference.velocity,
                reference.acceleration,
            ),
        )
        # The discs, until a tool's joints without its jaw take their place.
        self.published_names = (*reference.arm.joint_names[:3], *_DISCS)
        self._data = data
        self.tool: Tool | None = None
        self.is_configured = False
        self.is_engaged = False

    def couple(self, tool: Tool) -> None:
        """Takes over the coupling of a tool, and the limits of its joints."""
        self.tool = tool
        if self.is_engaged:
            self.published_names = tool.arm.joint_names
        self.limits = MotorLimits(tool.lower, tool.upper, tool.velocity, tool.acceleration)

    def engage(self) -> None:
        """Adds the tool to the chain: its joints move now, no longer the discs."""
        self.is_engaged = True
        if self.tool is not None:
            self.published_names = self.tool.arm.joint_names

    def configure(self, tool: Tool) -> None:
        """Takes over the kinematics of a tool."""
        self.manipulator = PsmManipulator(tool, self._data)

    def strip(self) -> None:
        """Ends the chain at the arm's own last joint; the coupling stays."""
        if self.tool is not None:
            self.manipulator = BareManipulator(self.tool.arm)

    def driven_names(self) -> tuple[str, ...]:
        """Seven names, the last of which is that of the jaw or the fourth disc."""
        names = self.published_names
        return names if len(names) == JAW + 1 else (*names[:JAW], "jaw")

    def published(self, driven: list[float]) -> list[float]:
        """The chain's joints without the jaw; the driven ones while no tool is engaged."""
        if self.tool is None or not self.is_engaged:
            return driven
        if not self.tool.is_snake:
            return driven[:JAW]
        pitch, yaw = driven[4] / 2.0, driven[5] / 2.0
        return [*driven[:4], pitch, yaw, yaw, pitch]

    def driven(self, q: list[float]) -> list[float]:
        """The driven joints, without the jaw, for those of the chain."""
        if self.tool is None:
            return q
        if not self.tool.is_snake:
            return q[:JAW]
        return [*q[:4], q[4] + q[7], q[5] + q[6]]

    def filled(self, joints: list[float], rest: Sequence[float]) -> list[float]:
        """Driven joints for published ones: eight belong to a snake."""
        driven = self.driven(joints) if len(joints) > JAW + 1 else joints
        return super().filled(driven, rest)

    def to_actuators(self, joints: Sequence[float]) -> Sequence[float]:
        """Through the coupling of the tool."""
        if self.tool is None or not any(joints[3:]):
            return joints
        actuators: list[float] = (self.tool.to_actuators @ np.array(joints)).tolist()
        return actuators

    def from_actuator_effort(self, effort: list[float]) -> list[float]:
        """Through the coupling of the tool: power is the same on both sides."""
        if self.tool is None or not any(effort[3:]):
            return effort
        joints: list[float] = (self.tool.to_actuators.T @ np.array(effort)).tolist()
        return joints

    def is_past_cannula(self, measured: list[float]) -> bool:
        """Whether the shaft's end is past it; without a tool nothing is in the way."""
        if not isinstance(self.manipulator, PsmManipulator):
            return True
        q = np.array(self.published(measured))
        return self.manipulator.shaft_end(q) >= self._data.cannula_switch

    def chain_error(self, count: int) -> str:
        """Also rejects the joints of an unknown tool, not only too many joints."""
        error = super().chain_error(count)
        if not error and count > self._data.arm_joints + 1 and not self.is_configured:
            # Here the dVRK dies: it reads beyond the end of its list of links.
            return "no tool is configured"
        return error

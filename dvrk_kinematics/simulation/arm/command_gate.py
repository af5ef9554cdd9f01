"""The first checks of every command: whether the arm accepts it, and its numbers are usable."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, isnan

from dvrk_kinematics.simulation.arm.arm_states import Readiness
from dvrk_kinematics.simulation.control.motion_controller import MotionController
from dvrk_kinematics.simulation.control.operating_state import (
    OperatingStateMachine,
    State,
    SubState,
)
from dvrk_kinematics.simulation.control.reporter import Reporter

__all__ = ["CommandGate"]

_TAKES_COMMANDS = frozenset(
    {
        SubState.ENABLED,
        SubState.CALIBRATING_ENCODERS_FROM_POTS,
        SubState.ENCODERS_BIASED,
        SubState.HOMING,
        SubState.HOMED,
        SubState.ENGAGING_ADAPTER,
        SubState.ENGAGING_TOOL,
        SubState.TOOL_ENGAGED,
    }
)
"""States that accept motion, if joints are known. Homing is one: a command then replaces the
homing goal. So is the moment before, when is_homed and not is_busy are already true: clients
that wait for both send their first command then. And so is ENABLED, after an arm was enabled again
and is not homed yet: servo commands have no effect there, and a move is busy until homing ends."""


class CommandGate:
    """Accepts commands, or refuses them with a warning.

    Args:
        machine: The operating state.
        readiness: Whether joints and tip are known.
        controller: Knows the time; not every refusal is reported.
        report: Collects warnings.
    """

    def __init__(
        self,
        machine: OperatingStateMachine,
        readiness: Readiness,
        controller: MotionController,
        report: Reporter,
    ) -> None:
        self._machine = machine
        self._readiness = readiness
        self._controller = controller
        self._report = report

    def admits(self, command: str, cartesian: bool = False) -> bool:
        """Whether motion is accepted; if not, warns now and then.

        Args:
            command: The command as the dVRK names it ("jaw_servo_jp").
            cartesian: Whether it needs a tip.
        """
        ready = self._readiness.tip if cartesian else self._readiness.joints
        machine = self._machine
        if ready and machine.state is State.ENABLED and machine.sub_state in _TAKES_COMMANDS:
            self._report.accepted()
            return True
        self._report.refuse(command, self._controller.now_s)
        return False

    def values(
        self, command: str, values: Sequence[float], count: int, finite: bool = False
    ) -> list[float] | None:
        """The first ``count`` numbers of a command; None, with a warning, if they are unusable.

        Args:
            command: The command as the dVRK names it.
            values: Its numbers.
            count: How many numbers it needs.
            finite: Whether infinity is unusable too.
        """
        if len(values) < count:
            self._report.warning(f"{command}, expected {count} values but received {len(values)}")
            return None
        numbers = [float(value) for value in values[:count]]
        if not all(map(isfinite, numbers)) if finite else any(map(isnan, numbers)):
            self._report.warning(f"{command}, received values that are not numbers")
            return None
        return numbers

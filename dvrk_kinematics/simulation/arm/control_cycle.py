"""The control cycle of an arm: a transition of its state, then set-points, PID and mechanics."""

from __future__ import annotations

from dvrk_kinematics.simulation.arm.arm_states import ArmStates
from dvrk_kinematics.simulation.arm.readiness import Readiness
from dvrk_kinematics.simulation.control.arm_clock import ArmClock
from dvrk_kinematics.simulation.control.joint_servo import JointServo, tracking_text
from dvrk_kinematics.simulation.control.memo import Memo
from dvrk_kinematics.simulation.control.motion_controller import Mode, MotionController
from dvrk_kinematics.simulation.control.operating_state import (
    OperatingStateMachine,
    State,
    SubState,
)

__all__ = ["ControlCycle"]

_CYCLE_S = 0.005
"""Moves are followed in cycles no longer than this, however long a step is: the PID compares
set-points with positions at 1.5 kHz, and a late step must not look like a tracking error."""

_MOVING = frozenset({SubState.HOMING, SubState.HOMED})
"""Where set-points move."""

_WATCHED = frozenset(
    {
        SubState.HOMING,
        SubState.HOMED,
        SubState.ENGAGING_ADAPTER,
        SubState.ENGAGING_TOOL,
        SubState.TOOL_ENGAGED,
        SubState.PAUSED,
    }
)
"""Where the PID watches tracking errors: from homing on."""


class ControlCycle:
    """Lets time pass for one arm.

    Args:
        arm: Name of the arm, for texts.
        clock: Its time.
        machine: Its operating state.
        states: What leads from one state to the next.
        readiness: Whether motors have power and joints are known.
        controller: Makes set-points.
        servo: Follows them.
        memo: Forgets what was computed before.
    """

    def __init__(
        self,
        arm: str,
        clock: ArmClock,
        machine: OperatingStateMachine,
        states: ArmStates,
        readiness: Readiness,
        controller: MotionController,
        servo: JointServo,
        memo: Memo,
    ) -> None:
        self._arm = arm
        self._clock = clock
        self._machine = machine
        self._states = states
        self._readiness = readiness
        self._controller = controller
        self._servo = servo
        self._memo = memo

    def step(self, now_ns: int) -> None:
        """One control cycle. ``SimulatedSystem.step`` calls it for every arm.

        Args:
            now_ns: A monotonic time (ns); one that is behind the last counts as the last.
        """
        before, now = self._clock.begin(now_ns)
        self._states.transition()
        moving = self._controller.move is not None and self._machine.sub_state in _MOVING
        cycles = max(1, int((now - before) / _CYCLE_S - 1e-6) + 1) if moving else 1
        for cycle in range(1, cycles + 1):
            is_last = cycle == cycles
            self._clock.now_s = now if is_last else before + (now - before) * cycle / cycles
            self._control()
            self._follow((now - before) / cycles)
        self._memo.forget()

    def _control(self) -> None:
        if self._machine.sub_state is SubState.HOMED:
            self._controller.run_homed()
        elif self._machine.sub_state is SubState.HOMING and self._controller.run_homing():
            self._states.enter(SubState.HOMED)

    def _follow(self, dt: float) -> None:
        """PID and mechanics: compares, then lets the joints follow."""
        if not self._readiness.is_powered:
            return
        mask = None
        watched = self._machine.sub_state in _WATCHED and self._controller.mode is not Mode.EFFORT
        if watched and self._readiness.joints:
            mask = self._servo.tracking_mask()
        self._servo.follow(dt, self._clock.now_s)
        if mask is not None and self._machine.state is not State.FAULT:
            self._states.fail(tracking_text(self._arm, mask))

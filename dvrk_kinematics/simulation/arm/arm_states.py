"""Power and operating state of an arm: the transitions between states, and their actions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from dvrk_kinematics.simulation.arm.attachment import Attachment
from dvrk_kinematics.simulation.control.joint_servo import JointServo
from dvrk_kinematics.simulation.control.mechanism import Mechanism
from dvrk_kinematics.simulation.control.memo import Memo
from dvrk_kinematics.simulation.control.motion_controller import MotionController
from dvrk_kinematics.simulation.control.operating_state import (
    OperatingStateMachine,
    State,
    SubState,
)
from dvrk_kinematics.simulation.control.reporter import Reporter
from dvrk_kinematics.simulation.options import SystemOptions

__all__ = ["ArmStates", "LastingReadings", "Readiness"]

_STATES: dict[SubState, tuple[State, bool]] = {
    SubState.DISABLED: (State.DISABLED, False),
    SubState.POWERING: (State.DISABLED, True),
    SubState.ENABLED: (State.ENABLED, False),
    SubState.CALIBRATING_ENCODERS_FROM_POTS: (State.ENABLED, True),
    SubState.ENCODERS_BIASED: (State.ENABLED, False),
    SubState.HOMING: (State.ENABLED, True),
    SubState.HOMED: (State.ENABLED, False),
    SubState.ENGAGING_ADAPTER: (State.ENABLED, True),
    SubState.ENGAGING_TOOL: (State.ENABLED, True),
    SubState.TOOL_ENGAGED: (State.ENABLED, False),
    SubState.PAUSED: (State.PAUSED, False),
    SubState.FAULT: (State.FAULT, False),
}
"""Published in each sub-state: the state, and whether it is busy."""


class Readiness:
    """Motor power, and whether joints and tip are known.

    Args:
        mechanism: Knows whether there is a tip.

    Attributes:
        is_powered: Whether motors have power.
        is_biased: Whether encoders are set, so that joint positions are known.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        self._mechanism = mechanism
        self.is_powered = False
        self.is_biased = False

    @property
    def joints(self) -> bool:
        """Whether joints are known and powered."""
        return self.is_powered and self.is_biased

    @property
    def tip(self) -> bool:
        """Whether the tip is known too."""
        return self.joints and self._mechanism.is_engaged


class LastingReadings(Protocol):
    """Readings that keep their content when joints are no longer known."""

    def freeze(self) -> None:
        """Freezes the content of readings."""


class ArmStates:
    """The effects of state commands and time on an arm.

    Args:
        machine: The operating state, and the events that report it.
        readiness: Power and bias, which states change.
        controller: The controller, which states start and stop.
        servo: The joints, which power puts to rest.
        attachment: The tool or endoscope at the arm's end.
        readings: Readings to freeze when joints are no longer known, in this order.
        options: Options of the whole system.
        memo: Forgets results computed in another state.
        report: Collects events.
    """

    def __init__(
        self,
        machine: OperatingStateMachine,
        readiness: Readiness,
        controller: MotionController,
        servo: JointServo,
        attachment: Attachment,
        readings: Sequence[LastingReadings],
        options: SystemOptions,
        memo: Memo,
        report: Reporter,
    ) -> None:
        self._machine = machine
        self._readiness = readiness
        self._controller = controller
        self._servo = servo
        self._attachment = attachment
        self._readings = readings
        self._options = options
        self._memo = memo
        self._report = report
        self._powering_until_s = 0.0
        self._resume = (SubState.DISABLED, SubState.DISABLED)

    def state_command(self, word: str) -> None:
        """Enable, disable, home, unhome, pause or resume; anything else causes a warning."""
        machine = self._machine
        if not machine.accepts(word):
            return
        if word == "enable":
            machine.set_desired(SubState.ENABLED)
        elif word == "home":
            machine.set_desired(SubState.HOMED)
        elif word == "disable":
            self._disable()
        elif word == "pause":
            self._resume = (machine.sub_state, machine.desired)
            machine.set_desired(SubState.PAUSED)
            self.enter(SubState.PAUSED)
        elif word == "resume":
            sub_state, machine.desired = self._resume
            self.enter(sub_state)
        else:
            self._set_power(self._readiness.is_powered, is_biased=False)
            machine.set_homed(False)

    def lose_power(self) -> None:
        """Motor power is lost, as when the safety chain opens."""
        if self._readiness.is_powered:
            self._set_power(False, self._readiness.is_biased)
            self.fail("detected power loss (actuators)")

    def fail(self, error: str) -> None:
        """Goes to FAULT with an error text."""
        self._report.error(error)
        self._machine.set_desired(SubState.FAULT)
        self.enter(SubState.FAULT)

    def stumble(self, exception: str) -> None:
        """Goes to DISABLED, as the dVRK does when its controller catches an exception."""
        state = self._machine.sub_state.value
        self._report.error(f'in state {state}, caught exception "{exception}"')
        self._disable()

    def _disable(self) -> None:
        self._machine.set_desired(SubState.DISABLED)
        self.enter(SubState.DISABLED)

    def _set_power(self, is_powered: bool, is_biased: bool) -> None:
        readiness = self._readiness
        if readiness.joints and not (is_powered and is_biased):
            for readings in self._readings:
                readings.freeze()
        readiness.is_powered, readiness.is_biased = is_powered, is_biased
        self._memo.forget()

    def enter(self, sub_state: SubState) -> None:
        """Enters a state, and performs its actions."""
        machine, controller, readiness = self._machine, self._controller, self._readiness
        if machine.sub_state is SubState.HOMED:
            controller.end_control()
        state, is_busy = _STATES[sub_state]
        machine.enter(sub_state, state, is_busy, readiness.joints)
        if sub_state is SubState.DISABLED:
            self._set_power(False, readiness.is_biased)
            controller.end_control()
        elif sub_state is SubState.POWERING:
            self._powering_until_s = self._controller.now_s + self._options.powering_s
            self._begin_power()
        elif sub_state is SubState.ENABLED:
            self._set_power(True, readiness.is_biased)
        elif sub_state is SubState.CALIBRATING_ENCODERS_FROM_POTS:
            self._report.status("simulated mode, no need to calibrate encoders")
            self._servo.faults.clear_offsets()
        elif sub_state is SubState.HOMING:
            controller.begin_homing()
        elif sub_state is SubState.HOMED:
            controller.end_control()
            self._attachment.on_homed()
        machine.entered()

    def _begin_power(self) -> None:
        """Motors hold the joints where they are."""
        servo = self._servo
        if self._options.reset_joints_on_enable:
            self._controller.place([0.0] * len(servo.setpoint))
        else:
            self._controller.place(servo.faults.truth(servo.measured))

    def transition(self) -> None:
        """Makes at most one transition a cycle, like the dVRK."""
        sub_state, desired = self._machine.sub_state, self._machine.desired
        if sub_state is SubState.DISABLED:
            if desired is not SubState.DISABLED:
                self.enter(SubState.POWERING)
        elif sub_state is SubState.POWERING:
            if self._controller.now_s >= self._powering_until_s:
                self.enter(SubState.ENABLED)
        elif sub_state is SubState.ENABLED:
            if desired is not SubState.ENABLED:
                self.enter(SubState.CALIBRATING_ENCODERS_FROM_POTS)
        elif sub_state is SubState.CALIBRATING_ENCODERS_FROM_POTS:
            self._set_power(self._readiness.is_powered, is_biased=True)
            self.enter(SubState.ENCODERS_BIASED)
        elif sub_state is SubState.ENCODERS_BIASED:
            self.enter(SubState.HOMING)
        elif sub_state not in (SubState.HOMING, SubState.PAUSED, SubState.FAULT):
            following = self._attachment.next_state(sub_state)
            if following is not None:
                self.enter(following)

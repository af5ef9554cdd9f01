"""Power and operating state of a simulated arm: what leads from one state to the next."""

from __future__ import annotations

from abc import ABC, abstractmethod

from dvrk_kinematics.simulation.controller import CONTROLLERS, ControllerData
from dvrk_kinematics.simulation.operating_state import OperatingStateMachine, State, SubState
from dvrk_kinematics.simulation.options import ArmSpec, SystemOptions
from dvrk_kinematics.simulation.readings import Event
from dvrk_kinematics.simulation.reporter import Reporter

__all__ = ["PoweredArm"]

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
"""What is published in each sub-state: the state, and whether it is busy."""


class PoweredArm(ABC):
    """What all arms share about power and states.

    Args:
        spec: Which arm.
        options: What holds for the whole system.
        kind: Kind of its topics: "PSM", "ECM" or "ARM".
    """

    def __init__(self, spec: ArmSpec, options: SystemOptions, kind: str) -> None:
        self.name = spec.name
        self.kind = kind
        self._data = self._controller()
        self._options = options
        self._report = Reporter(spec.name)
        self._states = OperatingStateMachine(self._report)
        self._now_s = 0.0
        self._powering_until_s = 0.0
        self._powered = False
        self._biased = False
        self._resume = (SubState.DISABLED, SubState.DISABLED)

    # What states do to joints and readings.

    @abstractmethod
    def _end_control(self) -> None:
        """Nothing is controlled any more; a move ends."""

    @abstractmethod
    def _begin_power(self) -> None:
        """Motors hold the joints where they are."""

    @abstractmethod
    def _calibrate(self) -> None:
        """Encoders are set from potentiometers."""

    @abstractmethod
    def _begin_homing(self) -> None:
        """Sets off for the home position."""

    @abstractmethod
    def _freeze(self) -> None:
        """Keeps what readings say from now on, because joints are not known any more."""

    @abstractmethod
    def _forget(self) -> None:
        """Drops what was computed from joint positions that have changed."""

    # What kinds of arms differ in.

    def _controller(self) -> ControllerData:
        """The numbers of the controller: the dVRK's, unless a kind of arm brings its own."""
        return CONTROLLERS[self.kind]

    def _on_homed(self) -> None:
        """What entering HOMED does besides: nothing, unless a kind of arm says otherwise."""
        return None

    def _transition_homed(self) -> None:
        """What happens by itself in HOMED and the states that lead back to it: nothing."""
        return None

    # Power, operating state.

    @property
    def _is_joint_ready(self) -> bool:
        return self._powered and self._biased

    def take_events(self) -> list[Event]:
        """The events since the last call, in order, repeated as the dVRK repeats them."""
        return self._report.take()

    def state_command(self, word: str) -> None:
        """Enable, disable, home, unhome, pause or resume; anything else gives a warning."""
        if not self._states.accepts(word):
            return
        if word == "enable":
            self._states.set_desired(SubState.ENABLED)
        elif word == "home":
            self._states.set_desired(SubState.HOMED)
        elif word == "disable":
            self._states.set_desired(SubState.DISABLED)
            self._enter(SubState.DISABLED)
        elif word == "pause":
            self._resume = (self._states.sub_state, self._states.desired)
            self._states.set_desired(SubState.PAUSED)
            self._enter(SubState.PAUSED)
        elif word == "resume":
            sub_state, self._states.desired = self._resume
            self._enter(sub_state)
        else:
            self._set_power(self._powered, biased=False)
            self._states.set_homed(False)

    def _set_power(self, powered: bool, biased: bool) -> None:
        if self._is_joint_ready and not (powered and biased):
            self._freeze()
        self._powered, self._biased = powered, biased
        self._forget()

    def _enter(self, sub_state: SubState) -> None:
        if self._states.sub_state is SubState.HOMED:
            self._end_control()
        state, is_busy = _STATES[sub_state]
        self._states.enter(sub_state, state, is_busy, self._is_joint_ready)
        if sub_state is SubState.DISABLED:
            self._set_power(False, self._biased)
            self._end_control()
        elif sub_state is SubState.POWERING:
            self._powering_until_s = self._now_s + self._options.powering_s
            self._begin_power()
        elif sub_state is SubState.ENABLED:
            self._set_power(True, self._biased)
        elif sub_state is SubState.CALIBRATING_ENCODERS_FROM_POTS:
            self._report.status("simulated mode, no need to calibrate encoders")
            self._calibrate()
        elif sub_state is SubState.HOMING:
            self._begin_homing()
        elif sub_state is SubState.HOMED:
            self._end_control()
            self._on_homed()
        self._states.entered()

    def _transition(self) -> None:
        """At most one transition a cycle, as the dVRK goes through them."""
        sub_state, desired = self._states.sub_state, self._states.desired
        if sub_state is SubState.HOMED:
            self._transition_homed()
        elif sub_state is SubState.DISABLED:
            if desired is not SubState.DISABLED:
                self._enter(SubState.POWERING)
        elif sub_state is SubState.POWERING:
            if self._now_s >= self._powering_until_s:
                self._enter(SubState.ENABLED)
        elif sub_state is SubState.ENABLED:
            if desired is not SubState.ENABLED:
                self._enter(SubState.CALIBRATING_ENCODERS_FROM_POTS)
        elif sub_state is SubState.CALIBRATING_ENCODERS_FROM_POTS:
            self._set_power(self._powered, biased=True)
            self._enter(SubState.ENCODERS_BIASED)
        elif sub_state is SubState.ENCODERS_BIASED:
            self._enter(SubState.HOMING)
        elif sub_state not in (SubState.HOMING, SubState.PAUSED, SubState.FAULT):
            self._transition_homed()

    def _fail(self, error: str) -> None:
        """Goes to FAULT with an error text."""
        self._report.error(error)
        self._states.set_desired(SubState.FAULT)
        self._enter(SubState.FAULT)

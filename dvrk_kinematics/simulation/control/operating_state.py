"""The operating state of an arm: which commands it accepts, and which events it sends.

The events and their number were recorded from the dVRK: every change of the desired state sends
operating_state twice and desired_state twice (the old one, then the new one); entering a state
sends operating_state twice and desired_state once. is_homed is computed *before* a new state acts,
so it still has the value of the previous state.
"""

from __future__ import annotations

from enum import Enum

from dvrk_kinematics.simulation.control.reporter import Reporter
from dvrk_kinematics.simulation.readings import OperatingStateReading

__all__ = ["ACCEPTED", "COMMANDS", "OperatingStateMachine", "State", "SubState"]


class State(str, Enum):
    """The states that are published."""

    DISABLED = "DISABLED"
    ENABLED = "ENABLED"
    PAUSED = "PAUSED"
    FAULT = "FAULT"


class SubState(str, Enum):
    """The states that the controller goes through; texts name them."""

    DISABLED = "DISABLED"
    POWERING = "POWERING"
    ENABLED = "ENABLED"
    CALIBRATING_ENCODERS_FROM_POTS = "CALIBRATING_ENCODERS_FROM_POTS"
    ENCODERS_BIASED = "ENCODERS_BIASED"
    HOMING = "HOMING"
    HOMED = "HOMED"
    ENGAGING_ADAPTER = "ENGAGING_ADAPTER"
    ENGAGING_TOOL = "ENGAGING_TOOL"
    TOOL_ENGAGED = "TOOL_ENGAGED"
    PAUSED = "PAUSED"
    FAULT = "FAULT"


COMMANDS = ("enable", "disable", "pause", "resume", "home", "unhome")
"""The words of state_command, in the order in which the dVRK lists them."""

ACCEPTED: dict[State, frozenset[str]] = {
    State.DISABLED: frozenset({"enable", "disable", "unhome"}),
    State.ENABLED: frozenset({"enable", "disable", "home", "unhome", "pause"}),
    State.PAUSED: frozenset({"disable", "unhome", "pause", "resume"}),
    State.FAULT: frozenset({"enable", "disable", "unhome"}),
}
"""Which word is accepted in which state; others give a warning."""


class OperatingStateMachine:
    """State, sub-state and desired state, and the events that report them.

    Args:
        reporter: Collects events.
        is_homed: Whether it is homed from the start, as setup joints are.
        names_sub_state: Whether warnings name the sub-state; those of setup joints do not.
    """

    def __init__(
        self, reporter: Reporter, is_homed: bool = False, names_sub_state: bool = True
    ) -> None:
        self._reporter = reporter
        self._names_sub_state = names_sub_state
        self.state = State.DISABLED
        self.sub_state = SubState.DISABLED
        self.desired = SubState.DISABLED
        self._reading = OperatingStateReading(State.DISABLED.value, is_homed, False)
        # The events that a dVRK has sent when its topics come up.
        self.set_desired(SubState.DISABLED)
        self.entered()
        self._tell()
        self.entered()
        self._tell()

    @property
    def reading(self) -> OperatingStateReading:
        """The content of operating_state."""
        return self._reading

    def accepts(self, word: str) -> bool:
        """Whether a state_command is accepted now; warns if not."""
        if word not in COMMANDS:
            options = " ".join(COMMANDS)
            self._reporter.warning(
                f"{word} doesn't seem to be a valid state_command "
                "(prmOperatingState::CommandTypeFromString can't find matching enum for "
                f"{word}.  Options are: {options} )"
            )
            return False
        if word in ACCEPTED[self.state]:
            return True
        state = self.state.value
        if self._names_sub_state:
            state = f"{state} ({self.sub_state.value})"
        self._reporter.warning(f'command "{word}" is not supported in state "{state}"')
        return False

    def set_desired(self, desired: SubState) -> None:
        """Changes the desired state and reports it."""
        self._tell_all()
        self.desired = desired
        self._tell_all()
        self._reporter.status(f"desired state {desired.value}")

    def enter(self, sub_state: SubState, state: State, is_busy: bool, is_homed: bool) -> None:
        """Begins to enter a state. The state's actions come next, then ``entered``."""
        self.sub_state = sub_state
        self.state = state
        self._update(state, is_homed, is_busy)

    def entered(self) -> None:
        """Reports that the state is entered."""
        self._tell_all()
        self._reporter.status(f"current state {self.sub_state.value}")

    def set_busy(self, is_busy: bool) -> None:
        """Reports that a move begins or ends, even if that changes nothing."""
        self._update(self.state, self._reading.is_homed, is_busy)

    def set_homed(self, is_homed: bool) -> None:
        """Reports that the arm is homed, or no longer homed."""
        self._update(self.state, is_homed, self._reading.is_busy)

    def _update(self, state: State, is_homed: bool, is_busy: bool) -> None:
        self._reading = OperatingStateReading(state.value, is_homed, is_busy)
        self._tell()

    def _tell(self) -> None:
        self._reporter.event("operating_state", self._reading)

    def _tell_all(self) -> None:
        self._tell()
        self._reporter.event("desired_state", self.desired.value)

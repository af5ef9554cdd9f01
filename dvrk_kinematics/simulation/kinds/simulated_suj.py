"""Simulated setup joints, which carry an arm and define its base frame."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any

import numpy as np

from dvrk_kinematics.geometry.arrays import Array, frozen
from dvrk_kinematics.kinematics.arm import load_arm
from dvrk_kinematics.simulation.control import OperatingStateMachine, Reporter, State, SubState
from dvrk_kinematics.simulation.readings import (
    Event,
    JointReading,
    OperatingStateReading,
    PoseReading,
)

__all__ = ["CART", "SIMULATED_POSITIONS", "SimulatedSuj"]

CART = "Cart"
"""The frame of the cart."""

_JOINTS = 6
"""The controller lists six joints for every arm; those of the ECM beyond four never move."""
_EMPTY = frozen([])

SIMULATED_POSITIONS: dict[str, tuple[float, ...]] = {
    "ECM": (0.6647, 0.5782, -1.2662, 3.7818, 0.0, 0.0),
    "PSM1": (0.0007, -0.5892, -0.8590, -0.6241, -0.2479, -0.4422),
    "PSM2": (0.0628, 0.0913, 1.9073, -0.1297, 0.4351, 0.0353),
    "PSM3": (-0.0261, -1.5892, 1.3076, 0.6994, 0.1361, 0.3359),
}
"""Where setup joints start (m, rad): sawIntuitiveResearchKit, share/arm/suj-simulated.json."""


class SimulatedSuj:
    """The setup joints of one arm.

    Args:
        name: Name of the arm it carries ("PSM1"); its topics are under ``SUJ/<name>``.
        joints: Where its joints start (m, rad), shape (6,).
        command_all: Forwards a state command to the setup joints of all arms.

    Attributes:
        name: Name of the arm it carries.
        joint_names: SUJ_PSM1_J0 to SUJ_PSM1_J5, six also for the ECM.
        T_cart_base: The arm's base in the cart, shape (4, 4).
        commands: The method behind every command topic.
        readings: The method behind every state topic.
    """

    def __init__(
        self, name: str, joints: Sequence[float], command_all: Callable[[str], None]
    ) -> None:
        self.name = name
        self.joint_names = tuple(f"SUJ_{name}_J{index}" for index in range(_JOINTS))
        self._kinematics = load_arm(f"SUJ_{name}")
        self._command_all = command_all
        self._report = Reporter(f"{name} SUJ")
        self._states = OperatingStateMachine(self._report, is_homed=True, names_sub_state=False)
        self._is_homed = True
        self._in_reference = PoseReading(frozen(np.eye(4)), CART, False)
        self.T_cart_base: Array = frozen(np.eye(4))
        self._joints = frozen(joints)
        self._place(self._joints)
        self.commands: dict[str, Callable[..., None]] = {
            "state_command": self.state_command,
            "servo_jp": self.servo_jp,
            "move_jp": self.move_jp,
        }
        self.readings: dict[str, Callable[[], Any]] = {
            "measured_js": lambda: self.measured_js,
            "measured_cp": lambda: self.measured_cp,
            "local/measured_cp": lambda: self.local_measured_cp,
        }

    def _place(self, joints: Array) -> None:
        self._joints = joints
        count = len(self._kinematics.joint_names)
        self.T_cart_base = frozen(self._kinematics.forward(joints[:count]))
        self._report.status("measured_cp updated")

    def take_events(self) -> list[Event]:
        """Events since the last call: operating_state, error, warning, status."""
        # Setup joints have no desired_state topic.
        return [event for event in self._report.take() if event.topic != "desired_state"]

    def step(self) -> None:
        """Runs one cycle: at most one transition."""
        sub_state = self._states.sub_state
        if sub_state is SubState.DISABLED and self._states.desired is not SubState.DISABLED:
            self._enter(SubState.POWERING, State.DISABLED, True)
        elif sub_state is SubState.POWERING:
            self._enter(SubState.ENABLED, State.ENABLED, False)

    def _enter(self, sub_state: SubState, state: State, is_busy: bool) -> None:
        self._states.enter(sub_state, state, is_busy, self._is_homed)
        self._states.entered()

    def state_command(self, word: str) -> None:
        """Like an arm's command, but it acts on the setup joints of all arms."""
        self._command_all(word)

    def obey(self, word: str) -> None:
        """Acts on a state command on its own."""
        if not self._states.accepts(word):
            return
        if word in ("enable", "home"):
            self._states.set_desired(SubState.ENABLED)
        elif word == "disable":
            self._states.set_desired(SubState.DISABLED)
            self._enter(SubState.DISABLED, State.DISABLED, False)
        elif word == "unhome":
            self._is_homed = False
            self._states.set_homed(False)

    def servo_jp(self, position: Sequence[float]) -> None:
        """Puts the joints somewhere (m, rad) at once, as the dVRK's simulation does."""
        self._set("servo_jp", position)

    def move_jp(self, position: Sequence[float]) -> None:
        """Like ``servo_jp``: setup joints have no motors, so a simulated move is a jump."""
        self._set("move_jp", position)

    def _set(self, command: str, position: Sequence[float]) -> None:
        if len(position) != _JOINTS:
            self._report.warning(
                f"{command}, expected {_JOINTS} values but received {len(position)}"
            )
        elif not all(isfinite(value) for value in position):
            self._report.warning(f"{command}, received values that are not numbers")
        else:
            self._place(frozen(position))

    @property
    def operating_state(self) -> OperatingStateReading:
        """DISABLED or ENABLED; homed from the start."""
        return self._states.reading

    @property
    def measured_js(self) -> JointReading:
        """Six positions, no velocity and no effort."""
        return JointReading(self.joint_names, self._joints, _EMPTY, _EMPTY, True)

    @property
    def measured_cp(self) -> PoseReading:
        """The arm's base in the tip of the reference arm (the ECM)."""
        return self._in_reference

    @property
    def local_measured_cp(self) -> PoseReading:
        """The arm's base in the frame ``Cart``."""
        return PoseReading(self.T_cart_base, CART, True)

    def refer(self, reading: PoseReading) -> None:
        """Sets where the arm's base is in the tip of the reference arm."""
        self._in_reference = reading

    def warn(self, text: str) -> None:
        """Adds a warning."""
        self._report.warning(text)

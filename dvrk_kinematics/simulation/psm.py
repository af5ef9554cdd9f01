"""A simulated PSM: an arm with a tool, and its jaw."""

from __future__ import annotations

from collections.abc import Sequence

from dvrk_kinematics.geometry.arrays import frozen
from dvrk_kinematics.simulation.arm_control import Mode, Space
from dvrk_kinematics.simulation.options import ArmSpec, SystemOptions
from dvrk_kinematics.simulation.psm_tool import JAW, ToolArm
from dvrk_kinematics.simulation.readings import JointReading

__all__ = ["SimulatedPsm"]

_EMPTY = frozen([])
_NO_JAW = JointReading((), _EMPTY, _EMPTY, _EMPTY, False)


class SimulatedPsm(ToolArm):
    """A PSM; commands and readings beyond those of every arm.

    Args:
        spec: Which arm, and its tool.
        options: What holds for the whole system.

    Raises:
        UnknownName: There is no such tool.
        InvalidInput: The tool does not fit.
    """

    def __init__(self, spec: ArmSpec, options: SystemOptions) -> None:
        self._last_jaw = (_NO_JAW, _NO_JAW)
        super().__init__(spec, options)

    def _freeze(self) -> None:
        self._last_jaw = (self.jaw_measured_js, self.jaw_setpoint_js)
        super()._freeze()

    @property
    def jaw_measured_js(self) -> JointReading:
        """Position, velocity and effort of the jaw; empty before there is a tool."""
        if not self._is_cartesian_ready:
            return self._last_jaw[0]
        return JointReading(
            ("jaw",),
            frozen([self._measured[JAW]]),
            frozen([self._measured_v[JAW]]),
            frozen([0.0]),
            True,
        )

    @property
    def jaw_setpoint_js(self) -> JointReading:
        """Position and effort of the jaw; the velocity is empty."""
        if not self._is_cartesian_ready:
            return self._last_jaw[1]
        effort = self._once("effort", self._driven_effort)[JAW]
        return JointReading(
            ("jaw",), frozen([self._setpoint[JAW]]), _EMPTY, frozen([effort]), True
        )

    def _jaw_value(
        self, command: str, values: Sequence[float], told_as: str = "", finite: bool = False
    ) -> float | None:
        if not self._is_ready(told_as or command, cartesian=True):
            return None
        numbers = self._values(command, values, 1, finite)
        return None if numbers is None else numbers[0]

    def jaw_servo_jp(self, position: Sequence[float]) -> None:
        """Jaw set-point (rad) at once; in Cartesian space the last pose is solved again."""
        value = self._jaw_value("jaw_servo_jp", position)
        if value is None:
            return
        self._switch(self._jaw_space(), Mode.POSITION)
        self._goal[JAW] = max(self._lower[JAW], min(self._upper[JAW], value))
        self._goal_is_new = True

    def jaw_move_jp(self, position: Sequence[float]) -> None:
        """Jaw trajectory (rad); it shares is_busy and the trajectory with the arm."""
        if len(position) == 0 and self._is_ready("jaw_move_jp", cartesian=True):
            self._switch(self._jaw_space(), Mode.TRAJECTORY)
            self._start(list(self._last_goal))
            return
        value = self._jaw_value("jaw_move_jp", position)
        if value is None:
            return
        self._switch(self._jaw_space(), Mode.TRAJECTORY)
        goal = self._pending()
        goal[JAW] = max(self._lower[JAW], min(self._upper[JAW], value))
        self._start(goal)

    def jaw_servo_jf(self, effort: Sequence[float]) -> None:
        """Jaw effort (N m): the whole arm goes to Cartesian effort mode with a zero wrench."""
        # The dVRK's refusal names servo_jf.
        value = self._jaw_value("jaw_servo_jf", effort, told_as="servo_jf", finite=True)
        if value is not None and self._push(Space.CARTESIAN, [0.0] * JAW):
            if self._commanded_effort is not None:
                self._commanded_effort[JAW] = value
            self._forget()

    def _jaw_space(self) -> Space:
        return Space.CARTESIAN if self._space is Space.CARTESIAN else Space.JOINT

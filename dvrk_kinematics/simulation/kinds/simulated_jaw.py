"""The jaw of a simulated PSM: its commands and its readings."""

from __future__ import annotations

from collections.abc import Sequence

from dvrk_kinematics.geometry.arrays import frozen
from dvrk_kinematics.simulation.arm import ArmCore
from dvrk_kinematics.simulation.control import Mode, Space
from dvrk_kinematics.simulation.kinds.psm_mechanism import JAW
from dvrk_kinematics.simulation.readings import JointReading

__all__ = ["SimulatedJaw"]

_EMPTY = frozen([])
_NO_JAW = JointReading((), _EMPTY, _EMPTY, _EMPTY, False)


class SimulatedJaw:
    """The last of a PSM's driven joints.

    Args:
        core: The parts of the arm.
    """

    def __init__(self, core: ArmCore) -> None:
        self._gate = core.gate
        self._controller = core.controller
        self._mechanism = core.mechanism
        self._servo = core.servo
        self._readings = core.readings
        self._readiness = core.readiness
        self._memo = core.memo
        self._last = (_NO_JAW, _NO_JAW)

    # Readings.

    def freeze(self) -> None:
        """Freezes the content of readings, because joints are no longer known."""
        self._last = (self.measured_js(), self.setpoint_js())

    def measured_js(self) -> JointReading:
        """Position, velocity and effort of the jaw; empty before there is a tool."""
        if not self._readiness.tip:
            return self._last[0]
        servo = self._servo
        return JointReading(
            ("jaw",),
            frozen([servo.measured[JAW]]),
            frozen([servo.measured_v[JAW]]),
            frozen([0.0]),
            True,
        )

    def setpoint_js(self) -> JointReading:
        """Position and effort of the jaw; the velocity is empty."""
        if not self._readiness.tip:
            return self._last[1]
        effort = self._readings.driven_effort()[JAW]
        position = frozen([self._servo.setpoint[JAW]])
        return JointReading(("jaw",), position, _EMPTY, frozen([effort]), True)

    # Commands.

    def servo_jp(self, position: Sequence[float]) -> None:
        """Sets the jaw (rad) at once; in Cartesian space the last pose is solved again."""
        value = self._value("jaw_servo_jp", position)
        if value is None:
            return
        controller = self._controller
        controller.switch(self._space(), Mode.POSITION)
        controller.goal[JAW] = self._clip(value)
        controller.goal_is_new = True

    def move_jp(self, position: Sequence[float]) -> None:
        """Jaw trajectory (rad); it shares is_busy and the trajectory with the arm."""
        controller = self._controller
        if len(position) == 0 and self._gate.admits("jaw_move_jp", cartesian=True):
            controller.switch(self._space(), Mode.TRAJECTORY)
            controller.start(list(controller.last_goal))
            return
        value = self._value("jaw_move_jp", position)
        if value is None:
            return
        controller.switch(self._space(), Mode.TRAJECTORY)
        goal = controller.pending()
        goal[JAW] = self._clip(value)
        controller.start(goal)

    def servo_jf(self, effort: Sequence[float]) -> None:
        """Jaw effort (N m): the whole arm goes to Cartesian effort mode with a zero wrench."""
        # The dVRK's refusal names servo_jf.
        value = self._value("jaw_servo_jf", effort, told_as="servo_jf", finite=True)
        controller = self._controller
        if value is not None and controller.push(Space.CARTESIAN, [0.0] * JAW):
            if controller.commanded_effort is not None:
                controller.commanded_effort[JAW] = value
            self._memo.forget()

    def _value(
        self, command: str, values: Sequence[float], told_as: str = "", finite: bool = False
    ) -> float | None:
        if not self._gate.admits(told_as or command, cartesian=True):
            return None
        numbers = self._gate.values(command, values, 1, finite)
        return None if numbers is None else numbers[0]

    def _clip(self, value: float) -> float:
        limits = self._mechanism.limits
        return max(limits.lower[JAW], min(limits.upper[JAW], value))

    def _space(self) -> Space:
        in_cartesian = self._controller.space is Space.CARTESIAN
        return Space.CARTESIAN if in_cartesian else Space.JOINT

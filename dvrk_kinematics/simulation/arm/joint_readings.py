"""What an arm tells about its joints.

While joints are known, readings are live. When they are not known any more (disabled, unhomed),
measured_js is zero and invalid, as with the dVRK, but setpoint_js keeps its last content and stays
valid. Before joints are known for the first time, they are empty.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from dvrk_kinematics.geometry.arrays import Array, frozen
from dvrk_kinematics.simulation.arm.readiness import Readiness
from dvrk_kinematics.simulation.control.controller_data import ControllerData
from dvrk_kinematics.simulation.control.gravity import gravity_effort
from dvrk_kinematics.simulation.control.joint_servo import JointServo
from dvrk_kinematics.simulation.control.mechanism import Mechanism
from dvrk_kinematics.simulation.control.memo import Memo
from dvrk_kinematics.simulation.control.motion_controller import Mode, MotionController
from dvrk_kinematics.simulation.control.tip_kinematics import read_only
from dvrk_kinematics.simulation.readings import JointReading

__all__ = ["JointReadings"]

_EMPTY = frozen([])
_NO_JOINTS = JointReading((), _EMPTY, _EMPTY, _EMPTY, False)


@lru_cache(maxsize=16)
def _zeros(count: int) -> Array:
    return read_only(np.zeros(count))


class JointReadings:
    """The joint readings of every arm, each computed once a cycle, when asked for.

    Args:
        mechanism: Which joints are published.
        servo: Where they are.
        controller: Whether efforts are commanded.
        readiness: Whether joints are known.
        data: What gravity compensation knows.
        memo: Keeps what was computed.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        servo: JointServo,
        controller: MotionController,
        readiness: Readiness,
        data: ControllerData,
        memo: Memo,
    ) -> None:
        self._mechanism = mechanism
        self._servo = servo
        self._controller = controller
        self._readiness = readiness
        self._data = data
        self._memo = memo
        self._last_setpoint_js = _NO_JOINTS
        self._last_names: tuple[str, ...] = ()
        self._last_gravity: Array | None = None

    def freeze(self) -> None:
        """Keeps what readings say from now on, because joints are not known any more."""
        self._memo.forget()
        self._last_setpoint_js = self.setpoint_js()
        self._last_names = self.measured_js().names
        self._last_gravity = self.gravity_compensation_setpoint_js().effort

    def measured_js(self) -> JointReading:
        """Measured joints."""
        return self._memo.once("measured_js", self._read_measured_js)

    def _read_measured_js(self) -> JointReading:
        if self._readiness.joints:
            mechanism, servo = self._mechanism, self._servo
            names = mechanism.published_names()
            return JointReading(
                names,
                read_only(np.array(mechanism.published(servo.measured))),
                read_only(np.array(mechanism.published(servo.measured_v))),
                _zeros(len(names)),
                True,
            )
        zeros = _zeros(len(self._last_names))
        return JointReading(self._last_names, zeros, zeros, zeros, False)

    def setpoint_js(self) -> JointReading:
        """What the PID was told, and the effort it answers with."""
        return self._memo.once("setpoint_js", self._read_setpoint_js)

    def _read_setpoint_js(self) -> JointReading:
        if not self._readiness.joints:
            return self._last_setpoint_js
        mechanism, servo = self._mechanism, self._servo
        return JointReading(
            mechanism.published_names(),
            read_only(np.array(mechanism.published(servo.setpoint))),
            read_only(np.array(mechanism.published(servo.setpoint_v))),
            read_only(np.array(mechanism.published(self.driven_effort()))),
            True,
        )

    def driven_effort(self) -> list[float]:
        """Efforts of the driven joints (N m, N): commanded ones, or those of the PID."""
        return self._memo.once("effort", self._read_effort)

    def _read_effort(self) -> list[float]:
        controller = self._controller
        if controller.mode is Mode.EFFORT and controller.commanded_effort is not None:
            effort = list(controller.commanded_effort)
        else:
            effort = self._servo.effort()
        if controller.gravity_is_on:
            return [e + g for e, g in zip(effort, self._gravity_effort(), strict=True)]
        return effort

    def _gravity_effort(self) -> list[float]:
        gravity, measured = self._data.gravity, self._servo.measured
        if gravity is None:
            return [0.0] * (len(measured) + 1)
        return gravity_effort(gravity, self._mechanism.gravity_arm_m, measured)

    def gravity_compensation_setpoint_js(self) -> JointReading:
        """Efforts of gravity compensation only; zero where it is not loaded."""
        return self._memo.once("gravity", self._read_gravity)

    def _read_gravity(self) -> JointReading:
        names = self._mechanism.manipulator.joint_names
        if self._readiness.joints:
            effort = read_only(np.array(self._gravity_effort()[: len(names)]))
            return JointReading(names, _EMPTY, _EMPTY, effort, True)
        last = frozen(np.zeros(len(names))) if self._last_gravity is None else self._last_gravity
        return JointReading(names, _EMPTY, _EMPTY, last, False)

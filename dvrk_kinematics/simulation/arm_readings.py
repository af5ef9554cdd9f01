"""What a simulated arm can be asked: computed when asked, and once a cycle.

Readings while joints are known are live. When they are not known any more (disabled, unhomed), the
dVRK behaves differently from topic to topic: measured_js is zero and invalid, poses and velocities
keep their last content and are invalid, setpoint_js and the jaw keep their last content and are
valid. Before they are known for the first time, joints are empty and poses are the identity.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

import numpy as np

from dvrk_kinematics.geometry.arrays import Array, frozen
from dvrk_kinematics.simulation.arm_control import ArmControl, Mode
from dvrk_kinematics.simulation.gravity import gravity_effort
from dvrk_kinematics.simulation.manipulator import Manipulator
from dvrk_kinematics.simulation.options import ArmSpec, SystemOptions
from dvrk_kinematics.simulation.pid import pid_effort
from dvrk_kinematics.simulation.readings import (
    JointReading,
    OperatingStateReading,
    PoseReading,
)

__all__ = ["IDENTITY", "ArmReadings", "read_only"]

_Answer = TypeVar("_Answer")
_EMPTY = frozen([])
IDENTITY = frozen(np.eye(4))
"""The one array that stands for no base frame: it costs no product."""
_NO_JOINTS = JointReading((), _EMPTY, _EMPTY, _EMPTY, False)


def read_only(values: Array) -> Array:
    """An array that nobody can write to any more."""
    values.setflags(write=False)
    return values


@lru_cache(maxsize=16)
def _zeros(count: int) -> Array:
    return read_only(np.zeros(count))


class ArmReadings(ArmControl):
    """The readings of every arm."""

    _manipulator: Manipulator

    def __init__(self, spec: ArmSpec, options: SystemOptions, kind: str) -> None:
        self._memo: dict[str, object] = {}
        self._local_frame = f"{spec.name}_base"
        self._base_frame_id = spec.base_frame_id or self._local_frame
        self._base = IDENTITY if spec.base_frame is None else frozen(spec.base_frame)
        self._base_is_valid = True
        self._last_setpoint_js = _NO_JOINTS
        self._last_names: tuple[str, ...] = ()
        self._last_poses = {name: IDENTITY for name in ("measured", "setpoint")}
        self._last_local_poses = dict(self._last_poses)
        self._last_gravity: Array | None = None
        self._commanded_effort: list[float] | None = None
        self._gravity_is_on = False
        super().__init__(spec, options, kind)

    def _once(self, name: str, compute: Callable[[], _Answer]) -> _Answer:
        if name not in self._memo:
            self._memo[name] = compute()
        return self._memo[name]  # type: ignore[return-value]

    def _forget(self) -> None:
        self._memo.clear()

    def _freeze(self) -> None:
        self._forget()
        self._last_setpoint_js = self.setpoint_js
        self._last_names = self.measured_js.names
        self._last_gravity = self.gravity_compensation_setpoint_js.effort
        if self._is_cartesian_ready:
            self._freeze_poses()
        self._forget()

    def _freeze_poses(self) -> None:
        for name in self._last_poses:
            self._last_local_poses[name] = self._local_pose(name)
            self._last_poses[name] = self._pose(name)

    # What the chain sees.

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints, as measured_js has them when homed; () before."""
        return self.measured_js.names

    @property
    def _is_cartesian_ready(self) -> bool:
        return self._is_joint_ready

    def _names_now(self) -> tuple[str, ...]:
        """Names of the joints that are published."""
        return self._manipulator.joint_names

    def _kinematic(self, joints: list[float]) -> list[float]:
        """The published joints for those that are driven."""
        return joints

    def _from_actuator_effort(self, effort: list[float]) -> list[float]:
        return effort

    def _q(self, name: str) -> Array:
        joints = self._measured if name == "measured" else self._setpoint
        return self._once(f"q_{name}", lambda: np.array(self._kinematic(joints)))

    # Joints.

    @property
    def operating_state(self) -> OperatingStateReading:
        """DISABLED, ENABLED, PAUSED or FAULT; homed; busy."""
        return self._states.reading

    @property
    def measured_js(self) -> JointReading:
        """Measured joints."""
        return self._once("measured_js", self._read_measured_js)

    def _read_measured_js(self) -> JointReading:
        if self._is_joint_ready:
            return JointReading(
                self._names_now(),
                read_only(np.array(self._kinematic(self._measured))),
                read_only(np.array(self._kinematic(self._measured_v))),
                _zeros(len(self._names_now())),
                True,
            )
        zeros = _zeros(len(self._last_names))
        return JointReading(self._last_names, zeros, zeros, zeros, False)

    @property
    def setpoint_js(self) -> JointReading:
        """What the PID was told, and the effort it answers with."""
        return self._once("setpoint_js", self._read_setpoint_js)

    def _read_setpoint_js(self) -> JointReading:
        if not self._is_joint_ready:
            return self._last_setpoint_js
        return JointReading(
            self._names_now(),
            read_only(np.array(self._kinematic(self._setpoint))),
            read_only(np.array(self._kinematic(self._setpoint_v))),
            read_only(np.array(self._kinematic(self._once("effort", self._driven_effort)))),
            True,
        )

    def _driven_effort(self) -> list[float]:
        """Efforts of the driven joints: commanded ones, or those of the PID."""
        if self._mode is Mode.EFFORT and self._commanded_effort is not None:
            effort = list(self._commanded_effort)
        else:
            error = [s - m for s, m in zip(self._setpoint, self._measured, strict=True)]
            rate = [s - m for s, m in zip(self._setpoint_v, self._measured_v, strict=True)]
            if not any(error) and not any(rate):
                effort = [0.0] * len(error)
            else:
                data = self._data
                effort = self._from_actuator_effort(
                    pid_effort(
                        list(self._to_actuators(error)),
                        list(self._to_actuators(rate)),
                        data.p_gain,
                        data.d_gain,
                    )
                )
        if self._gravity_is_on:
            return [e + g for e, g in zip(effort, self._gravity_effort(), strict=True)]
        return effort

    def _gravity_effort(self) -> list[float]:
        gravity = self._data.gravity
        if gravity is None:
            return [0.0] * (len(self._measured) + 1)
        return gravity_effort(gravity, self._gravity_arm_d(), self._measured)

    def _gravity_arm_d(self) -> float:
        """Length of the insertion row without the insertion (m)."""
        return 0.0

    @property
    def gravity_compensation_setpoint_js(self) -> JointReading:
        """Efforts of gravity compensation only; zero where it is not loaded."""
        return self._once("gravity", self._read_gravity)

    def _read_gravity(self) -> JointReading:
        names = self._manipulator.joint_names
        if self._is_joint_ready:
            effort = read_only(np.array(self._gravity_effort()[: len(names)]))
            return JointReading(names, _EMPTY, _EMPTY, effort, True)
        last = frozen(np.zeros(len(names))) if self._last_gravity is None else self._last_gravity
        return JointReading(names, _EMPTY, _EMPTY, last, False)

    # Poses.

    def _local_pose(self, name: str) -> Array:
        if name == "setpoint" and self._setpoint == self._measured:
            # A plant that follows exactly: the poses are one.
            name = "measured"
        return self._once(
            f"local_{name}", lambda: read_only(self._manipulator.forward(self._q(name)))
        )

    def _pose(self, name: str) -> Array:
        local = self._local_pose(name)
        if self._base is IDENTITY:
            return local
        return self._once(name, lambda: read_only(self._base @ local))

    def _read_pose(self, name: str) -> PoseReading:
        if self._is_cartesian_ready:
            return PoseReading(self._pose(name), self._base_frame_id, self._base_is_valid)
        return PoseReading(self._last_poses[name], self._base_frame_id, False)

    def _read_local_pose(self, name: str) -> PoseReading:
        if self._is_cartesian_ready:
            return PoseReading(self._local_pose(name), self._local_frame, True)
        return PoseReading(self._last_local_poses[name], self._local_frame, False)

    @property
    def measured_cp(self) -> PoseReading:
        """Tip in the base frame's reference."""
        return self._read_pose("measured")

    @property
    def setpoint_cp(self) -> PoseReading:
        """Tip of the set-point in the base frame's reference."""
        return self._read_pose("setpoint")

    @property
    def local_measured_cp(self) -> PoseReading:
        """Tip in the arm's own base."""
        return self._read_local_pose("measured")

    @property
    def local_setpoint_cp(self) -> PoseReading:
        """Tip of the set-point in the arm's own base."""
        return self._read_local_pose("setpoint")

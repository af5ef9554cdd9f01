"""An arm's readings of its joints and its tip.

While joints are known, readings are live. When they are no longer known (disabled, unhomed),
the dVRK behaves differently from topic to topic: measured_js is zero and invalid, poses and
velocities keep their last content and are invalid, setpoint_js keeps its last content and is
valid. Before joints are known for the first time, they are empty and poses are the identity.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from dvrk_kinematics.geometry.arrays import Array, frozen
from dvrk_kinematics.simulation.arm.arm_states import Readiness
from dvrk_kinematics.simulation.control.base_frame import IDENTITY, BaseFrame
from dvrk_kinematics.simulation.control.controller_data import ControllerData
from dvrk_kinematics.simulation.control.gravity import gravity_effort
from dvrk_kinematics.simulation.control.joint_servo import JointServo
from dvrk_kinematics.simulation.control.manipulator import spatial_jacobian
from dvrk_kinematics.simulation.control.mechanism import Mechanism
from dvrk_kinematics.simulation.control.memo import Memo
from dvrk_kinematics.simulation.control.motion_controller import Mode, MotionController
from dvrk_kinematics.simulation.control.tip_kinematics import TipKinematics, Which, read_only
from dvrk_kinematics.simulation.readings import (
    JointReading,
    PoseReading,
    TwistReading,
    WrenchReading,
)

__all__ = ["ArmReadings"]

_EMPTY = frozen([])
_NO_JOINTS = JointReading((), _EMPTY, _EMPTY, _EMPTY, False)
_STILL = frozen(np.zeros(6))
_POSES: tuple[Which, ...] = ("measured", "setpoint")


@lru_cache(maxsize=16)
def _zeros(count: int) -> Array:
    return read_only(np.zeros(count))


class ArmReadings:
    """The readings of every arm, computed on demand, and once a cycle.

    Args:
        mechanism: Which joints are published, and the chain.
        servo: Where the joints are, and how fast.
        tip: Where the tip is.
        base: Where the base is.
        controller: Whether efforts are commanded.
        readiness: Whether joints and tip are known.
        data: Data of gravity compensation.
        memo: Keeps computed results.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        servo: JointServo,
        tip: TipKinematics,
        base: BaseFrame,
        controller: MotionController,
        readiness: Readiness,
        data: ControllerData,
        memo: Memo,
    ) -> None:
        self._mechanism = mechanism
        self._servo = servo
        self._tip = tip
        self._base = base
        self._controller = controller
        self._readiness = readiness
        self._data = data
        self._memo = memo
        self._last_setpoint_js = _NO_JOINTS
        self._last_names: tuple[str, ...] = ()
        self._last_gravity: Array | None = None
        self._last_poses: dict[Which, Array] = dict.fromkeys(_POSES, IDENTITY)
        self._last_local_poses = dict(self._last_poses)
        self._last_twist = self._last_local_twist = _STILL
        self._last_jacobians: tuple[Array, Array] | None = None

    def freeze(self) -> None:
        """Freezes the content of readings, because joints are no longer known."""
        self._memo.forget()
        self._last_setpoint_js = self.setpoint_js()
        self._last_names = self.measured_js().names
        self._last_gravity = self.gravity_compensation_setpoint_js().effort
        if self._readiness.tip:
            for which in _POSES:
                self._last_local_poses[which] = self._tip.local_pose(which)
                self._last_poses[which] = self._tip.pose(which)
            self._last_twist = self.measured_cv().twist
            self._last_local_twist = self.local_measured_cv().twist
            self._last_jacobians = (self.body_jacobian(), self.spatial_jacobian())

    # Joints.

    def measured_js(self) -> JointReading:
        """Measured joints."""
        return self._memo.once("measured_js", self._read_measured_js)

    def _read_measured_js(self) -> JointReading:
        if self._readiness.joints:
            mechanism, servo = self._mechanism, self._servo
            names = mechanism.published_names
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
        """The setpoint of the PID, and its resulting effort."""
        return self._memo.once("setpoint_js", self._read_setpoint_js)

    def _read_setpoint_js(self) -> JointReading:
        if not self._readiness.joints:
            return self._last_setpoint_js
        mechanism, servo = self._mechanism, self._servo
        return JointReading(
            mechanism.published_names,
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

    # Poses.

    def measured_cp(self) -> PoseReading:
        """Tip in the base frame's reference."""
        return self._read_pose("measured")

    def setpoint_cp(self) -> PoseReading:
        """Tip of the set-point in the base frame's reference."""
        return self._read_pose("setpoint")

    def local_measured_cp(self) -> PoseReading:
        """Tip in the arm's own base."""
        return self._read_local_pose("measured")

    def local_setpoint_cp(self) -> PoseReading:
        """Tip of the set-point in the arm's own base."""
        return self._read_local_pose("setpoint")

    def _read_pose(self, which: Which) -> PoseReading:
        base = self._base
        if self._readiness.tip:
            return PoseReading(self._tip.pose(which), base.frame_id, base.is_valid)
        return PoseReading(self._last_poses[which], base.frame_id, False)

    def _read_local_pose(self, which: Which) -> PoseReading:
        frame_id = self._base.local_frame_id
        if self._readiness.tip:
            return PoseReading(self._tip.local_pose(which), frame_id, True)
        return PoseReading(self._last_local_poses[which], frame_id, False)

    # Velocities and wrenches.

    def _base_twist(self) -> Array:
        """Twist of the tip, along the axes of the arm's base."""
        v = np.array(self._mechanism.published(self._servo.measured_v))
        if not v.any():
            return np.zeros(6)
        twist: Array = self._tip.jacobian() @ v
        return twist

    def measured_cv(self) -> TwistReading:
        """Along the axes of measured_cp's frame; its frame_id stays the arm's base (a quirk)."""
        frame_id = self._base.local_frame_id
        if not self._readiness.tip:
            return TwistReading(self._last_twist, frame_id, False)
        twist = self._base_twist().reshape(2, 3) @ self._base.T[:3, :3].T
        return TwistReading(read_only(twist.reshape(6)), frame_id, True)

    def local_measured_cv(self) -> TwistReading:
        """The body twist, along the axes of the tip (a quirk of the dVRK)."""
        frame_id = self._base.local_frame_id
        if not self._readiness.tip:
            return TwistReading(self._last_local_twist, frame_id, False)
        twist = self._base_twist().reshape(2, 3) @ self._tip.local_pose("measured")[:3, :3]
        return TwistReading(read_only(twist.reshape(6)), frame_id, True)

    def measured_cf(self) -> WrenchReading:
        """Zero, along any axes: the simulated motors sense no load."""
        return WrenchReading(_STILL, "", self._readiness.tip)

    # Jacobians.

    def body_jacobian(self) -> Array:
        """Shape (6, n), linear rows first, along the axes of the tip; zero before homing."""
        if not self._readiness.tip:
            return self._last_jacobian(0)
        R = self._tip.local_pose("measured")[:3, :3]
        J = self._tip.jacobian()
        return self._memo.once("body", lambda: read_only(np.vstack([R.T @ J[:3], R.T @ J[3:]])))

    def spatial_jacobian(self) -> Array:
        """Shape (6, n), linear rows first, of the point at the base's origin, along its axes."""
        if not self._readiness.tip:
            return self._last_jacobian(1)
        tip = self._tip.local_pose("measured")[:3, 3]
        return self._memo.once(
            "spatial", lambda: read_only(spatial_jacobian(self._tip.jacobian(), tip))
        )

    def _last_jacobian(self, which: int) -> Array:
        if self._last_jacobians is None:
            return frozen(np.zeros((6, len(self._mechanism.manipulator.joint_names))))
        return self._last_jacobians[which]

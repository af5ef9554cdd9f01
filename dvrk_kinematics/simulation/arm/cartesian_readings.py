"""What an arm tells about its tip: poses, velocities, wrenches and Jacobians.

When joints are not known any more, poses, velocities and Jacobians keep their last content and are
invalid. Before they are known for the first time, poses are the identity.
"""

from __future__ import annotations

import numpy as np

from dvrk_kinematics.geometry.arrays import Array, frozen
from dvrk_kinematics.simulation.arm.readiness import Readiness
from dvrk_kinematics.simulation.control.base_frame import IDENTITY, BaseFrame
from dvrk_kinematics.simulation.control.joint_servo import JointServo
from dvrk_kinematics.simulation.control.manipulator import spatial_jacobian
from dvrk_kinematics.simulation.control.mechanism import Mechanism
from dvrk_kinematics.simulation.control.memo import Memo
from dvrk_kinematics.simulation.control.tip_kinematics import TipKinematics, Which, read_only
from dvrk_kinematics.simulation.readings import PoseReading, TwistReading, WrenchReading

__all__ = ["CartesianReadings"]

_STILL = frozen(np.zeros(6))
_POSES: tuple[Which, ...] = ("measured", "setpoint")


class CartesianReadings:
    """The readings of every arm's tip, computed when asked for.

    Args:
        mechanism: The chain, with what the arm carries now.
        servo: How fast the joints are.
        tip: Where the tip is.
        base: Where the base is.
        readiness: Whether there is a tip whose pose is known.
        memo: Keeps what was computed.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        servo: JointServo,
        tip: TipKinematics,
        base: BaseFrame,
        readiness: Readiness,
        memo: Memo,
    ) -> None:
        self._mechanism = mechanism
        self._servo = servo
        self._tip = tip
        self._base = base
        self._readiness = readiness
        self._memo = memo
        self._last_poses: dict[Which, Array] = dict.fromkeys(_POSES, IDENTITY)
        self._last_local_poses = dict(self._last_poses)
        self._last_twist = self._last_local_twist = _STILL
        self._last_jacobians: tuple[Array, Array] | None = None

    def freeze(self) -> None:
        """Keeps what readings say from now on, because joints are not known any more."""
        if not self._readiness.tip:
            return
        for which in _POSES:
            self._last_local_poses[which] = self._tip.local_pose(which)
            self._last_poses[which] = self._tip.pose(which)
        self._last_twist = self.measured_cv().twist
        self._last_local_twist = self.local_measured_cv().twist
        self._last_jacobians = (self.body_jacobian(), self.spatial_jacobian())

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
        """Of the tip, along the axes of the arm's base."""
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
        """Zero, along any axes: the simulated motors feel nothing."""
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

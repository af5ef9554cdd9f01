"""Velocities, wrenches and Jacobians of a simulated arm, computed when asked for."""

from __future__ import annotations

import numpy as np

from dvrk_kinematics.geometry.arrays import Array, frozen
from dvrk_kinematics.simulation.arm_readings import ArmReadings, read_only
from dvrk_kinematics.simulation.manipulator import spatial_jacobian
from dvrk_kinematics.simulation.options import ArmSpec, SystemOptions
from dvrk_kinematics.simulation.readings import TwistReading, WrenchReading

__all__ = ["ArmVelocities"]

_STILL = frozen(np.zeros(6))


class ArmVelocities(ArmReadings):
    """What follows from the joints' velocities and efforts."""

    def __init__(self, spec: ArmSpec, options: SystemOptions, kind: str) -> None:
        self._last_twist = self._last_local_twist = _STILL
        self._last_jacobians: tuple[Array, Array] | None = None
        super().__init__(spec, options, kind)

    def _freeze_poses(self) -> None:
        super()._freeze_poses()
        self._last_twist = self.measured_cv.twist
        self._last_local_twist = self.local_measured_cv.twist
        self._last_jacobians = (self.body_jacobian, self.spatial_jacobian)

    def _jacobian(self) -> Array:
        """At the tip, along the axes of the arm's base."""
        return self._once("jacobian", lambda: self._manipulator.jacobian(self._q("measured")))

    def _base_twist(self) -> Array:
        v = np.array(self._kinematic(self._measured_v))
        if not v.any():
            return np.zeros(6)
        twist: Array = self._jacobian() @ v
        return twist

    @property
    def measured_cv(self) -> TwistReading:
        """Along the axes of measured_cp's frame; its frame_id stays the arm's base (a quirk)."""
        if not self._is_cartesian_ready:
            return TwistReading(self._last_twist, self._local_frame, False)
        twist = self._base_twist().reshape(2, 3) @ self._base[:3, :3].T
        return TwistReading(read_only(twist.reshape(6)), self._local_frame, True)

    @property
    def local_measured_cv(self) -> TwistReading:
        """The body twist, along the axes of the tip (a quirk of the dVRK)."""
        if not self._is_cartesian_ready:
            return TwistReading(self._last_local_twist, self._local_frame, False)
        twist = self._base_twist().reshape(2, 3) @ self._local_pose("measured")[:3, :3]
        return TwistReading(read_only(twist.reshape(6)), self._local_frame, True)

    @property
    def body_measured_cf(self) -> WrenchReading:
        """Zero: the simulated motors feel nothing."""
        return WrenchReading(_STILL, "", self._is_cartesian_ready)

    @property
    def spatial_measured_cf(self) -> WrenchReading:
        """Zero: the simulated motors feel nothing."""
        return self.body_measured_cf

    def _last_jacobian(self, which: int) -> Array:
        if self._last_jacobians is None:
            return frozen(np.zeros((6, len(self._manipulator.joint_names))))
        return self._last_jacobians[which]

    @property
    def body_jacobian(self) -> Array:
        """Shape (6, n), linear rows first, along the axes of the tip; zero before homing."""
        if not self._is_cartesian_ready:
            return self._last_jacobian(0)
        R = self._local_pose("measured")[:3, :3]
        J = self._jacobian()
        return self._once("body", lambda: read_only(np.vstack([R.T @ J[:3], R.T @ J[3:]])))

    @property
    def spatial_jacobian(self) -> Array:
        """Shape (6, n), linear rows first, of the point at the base's origin, along its axes."""
        if not self._is_cartesian_ready:
            return self._last_jacobian(1)
        tip = self._local_pose("measured")[:3, 3]
        return self._once("spatial", lambda: read_only(spatial_jacobian(self._jacobian(), tip)))

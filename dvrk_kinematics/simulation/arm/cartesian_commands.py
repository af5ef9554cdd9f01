"""Commands in Cartesian space: servo, move, wrenches, and the base frame."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.geometry.arrays import Array, frozen
from dvrk_kinematics.kinematics.validation import pose_rows
from dvrk_kinematics.simulation.arm.arm_states import Readiness
from dvrk_kinematics.simulation.arm.command_gate import CommandGate
from dvrk_kinematics.simulation.control.base_frame import BaseFrame
from dvrk_kinematics.simulation.control.manipulator import spatial_jacobian
from dvrk_kinematics.simulation.control.mechanism import Mechanism
from dvrk_kinematics.simulation.control.motion_controller import Mode, MotionController, Space
from dvrk_kinematics.simulation.control.reporter import Reporter
from dvrk_kinematics.simulation.control.tip_kinematics import TipKinematics

__all__ = ["CartesianCommands", "usable_pose"]

_FARTHEST_M = 1e4
_SINGULAR = 1e-6
"""A velocity feed-forward ignores singular values below this fraction of the largest."""


def usable_pose(T: Array | None) -> Array | None:
    """A pose as a read-only copy; None if it is invalid, or its numbers are too large."""
    if T is None:
        return None
    try:
        rows = pose_rows(T)
    except InvalidInput:
        return None
    return frozen(rows) if all(abs(row[3]) <= _FARTHEST_M for row in rows) else None


class CartesianCommands:
    """Cartesian commands of every arm. Poses are in the base frame's reference.

    Args:
        gate: Accepts or refuses them.
        controller: Carries them out.
        mechanism: The meaning of the joints.
        tip: Kinematics of the tip.
        base: The base frame.
        readiness: Whether there is a tip.
        report: Collects events.
    """

    def __init__(
        self,
        gate: CommandGate,
        controller: MotionController,
        mechanism: Mechanism,
        tip: TipKinematics,
        base: BaseFrame,
        readiness: Readiness,
        report: Reporter,
    ) -> None:
        self._gate = gate
        self._controller = controller
        self._mechanism = mechanism
        self._tip = tip
        self._base = base
        self._readiness = readiness
        self._report = report
        self._wrench_kind = ""

    def _pose_of(self, command: str, T: Array | None) -> Array | None:
        pose = usable_pose(T)
        if pose is None:
            self._report.warning(f"{command}, received a pose that is not valid")
        return pose

    # Servo and move.

    def servo_cp(self, T: Array | None) -> None:
        """Sets a pose at once, in the base frame's reference, (4, 4); None for an invalid one."""
        self._servo_pose("servo_cp", T)

    def servo_cs(
        self, T: Array | None, twist: Array | None = None, wrench: Array | None = None
    ) -> None:
        """A CartesianState: a pose, and optionally a velocity as feed-forward.

        Args:
            T: Pose, shape (4, 4); None if it is not marked valid.
            twist: Linear (m/s) before angular (rad/s), shape (6,); None if not marked valid.
            wrench: Force (N) before torque (N m), shape (6,): accepted, without effect.
        """
        if T is None and twist is not None and self._readiness.tip:
            # A velocity alone keeps the tip where it is, as the dVRK does.
            T = self._tip.pose("measured")
        self._servo_pose("servo_cs", T, twist)

    def _servo_pose(self, command: str, T: Array | None, twist: Array | None = None) -> None:
        if not self._gate.admits(command, cartesian=True):
            return
        controller = self._controller
        pose = self._pose_of(command, T)
        if pose is None or not controller.switch(Space.CARTESIAN, Mode.POSITION):
            return
        controller.pose_goal = pose
        controller.pose_rates = self._rates(twist)
        controller.goal_is_new = True

    def _rates(self, twist: Array | None) -> Array:
        """Joint velocities for a twist of the tip along the axes of the base's reference."""
        if twist is None or not np.isfinite(twist).all():
            return np.zeros(len(self._mechanism.manipulator.joint_names))
        local = np.asarray(twist, dtype=np.float64).reshape(2, 3) @ self._base.T[:3, :3]
        inverse = np.linalg.pinv(self._tip.jacobian(), rcond=_SINGULAR)
        rates: Array = inverse @ local.reshape(6)
        return rates

    def move_cp(self, T: Array | None) -> None:
        """Joint trajectory to a pose in the base frame's reference: not a straight line."""
        if not self._gate.admits("move_cp", cartesian=True):
            return
        controller, mechanism = self._controller, self._mechanism
        pose = self._pose_of("move_cp", T)
        if pose is None:
            return
        if not controller.switch(Space.CARTESIAN, Mode.TRAJECTORY) and (
            controller.mode is not Mode.TRAJECTORY
        ):
            # Not past the cannula. (After a move the dVRK goes there anyway.)
            return
        q = self._tip.inverse(pose)
        if q is None:
            controller.fail_move()
            return
        goal = mechanism.filled(mechanism.driven(q.tolist()), controller.pending())
        controller.start(mechanism.limits.clip(goal))

    # Wrenches.

    def body_servo_cf(self, wrench: Sequence[float]) -> None:
        """Wrench at the tip (N, N m): accepted and reported as efforts, nothing moves."""
        self._servo_wrench("body_servo_cf", wrench, "WRENCH_BODY")

    def spatial_servo_cf(self, wrench: Sequence[float]) -> None:
        """Wrench at the base's origin (N, N m): accepted, nothing moves."""
        self._servo_wrench("spatial_servo_cf", wrench, "WRENCH_SPATIAL")

    def _servo_wrench(self, command: str, wrench: Sequence[float], kind: str) -> None:
        if not self._gate.admits(command, cartesian=True):
            return
        values = self._gate.values(command, wrench, 6, finite=True)
        if values is None:
            return
        J = self._tip.jacobian()
        R = self._tip.local_pose("measured")
        if kind == "WRENCH_BODY":
            rotated = np.reshape(values, (2, 3)) @ R[:3, :3].T
            effort = J.T @ rotated.reshape(6)
        else:
            effort = spatial_jacobian(J, R[:3, 3]).T @ np.array(values)
        if not self._controller.push(Space.CARTESIAN, self._mechanism.driven(effort.tolist())):
            return
        if self._wrench_kind != kind:
            self._wrench_kind = kind
            self._report.status(f"effort cartesian {kind}")

    def servo_ci(self) -> None:
        """Cartesian impedance: accepted, nothing moves."""
        if self._gate.admits("servo_ci", cartesian=True):
            still = [0.0] * len(self._mechanism.manipulator.joint_names)
            self._controller.push(Space.CARTESIAN, self._mechanism.driven(still))

    def body_set_cf_orientation_absolute(self, absolute: bool) -> None:
        """Sets whether wrenches are along the base's axes; without effect, as all are zero."""

    # Base frame.

    def set_base_frame(self, T: Array | None, frame_id: str) -> None:
        """Sets where the arm's base is.

        Args:
            T: Its pose in ``frame_id``, shape (4, 4); None for an invalid pose.
            frame_id: Frame of measured_cp and setpoint_cp from now on; may be empty.
        """
        pose = self._pose_of("set_base_frame", T)
        if pose is not None:
            self._base.place(pose, frame_id, True)

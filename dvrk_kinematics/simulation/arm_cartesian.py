"""Commands in Cartesian space: servo, move, wrenches, and the base frame."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.geometry import se3
from dvrk_kinematics.geometry.arrays import Array, frozen
from dvrk_kinematics.kinematics.validation import pose_rows
from dvrk_kinematics.simulation.arm_control import Mode, Space
from dvrk_kinematics.simulation.arm_joint import JointCommands
from dvrk_kinematics.simulation.arm_readings import IDENTITY
from dvrk_kinematics.simulation.manipulator import Inverse, spatial_jacobian
from dvrk_kinematics.simulation.options import ArmSpec, SystemOptions

__all__ = ["CartesianCommands"]

_REFUSALS_PER_WARNING = 1000
_FARTHEST_M = 1e4
_SINGULAR = 1e-6
"""Singular values below this part of the largest take no part in a velocity feed-forward."""


def usable_pose(T: Array | None) -> Array | None:
    """A pose as a read-only copy; None if it is none, or beyond all reach of numbers."""
    if T is None:
        return None
    try:
        rows = pose_rows(T)
    except InvalidInput:
        return None
    return frozen(rows) if all(abs(row[3]) <= _FARTHEST_M for row in rows) else None


class CartesianCommands(JointCommands):
    """Cartesian commands of every arm. Poses are in the base frame's reference."""

    def __init__(self, spec: ArmSpec, options: SystemOptions, kind: str) -> None:
        super().__init__(spec, options, kind)
        self._pose_goal: Array | None = None
        self._pose_rates = np.zeros(6)
        self._cannula_refusals = 0
        self._wrench_kind = ""

    @abstractmethod
    def _is_past_cannula(self) -> bool:
        """Whether the tip is far enough out of the cannula to turn."""

    def _may_go_cartesian(self) -> bool:
        if self._is_past_cannula():
            self._cannula_refusals = 0
            return True
        if self._cannula_refusals == 0:
            self._report.warning(
                "tool/endoscope needs to be inserted past the cannula to switch to cartesian space"
            )
        self._cannula_refusals = (self._cannula_refusals + 1) % _REFUSALS_PER_WARNING
        return False

    def _pose_of(self, command: str, T: Array | None) -> Array | None:
        pose = usable_pose(T)
        if pose is None:
            self._report.warning(f"{command}, received a pose that is not valid")
        return pose

    # Inverse kinematics.

    def _inverse(self, T: Array) -> Array | None:
        """Joints for a pose in the base frame's reference; errors and warnings if there are none.

        The dVRK searches from where the arm is measured.
        """
        local = T if self._base is IDENTITY else se3.inverse(self._base) @ T
        measured = self._q("measured")
        solved = self._manipulator.inverse(local, measured, measured)
        if solved.q is None:
            self._report_failure(solved)
        return solved.q

    def _report_failure(self, solved: Inverse) -> None:
        if solved.warning:
            self._report.warning(solved.warning)
        self._report.error(f"unable to solve inverse kinematics ({solved.reason})")

    def _driven_of(self, q: list[float]) -> list[float]:
        """Driven joints for those of the chain."""
        return q

    def _solve_pose(self) -> None:
        self._feed_gravity(False)
        if self._pose_goal is None:
            return
        q = self._inverse(self._pose_goal)
        if q is not None:
            goal = self._driven(self._driven_of(q.tolist()), self._goal)
            rates = self._driven_of(self._pose_rates.tolist())
            self._setpoint = self._clip(goal)
            self._setpoint_v = self._driven(rates, [0.0] * len(goal))
            self._goal = list(self._setpoint)

    # Servo and move.

    def servo_cp(self, T: Array | None) -> None:
        """Pose at once, in the base frame's reference, shape (4, 4); None for an invalid one."""
        self._servo_pose("servo_cp", T)

    def _servo_pose(self, command: str, T: Array | None, twist: Array | None = None) -> None:
        if not self._is_ready(command, cartesian=True):
            return
        pose = self._pose_of(command, T)
        if pose is None or not self._switch(Space.CARTESIAN, Mode.POSITION):
            return
        self._pose_goal = pose
        self._pose_rates = self._rates(twist)
        self._goal_is_new = True

    def _rates(self, twist: Array | None) -> Array:
        """Joint velocities for a twist of the tip along the axes of the base's reference."""
        if twist is None or not np.isfinite(twist).all():
            return np.zeros(len(self._manipulator.joint_names))
        local = np.asarray(twist, dtype=np.float64).reshape(2, 3) @ self._base[:3, :3]
        rates: Array = np.linalg.pinv(self._jacobian(), rcond=_SINGULAR) @ local.reshape(6)
        return rates

    def servo_cs(
        self, T: Array | None, twist: Array | None = None, wrench: Array | None = None
    ) -> None:
        """A CartesianState: a pose, and optionally a velocity as feed-forward.

        Args:
            T: Pose, shape (4, 4); None if it is not marked valid.
            twist: Linear (m/s) before angular (rad/s), shape (6,); None if not marked valid.
            wrench: Force (N) before torque (N m), shape (6,): accepted, nothing feels it.
        """
        if T is None and twist is not None and self._is_cartesian_ready:
            # A velocity alone keeps the tip where it is, as the dVRK does.
            T = self._pose("measured")
        self._servo_pose("servo_cs", T, twist)

    def move_cp(self, T: Array | None) -> None:
        """Joint trajectory to a pose in the base frame's reference: not a straight line."""
        if not self._is_ready("move_cp", cartesian=True):
            return
        pose = self._pose_of("move_cp", T)
        if pose is None:
            return
        if not self._switch(Space.CARTESIAN, Mode.TRAJECTORY) and (
            self._mode is not Mode.TRAJECTORY
        ):
            # Not past the cannula. (After a move the dVRK goes there all the same.)
            return
        q = self._inverse(pose)
        if q is None:
            self._move_is_told = True
            self._end_move(False)
            return
        self._start(self._clip(self._driven(self._driven_of(q.tolist()), self._pending())))

    # Wrenches.

    def body_servo_cf(self, wrench: Sequence[float]) -> None:
        """Wrench at the tip (N, N m): accepted and told as efforts, nothing moves."""
        self._servo_wrench("body_servo_cf", wrench, "WRENCH_BODY")

    def spatial_servo_cf(self, wrench: Sequence[float]) -> None:
        """Wrench at the base's origin (N, N m): accepted, nothing moves."""
        self._servo_wrench("spatial_servo_cf", wrench, "WRENCH_SPATIAL")

    def _servo_wrench(self, command: str, wrench: Sequence[float], kind: str) -> None:
        if not self._is_ready(command, cartesian=True):
            return
        values = self._values(command, wrench, 6, finite=True)
        if values is None:
            return
        J = self._jacobian()
        R = self._local_pose("measured")
        if kind == "WRENCH_BODY":
            rotated = np.reshape(values, (2, 3)) @ R[:3, :3].T
            effort = J.T @ rotated.reshape(6)
        else:
            effort = spatial_jacobian(J, R[:3, 3]).T @ np.array(values)
        if not self._push(Space.CARTESIAN, self._driven_of(effort.tolist())):
            return
        if self._wrench_kind != kind:
            self._wrench_kind = kind
            self._report.status(f"effort cartesian {kind}")

    def servo_ci(self) -> None:
        """Cartesian impedance: accepted, nothing moves."""
        if self._is_ready("servo_ci", cartesian=True):
            self._push(
                Space.CARTESIAN, self._driven_of([0.0] * len(self._manipulator.joint_names))
            )

    def body_set_cf_orientation_absolute(self, absolute: bool) -> None:
        """Whether wrenches are along the axes of the base; without effect, as all are zero."""

    # Base frame.

    def set_base_frame(self, T: Array | None, frame_id: str) -> None:
        """Where the arm's base is.

        Args:
            T: Its pose in ``frame_id``, shape (4, 4); None for an invalid pose.
            frame_id: Frame of measured_cp and setpoint_cp from now on; may be empty.
        """
        pose = self._pose_of("set_base_frame", T)
        if pose is not None:
            self._place_base(pose, frame_id, True)

    def carry(self, T: Array, frame_id: str, is_valid: bool) -> None:
        """What setup joints say about the base; see ``set_base_frame``.

        An invalid base is taken over only where there was a valid one: before, the arm keeps its
        own frame, and its poses are invalid.
        """
        if is_valid:
            self._place_base(T, frame_id, True)
        elif self._base_is_valid:
            self._place_base(self._base, self._base_frame_id, False)

    def _place_base(self, pose: Array, frame_id: str, is_valid: bool) -> None:
        self._base = IDENTITY if np.array_equal(pose, IDENTITY) else pose
        self._base_frame_id, self._base_is_valid = frame_id, is_valid
        self._forget()

"""Poses, Jacobian and inverse kinematics of an arm's tip, for where its joints are."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from dvrk_kinematics.geometry import se3
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.simulation.control.base_frame import IDENTITY, BaseFrame
from dvrk_kinematics.simulation.control.joint_servo import JointServo
from dvrk_kinematics.simulation.control.mechanism import Mechanism
from dvrk_kinematics.simulation.control.memo import Memo
from dvrk_kinematics.simulation.control.reporter import Reporter

__all__ = ["TipKinematics", "Which", "read_only"]

Which: TypeAlias = Literal["measured", "setpoint"]
"""Which joints: the measured ones, or the PID's set-points."""


def read_only(values: Array) -> Array:
    """The array itself, made read-only."""
    values.setflags(write=False)
    return values


class TipKinematics:
    """Kinematics of the tip, each part computed once while the joints do not change.

    Args:
        mechanism: The chain, with the present tool or endoscope.
        servo: Where the joints are.
        base: Where the arm's base is.
        memo: Keeps computed results.
        report: Collects errors and warnings of inverse kinematics.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        servo: JointServo,
        base: BaseFrame,
        memo: Memo,
        report: Reporter,
    ) -> None:
        self._mechanism = mechanism
        self._servo = servo
        self._base = base
        self._memo = memo
        self._report = report

    def q(self, which: Which) -> Array:
        """Positions of the published joints (rad, m)."""
        servo = self._servo
        joints = servo.measured if which == "measured" else servo.setpoint
        return self._memo.once(f"q_{which}", lambda: np.array(self._mechanism.published(joints)))

    def local_pose(self, which: Which) -> Array:
        """Tip in the arm's own base, shape (4, 4)."""
        if which == "setpoint" and self._servo.setpoint == self._servo.measured:
            # A plant that follows exactly: both poses are the same.
            which = "measured"
        return self._memo.once(
            f"local_{which}",
            lambda: read_only(self._mechanism.manipulator.forward(self.q(which))),
        )

    def pose(self, which: Which) -> Array:
        """Tip in the base frame's reference, shape (4, 4)."""
        local = self.local_pose(which)
        if self._base.T is IDENTITY:
            return local
        return self._memo.once(which, lambda: read_only(self._base.T @ local))

    def jacobian(self) -> Array:
        """At the measured tip, along the axes of the arm's base, linear rows first."""
        return self._memo.once(
            "jacobian", lambda: self._mechanism.manipulator.jacobian(self.q("measured"))
        )

    def inverse(self, T: Array) -> Array | None:
        """Joints for a pose in the base frame's reference; errors and warnings if there are none.

        The dVRK searches from the arm's measured position.
        """
        local = T if self._base.T is IDENTITY else se3.inverse(self._base.T) @ T
        measured = self.q("measured")
        solved = self._mechanism.manipulator.inverse(local, measured, measured)
        if solved.q is None:
            if solved.warning:
                self._report.warning(solved.warning)
            self._report.error(f"unable to solve inverse kinematics ({solved.reason})")
        return solved.q

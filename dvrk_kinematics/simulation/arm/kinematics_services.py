"""The kinematics services of an arm."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dvrk_kinematics.geometry.arrays import Array, frozen
from dvrk_kinematics.simulation.arm.cartesian_commands import usable_pose
from dvrk_kinematics.simulation.control.base_frame import BaseFrame
from dvrk_kinematics.simulation.control.mechanism import Mechanism
from dvrk_kinematics.simulation.control.reporter import Reporter
from dvrk_kinematics.simulation.control.tip_kinematics import TipKinematics
from dvrk_kinematics.simulation.readings import ForwardAnswer, InverseAnswer

__all__ = ["KinematicsServices"]


class KinematicsServices:
    """Forward and inverse kinematics as the dVRK answers them.

    Args:
        mechanism: The chain, with the present tool or endoscope.
        tip: Where the arm is.
        base: Where its base is.
        report: Where warnings go.
    """

    def __init__(
        self, mechanism: Mechanism, tip: TipKinematics, base: BaseFrame, report: Reporter
    ) -> None:
        self._mechanism = mechanism
        self._tip = tip
        self._base = base
        self._report = report
        # The dVRK's services answer with objects that they use again.
        self._forward_answers = {
            local: ForwardAnswer(frozen(np.eye(4)), True, "") for local in (False, True)
        }
        self._inverse_answer = InverseAnswer(frozen([]), True, "")

    def forward_kinematics(self, jp: Sequence[float], local: bool = False) -> ForwardAnswer:
        """The pose of frame len(jp) of the chain.

        Args:
            jp: Joint positions (rad, m); the whole chain gives the tip.
            local: Without the base frame.
        """
        before = self._forward_answers[local]
        error = self._mechanism.chain_error(len(jp))
        if not error and not np.isfinite(np.asarray(jp, dtype=np.float64)).all():
            error = "joint positions are not finite"
        if error:
            answer = ForwardAnswer(before.T, False, error)
        else:
            T = self._mechanism.manipulator.frame([float(value) for value in jp])
            T = T if local else self._base.T @ T
            answer = ForwardAnswer(frozen(T), True, before.message)
        self._forward_answers[local] = answer
        return answer

    def inverse_kinematics(self, T: Array | None, jp: Sequence[float]) -> InverseAnswer:
        """Joint positions for a pose in the arm's *local* frame.

        Args:
            T: Base to tip, shape (4, 4); None for an invalid pose.
            jp: Where to search from (rad, m).
        """
        before = self._inverse_answer
        manipulator = self._mechanism.manipulator
        seed = np.array(jp, dtype=np.float64).reshape(-1)
        pose = usable_pose(T)
        if len(seed) != len(manipulator.joint_names):
            answer = InverseAnswer(before.jp, False, "incorrect number of joints")
        elif pose is None or not np.isfinite(seed).all():
            answer = InverseAnswer(before.jp, False, "pose or joint positions are not valid")
        else:
            measured = self._tip.q("measured")
            measured = measured if len(measured) == len(seed) else seed
            solved = manipulator.inverse(pose, seed, measured)
            if solved.warning:
                self._report.warning(solved.warning)
            if solved.q is None:
                answer = InverseAnswer(frozen(seed), False, "inverse kinematics failed")
            else:
                answer = InverseAnswer(frozen(solved.q), True, before.message)
        self._inverse_answer = answer
        return answer

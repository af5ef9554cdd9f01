"""One simulated arm: what all kinds share, put together, with its services.

Commands never raise: what is wrong with them comes back as events, as the real arm answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np

from dvrk_kinematics.errors import UnknownName
from dvrk_kinematics.geometry.arrays import Array, frozen
from dvrk_kinematics.simulation.arm_cartesian import CartesianCommands, usable_pose
from dvrk_kinematics.simulation.faults import Fault, FaultKind
from dvrk_kinematics.simulation.options import ArmSpec, SystemOptions
from dvrk_kinematics.simulation.readings import ForwardAnswer, InverseAnswer

__all__ = ["SimulatedArm"]


class SimulatedArm(CartesianCommands):
    """What every arm offers. A command is named as its topic, with / written as _.

    Commands act when they are called; what they move is moved by the next ``step``. Of several
    servo commands between two steps the newest wins. Joint vectors may have any length and any
    content: what the dVRK makes of wrong ones is reproduced, see ``deviations``.

    Readings are computed when asked for, and once a cycle.

    Args:
        spec: Which arm.
        options: What holds for the whole system.
        kind: Kind of its topics: "PSM", "ECM" or "ARM".

    Attributes:
        name: Name on the graph ("PSM1").
        kind: Kind of its topics.
    """

    def __init__(self, spec: ArmSpec, options: SystemOptions, kind: str) -> None:
        super().__init__(spec, options, kind)
        # The dVRK's services answer with objects that they use again.
        self._forward_answers = {
            local: ForwardAnswer(frozen(np.eye(4)), True, "") for local in (False, True)
        }
        self._inverse_answer = InverseAnswer(frozen([]), True, "")

    def use_gravity_compensation(self, use: bool) -> None:
        """Asks for gravity compensation; a warning where it is not loaded."""
        if use and self._data.gravity is None:
            self._report.warning(
                "use_gravity_compensation(true) since gravity compensation is not loaded"
            )

    # Services.

    def _chain_count(self) -> int:
        """How many joints the services expect."""
        return len(self._manipulator.joint_names)

    def _chain_error(self, jp: Sequence[float]) -> str:
        """Why a chain of this length cannot be computed; empty if it can."""
        return "too many joints" if len(jp) > self._chain_count() else ""

    def forward_kinematics(self, jp: Sequence[float], local: bool = False) -> ForwardAnswer:
        """The pose of frame len(jp) of the chain.

        Args:
            jp: Joint positions (rad, m); the whole chain gives the tip.
            local: Without the base frame.
        """
        before = self._forward_answers[local]
        error = self._chain_error(jp)
        if not error and not np.isfinite(np.asarray(jp, dtype=np.float64)).all():
            error = "joint positions are not finite"
        if error:
            answer = ForwardAnswer(before.T, False, error)
        else:
            T = self._manipulator.frame([float(value) for value in jp])
            T = T if local else self._base @ T
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
        seed = np.array(jp, dtype=np.float64).reshape(-1)
        pose = usable_pose(T)
        if len(seed) != self._chain_count():
            answer = InverseAnswer(before.jp, False, "incorrect number of joints")
        elif pose is None or not np.isfinite(seed).all():
            answer = InverseAnswer(before.jp, False, "pose or joint positions are not valid")
        else:
            measured = self._q("measured")
            measured = measured if len(measured) == len(seed) else seed
            solved = self._manipulator.inverse(pose, seed, measured)
            if solved.warning:
                self._report.warning(solved.warning)
            if solved.q is None:
                answer = InverseAnswer(frozen(seed), False, "inverse kinematics failed")
            else:
                answer = InverseAnswer(frozen(solved.q), True, before.message)
        self._inverse_answer = answer
        return answer

    # For tests and teaching.

    def _joint_index(self, joint: str) -> int:
        """The driven joint of a name; the first for an empty one.

        Raises:
            UnknownName: There is none.
        """
        names = self._driven_names()
        if not joint:
            return 0
        if joint not in names:
            raise UnknownName("joint", joint, names)
        return names.index(joint)

    def _driven_names(self) -> tuple[str, ...]:
        return self._manipulator.joint_names

    def inject(self, fault: Fault) -> None:
        """Makes something go wrong, from the next cycle on.

        Raises:
            UnknownName: The joint does not exist.
        """
        if fault.kind is FaultKind.POWER_LOSS:
            if self._powered:
                self._set_power(False, self._biased)
                self._fail("detected power loss (actuators)")
        elif fault.kind is FaultKind.STALLED_JOINT:
            joint = self._joint_index(fault.joint)
            until = self._now_s + fault.duration_s if fault.duration_s > 0.0 else inf
            self._faults.stall(joint, self._measured[joint], until)
        elif fault.kind is FaultKind.ENCODER_JUMP:
            self._faults.offset(self._joint_index(fault.joint), fault.value)
            joint = self._joint_index(fault.joint)
            self._measured[joint] += fault.value
            self._forget()
        elif fault.kind is FaultKind.TOOL_REMOVED:
            self._show_tool(False)
        else:
            self._faults.clear()
            self._put_tool_back()

    def _put_tool_back(self) -> None:
        """Puts a tool back that a fault has taken off; nothing where there is none."""

    def _show_tool(self, present: bool) -> None:
        """Takes the tool off, or puts it back; nothing where there is none."""

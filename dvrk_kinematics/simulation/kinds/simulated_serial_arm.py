"""A simulated plain serial arm: joints, no exchangeable tool, no cannula.

Its name, its home and its controller are data of its model. States, commands, texts and readings
are those of every arm here, so a client that drives a PSM can drive it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.arm import Arm, load_arm
from dvrk_kinematics.kinematics.chain import chain_frame
from dvrk_kinematics.models.load_model import model_name
from dvrk_kinematics.simulation.arm import ArmCore, Attachment, SimulatedArm
from dvrk_kinematics.simulation.control import Inverse, Mechanism, MotorLimits, make_controller
from dvrk_kinematics.simulation.options import ArmSpec, SystemOptions

__all__ = ["SerialManipulator", "SimulatedSerialArm"]


class SimulatedSerialArm(SimulatedArm):
    """A plain serial arm.

    Args:
        spec: Which arm; it carries no tool.
        options: Options of the whole system.

    Raises:
        ModelError: Its model describes no controller.
    """

    def __init__(self, spec: ArmSpec, options: SystemOptions) -> None:
        arm = load_arm(spec.model or model_name(spec.name), generation=spec.generation)
        mechanism = Mechanism(SerialManipulator(arm), MotorLimits.of(arm.model.joints))
        core = ArmCore(spec, make_controller(arm.model), mechanism)
        super().__init__(core, arm.model.kind, Attachment(), options)


class SerialManipulator:
    """Kinematics of a plain serial arm; it solves only reachable poses.

    Args:
        arm: The arm.
    """

    def __init__(self, arm: Arm) -> None:
        self._arm = arm
        self.joint_names = arm.joint_names

    def forward(self, q: Array) -> Array:
        """Base to tip."""
        return self._arm.forward(q)

    def frame(self, q: Sequence[float]) -> Array:
        """Base to frame len(q); the tip for the whole chain."""
        if len(q) == len(self.joint_names):
            return self._arm.forward(np.array(q, dtype=np.float64))
        return chain_frame(self._arm.model, q)

    def jacobian(self, q: Array) -> Array:
        """At the tip, along the base's axes."""
        return self._arm.jacobian(q)

    def inverse(self, T: Array, seed: Array, measured: Array) -> Inverse:
        """Joint positions inside the limits, or why there are none."""
        solved = self._arm.inverse(T, seed=seed)
        if solved.ok:
            return Inverse(solved.q.copy())
        return Inverse(None, solved.reason)

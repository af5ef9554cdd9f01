"""An arm: all its kinematics in one place.

Each method reads its input once (shape, finite, rigid), then calls the code that does the work.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from dvrk_kinematics.errors import InvalidInput, UnknownName
from dvrk_kinematics.geometry import se3
from dvrk_kinematics.geometry.arrays import ArrayLike
from dvrk_kinematics.kinematics.result import BatchIkResult, IkPolicy, IkResult
from dvrk_kinematics.kinematics.serial_arm import SerialArm
from dvrk_kinematics.kinematics.solvers.registry import make_solver
from dvrk_kinematics.kinematics.validation import (
    joint_floats,
    pose_rows,
    poses_and_mask,
    seed_array,
)
from dvrk_kinematics.models.load_model import load_model
from dvrk_kinematics.models.schema import ArmModel
from dvrk_kinematics.models.zero import Zero, with_zero

__all__ = ["Arm", "load_arm"]


class Arm(SerialArm):
    """Kinematics of one arm with its instrument, in both directions.

    Poses are base to tip, 4x4, in metres; the base of a PSM or ECM is its remote centre of motion,
    the tip is what the controller reports as measured_cp. Joint vectors are in rad and m.

    Args:
        model: The arm's model.
        solver: Key of the inverse kinematics; the model's own by default.

    Attributes:
        solver: Its inverse kinematics.
    """

    def __init__(self, model: ArmModel, solver: str | None = None) -> None:
        super().__init__(model)
        self.solver = make_solver(solver or model.ik, model, self.limits)
        # The most frequent lookups, done once.
        self._solve_floats = self.solver.solve_floats
        self._forward_floats = self.solver.forward_floats or self._forward_floats
        self._jacobian_floats = self.solver.jacobian_floats

    def __repr__(self) -> str:
        carries = f" with {self.model.instrument.name}" if self.model.instrument else ""
        made = f" {self.model.generation}" if self.model.generation else ""
        return f"<Arm {self.model.name}{made}{carries}>"

    @property
    def branch_names(self) -> tuple[str, ...]:
        """Names of the branches of a closed form, in the order of ``inverse_all``.

        Empty if the solver names none.
        """
        return self.solver.branch_names

    def inverse(
        self, T: ArrayLike, seed: ArrayLike | None = None, policy: str | IkPolicy = "exact"
    ) -> IkResult:
        """Joint positions for one pose.

        Args:
            T: Base to tip, shape (4, 4).
            seed: Joint positions to stay near (rad, m), shape (n,).
            policy: "exact", or "position_first": orientation as near as the limits allow.

        Returns:
            The joint positions, their status, and every joint outside its limits.

        Raises:
            InvalidInput: The pose is not finite or not rigid (with how far off), the seed has the
                wrong length, or the policy does not exist.
        """
        rows = pose_rows(T)
        near = None if seed is None else joint_floats(seed, self._names, "seed")
        if policy == "exact":
            return self._solve_floats(rows, near)
        return self.solver.solve(np.array(rows), near, _policy(policy))

    def inverse_branch(self, T: ArrayLike, branch: str, seed: ArrayLike | None = None) -> IkResult:
        """Joint positions for one pose on a named branch, inside the limits or not.

        Args:
            T: Base to tip, shape (4, 4).
            branch: One of ``branch_names``, such as "left/elbow_up/wrist_down".
            seed: Joint positions that settle what the pose leaves open (rad, m), shape (n,).

        Raises:
            InvalidInput: The pose is not finite or not rigid, or the seed has the wrong length.
            UnknownName: The branch is unknown; lists those that exist.
        """
        pose = np.array(pose_rows(T))
        near = None if seed is None else joint_floats(seed, self._names, "seed")
        if branch not in self.branch_names:
            raise UnknownName(f"branch of {self.model.name}", branch, self.branch_names)
        return self.solver.solve_branch(pose, branch, near)

    def inverse_batch(
        self, T: ArrayLike, seed: ArrayLike | None = None, policy: str | IkPolicy = "exact"
    ) -> BatchIkResult:
        """Joint positions for many poses; an invalid pose gets a status, not an exception.

        Args:
            T: Base to tip, shape (N, 4, 4).
            seed: Joint positions to stay near (rad, m): one for all (n,) or one per pose (N, n).
            policy: "exact" or "position_first".

        Raises:
            InvalidInput: Wrong shapes, a seed for all that is not finite, an unknown policy.
        """
        poses, good = poses_and_mask(T)
        near, good = seed_array(seed, self._names, good)
        return self.solver.solve_batch(poses, near, _policy(policy), good)

    def inverse_near(self, T: ArrayLike, seed: ArrayLike) -> BatchIkResult:
        """Joint positions that a motion reaches from a seed, under the policy "position_first".

        Where the solver can, it searches from the seed alone: it does not find a better place far
        away, so a path can be followed without a jump.

        Args:
            T: Base to tip, shape (N, 4, 4).
            seed: Joint positions to continue from (rad, m), shape (n,).

        Raises:
            InvalidInput: Wrong shapes, an invalid pose, or an arm without that policy.
        """
        poses = se3.check(T)
        near = np.array(joint_floats(seed, self._names, "seed"))
        return self.solver.solve_near(poses, near)

    def inverse_all(self, T: ArrayLike) -> list[IkResult]:
        """Every solution of one pose, inside the limits or not.

        Raises:
            InvalidInput: The pose is not finite or not rigid, with how far off.
        """
        return self.solver.solve_all(np.array(pose_rows(T)))

    def reachable(self, T: ArrayLike) -> npt.NDArray[np.bool_]:
        """Which poses, shape (N, 4, 4), can be reached inside the limits; shape (N,)."""
        return self.inverse_batch(T).ok


def _policy(policy: str | IkPolicy) -> IkPolicy:
    try:
        return IkPolicy(policy)
    except ValueError:
        valid = ", ".join(item.value for item in IkPolicy)
        raise InvalidInput("policy", f"must be one of {valid}, is {policy!r}") from None


def load_arm(
    name: str,
    instrument: str | None = None,
    generation: str = "Classic",
    solver: str | None = None,
    folder: Path | None = None,
    zero: str | Zero = "ideal",
) -> Arm:
    """Loads an arm.

    Args:
        name: "PSM", "ECM", "SUJ_PSM1", "MTML", "RVM1" and so on, in any case; or an instance's
            name, which adds a number: "PSM1" is a PSM.
        instrument: Number ("400006") or full name, in any case; the arm's usual one by default.
        generation: "Classic" or "Si".
        solver: Key of the inverse kinematics, if not the usual one: "numeric" makes a snake a free
            redundant arm, whose disc joints need not be equal.
        folder: Folder of the model files; the project's own by default.
        zero: "ideal", or "controller" for the offsets of 1.5708 that the dVRK's own software uses
            instead of right angles: up to 0.95 um and 10 urad at the tip of a PSM.

    Raises:
        UnknownName: No such arm, generation, instrument or solver; lists those that exist.
        InvalidInput: The arm carries no instrument, or not one of that generation; no such zero.
        ModelError: A model file is wrong; names file and place.
    """
    return Arm(with_zero(load_model(name, instrument, generation, folder), zero), solver)

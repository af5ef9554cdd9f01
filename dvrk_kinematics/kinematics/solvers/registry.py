"""Which inverse kinematics an arm uses: its model's ``ik`` entry names one of these."""

from __future__ import annotations

from importlib import import_module

from dvrk_kinematics.errors import ModelError, UnknownName
from dvrk_kinematics.kinematics.limits import JointLimits
from dvrk_kinematics.kinematics.solvers.shifted import ShiftedSolver
from dvrk_kinematics.kinematics.solvers.solver import IkSolver
from dvrk_kinematics.models.schema import ArmModel

__all__ = ["make_solver", "solver_names"]

_SOLVERS = {
    "psm": ("psm.solver", "PsmSolver"),
    "ecm": ("ecm", "EcmSolver"),
    "snake": ("snake", "SnakeSolver"),
    "numeric": ("numeric", "NumericSolver"),
    "five_axis": ("five_axis", "FiveAxisSolver"),
    "spherical_wrist": ("spherical_wrist", "SphericalWristSolver"),
}


_FOR_ANY_CHAIN = frozenset({"numeric"})
"""Solvers that need no exact offsets."""


def solver_names() -> tuple[str, ...]:
    """The keys that a model may name."""
    return tuple(_SOLVERS)


def make_solver(key: str, model: ArmModel, limits: JointLimits) -> IkSolver:
    """Makes the solver of an arm; its module is imported only now.

    Raises:
        UnknownName: If the solver is unknown; lists those that exist.
        ModelError: If the arm's own file names no such solver, or one that does not fit the arm.
    """
    if key not in _SOLVERS:
        unknown = UnknownName("solver", key, _SOLVERS)
        if key != model.ik:
            raise unknown
        raise ModelError(f"{model.file}: ik", str(unknown))
    if model.ideal is not None and key not in _FOR_ANY_CHAIN:
        # A closed form needs exact offsets: other offsets are a shift of the joints.
        shift = model.zero_shift
        shifted = JointLimits(
            limits.names, (limits.lower + shift).tolist(), (limits.upper + shift).tolist()
        )
        return ShiftedSolver(make_solver(key, model.ideal, shifted), shift, limits)
    module, name = _SOLVERS[key]
    factory = getattr(import_module(f"dvrk_kinematics.kinematics.solvers.{module}"), name)
    solver: IkSolver = factory(model, limits)
    return solver

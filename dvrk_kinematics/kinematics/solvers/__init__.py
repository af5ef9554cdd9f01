"""Inverse kinematics: a file for each closed form, numeric search, selection."""

from dvrk_kinematics.kinematics.solvers.branch_solver import BranchSolver
from dvrk_kinematics.kinematics.solvers.ecm import EcmSolver
from dvrk_kinematics.kinematics.solvers.five_axis import FiveAxisSolver
from dvrk_kinematics.kinematics.solvers.numeric import NumericSolver
from dvrk_kinematics.kinematics.solvers.registry import (
    make_solver,
    solver_names,
)
from dvrk_kinematics.kinematics.solvers.shifted import ShiftedSolver
from dvrk_kinematics.kinematics.solvers.snake import SnakeSolver
from dvrk_kinematics.kinematics.solvers.spherical_wrist import SphericalWristSolver

__all__ = [
    "BranchSolver",
    "EcmSolver",
    "FiveAxisSolver",
    "NumericSolver",
    "ShiftedSolver",
    "SnakeSolver",
    "SphericalWristSolver",
    "make_solver",
    "solver_names",
]

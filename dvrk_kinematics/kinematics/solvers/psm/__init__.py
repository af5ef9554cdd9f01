"""Inverse kinematics of a PSM: geometry, branches, batches, position first."""

from dvrk_kinematics.kinematics.solvers.psm.geometry import PsmGeometry
from dvrk_kinematics.kinematics.solvers.psm.solver import PsmSolver

__all__ = [
    "PsmGeometry",
    "PsmSolver",
]

"""The mechanics that the motors of a simulated arm drive, behind one small Protocol."""

from dvrk_kinematics.simulation.plants.kinematic import KinematicPlant
from dvrk_kinematics.simulation.plants.plant import Plant

__all__ = ["KinematicPlant", "Plant"]

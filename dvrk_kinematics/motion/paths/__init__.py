"""Paths of the tip: geometry without time."""

from dvrk_kinematics.motion.paths.arc import Arc
from dvrk_kinematics.motion.paths.blend import Blend, BlendedLines
from dvrk_kinematics.motion.paths.path import Line, Path, Polyline, Turn

__all__ = ["Arc", "Blend", "BlendedLines", "Line", "Path", "Polyline", "Turn"]

"""Closed figures for the tip to trace, and the place where they fit best."""

from dvrk_kinematics.motion.figures.block_o import (
    BLOCK_O,
    PRESETS,
    QUICK,
    find_preset,
    trace_figure,
    trace_paths,
)
from dvrk_kinematics.motion.figures.figure import (
    Figure,
    Orientation,
    load_figure,
)
from dvrk_kinematics.motion.figures.placement import (
    Misfit,
    Placement,
    find_misfit,
    largest_scale,
    place,
)

__all__ = [
    "BLOCK_O",
    "PRESETS",
    "QUICK",
    "Figure",
    "Misfit",
    "Orientation",
    "Placement",
    "find_misfit",
    "find_preset",
    "largest_scale",
    "load_figure",
    "place",
    "trace_figure",
    "trace_paths",
]

"""Recomputes results of the papers: a weld line, and a way around an obstacle."""

from dvrk_kinematics.cli.papers.pick_and_place import (
    JointCurves,
    PickAndPlace,
    Post,
    clearance,
    curve_joints,
    solve_ends,
)
from dvrk_kinematics.cli.papers.weld_task import (
    LinkRates,
    Motion,
    WeldTask,
    approximate_weld,
    link_rates,
    off_the_line,
    sample_weld,
)

__all__ = [
    "JointCurves",
    "LinkRates",
    "Motion",
    "PickAndPlace",
    "Post",
    "WeldTask",
    "approximate_weld",
    "clearance",
    "curve_joints",
    "link_rates",
    "off_the_line",
    "sample_weld",
    "solve_ends",
]

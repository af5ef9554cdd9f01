"""The Block-O, its published speeds, and how the tip traces it or any other figure.

The outline and the speeds come from "Forward kinematics, closed-form inverse kinematics analysis,
and trajectory generation for dVRK patient side manipulator" (Eubel, Asghari Adib, Alam).
docs/block_o.md explains where this differs from the paper, and why.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import pi
from types import MappingProxyType

import numpy as np

from dvrk_kinematics.errors import InvalidInput, UnknownName
from dvrk_kinematics.geometry.arrays import ArrayLike, frozen
from dvrk_kinematics.motion.figures.figure import Figure
from dvrk_kinematics.motion.paths.path import Line, Polyline, Turn, check_pose
from dvrk_kinematics.motion.segments import TipSegment, make_segments
from dvrk_kinematics.motion.timing.speeds import TipSpeeds
from dvrk_kinematics.motion.tolerances import SAME_POSE

__all__ = ["BLOCK_O", "PRESETS", "QUICK", "find_preset", "trace_figure", "trace_paths"]

BLOCK_O = Figure(
    "block_o",
    frozen(
        [
            (0.048, 0.0),
            (0.0, 0.048),
            (0.0, 0.208),
            (0.048, 0.256),
            (0.148, 0.256),
            (0.196, 0.208),
            (0.196, 0.048),
            (0.148, 0.0),
        ]
    ),
)
"""The outline at scale 1: 0.196 m by 0.256 m, the lowest side 0.1 m long."""

PRESETS: Mapping[str, TipSpeeds] = MappingProxyType(
    {
        "a": TipSpeeds(0.005, 0.01),
        "b": TipSpeeds(0.0075, 0.014),
        "c": TipSpeeds(0.01, 0.02),
        "d": TipSpeeds(0.02, 0.04),
    }
)
"""The paper's tests (a) to (d); all turn with pi/12 rad/s and pi/6 rad/s^2."""

QUICK = TipSpeeds(0.02, 0.04, pi / 4.0, pi / 2.0)
"""Speeds at which a person can wait for a figure: those of (d), turning three times as fast."""


def find_preset(name: str) -> TipSpeeds:
    """Look up the speeds of one of the paper's tests.

    Raises:
        UnknownName: The name is unknown; lists the known names.
    """
    if name not in PRESETS:
        raise UnknownName("preset", name, PRESETS)
    return PRESETS[name]


def trace_paths(
    figure: Figure, T_base_figure: ArrayLike, scale: float = 1.0, repeat: int = 1
) -> tuple[Line | Turn, ...]:
    """The pieces of tracing a figure: translations, and rotations on the spot in between.

    A round trip of the Block-O turns the tool by 315 degrees, and no roll joint has room for a
    second one. So each repetition starts by turning back on the spot. A figure with a fixed
    orientation needs neither.

    Args:
        figure: The figure to trace.
        T_base_figure: Pose of the figure's frame, shape (4, 4).
        scale: Size, as a factor.
        repeat: How many times.

    Returns:
        Each piece ends where the next begins; corners without a turn have no rotation.

    Raises:
        InvalidInput: The pose or scale is invalid, or the figure is repeated less than once.
    """
    if repeat < 1:
        raise InvalidInput("repeat", f"must be at least 1, is {repeat}")
    placed = check_pose(T_base_figure, "T_base_figure")
    poses = figure.poses(placed, scale)
    once = Polyline(poses).pieces
    turned = float(np.sum(figure.turns))
    back: tuple[Turn, ...] = ()
    if abs(turned) > SAME_POSE:
        back = (Turn(poses[-1], -turned * placed[:3, 2]),)
    return once + (back + once) * (repeat - 1)


def trace_figure(
    figure: Figure,
    T_base_figure: ArrayLike,
    scale: float = 1.0,
    speeds: TipSpeeds = PRESETS["a"],
    *,
    scaling: str = "trapezoid",
    repeat: int = 1,
) -> tuple[TipSegment, ...]:
    """Time the tracing of a figure, for ``plan_motion``.

    Args:
        figure: The figure to trace.
        T_base_figure: Pose of the figure's frame, shape (4, 4).
        scale: Size, as a factor.
        speeds: How fast; ``PRESETS`` has those of the paper.
        scaling: Name of the time scaling; "normalised" is the paper's own rule.
        repeat: How many times.

    Raises:
        InvalidInput: The pose or scale is invalid, or the figure is repeated less than once.
        UnknownName: The scaling is unknown.
    """
    return make_segments(trace_paths(figure, T_base_figure, scale, repeat), speeds, scaling)

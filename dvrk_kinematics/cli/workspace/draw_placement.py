"""A figure where it fits best: in the dexterous workspace, with the joints along it."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from dvrk_kinematics.cli.chart_sheet import COLOURS, sheet
from dvrk_kinematics.cli.workspace.slices import COLOUR_MAP, grid_axis
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.arm import Arm
from dvrk_kinematics.motion.figures.figure import Figure
from dvrk_kinematics.motion.figures.place_search import reach_box
from dvrk_kinematics.motion.figures.placement import Placement
from dvrk_kinematics.motion.workspace import Axes, workspace_map

__all__ = ["draw_placement"]

_MM = 1000.0
_AXIS_COLOURS = ("#c8372d", "#3a8f4d", "#1f6fb4")
_LINE_STEPS, _TURN_STEPS = 24, 12
_LINE_STYLES = ("-", "--")


def draw_placement(arm: Arm, figure: Figure, placed: Placement, step_m: float, file: Path) -> None:
    """Draw a placed figure with the tool's frames, and its joints between their limits.

    Args:
        arm: The arm.
        figure: The figure to trace.
        placed: Where it is placed.
        step_m: Spacing of the map's points (m).
        file: The picture.

    Raises:
        MissingExtra: If matplotlib is not installed.
    """
    with sheet(file, 11.0, 4.6) as page:
        left, right = page.subfigures(1, 2, width_ratios=[1.3, 1.0])
        scene = left.add_subplot(projection="3d")
        _draw_slice(left, scene, arm, placed, step_m)
        _draw_frames(scene, figure, placed)
        # After everything is drawn, since the box adapts to its content.
        scene.set_aspect("equal", adjustable="box")
        scene.set_box_aspect(None, zoom=1.15)
        scene.view_init(elev=24.0, azim=-56.0)
        _draw_joints(right.add_subplot(), arm, figure, placed)


def _draw_slice(page: Any, scene: Any, arm: Arm, placed: Placement, step_m: float) -> None:
    """The map at the height of the figure, and where the base is."""
    low, high = reach_box(arm)
    x, y = (grid_axis(low[i], high[i], step_m) for i in range(2))
    height = float(placed.T_base_figure[2, 3])
    found = workspace_map(arm, Axes(x, y, height))
    fraction = found.fraction[:, :, 0].T
    values = np.where(fraction > 0.0, fraction, np.nan)
    picture = scene.contourf(
        x * _MM,
        y * _MM,
        values,
        levels=np.linspace(0.3, 1.0, 15),
        zdir="z",
        offset=height * _MM,
        cmap=COLOUR_MAP,
        alpha=0.35,
    )
    page.colorbar(
        picture,
        ax=scene,
        label="part of the orientations that can be taken",
        location="left",
        shrink=0.6,
    )
    scene.plot([0.0], [0.0], [0.0], "o", color="#d9730d")
    scene.text(8.0, 0.0, 8.0, "base", color="#d9730d")
    scene.set(xlabel="x (mm)", ylabel="y (mm)", zlabel="z (mm)")
    scene.locator_params(axis="z", nbins=4)


def _draw_frames(scene: Any, figure: Figure, placed: Placement) -> None:
    """The outline, the tool's axes at the start and end of each side, and the shaft to them."""
    poses = figure.poses(placed.T_base_figure, placed.scale)
    points = poses[:, :3, 3] * _MM
    arrow = 0.12 * placed.scale * float(figure.size.max()) * _MM
    scene.plot(*points.T, color="black", linewidth=1.6)
    for corner in points[::2]:
        scene.plot(*np.stack([np.zeros(3), corner]).T, color="#9aa3ad", linewidth=0.7)
    for T, p in zip(poses, points, strict=True):
        for axis, colour in zip(T[:3, :3].T, _AXIS_COLOURS, strict=True):
            scene.plot(*np.stack([p, p + arrow * axis]).T, color=colour, linewidth=1.6)
    scene.set_title(f"{figure.name} at scale {placed.scale:.3g}; tool x red, y green, z blue")


def _draw_joints(panel: Any, arm: Arm, figure: Figure, placed: Placement) -> None:
    """Each joint between its limits along the way, and the remaining margin."""
    T = placed.T_base_figure @ figure.sample(placed.scale, _LINE_STEPS, _TURN_STEPS)
    q = _follow(arm, T, placed.q_start)
    span = arm.limits.upper - arm.limits.lower
    way = np.arange(len(q)) / (len(q) - 1)
    for i, name in enumerate(arm.joint_names):
        style = _LINE_STYLES[i // len(COLOURS) % len(_LINE_STYLES)]
        values = (q[:, i] - arm.limits.lower[i]) / span[i]
        panel.plot(way, values, style, color=COLOURS[i % len(COLOURS)], label=name)
    for edge in (placed.margin, 1.0 - placed.margin):
        panel.axhline(edge, color="#c8372d", linewidth=0.8, linestyle=":")
    panel.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0), xlabel="along the figure")
    panel.set_title(
        f"joints between their limits; margin {placed.margin:.3f}, {placed.limited_by}"
    )
    panel.set_ylabel("0: lower limit, 1: upper limit")
    panel.legend(ncols=3, loc="upper center", fontsize=8)


def _follow(arm: Arm, T_base_tip: Array, q_start: Array) -> Array:
    """Joint positions along poses, each close to the previous one, shape (S, n)."""
    path = [q_start]
    for _, T in pairwise(T_base_tip):
        path.append(arm.inverse(T, seed=path[-1]).q)
    return np.array(path)

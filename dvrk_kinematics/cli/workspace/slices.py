"""Slices of the dexterous workspace as coloured maps."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dvrk_kinematics.cli.chart_sheet import sheet
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.arm import Arm
from dvrk_kinematics.motion.figures.place_search import reach_box
from dvrk_kinematics.motion.workspace import Axes, WorkspaceMap, make_orientations, workspace_map

__all__ = ["COLOUR_MAP", "draw_slices", "grid_axis"]

COLOUR_MAP = "viridis"
_MM = 1000.0
_LABEL = "part of the orientations"


class _Slice(NamedTuple):
    """One panel: its title, its two axes by index, and the map."""

    title: str
    across: int
    up: int
    found: WorkspaceMap


def grid_axis(low: float, high: float, step_m: float) -> Array:
    """Coordinates from below low to above high (m), whole steps from 0."""
    return np.arange(np.floor(low / step_m), np.ceil(high / step_m) + 1) * step_m


def draw_slices(arm: Arm, step_m: float, file: Path) -> None:
    """Draw three slices: two upright ones through the base, one level where there is most room.

    Args:
        arm: The arm.
        step_m: Spacing of the grid's points (m).
        file: The picture.

    Raises:
        MissingExtra: If matplotlib is not installed.
    """
    low, high = reach_box(arm)
    x, y, z = (grid_axis(low[i], high[i], step_m) for i in range(3))
    # Directions matter more than turns about them, which the roll compensates.
    orientations = make_orientations(directions=128, spins=4)
    sides = workspace_map(arm, Axes(x, 0.0, z), orientations)
    depth = float(z[np.argmax(sides.fraction[:, 0].sum(axis=0))])
    slices = (
        _Slice("from the side, y = 0", 0, 2, sides),
        _Slice("from the front, x = 0", 1, 2, workspace_map(arm, Axes(0.0, y, z), orientations)),
        _Slice(
            f"from above, z = {depth * _MM:.0f} mm",
            0,
            1,
            workspace_map(arm, Axes(x, y, depth), orientations),
        ),
    )
    with sheet(file, 11.0, 3.4) as page:
        panels = page.subplots(1, 3, width_ratios=[1.2, 1.0, 1.2])
        for panel, one in zip(panels, slices, strict=True):
            picture = _draw_slice(panel, one)
        page.colorbar(picture, ax=panels, label=_LABEL, shrink=0.95)
        instrument = arm.model.instrument
        carries = f" with {instrument.name}" if instrument else ""
        page.suptitle(f"Where the tool of a {arm.model.name}{carries} is dexterous", fontsize=11)


def _draw_slice(panel: Any, one: _Slice) -> Any:
    axes = (one.found.x, one.found.y, one.found.z)
    across, up = axes[one.across] * _MM, axes[one.up] * _MM
    values = np.squeeze(one.found.fraction).T
    shown = np.where(values > 0.0, values, np.nan)
    picture = panel.pcolormesh(across, up, shown, cmap=COLOUR_MAP, vmin=0.0, vmax=1.0)
    lines = panel.contour(
        across, up, values, levels=[0.5, 0.7, 0.8], colors="white", linewidths=0.7
    )
    panel.clabel(lines, fmt="%.1f", fontsize=7)
    panel.plot(0.0, 0.0, "+", color="#d9730d", markersize=10, markeredgewidth=2)
    panel.annotate("base", (0.0, 0.0), (4, 4), textcoords="offset points", color="#d9730d")
    panel.grid(visible=False)
    panel.set_title(one.title)
    panel.set_xlabel(f"{'xyz'[one.across]} (mm)")
    panel.set_ylabel(f"{'xyz'[one.up]} (mm)")
    panel.set_aspect("equal")
    return picture

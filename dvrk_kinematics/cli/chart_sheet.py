"""A sheet of charts, drawn by matplotlib without a screen and saved as a PNG."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

from dvrk_kinematics.cli.write_output import write_output
from dvrk_kinematics.errors import MissingExtra

__all__ = ["COLOURS", "sheet"]

COLOURS = ("#1f6fb4", "#d9730d", "#3a8f4d", "#8250a8", "#9aa3ad")
_DPI = 100
_STYLE = {
    "axes.grid": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10,
    "font.size": 9,
    "grid.color": "#e4e7ea",
    "legend.frameon": False,
    "lines.linewidth": 1.4,
}


@contextmanager
def sheet(file: Path, width: float, height: float) -> Iterator[Any]:
    """A matplotlib figure that is saved when the block ends.

    Args:
        file: The picture; its folder is made.
        width: Of the sheet (inches of 100 pixels).
        height: Of the sheet, like width.

    Raises:
        MissingExtra: If matplotlib is not installed.
        OutputError: If the file cannot be written.
    """
    # Import by name: users who only drive an arm do not install it.
    try:
        matplotlib: Any = importlib.import_module("matplotlib")
        figures: Any = importlib.import_module("matplotlib.figure")
    except ImportError as error:
        raise MissingExtra("matplotlib", "install requirements/render.txt") from error
    with matplotlib.rc_context(_STYLE):
        figure = figures.Figure(figsize=(width, height), layout="constrained")
        yield figure
        target = BytesIO()
        figure.savefig(target, format="png", dpi=_DPI)
    write_output(file, target.getvalue())

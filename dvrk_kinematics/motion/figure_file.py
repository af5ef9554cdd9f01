"""Figures in files: a YAML file with the corners of a polygon, such as this house.

    name: house
    corners: [[0.0, 0.0], [0.0, 0.04], [0.02, 0.06], [0.04, 0.04], [0.04, 0.0]]

Corners are in metres and in the order of travel; the way leads back to the first by itself. With
``orientation: fixed`` the tool keeps its orientation; ``along``, the default, turns it at every
corner.
"""

from __future__ import annotations

from pathlib import Path

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.geometry.arrays import frozen
from dvrk_kinematics.models.reader import read_yaml
from dvrk_kinematics.motion.figure import Figure
from dvrk_kinematics.motion.orientation import read_orientation

__all__ = ["load_figure"]


def load_figure(path: Path | str) -> Figure:
    """Read a figure from a file.

    Args:
        path: The file. ``corners`` is a list of [x, y] or [x, y, 0] in metres; ``name`` may be
            left out, then the figure is called like the file; ``orientation`` is along or fixed.

    Raises:
        ModelError: It cannot be read, is no figure, or holds text where a number belongs; names
            the file and the place in it.
    """
    file = Path(path)
    node = read_yaml(file)
    node.keys(("corners",), ("name", "orientation"))
    corners = [
        corner.numbers(3 if len(corner.elements()) == 3 else 2)
        for corner in node["corners"].elements()
    ]
    if len({len(corner) for corner in corners}) > 1:
        raise node["corners"].error("must all have two numbers, or all three")
    name = node["name"].text() if "name" in node else file.stem
    orientation = node["orientation"].text() if "orientation" in node else "along"
    try:
        return Figure(name, frozen(corners), read_orientation(orientation))
    except InvalidInput as error:
        raise node.error(str(error)) from error

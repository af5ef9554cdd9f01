"""Renders the pictures of the documentation from the robot descriptions.

    ./dvrk python -m dvrk_kinematics.cli.render            all of them, into docs/images/
    ./dvrk python -m dvrk_kinematics.cli.render psm ecm    some

Needs requirements/render.txt and no screen: VTK draws in memory.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dvrk_kinematics.cli.render.draw_solids import draw
from dvrk_kinematics.cli.render.scenes import SCENES, Scene
from dvrk_kinematics.cli.write_output import write_output
from dvrk_kinematics.errors import DvrkError, UnknownName
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.link_tree import LinkTree
from dvrk_kinematics.models.urdf.solids import read_solids
from dvrk_kinematics.models.urdf.urdf_model import parse_urdf

__all__ = ["main", "pose", "render"]


def pose(scene: Scene, text: str) -> dict[str, Array]:
    """The poses of all links of a scene in its root.

    Args:
        scene: What is shown.
        text: Its URDF.

    Returns:
        Poses by link name, shape (4, 4) each.

    Raises:
        UnknownName: If the scene moves a joint that the URDF does not have.
    """
    urdf = parse_urdf(text, scene.description)
    positions = scene.positions(text)
    for name in positions:
        if name not in urdf.joint_names:
            raise UnknownName("joint", name, urdf.joint_names)
    q = np.array([positions.get(name, 0.0) for name in urdf.joint_names])
    return LinkTree(urdf.links, urdf.joint_names).frames(q)


def render(name: str, folder: Path, size: tuple[int, int]) -> Path:
    """Renders one picture.

    Args:
        name: One of ``SCENES``.
        folder: Where the picture goes.
        size: Width and height (pixels).

    Returns:
        The file.

    Raises:
        UnknownName: If the scene does not exist.
        MissingExtra: If the libraries that draw are not installed.
        OutputError: If the file cannot be written.
    """
    if name not in SCENES:
        raise UnknownName("picture", name, SCENES)
    scene = SCENES[name]
    text = scene.text()
    file = folder / f"{name}.png"
    picture = draw(
        read_solids(text, scene.description),
        pose(scene, text),
        eye=scene.eye,
        target=scene.target,
        angle=scene.angle,
        floor=scene.floor,
        size=size,
    )
    write_output(file, picture)
    return file


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(prog="render", description=str(__doc__).splitlines()[0])
    parser.add_argument("picture", nargs="*", help=f"any of {', '.join(SCENES)}; all by default")
    parser.add_argument(
        "--output", type=Path, default=Path("docs/images"), help="folder (default: %(default)s)"
    )
    parser.add_argument("--width", type=int, default=1000, help="pixels (default: %(default)s)")
    parser.add_argument("--height", type=int, default=750, help="pixels (default: %(default)s)")
    options = parser.parse_args(arguments)
    try:
        for name in options.picture or SCENES:
            begin = time.perf_counter()
            file = render(name, options.output, (options.width, options.height))
            spent = time.perf_counter() - begin
            sys.stdout.write(f"{file}  {file.stat().st_size / 1000:.0f} kB  {spent:.1f} s\n")
    except DvrkError as error:
        sys.stderr.write(f"render: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

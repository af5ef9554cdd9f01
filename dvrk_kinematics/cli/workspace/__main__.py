"""Draws where a tool is dexterous, and a figure where it fits there best.

    ./dvrk python -m dvrk_kinematics.cli.workspace                        both, into docs/images/
    ./dvrk python -m dvrk_kinematics.cli.workspace figure --scale 0.8     the Block-O, larger
    ./dvrk python -m dvrk_kinematics.cli.workspace figure --figure my.yaml --scale largest

Needs the matplotlib of requirements/render.txt and no screen.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from dvrk_kinematics.cli.workspace.draw_placement import draw_placement
from dvrk_kinematics.cli.workspace.slices import draw_slices
from dvrk_kinematics.errors import DvrkError, InvalidInput, UnknownName
from dvrk_kinematics.kinematics.arm import Arm, load_arm
from dvrk_kinematics.motion.figures.block_o import BLOCK_O
from dvrk_kinematics.motion.figures.figure import load_figure
from dvrk_kinematics.motion.figures.placement import place

__all__ = ["main"]

_PICTURES = ("map", "figure")
_LARGEST = "largest"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    options = _read(arguments)
    try:
        arm = load_arm(options.arm, instrument=options.instrument)
        for picture in options.picture or _PICTURES:
            begin = time.perf_counter()
            file, said = _draw(picture, arm, options)
            spent = time.perf_counter() - begin
            sys.stdout.write(f"{file}  {file.stat().st_size / 1000:.0f} kB  {spent:.1f} s{said}\n")
    except DvrkError as error:
        sys.stderr.write(f"workspace: {error}\n")
        return 1
    return 0


def _read(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="workspace", description=str(__doc__).splitlines()[0])
    parser.add_argument("picture", nargs="*", help="map or figure; both by default")
    parser.add_argument("--arm", default="PSM", help="the arm's model (default: %(default)s)")
    parser.add_argument("--instrument", help="its instrument; the usual one by default")
    parser.add_argument("--figure", type=Path, help="YAML file of a polygon; else the Block-O")
    parser.add_argument(
        "--scale", default="0.5", help=f'size, or "{_LARGEST}" (default: %(default)s)'
    )
    parser.add_argument(
        "--step", type=float, default=5.0, help="grid of the map (mm, default: %(default)s)"
    )
    parser.add_argument(
        "--output", type=Path, default=Path("docs/images"), help="folder (default: %(default)s)"
    )
    return parser.parse_args(arguments)


def _draw(picture: str, arm: Arm, options: argparse.Namespace) -> tuple[Path, str]:
    """Draw one picture; return its file, and a text about it."""
    if picture not in _PICTURES:
        raise UnknownName("picture", picture, _PICTURES)
    if not 0.5 <= options.step <= 100.0:
        raise InvalidInput("step", f"must be within [0.5, 100] mm, is {options.step}")
    step_m = options.step / 1000.0
    if picture == "map":
        file = options.output / f"workspace_{arm.model.name.lower()}.png"
        draw_slices(arm, step_m, file)
        return file, ""
    figure = BLOCK_O if options.figure is None else load_figure(options.figure)
    placed = place(arm, figure, _read_scale(options.scale))
    file = options.output / f"{figure.name}.png"
    draw_placement(arm, figure, placed, step_m, file)
    said = f"  scale {placed.scale:.4g}, margin {placed.margin:.4f} ({placed.limited_by})"
    return file, said


def _read_scale(text: str) -> float | None:
    if text == _LARGEST:
        return None
    try:
        return float(text)
    except ValueError:
        reason = f'must be a number or "{_LARGEST}", is {text!r}'
        raise InvalidInput("scale", reason) from None


if __name__ == "__main__":
    sys.exit(main())

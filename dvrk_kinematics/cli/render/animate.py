"""Renders a PSM that traces the Block-O, its links moving and its trace growing, as an animation.

    ./dvrk python -m dvrk_kinematics.cli.render.animate               docs/images/block_o.webp
    ./dvrk python -m dvrk_kinematics.cli.render.animate -o small.gif --frames 20 --width 320

Needs requirements/render.txt and no screen: VTK draws in memory.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from dvrk_kinematics.cli.render.draw_solids import DrawnTrace, draw
from dvrk_kinematics.cli.write_output import write_output
from dvrk_kinematics.errors import DvrkError, InvalidInput, MissingExtra
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.kinematics.arm import load_arm
from dvrk_kinematics.kinematics.link_tree import LinkTree
from dvrk_kinematics.models.urdf.describe_urdf import expand
from dvrk_kinematics.models.urdf.solids import read_solids
from dvrk_kinematics.models.urdf.urdf_model import parse_urdf
from dvrk_kinematics.motion.figures.block_o import BLOCK_O, QUICK, trace_figure
from dvrk_kinematics.motion.figures.placement import place
from dvrk_kinematics.motion.limits import make_motion_limits
from dvrk_kinematics.motion.planning.planner import Plan, plan_motion

__all__ = ["animate", "main", "plan_figure"]

_EYE, _TARGET, _ANGLE = (1.2, 0.85, 0.72), (0.0, -0.235, 0.05), 27.0
_TIP = "PSM1_tip"
_OUTLINE, _DRAWN = "#c9d1d9", "#d9730d"
_RADIUS_M = 0.0026
_SPACING_S = 0.1
"""How finely the trace is drawn (s of the motion)."""
_REST_FRAMES = 8
"""Pictures of the whole figure before it starts again."""
_MOST_FRAMES = 500


def plan_figure(scale: float) -> Plan:
    """Plan the Block-O like ``./dvrk demo --scale``: where a PSM has most room, equally fast.

    Args:
        scale: Size; 1 is the Block-O of the paper. The demo's default is 0.5.

    Raises:
        DvrkError: It fits nowhere at that scale.
    """
    arm = load_arm("PSM", "400006")
    placed = place(arm, BLOCK_O, scale)
    segments = trace_figure(BLOCK_O, placed.T_base_figure, placed.scale, QUICK)
    return plan_motion(arm, segments, placed.q_start, make_motion_limits(arm))


def animate(plan: Plan, count: int, size: tuple[int, int]) -> Iterator[bytes]:
    """Pictures of a motion as PNGs, one after the other.

    Args:
        plan: The motion of a PSM with a large needle driver.
        count: How many pictures, at least 2.
        size: Width and height of each (pixels).

    Raises:
        MissingExtra: If the libraries that draw are not installed.
    """
    text = expand("psm")
    urdf = parse_urdf(text, "psm")
    tree, solids = LinkTree(urdf.links, urdf.joint_names), read_solids(text, "psm")

    def links(time_s: float) -> dict[str, Array]:
        q = dict(zip(plan.joint_names, plan.spline.sample(time_s).q.tolist(), strict=True))
        return tree.frames(np.array([q.get(name, 0.0) for name in urdf.joint_names]))

    instants = np.append(np.arange(0.0, plan.duration_s, _SPACING_S), plan.duration_s)
    way = np.array([links(instant)[_TIP][:3, 3] for instant in instants])
    for now in np.linspace(0.0, plan.duration_s, count):
        frames = links(float(now))
        done = np.vstack([way[instants < now], frames[_TIP][:3, 3]])
        traces = [DrawnTrace(way, _OUTLINE, 0.5 * _RADIUS_M)]
        traces += [DrawnTrace(done, _DRAWN, _RADIUS_M)] if len(done) > 1 else []
        yield draw(
            solids,
            frames,
            eye=_EYE,
            target=_TARGET,
            angle=_ANGLE,
            floor=None,
            size=size,
            traces=traces,
        )


def join(pictures: Sequence[bytes], suffix: str, seconds: float) -> bytes:
    """One animation of pictures, which ends with a pause and starts again.

    Args:
        pictures: PNGs of one size.
        suffix: ``.webp`` or ``.gif``.
        seconds: How long it takes (s).

    Raises:
        InvalidInput: If the suffix is a different one.
        MissingExtra: If Pillow is not installed.
    """
    if suffix not in (".webp", ".gif"):
        raise InvalidInput("output", f"must end with .webp or .gif, is {suffix!r}")
    try:
        image: Any = importlib.import_module("PIL.Image")
    except ImportError as error:
        raise MissingExtra("Pillow", "install requirements/render.txt") from error
    shown = [image.open(BytesIO(picture)).convert("RGB") for picture in pictures]
    shown += shown[-1:] * _REST_FRAMES
    each_ms = max(round(1e3 * seconds / len(shown)), 20)
    options: dict[str, Any] = {"quality": 70, "method": 6}
    if suffix == ".gif":
        shown = [picture.quantize(96, dither=image.Dither.NONE) for picture in shown]
        options = {"optimize": True, "disposal": 1}
    target = BytesIO()
    shown[0].save(
        target,
        format=suffix[1:],
        save_all=True,
        append_images=shown[1:],
        duration=each_ms,
        loop=0,
        **options,
    )
    return target.getvalue()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(prog="animate", description=str(__doc__).splitlines()[0])
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("docs/images/block_o.webp"),
        help="a .webp or a .gif (default: %(default)s)",
    )
    parser.add_argument("--scale", type=float, default=1.0, help="of the figure (%(default)s)")
    parser.add_argument("--frames", type=int, default=72, help="pictures (%(default)s)")
    parser.add_argument("--seconds", type=float, default=9.0, help="duration (%(default)s)")
    parser.add_argument("--width", type=int, default=760, help="pixels (%(default)s)")
    parser.add_argument("--height", type=int, default=500, help="pixels (%(default)s)")
    options = parser.parse_args(arguments)
    if not 2 <= options.frames <= _MOST_FRAMES:
        parser.error(f"--frames must be 2 to {_MOST_FRAMES}, is {options.frames}")
    try:
        plan = plan_figure(options.scale)
        pictures = []
        for picture in animate(plan, options.frames, (options.width, options.height)):
            pictures.append(picture)
            sys.stdout.write(f"\r{len(pictures)} of {options.frames} pictures")
            sys.stdout.flush()
        animation = join(pictures, options.output.suffix.lower(), options.seconds)
        write_output(options.output, animation)
    except DvrkError as error:
        sys.stderr.write(f"animate: {error}\n")
        return 1
    sys.stdout.write(f"\n{options.output}  {len(animation) / 1000:.0f} kB\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

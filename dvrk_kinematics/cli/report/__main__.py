"""A page with plots and figures of a recorded motion.

./dvrk report BAG                      BAG/report.html
./dvrk report BAG --png                and every plot as a PNG beside it
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path

from dvrk_kinematics.cli.report.figures import ReportFigures, compute_figures
from dvrk_kinematics.cli.report.page import make_page
from dvrk_kinematics.cli.report.plots import draw_plots
from dvrk_kinematics.cli.report.read_recording import read_recording
from dvrk_kinematics.cli.write_output import write_output
from dvrk_kinematics.errors import DvrkError, shorten

__all__ = ["ReportFigures", "main", "make_report"]

_LONGEST_NAME = 60
"""Largest number of characters of an arm's name in a file name."""


def make_report(bag: Path, output: Path, png: bool = False, title: str = "") -> ReportFigures:
    """Make the report of a bag.

    Args:
        bag: Folder of the bag.
        output: The HTML file; its folder is created if necessary.
        png: Whether to write each plot as ``<output>_<arm>_<plot>.png`` too.
        title: What was done, for the head of the page; "" to derive it from the bag.

    Returns:
        The figures that the page shows.

    Raises:
        BagError: If it is not a bag, is empty, or nothing moves in it.
        MissingExtra: If rosbags or matplotlib are not installed.
        OutputError: If the page or a plot cannot be written.
    """
    recording = read_recording(bag)
    figures, curves = compute_figures(recording)
    plots = [draw_plots(curve) for curve in curves]
    began = datetime.fromtimestamp(recording.start_ns * 1e-9, tz=timezone.utc)
    page = make_page(figures, plots, f"recorded {began:%Y-%m-%d %H:%M:%S} UTC", title)
    # Names in a bag may be anything, and need not be Unicode that can be encoded.
    write_output(output, page.encode("utf-8", "backslashreplace"))
    if png:
        for name, drawn in zip(_file_names(figures), plots, strict=True):
            for plot in drawn:
                write_output(output.with_name(f"{output.stem}_{name}_{plot.name}.png"), plot.png)
    return figures


def _file_names(figures: ReportFigures) -> list[str]:
    """Names of the arms as parts of file names, each once."""
    names: list[str] = []
    for arm in figures.arms:
        name = re.sub(r"[^\w.-]", "_", arm.name)[:_LONGEST_NAME]
        names.append(name if name not in names else f"{name}_{len(names) + 1}")
    return names


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(prog="dvrk report", description=str(__doc__).splitlines()[0])
    parser.add_argument("bag", type=Path, help="folder of the bag")
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="the HTML file (default: BAG/report.html)"
    )
    parser.add_argument(
        "--title", default="", help="what was done (default: what the bag tells of it)"
    )
    parser.add_argument("--png", action="store_true", help="write the plots as PNG as well")
    options = parser.parse_args(arguments)
    bag: Path = options.bag
    # The functions of os.path accept any name, even one that no file can have.
    output = options.output or (bag if os.path.isdir(bag) else bag.parent) / "report.html"  # noqa: PTH112
    try:
        figures = make_report(bag, output, options.png, options.title)
    except DvrkError as error:
        sys.stderr.write(f"report: {error}\n")
        return 1
    except MemoryError:
        sys.stderr.write(
            f"report: {shorten(str(bag))}: there is not enough memory for all that is in it\n"
        )
        return 1
    for remark in figures.remarks:
        sys.stdout.write(f"note: {remark}\n")
    for arm in figures.arms:
        sys.stdout.write(
            f"{shorten(arm.name)}: moved {arm.moved:.2f} s, {1e3 * arm.travel:.1f} mm\n"
        )
    sys.stdout.write(f"{output}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""A page with plots and figures of a recorded motion.

./dvrk report BAG                      BAG/report.html
./dvrk report BAG --png                and every plot as a PNG beside it
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path

from dvrk_kinematics.cli.report_bag import read_recording
from dvrk_kinematics.cli.report_figures import ReportFigures, compute_figures
from dvrk_kinematics.cli.report_page import make_page
from dvrk_kinematics.cli.report_plots import draw_plots
from dvrk_kinematics.errors import DvrkError

__all__ = ["ReportFigures", "main", "make_report"]


def make_report(bag: Path, output: Path, png: bool = False) -> ReportFigures:
    """Make the report of a bag.

    Args:
        bag: Folder of the bag.
        output: The HTML file; its folder is made if need be.
        png: Whether each plot is also written as ``<output>_<arm>_<plot>.png``.

    Returns:
        The figures that the page shows.

    Raises:
        BagError: If it is no bag, not whole, empty, or nothing moves in it.
        MissingExtra: If rosbags or matplotlib are not installed.
    """
    recording = read_recording(bag)
    figures, curves = compute_figures(recording)
    plots = [draw_plots(curve) for curve in curves]
    began = datetime.fromtimestamp(recording.start_ns * 1e-9, tz=timezone.utc)
    output.parent.mkdir(parents=True, exist_ok=True)
    page = make_page(figures, plots, f"recorded {began:%Y-%m-%d %H:%M:%S} UTC")
    output.write_text(page, encoding="utf-8")
    if png:
        for arm, drawn in zip(figures.arms, plots, strict=True):
            for plot in drawn:
                name = f"{output.stem}_{arm.name.replace('/', '_')}_{plot.name}.png"
                output.with_name(name).write_bytes(plot.png)
    return figures


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="dvrk report", description=str(__doc__).splitlines()[0])
    parser.add_argument("bag", type=Path, help="folder of the bag")
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="the HTML file (default: BAG/report.html)"
    )
    parser.add_argument("--png", action="store_true", help="write the plots as PNG as well")
    options = parser.parse_args(arguments)
    bag: Path = options.bag
    output = options.output or (bag if bag.is_dir() else bag.parent) / "report.html"
    try:
        figures = make_report(bag, output, options.png)
    except DvrkError as error:
        sys.stderr.write(f"report: {error}\n")
        return 1
    for arm in figures.arms:
        sys.stdout.write(f"{arm.name}: moved {arm.moved:.2f} s, {1e3 * arm.travel:.1f} mm\n")
    sys.stdout.write(f"{output}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

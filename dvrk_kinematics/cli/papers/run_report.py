"""The command line of a report: a table on the terminal, and charts in a file on request."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from dvrk_kinematics.errors import DvrkError

__all__ = ["run_report"]


def run_report(
    name: str,
    summary: str,
    table: Callable[[], str],
    draw: Callable[[Path], None],
    arguments: Sequence[str] | None = None,
) -> int:
    """Print a table, and draw charts if ``--output`` names a file.

    Args:
        name: Name of the command.
        summary: What it reports.
        table: Makes the table.
        draw: Draws the charts into a PNG.
        arguments: Command-line arguments; those of the process by default.

    Returns:
        Exit code, 0 if all is well.
    """
    parser = argparse.ArgumentParser(prog=name, description=summary)
    parser.add_argument("--output", type=Path, help="PNG of the charts; none without it")
    options = parser.parse_args(arguments)
    sys.stdout.write(table() + "\n")
    try:
        if options.output is not None:
            draw(options.output)
            sys.stdout.write(f"\n{options.output}\n")
    except DvrkError as error:
        sys.stderr.write(f"{name}: {error}\n")
        return 1
    return 0

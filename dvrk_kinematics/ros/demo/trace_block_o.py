"""The executable trace_block_o: lets the tip of an arm trace the Block-O once, then ends."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from rclpy.node import Node
from rclpy.utilities import remove_ros_args

from dvrk_kinematics.motion.figures.block_o import PRESETS, QUICK
from dvrk_kinematics.motion.figures.figure import Orientation
from dvrk_kinematics.ros.client.run_client import run_client
from dvrk_kinematics.ros.common.patience import Patience
from dvrk_kinematics.ros.common.terminal import Terminal
from dvrk_kinematics.ros.demo.block_o_client import BlockOClient, TracedFigure
from dvrk_kinematics.ros.demo.demo_report import describe_plan, describe_result
from dvrk_kinematics.ros.demo.trace_display import TraceDisplay

__all__ = ["descends_from", "main"]


def descends_from(process: int, ancestor: int) -> bool:
    """Return whether a process is another one or a descendant of it.

    Args:
        process: Id of the process.
        ancestor: Id of the other.
    """
    while process not in (0, ancestor):
        try:
            # After the name, which may hold anything, come the state and the parent's id.
            after_name = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2]
        except OSError:
            return False
        process = int(after_name.split()[1])
    return process == ancestor


def main(arguments: Sequence[str] | None = None) -> int:
    """Trace once.

    Returns:
        Exit code: 0 if the figure was traced, 1 if not; 130, 143 or 129 if it was interrupted by
        Ctrl-C, SIGTERM or a closed terminal, and the arm was stopped.
    """
    told = sys.argv if arguments is None else ["trace_block_o", *arguments]
    options = _parse(remove_ros_args(told)[1:])
    return run_client("trace_block_o", partial(_trace, options), told)


def _trace(options: argparse.Namespace, node: Node) -> int:
    terminal = Terminal(sys.stdout)
    client = BlockOClient(node, options.arm, Patience(terminal.say))
    if options.started_by:
        client.await_own_bridge(partial(descends_from, ancestor=options.started_by))
    if options.bring_up:
        client.bring_up()
        terminal.say(f"{options.arm} is enabled and homed")
    speeds = PRESETS[options.preset] if options.preset else QUICK
    trace = TracedFigure(options.scale, speeds, Orientation(options.orientation))
    display = TraceDisplay(terminal, lambda plan: terminal.say(describe_plan(plan)))
    result = client.trace(trace, display.show)
    display.end(result.success)
    terminal.say(describe_result(result, client.loop_figures()))
    return 0 if result.success else 1


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="trace_block_o", description=__doc__)
    parser.add_argument("--arm", default="PSM1", help="name of the arm")
    parser.add_argument("--scale", type=float, default=0.5, help="size; 1 is the paper's figure")
    parser.add_argument("--preset", choices=sorted(PRESETS), help="speeds of the paper's tests")
    parser.add_argument(
        "--orientation",
        choices=[item.value for item in Orientation],
        default=Orientation.ALONG.value,
        help="turn the tool along the travel (the default), or keep its orientation fixed",
    )
    parser.add_argument(
        "--bring-up",
        action="store_true",
        help="enable and home the arm first; without it, somebody else has to",
    )
    parser.add_argument(
        "--started-by",
        type=int,
        metavar="PROCESS",
        help="command the arm only if this process, such as ros2 launch, started its bridge",
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())

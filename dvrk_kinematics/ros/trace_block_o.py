"""The executable trace_block_o: lets the tip of an arm trace the Block-O once, then ends."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import rclpy
from rclpy.node import Node
from rclpy.utilities import remove_ros_args

from dvrk_kinematics.errors import DvrkError
from dvrk_kinematics.motion.block_o import PRESETS
from dvrk_kinematics.ros.block_o_client import BlockOClient, Trace
from dvrk_kinematics.ros.demo_report import describe_plan, describe_result
from dvrk_kinematics.ros.spinning import SpinningNode
from dvrk_kinematics.ros.trace_display import TraceDisplay

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Trace once; returns 0 if the figure was traced."""
    told = sys.argv if arguments is None else ["trace_block_o", *arguments]
    options = _parse(remove_ros_args(told)[1:])
    rclpy.init(args=told)
    node = Node("trace_block_o")
    client = BlockOClient(node, options.arm)
    try:
        with SpinningNode(node):
            return _trace(client, options)
    except DvrkError as error:
        sys.stderr.write(f"trace_block_o: {error}\n")
        return 1
    finally:
        client.close()
        node.destroy_node()
        rclpy.try_shutdown()


def _trace(client: BlockOClient, options: argparse.Namespace) -> int:
    if options.bring_up:
        client.bring_up()
    trace = Trace(scale=options.scale)
    if options.preset:
        trace = Trace(scale=options.scale, speeds=PRESETS[options.preset])
    display = TraceDisplay(
        sys.stdout, lambda plan: sys.stdout.writelines([describe_plan(plan), "\n"])
    )
    result = client.trace(trace, display.show)
    display.end(result.success)
    sys.stdout.write(f"{describe_result(result, client.loop_figures())}\n")
    return 0 if result.success else 1


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="trace_block_o", description=__doc__)
    parser.add_argument("--arm", default="PSM1", help="name of the arm")
    parser.add_argument("--scale", type=float, default=0.5, help="size; 1 is the paper's figure")
    parser.add_argument("--preset", choices=sorted(PRESETS), help="speeds of the paper's tests")
    parser.add_argument(
        "--bring-up",
        action="store_true",
        help="enable and home the arm first; without it, somebody else has to",
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())

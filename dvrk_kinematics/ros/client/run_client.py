"""The life of a command that requests something from nodes, such as a motion, and then ends.

Ctrl-C, SIGTERM and a closed terminal end it at any point without a traceback. ROS still runs when
that happens, so that leaving a goal's with-block can cancel the goal.

    def trace(node: Node) -> int:
        client = ActionClient(node, TraceBlockO, "trajectory/PSM1/trace_block_o")
        with send_goal(client, TraceBlockO.Goal(scale=0.5, place=True)) as goal:
            return 0 if goal.result(600.0).result.success else 1

    sys.exit(run_client("tracer", trace))
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import rclpy
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from dvrk_kinematics.errors import DvrkError
from dvrk_kinematics.ros.common.end_watchdog import EndWatchdog
from dvrk_kinematics.ros.common.interruptions import Interrupted, Interruptions
from dvrk_kinematics.ros.common.run_node import bound_end, take_down
from dvrk_kinematics.ros.common.spinning_node import SpinningNode
from dvrk_kinematics.ros.common.terminal import write_out

__all__ = ["run_client", "run_with_node"]


def run_client(
    name: str, work: Callable[[Node], int | None], arguments: Sequence[str] | None = None
) -> int:
    """Run a command with a node that spins in its own thread; the process then ends.

    Once the work is done, ending takes 2 s at most, whatever the middleware does.

    Args:
        name: Name of the node, and of the command in its messages.
        work: Does the work; returns the exit code, None for 0. If it raises one of our own
            errors, that is reported in one line.
        arguments: Command line with ROS arguments; the process's own if None.

    Returns:
        Exit code: that of ``work``; 1 if it failed; 130, 143 or 129 if it was interrupted by
        Ctrl-C, SIGTERM or a closed terminal.
    """
    with Interruptions() as interruptions:
        return run_with_node(name, lambda node: _do(work, node, interruptions), arguments)


def run_with_node(
    name: str, work: Callable[[Node], int], arguments: Sequence[str] | None = None
) -> int:
    """Do the same for a command that handles signals on its own.

    Args:
        name: Name of the node.
        work: Does the work; returns the exit code.
        arguments: Command line with ROS arguments; the process's own if None.

    Returns:
        The exit code.
    """
    # ROS must not handle signals: a goal can be cancelled only while the context is valid.
    rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
    watchdog = EndWatchdog(name)
    node, code = None, 1
    try:
        node = Node(name)
        with SpinningNode(node):
            try:
                code = work(node)
            finally:
                bound_end(watchdog, code)
    finally:
        take_down(node, watchdog, code)
    return code


def _do(work: Callable[[Node], int | None], node: Node, interruptions: Interruptions) -> int:
    """Do the work, and turn its outcome into an exit code."""
    try:
        with interruptions.raised():
            return work(node) or 0
    except DvrkError as error:
        _tell(f"{node.get_name()}: {error}")
        return 1
    except Interrupted as told:
        _tell(f"{node.get_name()}: interrupted")
        return told.exit_code


def _tell(text: str) -> None:
    write_out(sys.stderr, f"{text}\n")

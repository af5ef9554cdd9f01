"""The life of a process with a node: start, work, and end, whatever the middleware does."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Sequence
from types import FrameType
from typing import TypeVar

import rclpy
from rclpy.action import ActionClient, ActionServer
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from dvrk_kinematics.errors import DvrkError
from dvrk_kinematics.ros.common.answer_arguments import answer_arguments, explain_empty
from dvrk_kinematics.ros.common.end_times import STOP_S, TEARDOWN_S
from dvrk_kinematics.ros.common.end_watchdog import EndWatchdog
from dvrk_kinematics.ros.common.interruptions import StopRequest, stop_signals
from dvrk_kinematics.ros.common.spinning_node import SpinningNode

__all__ = ["bound_end", "run_node", "take_down"]

NodeT = TypeVar("NodeT", bound=Node)

_TASKS_S = 1.0
"""How long a process that ends may wait for its node to send what is left."""


def run_node(
    make_node: Callable[[], NodeT],
    arguments: Sequence[str] | None = None,
    on_stop: Callable[[NodeT], int | None] | None = None,
    executable: str = "",
) -> int:
    """Run one node until it is told to stop; the process must end when this returns.

    rclpy's own signal handlers invalidate the context at once, and a driver could then no longer
    tell the arm to hold. So we handle signals here: the node learns of them first, while it can
    still publish, and the context ends last.

    A node does its final work in ``on_stop``. After that the process ends within 2 s, whatever
    the middleware does: on its own, or by an :class:`EndWatchdog`. A node that hangs during its
    construction, and cannot be told to stop, is ended 20 s after the signal.

    Args:
        make_node: Makes the node, once ROS is initialised.
        arguments: Command line with ROS arguments; the process's own if None.
        on_stop: Called with the node before anything is taken down, even if spinning failed. It
            may return an exit code that reports how it went.
        executable: Which node of this package it is, if any: it then handles ``--help`` and
            unknown arguments.

    Returns:
        Exit code: 0, 1 if the node could not start or failed, 2 for unknown arguments, or what
        ``on_stop`` returned.
    """
    answered = answer_arguments(executable, arguments) if executable else None
    if answered is not None:
        return answered
    stop, watchdog = StopRequest(), EndWatchdog("dvrk_kinematics")

    def hear(number: int, frame: FrameType | None) -> None:
        # Only once, so that a second Ctrl-C does not grant more time.
        if not stop.is_set:
            watchdog.arm(STOP_S, 1, "a start that was interrupted")
        stop.hear(number, frame)

    previous = {sign: signal.signal(sign, hear) for sign in stop_signals()}
    # The parent process may have blocked signals until they have handlers.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, previous)
    if not _init(arguments, executable):
        return 1
    node, code = None, 1
    try:
        node = make_node()
        watchdog.name = node.get_name()
        code = _spin_until(stop, node, on_stop, watchdog)
    except DvrkError as error:
        rclpy.logging.get_logger("dvrk_kinematics").fatal(str(error))
    finally:
        # From here on another time limit runs, which a signal must not reset.
        stop.set()
        take_down(node, watchdog, code)
        for sign, handler in previous.items():
            signal.signal(sign, handler)
    return code


def _init(arguments: Sequence[str] | None, executable: str) -> bool:
    """Initialise ROS, or report in one line what is wrong with its arguments."""
    try:
        rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
    except RuntimeError as error:
        # The rest of rcl's message only names places in its own source.
        text = re.sub(r"(\. Error: error not set)?, at [^ ,]+\.c:\d+", "", str(error))
        text = explain_empty(executable, text) or text
        rclpy.logging.get_logger("dvrk_kinematics").fatal(f"arguments of ROS: {text}")
        return False
    return True


def _spin_until(
    stop: StopRequest,
    node: NodeT,
    on_stop: Callable[[NodeT], int | None] | None,
    watchdog: EndWatchdog,
) -> int:
    """Spin in a thread: the main thread handles signals and must not sleep inside rcl_wait."""
    code = 1
    with SpinningNode(node, on_end=stop.set) as spinning:
        try:
            stop.wait()
            watchdog.arm(STOP_S, 1, "what it does before it ends")
            told = on_stop(node) if on_stop is not None else None
            # A client that waits for the end of a goal must learn of it.
            spinning.finish_tasks(_TASKS_S)
            code = told or int(spinning.failure is not None)
        finally:
            bound_end(watchdog, code)
    return code


def bound_end(watchdog: EndWatchdog, code: int) -> None:
    """Give the process 2 s to end: nothing that it still has to do matters any more.

    Args:
        watchdog: Ends the process after that time.
        code: Its exit code.
    """
    watchdog.arm(TEARDOWN_S, code, "leaving the middleware")


def take_down(node: Node | None, watchdog: EndWatchdog, code: int) -> None:
    """Take down a node, if there is one, and ROS; the process must end then.

    Args:
        node: The node, which no longer spins.
        watchdog: Ends the process if that takes longer than 2 s.
        code: Its exit code.
    """
    bound_end(watchdog, code)
    if node is not None:
        _destroy_actions(node)
        node.destroy_node()
    rclpy.try_shutdown()


def _destroy_actions(node: Node) -> None:
    """Destroy the actions that a node leaves behind; they keep the middleware running.

    The process would then end while middleware threads still run, which can hang forever.
    """
    for waitable in list(node.waitables):
        if isinstance(waitable, ActionServer | ActionClient):
            waitable.destroy()

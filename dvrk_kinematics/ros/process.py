"""The life of a node's process: starts, spins, and ends cleanly on SIGINT, SIGTERM and SIGHUP."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Sequence
from types import FrameType
from typing import TypeVar

import rclpy
from rclpy.action import ActionClient, ActionServer
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from dvrk_kinematics.errors import DvrkError
from dvrk_kinematics.ros.spinning import SpinningNode
from dvrk_kinematics.ros.stop_signals import stop_signals

__all__ = ["run_node"]

NodeT = TypeVar("NodeT", bound=Node)

_TASKS_S = 1.0
"""How long the end of a process may wait for what its node has still to send."""


def run_node(
    make_node: Callable[[], NodeT],
    arguments: Sequence[str] | None = None,
    on_stop: Callable[[NodeT], None] | None = None,
) -> int:
    """Run one node until it is told to stop.

    rclpy's own signal handlers invalidate the context at once, and a driver could then no longer
    tell the arm to hold. So signals are handled here: the node is told first, while it still can
    publish, and the context ends last.

    Args:
        make_node: Makes the node, once ROS is initialised.
        arguments: Command line with ROS arguments; that of the process if None.
        on_stop: Called with the node before anything is taken down, also if spinning failed.

    Returns:
        Exit code: 0, or 1 if the node could not start or failed.
    """
    stop = threading.Event()
    previous = {sign: signal.signal(sign, _setter(stop)) for sign in stop_signals()}
    # Whoever started this process may have kept signals back until somebody handles them.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, previous)
    rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
    try:
        try:
            node = make_node()
        except DvrkError as error:
            rclpy.logging.get_logger("dvrk_kinematics").fatal(str(error))
            return 1
        return _spin_until(stop, node, on_stop)
    finally:
        rclpy.try_shutdown()
        for sign, handler in previous.items():
            signal.signal(sign, handler)


def _setter(stop: threading.Event) -> Callable[[int, FrameType | None], None]:
    def set_stop(_sign: int, _frame: FrameType | None) -> None:
        stop.set()

    return set_stop


def _spin_until(
    stop: threading.Event, node: NodeT, on_stop: Callable[[NodeT], None] | None
) -> int:
    """Spin in a thread: the main one handles signals and must not sleep inside rcl_wait."""
    try:
        with SpinningNode(node, on_end=stop.set) as spinning:
            stop.wait()
            if on_stop is not None:
                on_stop(node)
            # Whoever waits for the end of a goal shall hear of it.
            spinning.finish_tasks(_TASKS_S)
        return 0 if spinning.failure is None else 1
    finally:
        _destroy_actions(node)
        node.destroy_node()


def _destroy_actions(node: Node) -> None:
    """Destroy what a node leaves behind; while it is there, the middleware goes on running.

    The process would then end while threads of the middleware still work, which can hang for ever.
    """
    for waitable in list(node.waitables):
        if isinstance(waitable, ActionServer | ActionClient):
            waitable.destroy()

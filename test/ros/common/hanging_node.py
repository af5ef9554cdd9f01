"""A node that hangs on purpose: at its end, with the interpreter lock held, or at its start."""

from __future__ import annotations

import ctypes
import sys
import threading

from rclpy.node import Node

from dvrk_kinematics.ros.client.run_client import run_client
from dvrk_kinematics.ros.common import run_node

HANG_S = 60


def hang() -> None:
    """Wait in C and keep the interpreter lock: no Python thread or signal handler runs."""
    ctypes.PyDLL(None).sleep(HANG_S)


def say_ready() -> None:
    """Tell the test."""
    sys.stdout.write("ready\n")
    sys.stdout.flush()


class HangingNode(Node):
    """Spins as any other, and hangs when it is destroyed."""

    def __init__(self) -> None:
        super().__init__("hanging")
        say_ready()

    def destroy_node(self) -> None:
        """Never comes back in time."""
        hang()


class NeverMade(Node):
    """Waits for what never comes."""

    def __init__(self) -> None:
        super().__init__("hanging")
        # The time that it has otherwise would only make the test longer.
        vars(run_node)["STOP_S"] = 2.0
        say_ready()
        threading.Event().wait()


def work(node: Node) -> int:
    """Wait to be interrupted, and leave a node that hangs."""
    node.destroy_node = hang  # type: ignore[method-assign]
    say_ready()
    threading.Event().wait()
    return 0


if __name__ == "__main__":
    if sys.argv[1] == "client":
        sys.exit(run_client("hanging", work))
    if sys.argv[1] == "start":
        sys.exit(run_node.run_node(NeverMade))
    if sys.argv[1] == "code":
        sys.exit(run_node.run_node(HangingNode, on_stop=lambda _: 5))
    sys.exit(run_node.run_node(HangingNode))

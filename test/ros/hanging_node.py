"""A node that hangs at its end on purpose, with the interpreter lock held, as Fast DDS can."""

from __future__ import annotations

import ctypes
import sys
import threading

from rclpy.node import Node

from dvrk_kinematics.ros.client_process import run_client
from dvrk_kinematics.ros.process import run_node

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


def work(node: Node) -> int:
    """Wait to be interrupted, and leave a node that hangs."""
    node.destroy_node = hang  # type: ignore[method-assign]
    say_ready()
    threading.Event().wait()
    return 0


if __name__ == "__main__":
    if sys.argv[1] == "client":
        sys.exit(run_client("hanging", work))
    if sys.argv[1] == "code":
        sys.exit(run_node(HangingNode, on_stop=lambda _: 5))
    sys.exit(run_node(HangingNode))

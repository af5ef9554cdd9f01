"""How long after the command ./dvrk demo the arm begins to move."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import rclpy
from rclpy.node import Node
from sensor_msgs.msg import JointState

from bench.processes import ROOT, die_with_parent
from dvrk_kinematics.ros.common import qos
from dvrk_kinematics.ros.common.spinning_node import SpinningNode

__all__ = ["COMMAND", "measure_first_motion"]

COMMAND = (str(ROOT / "dvrk"), "demo")
_MOVED = 1e-6
"""How far a joint must be from where it was first seen (rad, m)."""

_TIMEOUT_S = 120.0
_END_S = 60.0
_LOOK_S = 0.1


class _MotionWatch:
    """Listens to an arm, and notes when a joint has left its place."""

    def __init__(self, node: Node, arm: str) -> None:
        self.moved_s: float | None = None
        self.has_moved = threading.Event()
        self._first: Any = None
        node.create_subscription(JointState, f"{arm}/measured_js", self._hear, qos.STATE)

    def _hear(self, message: Any) -> None:
        now_s = time.monotonic()
        stamp = message.header.stamp
        if self.has_moved.is_set() or not (stamp.sec or stamp.nanosec):
            return
        q = np.array(message.position)
        if self._first is None or self._first.shape != q.shape:
            # While homing, a PSM reports one more joint.
            self._first = q
        elif float(np.abs(q - self._first).max()) > _MOVED:
            self.moved_s = now_s
            self.has_moved.set()


def measure_first_motion(command: Sequence[str] = COMMAND, arm: str = "PSM1") -> float:
    """Run the demonstration until its arm moves.

    Args:
        command: The demonstration, without arguments.
        arm: The arm that moves.

    Returns:
        Time from the start of the command to the first state in which a joint has moved (s).

    Raises:
        RuntimeError: Nothing moved.
    """
    rclpy.init()
    node = Node("bench_first_motion")
    try:
        with TemporaryDirectory() as folder, SpinningNode(node):
            watch = _MotionWatch(node, arm)
            begin_s = time.monotonic()
            _run_until(watch.has_moved, [*command, "--output", str(Path(folder, "demo"))])
            if watch.moved_s is None:
                raise RuntimeError(
                    f"{arm} did not move: {' '.join(command)} ended, or took too long"
                )
            return watch.moved_s - begin_s
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


def _run_until(event: threading.Event, command: Sequence[str]) -> None:
    """Run a command until something happens, then end it as Ctrl-C does."""
    process = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        env=dict(os.environ),
        start_new_session=True,
        preexec_fn=die_with_parent,
    )
    try:
        deadline = time.monotonic() + _TIMEOUT_S
        while not event.wait(_LOOK_S) and process.poll() is None and time.monotonic() < deadline:
            pass
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

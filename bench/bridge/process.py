"""The arm bridge as a user runs it, with its ticks and its memory noted."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from pathlib import Path

import numpy as np
from rclpy.node import Node

from bench.loop.ticks import TickRecorder
from dvrk_kinematics.ros.bridge.node import ArmBridge
from dvrk_kinematics.ros.bridge.settings import BridgeSettings
from dvrk_kinematics.ros.common.parameters import Parameters
from dvrk_kinematics.ros.common.run_node import run_node
from dvrk_kinematics.ros.common.steady_loop import Tick

_MEMORY_EVERY = 200
"""Ticks between two readings of the memory."""


class _Notes:
    """When each tick began, and how much memory the process held, once a second."""

    def __init__(self, ticks: Path, memory: Path) -> None:
        self._recorder = TickRecorder(ticks)
        self._file = memory
        self._memory: list[tuple[int, int]] = []

    def note(self, tick: Tick) -> None:
        self._recorder.note(tick)
        if tick.number % _MEMORY_EVERY == 0:
            pages = int(Path("/proc/self/statm").read_text().split()[1])
            self._memory.append((tick.now_ns, pages * os.sysconf("SC_PAGE_SIZE")))

    def save(self) -> None:
        self._recorder.save()
        np.save(self._file, np.array(self._memory, dtype=np.int64).reshape(-1, 2))


class NotedBridge(ArmBridge):
    """Notes every tick."""

    def __init__(self, node: Node, settings: BridgeSettings, notes: _Notes) -> None:
        self._notes = notes
        super().__init__(node, settings)

    def _tick(self, tick: Tick) -> None:
        self._notes.note(tick)
        super()._tick(tick)


class Run:
    """One run of such a bridge.

    Args:
        notes: Receives the notes.
    """

    def __init__(self, notes: _Notes) -> None:
        self._notes = notes
        self._bridge: NotedBridge | None = None

    def begin(self) -> Node:
        """Make the node with its bridge."""
        node = Node("arm_bridge")
        self._bridge = NotedBridge(node, Parameters(node, BridgeSettings).values, self._notes)
        gc.collect()
        gc.freeze()
        return node

    def stop(self, _: Node) -> None:
        """End the bridge and keep what was noted."""
        if self._bridge is not None:
            self._bridge.stop()
        self._notes.save()


def main() -> int:
    """Run until told to stop; ROS arguments are passed on."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ticks", type=Path, required=True, help="file for the ticks")
    parser.add_argument("--memory", type=Path, required=True, help="file for the memory")
    options, ros = parser.parse_known_args()
    run = Run(_Notes(options.ticks, options.memory))
    return run_node(run.begin, arguments=ros, on_stop=run.stop)


if __name__ == "__main__":
    sys.exit(main())

"""The arm simulator as a user runs it, with its ticks noted."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from bench.loop.ticks import TickRecorder
from dvrk_kinematics.ros.common.run_node import run_node
from dvrk_kinematics.ros.common.steady_loop import Tick
from dvrk_kinematics.ros.simulator.node import ArmSimulator


class NotedSimulator(ArmSimulator):
    """Notes when each tick began."""

    def __init__(self, recorder: TickRecorder) -> None:
        self._recorder = recorder
        super().__init__()

    def _tick(self, tick: Tick) -> None:
        self._recorder.note(tick)
        super()._tick(tick)

    def stop(self) -> None:
        """End the loop and keep what was noted."""
        super().stop()
        self._recorder.save()


def main() -> int:
    """Run until told to stop; ROS arguments are passed on."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ticks", type=Path, required=True, help="file for the ticks")
    options, ros = parser.parse_known_args()
    return run_node(
        lambda: NotedSimulator(TickRecorder(options.ticks)),
        arguments=ros,
        on_stop=NotedSimulator.stop,
    )


if __name__ == "__main__":
    sys.exit(main())

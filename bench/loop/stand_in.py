"""The common part of the stand-in nodes: one loop that notes its ticks, and an orderly end."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

from rclpy.node import Node

from bench.loop.ticks import PERIOD_S, TickRecorder, parse_arguments
from dvrk_kinematics.ros.common.run_node import run_node
from dvrk_kinematics.ros.common.steady_loop import SteadyLoop, Tick

__all__ = ["StandIn", "run_stand_in"]


class StandIn(Node):
    """A node with a steady loop.

    Args:
        name: Name of the node.
        recorder: Notes the ticks.
    """

    def __init__(self, name: str, recorder: TickRecorder) -> None:
        super().__init__(name)
        self._recorder = recorder
        self._loop = SteadyLoop(PERIOD_S, self._note_and_serve, name=name)

    def start(self) -> None:
        """Begin to tick."""
        self._loop.start()

    @abstractmethod
    def serve(self, tick: Tick, now_ns: int) -> None:
        """Do the work of a tick."""

    def stop(self) -> None:
        """End the loop and keep what it noted."""
        self._loop.stop()
        self._recorder.save()

    def _note_and_serve(self, tick: Tick) -> None:
        self._recorder.note(tick)
        self.serve(tick, self.get_clock().now().nanoseconds)


def run_stand_in(make: Callable[[list[str], str, TickRecorder], StandIn], description: str) -> int:
    """Make a stand-in from the command line, and run it until told to stop."""
    options = parse_arguments(description)
    recorder = TickRecorder(options.ticks)
    return run_node(
        lambda: make(options.arms, options.edge, recorder), arguments=[], on_stop=StandIn.stop
    )

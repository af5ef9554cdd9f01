"""A stand-in for the arms: publishes their joint states at 200 Hz and hears servo_jp."""

from __future__ import annotations

import sys

from rclpy.node import Node

from bench.loop.edges import make_edge
from bench.loop.ticks import PERIOD_S, TickRecorder, parse_arguments
from dvrk_kinematics.ros.loop import SteadyLoop, Tick
from dvrk_kinematics.ros.process import run_node


class StandInArms(Node):
    """All arms in one process, as the dVRK has them."""

    def __init__(self, arms: list[str], edge: str, recorder: TickRecorder) -> None:
        super().__init__("stand_in_arms")
        maker = make_edge(edge)
        self.recorder = recorder
        self.measured = [maker.joint_writer(self, f"{arm}/measured_js") for arm in arms]
        self.commands = [maker.joint_reader(self, f"{arm}/servo_jp") for arm in arms]
        self.loop = SteadyLoop(PERIOD_S, self.tick, name="arms")
        self.loop.start()

    def tick(self, tick: Tick) -> None:
        """Follow the commands, and say so."""
        self.recorder.note(tick)
        now = self.get_clock().now().nanoseconds
        for writer, command in zip(self.measured, self.commands, strict=True):
            command.poll()
            writer.publish(command.position + 1e-6, command.velocity, now)

    def stop(self) -> None:
        """End the loop and keep what it noted."""
        self.loop.stop()
        self.recorder.save()


def main() -> int:
    """Run until told to stop."""
    options = parse_arguments(__doc__ or "")
    return run_node(
        lambda: StandInArms(options.arms, options.edge, TickRecorder(options.ticks)),
        arguments=[],
        on_stop=StandInArms.stop,
    )


if __name__ == "__main__":
    sys.exit(main())

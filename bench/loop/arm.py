"""A stand-in for the arms: publishes their joint states at 200 Hz and hears servo_jp."""

from __future__ import annotations

import sys

from bench.loop.edges import make_edge
from bench.loop.stand_in import StandIn, run_stand_in
from bench.loop.ticks import TickRecorder
from dvrk_kinematics.ros.common.steady_loop import Tick


class StandInArms(StandIn):
    """All arms in one process, as in the dVRK."""

    def __init__(self, arms: list[str], edge: str, recorder: TickRecorder) -> None:
        super().__init__("stand_in_arms", recorder)
        maker = make_edge(edge)
        self.measured = [maker.joint_writer(self, f"{arm}/measured_js") for arm in arms]
        self.commands = [maker.joint_reader(self, f"{arm}/servo_jp") for arm in arms]
        self.start()

    def serve(self, tick: Tick, now_ns: int) -> None:
        """Follow the commands, and publish the state."""
        for writer, command in zip(self.measured, self.commands, strict=True):
            command.poll()
            writer.publish(command.position + 1e-6, command.velocity, now_ns)


if __name__ == "__main__":
    sys.exit(run_stand_in(StandInArms, __doc__ or ""))

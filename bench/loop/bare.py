"""The reference: the same loop in a process without ROS, doing next to nothing."""

from __future__ import annotations

import signal
import threading

from bench.loop.ticks import PERIOD_S, TickRecorder, parse_arguments
from dvrk_kinematics.ros.loop import SteadyLoop


def main() -> None:
    """Tick until told to stop."""
    recorder = TickRecorder(parse_arguments(__doc__ or "").ticks)
    stop = threading.Event()
    for sign in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sign, lambda *_: stop.set())
    loop = SteadyLoop(PERIOD_S, recorder.note)
    loop.start()
    stop.wait()
    loop.stop()
    recorder.save()


if __name__ == "__main__":
    main()

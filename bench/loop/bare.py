"""The reference: a loop of the same rate in a process without ROS, doing next to nothing."""

from __future__ import annotations

import argparse
import signal
import threading
from pathlib import Path

from bench.loop.ticks import PERIOD_S, TickRecorder
from dvrk_kinematics.ros.loop import SteadyLoop


def main() -> None:
    """Tick until told to stop."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=float, default=1.0 / PERIOD_S, help="ticks in a second")
    parser.add_argument("--ticks", type=Path, required=True, help="file for the ticks")
    options = parser.parse_args()
    recorder = TickRecorder(options.ticks)
    stop = threading.Event()
    for sign in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sign, lambda *_: stop.set())
    loop = SteadyLoop(1.0 / options.rate, recorder.note)
    loop.start()
    stop.wait()
    loop.stop()
    recorder.save()


if __name__ == "__main__":
    main()

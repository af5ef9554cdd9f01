"""The reference: a loop of the same rate in a process without ROS, doing next to nothing."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from pathlib import Path

from bench.loop.ticks import PERIOD_S, TickRecorder
from dvrk_kinematics.ros.common.steady_loop import SteadyLoop


def main() -> None:
    """Tick until told to stop."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=float, default=1.0 / PERIOD_S, help="ticks in a second")
    parser.add_argument("--ticks", type=Path, required=True, help="file for the ticks")
    parser.add_argument("--say-ready", action="store_true", help="print a line once it ticks")
    options = parser.parse_args()
    recorder = TickRecorder(options.ticks)
    stop = threading.Event()
    for sign in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sign, lambda *_: stop.set())
    loop = SteadyLoop(1.0 / options.rate, recorder.note)
    loop.start()
    if options.say_ready:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
    stop.wait()
    loop.stop()
    recorder.save()


if __name__ == "__main__":
    main()

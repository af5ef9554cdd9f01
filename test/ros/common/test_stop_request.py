"""What signals set while somebody waits for it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from dvrk_kinematics.ros.common.interruptions import StopRequest

SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
ROUNDS = 3000
LISTENER = f"""
import signal, sys
from dvrk_kinematics.ros.common.interruptions import StopRequest
request = StopRequest()
for number in {tuple(map(int, SIGNALS))}:
    signal.signal(number, request.hear)
print("ready", flush=True)
for _ in sys.stdin:
    break
assert request.wait(60.0)
"""


def test_signals_that_interrupt_each_other_set_it_and_never_hang() -> None:
    """A bridge whose terminal was closed and whose launch had died ran on for ever, deaf."""
    listener = subprocess.Popen(
        [sys.executable, "-c", LISTENER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert listener.stdout is not None and listener.stdout.readline() == "ready\n"
        for _ in range(ROUNDS):
            for number in SIGNALS:
                os.kill(listener.pid, number)
        listener.communicate("go on\n", timeout=60.0)
        assert listener.returncode == 0
    finally:
        listener.kill()
        listener.communicate()


def test_it_stays_set_and_a_wait_without_it_ends() -> None:
    request = StopRequest()
    assert not request.wait(0.01)
    request.set()
    assert request.wait(0.0) and request.wait()

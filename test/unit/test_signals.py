"""What tests start can be stopped, however the tests themselves were started."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

CONFTEST = Path(__file__).resolve().parent.parent / "conftest.py"
STOPS = ("SIGINT", "SIGHUP", "SIGQUIT", "SIGTERM")
ASK = f"""
import signal
print([signal.getsignal(getattr(signal, name)) is signal.SIG_IGN for name in {STOPS}])
"""
RUN = f"""
import runpy, signal, subprocess, sys
for name in ("SIGINT", "SIGHUP", "SIGQUIT"):
    signal.signal(getattr(signal, name), signal.SIG_IGN)
runpy.run_path({str(CONFTEST)!r})
sys.stdout.write(subprocess.check_output([sys.executable, "-c", {ASK!r}], text=True))
signal.raise_signal(signal.SIGHUP)
print("goes on")
"""


def test_below_nohup_and_in_the_background_children_take_signals_and_tests_go_on() -> None:
    """``nohup ./dvrk test &`` once failed where a test sends SIGHUP or SIGQUIT."""
    done = subprocess.run(
        [sys.executable, "-c", RUN], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.splitlines() == ["[False, False, False, False]", "goes on"]


def test_the_children_of_this_very_run_take_signals() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ASK], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[False, False, False, False]"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler

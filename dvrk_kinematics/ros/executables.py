"""The package's executables: how their processes begin and end.

Their modules take a second to import, and a Ctrl-C during that time would print a traceback from
the middle of an import. So this module imports next to nothing, and handles signals before it
imports anything else. ``python -m dvrk_kinematics.ros.executables NAME ...`` does what ``ros2
run dvrk_kinematics NAME ...`` does.

A process started by a launch file ends with the launch, however the launch ends: ``ros2 launch``
leaves its processes behind when it receives SIGTERM or SIGHUP, or is killed.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import os
import signal
import sys
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Final, NoReturn

from dvrk_kinematics.ros.common.interruptions import stop_signals

__all__ = ["COMMANDS", "EXECUTABLES", "LAUNCHED_BY", "end_process"]

EXECUTABLES: Final = {
    "arm": "dvrk_kinematics.ros.arm_command.command",
    "arm_bridge": "dvrk_kinematics.ros.bridge.node",
    "arm_simulator": "dvrk_kinematics.ros.simulator.node",
    "kinematics_server": "dvrk_kinematics.ros.servers.kinematics_server",
    "record": "dvrk_kinematics.ros.recorder.command",
    "recorder": "dvrk_kinematics.ros.recorder.node",
    "trace_block_o": "dvrk_kinematics.ros.demo.trace_block_o",
    "trajectory_server": "dvrk_kinematics.ros.servers.trajectory_server",
}
"""The package's executables and the modules that they run."""

COMMANDS: Final = ("arm", "record", "trace_block_o")
"""Executables that are not nodes: they start and end like any other program."""

_SCRIPTED: Final = {
    "demo": "dvrk_kinematics.ros.demo.demo",
    "up": "dvrk_kinematics.ros.bringup.up",
}
"""Commands of ``./dvrk`` that ``ros2 run`` does not offer, since launch files do the same."""


LAUNCHED_BY: Final = "DVRK_LAUNCHED_BY"
"""The variable with the id of the launching process, whose children must end with it."""

_PR_SET_PDEATHSIG: Final = 1
"""From <sys/prctl.h>: the signal that a process gets when its parent dies."""


def end_process(code: int) -> NoReturn:
    """End this process immediately after flushing its output.

    A normal interpreter shutdown destroys every object, which can take seconds on a busy machine
    for no benefit, while middleware threads may still run.

    Args:
        code: Its exit code.
    """
    for stream in (sys.stdout, sys.stderr):
        # The reader may be gone.
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def _run(name: str) -> NoReturn:
    """Import the module of an executable, run it, and end the process."""
    is_node = name in EXECUTABLES and name not in COMMANDS

    def leave(sign: int, _frame: FrameType | None) -> None:
        # Nothing has started yet, or everything is done. The module handles signals on its own
        # while it runs, and then returns them to this handler: a second Ctrl-C during the last
        # steps must not print a traceback either.
        os._exit(0 if is_node else 128 + sign)

    signals = stop_signals()
    for sign in signals:
        signal.signal(sign, leave)
    # The parent may have blocked signals until a handler is installed.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)
    _end_with_launch()
    end_process(importlib.import_module((EXECUTABLES | _SCRIPTED)[name]).main())


def _end_with_launch() -> None:
    """Request SIGTERM for when the launching process dies; end if it is already dead."""
    launch = os.environ.pop(LAUNCHED_BY, "")
    if not launch or sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    # With a launch-prefix there is another process in between, which is then the parent.
    if os.getppid() != int(launch) and not _is_alive(launch):
        os._exit(1)


def _is_alive(pid: str) -> bool:
    """Whether a process runs; a killed one stays listed until its parent has reaped it."""
    try:
        state = Path("/proc", pid, "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return state.rpartition(")")[2].split()[0] not in "ZX"


arm = partial(_run, "arm")
arm_bridge = partial(_run, "arm_bridge")
arm_simulator = partial(_run, "arm_simulator")
kinematics_server = partial(_run, "kinematics_server")
record = partial(_run, "record")
recorder = partial(_run, "recorder")
trace_block_o = partial(_run, "trace_block_o")
trajectory_server = partial(_run, "trajectory_server")


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in EXECUTABLES | _SCRIPTED:
        raise SystemExit(f"which executable? there are: {', '.join(EXECUTABLES | _SCRIPTED)}")
    sys.argv[:2] = sys.argv[1:2]
    _run(sys.argv[0])

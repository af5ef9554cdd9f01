"""The package's executables: how their processes begin and end.

What they run takes a second to import, and a Ctrl-C during that time would print a traceback out
of the middle of some import. So this module imports next to nothing, and is told of signals before
anything else is imported. ``python -m dvrk_kinematics.ros.executables NAME ...`` does what ``ros2
run dvrk_kinematics NAME ...`` does.

A process that a launch file has started ends with the launch, however that has ended: ``ros2
launch`` leaves its processes behind when it gets SIGTERM or SIGHUP, or is killed.
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
"""Those that are no nodes of their own: they start and end like any other program."""

_SCRIPTED: Final = {
    "demo": "dvrk_kinematics.ros.demo.demo",
    "up": "dvrk_kinematics.ros.bringup.up",
}
"""Commands of ``./dvrk`` that ``ros2 run`` does not offer: launch files do what they do."""


LAUNCHED_BY: Final = "DVRK_LAUNCHED_BY"
"""The variable with the id of the process whose end shall be the end of what it has started."""

_PR_SET_PDEATHSIG: Final = 1
"""From <sys/prctl.h>: the signal that a process gets when its parent dies."""


def end_process(code: int) -> NoReturn:
    """End this process now, once all that it has to say is written.

    An interpreter that ends takes down every object there is, which can take seconds on a busy
    machine and gains nobody anything, while threads of the middleware may still run.

    Args:
        code: Its exit code.
    """
    for stream in (sys.stdout, sys.stderr):
        # Whoever read it may be gone.
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def _run(name: str) -> NoReturn:
    """Import what an executable runs, run it, and end."""
    is_node = name in EXECUTABLES and name not in COMMANDS

    def leave(sign: int, _frame: FrameType | None) -> None:
        # Nothing has begun yet, or everything is done: there is nothing left to do. What runs
        # handles signals by itself, and then leaves them to this handler again: a second Ctrl-C
        # during the last steps must not print a traceback either.
        os._exit(0 if is_node else 128 + sign)

    signals = stop_signals()
    for sign in signals:
        signal.signal(sign, leave)
    # Whoever started this process may have kept signals back until somebody handles them.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)
    _end_with_launch()
    end_process(importlib.import_module((EXECUTABLES | _SCRIPTED)[name]).main())


def _end_with_launch() -> None:
    """Get SIGTERM when the launch that started this process dies; end if it has died before."""
    launch = os.environ.pop(LAUNCHED_BY, "")
    if not launch or sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    # With a launch-prefix another process stands between, and is the parent then.
    if os.getppid() != int(launch) and not _is_alive(launch):
        os._exit(1)


def _is_alive(pid: str) -> bool:
    """Whether a process runs; one that was killed is listed until its parent has heard of it."""
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

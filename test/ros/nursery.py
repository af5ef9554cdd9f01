"""Starts nodes as processes of their own, forked from one that has imported what they run.

A node of the project takes most of a second of a core to import, and the tests start hundreds.
This process has imported everything and started nothing of ROS. It reads one line of JSON for each
process to start, and writes one when it has started and one when it has ended. It ends with those
who asked.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import sys
import traceback
from typing import Any, NoReturn

from bench.processes import die_with_parent
from dvrk_kinematics.ros import executables

PRELOADED = (
    *executables.EXECUTABLES.values(),
    "dvrk_kinematics.kinematics.solvers.ecm",
    "dvrk_kinematics.kinematics.solvers.numeric",
    "dvrk_kinematics.kinematics.solvers.psm.solver",
)


def become(order: dict[str, Any]) -> NoReturn:
    """In a process that was just forked: run what is wanted."""
    die_with_parent()
    output = os.open(order["output"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    os.environ.clear()
    os.environ.update(order["environ"])
    sys.argv = order["arguments"]
    code = 1
    try:
        getattr(executables, sys.argv[0])()
    except SystemExit as asked:
        code = asked.code if isinstance(asked.code, int) else 1
    except BaseException:
        traceback.print_exc()
    executables.end_process(code)


def tell(**news: int) -> None:
    """Write one line."""
    os.write(1, json.dumps(news).encode() + b"\n")


def main() -> None:
    """Start processes until nobody asks for any more."""
    for module in PRELOADED:
        importlib.import_module(module)
    gc.collect()
    # What no collection looks at stays in pages that all processes share.
    gc.freeze()
    watched: dict[int, int] = {}
    begun = b""
    while True:
        ready, _, _ = select.select([0, *watched], [], [])
        for fd in ready:
            if fd in watched:
                pid = watched.pop(fd)
                _, status = os.waitpid(pid, 0)
                os.close(fd)
                tell(ended=pid, code=os.waitstatus_to_exitcode(status))
                continue
            read = os.read(0, 1 << 16)
            if not read:
                return
            *orders, begun = (begun + read).split(b"\n")
            for order in orders:
                pid = os.fork()
                if pid == 0:
                    become(json.loads(order))
                watched[os.pidfd_open(pid)] = pid
                tell(started=pid)


if __name__ == "__main__":
    main()

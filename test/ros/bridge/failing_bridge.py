"""A bridge whose control loop fails once a file is there: failing_bridge.py FILE NAMESPACE."""

from __future__ import annotations

import sys
from pathlib import Path

from dvrk_kinematics.ros.arm_bridge import main
from dvrk_kinematics.ros.bridge_port import CrtkPort

FILE, NAMESPACE = Path(sys.argv[1]), sys.argv[2]
poll = CrtkPort.poll


def poll_or_fail(port: CrtkPort, now_ns: int) -> bool:
    if FILE.exists():
        raise RuntimeError("no luck")
    return poll(port, now_ns)


if __name__ == "__main__":
    CrtkPort.poll = poll_or_fail  # type: ignore[method-assign]
    sys.exit(main(["--ros-args", "-r", f"__ns:=/{NAMESPACE}", "-p", "max_gap:=1.0"]))

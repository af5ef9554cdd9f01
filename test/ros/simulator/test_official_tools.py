"""The official Python client itself, where it is to be had, started afresh against one simulator.

crtk_python_client and what it imports (PyKDL) are installed below DVRK_ROS_TOOLS for these tests.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from arm_client import ArmClient
from rclpy.node import Node
from ros2_tools import TOOLS, packages_below

from dvrk_kinematics.ros.bringup.processes import simulated_arms

_HAS_CLIENT = all(importlib.util.find_spec(name) for name in ("crtk", "PyKDL"))

pytestmark = [
    pytest.mark.ros,
    pytest.mark.skipif(not _HAS_CLIENT, reason="no crtk client; DVRK_ROS_TOOLS can name a prefix"),
]

TIMEOUT_S = 120.0
STARTS = 8

# As the client's own examples begin. Its check looks at its own half of a connection only, and the
# arm finds the other half some ms later: so it waits for the first state in its own way.
CLIENT = """
import crtk

class Device:
    def __init__(self, ral):
        self.utils = crtk.utils(self, ral)
        self.utils.add_operating_state()
        self.utils.add_setpoint_js()
        self.utils.add_servo_jp()

ral = crtk.ral("fresh_client")
device = Device(ral.create_child("PSM1"))
ral.spin()
ral.check_connections(60.0)
position, stamp_s = device.setpoint_jp(60.0)
print(len(position), flush=True)
ral.shutdown()
"""


@pytest.fixture(scope="module")
def environ(run: Any, node: Node) -> dict[str, str]:
    """Of a client beside a simulated arm that is homed."""
    run(simulated_arms(["PSM1"]))
    arm = ArmClient(node, "PSM1", durable=True)
    arm.hear("operating_state", "status", "warning", "error")
    arm.wait("operating_state", lambda: arm.heard["operating_state"])
    arm.enable()
    arm.home()
    paths = [os.environ.get("PYTHONPATH", "")]
    if TOOLS:
        paths.append(str(packages_below(Path(TOOLS))))
    return {**os.environ, "PYTHONPATH": ":".join(filter(None, paths))}


@pytest.mark.parametrize("start", range(STARTS))
def test_a_fresh_client_finds_an_arm_and_hears_its_setpoint(
    environ: dict[str, str], start: int
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CLIENT],
        env=environ,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    assert (done.returncode, done.stdout) == (0, "6\n"), done.stderr

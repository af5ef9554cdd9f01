"""Shared by the tests of the arm bridge: a simulated arm and its bridge as real processes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from rclpy.node import Node

# Test modules are imported one by one, not as a package: what they share is found here.
HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "simulator")]

from bridge_client import BridgeClient, bridge_of  # noqa: E402
from running_process import RunningProcess  # noqa: E402

from dvrk_kinematics.ros.bringup.processes import Process, simulated_arms  # noqa: E402


@dataclass
class Rig:
    """An arm, its bridge, and a client of both."""

    simulator: RunningProcess
    bridge: RunningProcess
    client: BridgeClient


MakeRig = Callable[..., Rig]


def rig_maker(run: Callable[[Process], RunningProcess], node: Node) -> MakeRig:
    """Makes a rig of its own namespace, so that modules do not hear each other's arms."""

    def make(
        namespace: str,
        arm: str = "PSM1",
        simulator: Mapping[str, Any] | None = None,
        **bridge: Any,
    ) -> Rig:
        parameters = {"arm": arm, **bridge}
        return Rig(
            run(simulated_arms([arm], namespace, faults=True, **(simulator or {}))),
            run(bridge_of(namespace, **parameters)),
            BridgeClient(node, arm, namespace),
        )

    return make


@pytest.fixture(scope="module")
def make_rig(run: Callable[[Process], RunningProcess], node: Node) -> MakeRig:
    """Makes rigs that run until the module's tests are over."""
    return rig_maker(run, node)


@pytest.fixture
def make_rig_alone(run_alone: Callable[[Process], RunningProcess], node: Node) -> MakeRig:
    """Makes rigs that run until the test is over."""
    return rig_maker(run_alone, node)

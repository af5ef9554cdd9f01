"""Arms of other kinds, below a namespace: the same server moves them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from motion_client import MotionClient, abs_j, check_followed, check_refused, line, make_processes
from rclpy.node import Node

from dvrk_kinematics.geometry import se3

NAMESPACE = "lab"
BEGIN = {
    "ECM": np.array([0.1, 0.1, 0.1, 0.0]),
    "RVM1": np.array([0.1, 0.4, -0.9, 0.5, 0.1]),
    "CYBER310": np.array([0.2, -1.3, 0.4, 0.3, -0.9, 0.5]),
}
"""Where each arm begins (rad, m): well inside its limits."""
ALONG = se3.translation(np.array([0.0, 0.0, 0.01]))


@pytest.fixture(scope="module")
def arms(
    run: Any, node: Node, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, MotionClient]:
    folder = str(tmp_path_factory.mktemp("recordings"))
    for process in make_processes(list(BEGIN), folder, NAMESPACE):
        run(process)
    clients = {name: MotionClient(node, name, NAMESPACE) for name in BEGIN}
    for client in clients.values():
        client.get_ready()
    return clients


@pytest.mark.parametrize("name", BEGIN)
def test_it_follows_a_line_that_it_can_follow(arms: dict[str, MotionClient], name: str) -> None:
    arm = arms[name]
    done = arm.move(
        abs_j(BEGIN[name], speed=0.5, acceleration=0.5), line(ALONG, acceleration=0.04)
    )
    check_followed(done)
    T = arm.model.forward(BEGIN[name]) @ ALONG
    np.testing.assert_allclose(arm.model.forward(arm.setpoint), T, atol=2e-6)


@pytest.mark.parametrize("name", ["ECM", "RVM1"])
def test_a_turn_that_it_cannot_do_is_refused(arms: dict[str, MotionClient], name: str) -> None:
    # A third of a turn about the diagonal: no arm with fewer than six joints has it on a line.
    aside = se3.make(np.eye(3)[:, [1, 2, 0]], np.array([0.0, 0.0, 0.02]))
    with arms[name].standing_still():
        check_refused(arms[name].move(line(aside)), f"{name}: step 0")

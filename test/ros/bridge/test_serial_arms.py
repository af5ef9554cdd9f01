"""Teaching arms through the same bridge: nothing in it knows their names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bridge_client import BridgeClient
from joint_goals import SUCCEEDED, TIMEOUT_S, check_ended, make_goal

from dvrk_kinematics.cli.papers.weld_task import WeldTask, sample_weld
from dvrk_kinematics.driver import Reason, ResultCode
from dvrk_kinematics.motion.limits import make_motion_limits
from dvrk_kinematics.motion.moves import MoveL
from dvrk_kinematics.motion.planning.planner import plan_motion
from dvrk_kinematics.motion.timing.speeds import TipSpeeds

ARMS = ("RVM1", "CYBER310")
LINE_M = 1e-6


@pytest.fixture(scope="module")
def clients(make_rig: Any) -> dict[str, BridgeClient]:
    """Clients of both arms, ready to move."""
    made = {name: make_rig(f"teaching_{name.lower()}", name).client for name in ARMS}
    for client in made.values():
        client.get_ready()
    return made


@pytest.fixture(params=ARMS)
def client(request: pytest.FixtureRequest, clients: dict[str, BridgeClient]) -> BridgeClient:
    return clients[request.param]


def test_it_is_homed_and_follows_goals(client: BridgeClient) -> None:
    home = np.array(client.model.model.controller.home)
    np.testing.assert_allclose(client.setpoint, home, atol=1e-9)
    client.reach(home + 0.1)
    client.reach(home)


def test_a_goal_beyond_a_limit_moves_nothing(client: BridgeClient) -> None:
    far = client.setpoint
    far[0] = client.model.limits.upper[0] + 0.1
    with client.commands.silence():
        response = client.go(far, 1.0).result(TIMEOUT_S)
    check_ended(response, Reason.GOAL_POSITION_LIMIT, ResultCode.INVALID_GOAL)


def test_the_weld_line_is_followed_to_a_micrometre(clients: dict[str, BridgeClient]) -> None:
    client, task = clients["RVM1"], WeldTask()
    arm = client.model
    start = sample_weld(arm, task).q[0]
    client.reach(start, 1.0)
    move = MoveL(task.poses(np.ones(1))[0], speeds=TipSpeeds(speed=0.15, acceleration=0.5))
    plan = plan_motion(arm, [move], start, make_motion_limits(arm))
    sent = client.commands.mark()
    knots = plan.spline
    goal = make_goal(client.joints, plan.times_ns * 1e-9, knots.position, knots.velocity)
    check_ended(
        client.follow(goal).result(TIMEOUT_S), Reason.REACHED, ResultCode.SUCCESSFUL, SUCCEEDED
    )
    tip = arm.forward(client.commands.setpoints(sent))[:, :3, 3]
    assert len(tip) > 100
    assert np.abs(tip[:, :2] - [0.5, 0.0]).max() < LINE_M
    np.testing.assert_allclose(tip[-1], task.end, atol=LINE_M)

"""Solutions by their names, and why a single pose has none, over the services."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dvrk_kinematics_interfaces.srv import SolveIk
from kinematics_client import ARMS, SERVER, KinematicsClient, is_empty, random_joints, rows
from rclpy.node import Node

from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.ros.common.conversions import cp_to_matrices, matrices_to_cp

NAMED = ("RVM1", "CYBER310")


@pytest.fixture(scope="module")
def client(run: Any, node: Node) -> KinematicsClient:
    run(SERVER)
    return KinematicsClient(node)


def poses(name: str, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Poses of the tip as flat rows and as matrices, as the server reads them."""
    cp = matrices_to_cp(ARMS[name].forward(random_joints(ARMS[name], count)))
    return cp, cp_to_matrices(cp)[0]


@pytest.mark.parametrize("name", NAMED)
def test_a_branch_is_chosen_by_its_name(client: KinematicsClient, name: str) -> None:
    arm = ARMS[name]
    cp, T = poses(name, 5)
    for branch in arm.branch_names:
        answer = client.ask(name, "solve_ik", cp=cp, branch=branch)
        assert answer.success and list(answer.branch_names) == list(arm.branch_names)
        wanted = [arm.inverse_branch(pose, branch) for pose in T]
        np.testing.assert_array_equal(
            rows(answer.jp, len(arm.joint_names)), [one.q for one in wanted]
        )
        assert list(answer.status) == [one.status for one in wanted]


@pytest.mark.parametrize("name", NAMED)
def test_every_row_of_all_branches_has_its_name(client: KinematicsClient, name: str) -> None:
    arm = ARMS[name]
    cp, T = poses(name, 3)
    answer = client.ask(name, "solve_ik", cp=cp, all_branches=True)
    q = rows(answer.jp, len(arm.branch_names), len(arm.joint_names))
    for i, pose in enumerate(T):
        for k, branch in enumerate(answer.branch_names):
            np.testing.assert_array_equal(q[i, k], arm.inverse_branch(pose, branch).q)


def test_arms_whose_branches_have_no_names_list_none(client: KinematicsClient) -> None:
    cp, _ = poses("PSM1", 1)
    assert list(client.ask("PSM1", "solve_ik", cp=cp).branch_names) == []


@pytest.mark.parametrize(
    ("name", "fields", "words"),
    [
        ("CYBER310", {"branch": "up"}, "left/elbow_up/wrist_up"),
        ("PSM1", {"branch": "elbow_up"}, "branch of PSM"),
        ("RVM1", {"branch": "elbow_up", "all_branches": True}, "does not go together"),
        ("RVM1", {"branch": "elbow_up", "policy": 1}, "does not go together"),
    ],
)
def test_a_branch_that_cannot_be_is_refused(
    client: KinematicsClient, name: str, fields: dict[str, Any], words: str
) -> None:
    cp, _ = poses(name, 1)
    answer = client.ask(name, "solve_ik", cp=cp, **fields)
    assert is_empty(answer) and words in answer.message


def test_what_five_axes_cannot_have_is_said_of_a_single_pose(client: KinematicsClient) -> None:
    q = ARMS["RVM1"].limits.lower * 0.4 + ARMS["RVM1"].limits.upper * 0.6
    T = ARMS["RVM1"].forward(q)
    T_turned = se3.make(so3.exp(np.array([0.0, 0.0, 0.3])) @ T[:3, :3], T[:3, 3])
    answer = client.ask("RVM1", "solve_ik", cp=matrices_to_cp(T_turned[None]))
    assert answer.success and answer.status[0] == SolveIk.Response.UNREACHABLE
    assert answer.message == f"UNREACHABLE: {ARMS['RVM1'].inverse(T_turned).reason}"
    assert "plane" in answer.message
    assert client.ask("RVM1", "solve_ik", cp=matrices_to_cp(T[None])).message == ""

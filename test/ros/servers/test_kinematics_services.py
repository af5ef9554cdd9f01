"""The kinematics server gives what the library gives, row by row, for several arms at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dvrk_kinematics_interfaces.srv import SolveDifferential, SolveFk, SolveIk
from kinematics_client import ARMS, SERVER, KinematicsClient, is_empty, random_joints, rows
from rclpy.node import Node

from dvrk_kinematics.kinematics.chain import chain_frame
from dvrk_kinematics.ros.common.conversions import cp_to_matrices, matrices_to_cp, matrix_to_pose

NAN = float("nan")
EVERY_ARM = pytest.mark.parametrize("name", ARMS)
FAR = 3.0
"""Metres that no arm reaches."""


@pytest.fixture(scope="module")
def client(run: Any, node: Node) -> KinematicsClient:
    run(SERVER)
    return KinematicsClient(node)


def poses(name: str, count: int = 50) -> tuple[np.ndarray, np.ndarray]:
    """Poses (N, 7) of all kinds: inside limits, outside, out of reach and none; with matrices."""
    arm = ARMS[name]
    cp = matrices_to_cp(arm.forward(random_joints(arm, count)))
    cp[count // 2 : count // 2 + 5, 2] -= 0.2
    cp[-5:-3, 0] += FAR
    cp[-3, 1], cp[-2, 3:], cp[-1, 3:] = NAN, 0.0, [0.0, 0.0, 0.0, 1.1]
    return cp, cp_to_matrices(cp)[0]


def check_rows(answer: Any, name: str, wanted: Any) -> None:
    joints = len(ARMS[name].joint_names)
    assert answer.success, "a pose that is not OK does not cost the others their answer"
    bad = np.flatnonzero(~wanted.ok)
    first = wanted.row(int(bad[0]), ARMS[name].limits)
    assert answer.message == (
        f"{len(bad)} of {len(wanted)} poses are not OK; the first of them is pose {bad[0]}, "
        f"{first.status}: {first.reason}"
    )
    assert tuple(answer.joint_names) == ARMS[name].joint_names
    np.testing.assert_array_equal(answer.lower, ARMS[name].limits.lower)
    np.testing.assert_array_equal(answer.upper, ARMS[name].limits.upper)
    np.testing.assert_array_equal(rows(answer.jp, joints), wanted.q)
    np.testing.assert_array_equal(answer.status, wanted.status)
    np.testing.assert_array_equal(answer.violations, wanted.violations)
    np.testing.assert_array_equal(answer.position_error, wanted.position_error)
    np.testing.assert_array_equal(answer.rotation_error, wanted.rotation_error)


@EVERY_ARM
def test_forward_kinematics_of_a_batch_and_of_every_link(
    client: KinematicsClient, name: str
) -> None:
    arm = ARMS[name]
    q = random_joints(arm, 20)
    q[7, 1] = NAN
    answer = client.ask(name, "solve_fk", jp=q, with_links=True)
    assert answer.success and tuple(answer.joint_names) == arm.joint_names
    assert answer.frame_id == f"{name}_base"
    assert answer.child_frame_id == f"{name}_{arm.model.tip_link}"
    good = np.arange(len(q)) != 7
    kinds = np.where(good, SolveFk.Response.OK, SolveFk.Response.INVALID_INPUT)
    np.testing.assert_array_equal(answer.status, kinds)
    cp = rows(answer.cp, 7)
    np.testing.assert_array_equal(cp[good], matrices_to_cp(arm.forward(q[good])))
    assert np.isnan(cp[7]).all()
    frames = arm.frames(q[good])
    links = rows(answer.link_cp, len(frames), 7)
    assert [f"{name}_{link}" for link in frames] == list(answer.link_names)
    for k, link in enumerate(frames):
        np.testing.assert_array_equal(links[good, k], matrices_to_cp(frames[link]), link)


@EVERY_ARM
def test_inverse_kinematics_of_a_batch_has_a_row_for_every_pose(
    client: KinematicsClient, name: str
) -> None:
    cp, T = poses(name)
    wanted = ARMS[name].inverse_batch(T)
    answer = client.ask(name, "solve_ik", cp=cp)
    check_rows(answer, name, wanted)
    assert list(answer.pose_index) == list(range(len(cp)))
    assert list(answer.status[-3:]) == [SolveIk.Response.INVALID_INPUT] * 3
    assert {0, SolveIk.Response.INVALID_INPUT} < set(answer.status)


@EVERY_ARM
def test_seeds_can_be_one_for_all_or_one_a_pose(client: KinematicsClient, name: str) -> None:
    arm = ARMS[name]
    cp, T = poses(name)
    seeds = random_joints(arm, len(cp), seed=2)
    check_rows(
        client.ask(name, "solve_ik", cp=cp, seed=seeds[0]),
        name,
        arm.inverse_batch(T, seed=seeds[0]),
    )
    seeds[3, 0] = NAN
    each = client.ask(name, "solve_ik", cp=cp, seed=seeds)
    check_rows(each, name, arm.inverse_batch(T, seed=seeds))
    assert each.status[3] == SolveIk.Response.INVALID_INPUT


@EVERY_ARM
def test_on_a_path_each_solution_is_the_seed_of_the_next(
    client: KinematicsClient, name: str
) -> None:
    arm = ARMS[name]
    ends = random_joints(arm, 2)
    q = ends[0] + np.linspace(0.0, 1.0, 30)[:, None] * (ends[1] - ends[0])
    cp = matrices_to_cp(arm.forward(q))
    cp[10, 3:] = NAN
    answer = client.ask(name, "solve_ik", cp=cp, seed=q[0], is_path=True)
    near = q[0]
    solved = rows(answer.jp, len(arm.joint_names))
    for i, T in enumerate(cp_to_matrices(cp)[0]):
        if i == 10:
            assert np.isnan(solved[i]).all()
            continue
        near = arm.inverse(T, seed=near).q
        np.testing.assert_array_equal(solved[i], near)
    assert answer.status[10] == SolveIk.Response.INVALID_INPUT


@EVERY_ARM
def test_all_branches_of_every_pose(client: KinematicsClient, name: str) -> None:
    arm = ARMS[name]
    cp, T = poses(name, 12)
    answer = client.ask(name, "solve_ik", cp=cp, all_branches=True)
    q, index = rows(answer.jp, len(arm.joint_names)), np.array(answer.pose_index)
    for i, pose in enumerate(T):
        if np.isnan(pose).any():
            assert np.isnan(q[index == i]).all() and (index == i).sum() == 1
            continue
        wanted = arm.inverse_all(pose)
        np.testing.assert_array_equal(q[index == i], [one.q for one in wanted])
        assert [one.status for one in wanted] == list(np.array(answer.status)[index == i])
    assert len(answer.violations) == len(q) == len(answer.position_error)
    solved = [any(one.ok for one in arm.inverse_all(pose)) for pose in T[:-3]]
    bad = len(cp) - sum(solved)
    assert answer.message.startswith(f"{bad} of {len(cp)} poses are not OK; the first of them is")


def test_a_policy_that_an_arm_does_not_have_is_refused(client: KinematicsClient) -> None:
    cp, _ = poses("CYBER310")
    policy = SolveIk.Request.POLICY_POSITION_FIRST
    answer = client.ask("CYBER310", "solve_ik", cp=cp, policy=policy)
    assert is_empty(answer)
    assert "position_first is not offered for an arm of this kind" in answer.message


@pytest.mark.parametrize("name", [name for name in ARMS if name != "CYBER310"])
def test_position_first_gives_up_orientation_and_tells_how_much(
    client: KinematicsClient, name: str
) -> None:
    cp, T = poses(name)
    answer = client.ask(name, "solve_ik", cp=cp, policy=SolveIk.Request.POLICY_POSITION_FIRST)
    check_rows(answer, name, ARMS[name].inverse_batch(T, policy="position_first"))


def test_bits_name_the_joints_outside_their_limits(client: KinematicsClient) -> None:
    arm = ARMS["PSM1"]
    q = np.array([0.1, 0.2, 0.30, 0.0, 0.1, 0.0])
    answer = client.ask("PSM1", "solve_ik", cp=matrices_to_cp(arm.forward(q)))
    assert list(answer.status) == [SolveIk.Response.OUTSIDE_LIMITS]
    assert list(answer.violations) == [1 << arm.joint_names.index("insertion")]
    assert answer.success, "the request was answered; what of it is bad stands in the message"
    said = "insertion would be 0.3000, allowed 0.0000 to 0.2400"
    assert answer.message == f"OUTSIDE_LIMITS: {said}"
    nothing = client.ask("PSM1", "solve_ik", cp=np.full(7, NAN))
    assert (
        nothing.success and nothing.message == "INVALID_INPUT: what was given is not a valid pose"
    )
    inside = client.ask("PSM1", "solve_ik", cp=matrices_to_cp(arm.forward(0.5 * q)))
    assert inside.success and inside.message == ""


@EVERY_ARM
def test_differential_kinematics_in_both_directions(client: KinematicsClient, name: str) -> None:
    arm = ARMS[name]
    n, rng = len(arm.joint_names), np.random.default_rng(3)
    q = random_joints(arm, 15)
    jv, ja = rng.normal(size=(2, 15, n))
    cv, ca = rng.normal(size=(2, 15, 6))
    q[4, 0] = NAN
    good = np.arange(15) != 4
    answer = client.ask(
        name,
        "solve_differential",
        **{"jp": q, "jv": jv, "ja": ja, "cv": cv, "ca": ca},
        with_jacobian=True,
        with_jacobian_rate=True,
    )
    assert answer.success and answer.frame_id == f"{name}_base"
    qg, jvg = q[good], jv[good]
    velocity = arm.solve_velocity(qg, cv[good])
    acceleration = arm.solve_acceleration(qg, jvg, ca[good])
    damping = np.maximum(velocity.damping, acceleration.damping)
    wanted = {
        "jacobian": arm.jacobian(qg),
        "jacobian_rate": arm.jacobian_rate(qg, jvg),
        "cv": arm.twist(qg, jvg),
        "ca": arm.acceleration(qg, jvg, ja[good]),
        "jv": velocity.rate,
        "ja": acceleration.rate,
    }
    for field, value in wanted.items():
        got = rows(getattr(answer, field), *value.shape[1:])
        np.testing.assert_array_equal(got[good], value, field)
        assert np.isnan(got[4]).all()
    kinds = SolveDifferential.Response
    assert answer.status[4] == kinds.INVALID_INPUT
    np.testing.assert_array_equal(np.array(answer.damping)[good], damping)
    status = np.where(damping > 0.0, kinds.DAMPED, kinds.OK)
    np.testing.assert_array_equal(np.array(answer.status)[good], status)


@EVERY_ARM
def test_crtk_types_give_frame_k_for_k_joints(client: KinematicsClient, name: str) -> None:
    arm = ARMS[name]
    q = random_joints(arm, 1)[0]
    for k in range(len(q) + 1):
        answer = client.ask(name, "forward_kinematics", jp=q[:k])
        wanted = arm.forward(q) if k == len(q) else chain_frame(arm.model, q[:k].tolist())
        assert answer.result and answer.cp == matrix_to_pose(wanted), k


@EVERY_ARM
def test_crtk_types_solve_inverse_kinematics(client: KinematicsClient, name: str) -> None:
    arm = ARMS[name]
    q = random_joints(arm, 1)[0]
    cp = matrix_to_pose(arm.forward(q))
    answer = client.ask(name, "inverse_kinematics", cp=cp, jp=q)
    assert answer.result and answer.message == ""
    np.testing.assert_allclose(answer.jp, q, atol=1e-9)
    cp.position.x += FAR
    beyond = client.ask(name, "inverse_kinematics", cp=cp)
    assert not beyond.result and beyond.message


def test_crtk_types_say_what_is_wrong(client: KinematicsClient) -> None:
    arm = ARMS["PSM1"]
    forward = client.ask("PSM1", "forward_kinematics", jp=np.zeros(7))
    assert not forward.result and forward.message == "too many joints: 7, the arm has 6"
    nothing = client.ask("PSM1", "forward_kinematics", jp=np.array([NAN]))
    assert not nothing.result and "NaN" in nothing.message
    deep = matrix_to_pose(arm.forward(np.array([0.0, 0.0, 0.3, 0.0, 0.0, 0.0])))
    outside = client.ask("PSM1", "inverse_kinematics", cp=deep)
    assert not outside.result
    assert outside.message == "insertion would be 0.3000, allowed 0.0000 to 0.2400"
    np.testing.assert_allclose(outside.jp[2], 0.3)
    deep.orientation.w = deep.orientation.x = deep.orientation.y = deep.orientation.z = 0.0
    none = client.ask("PSM1", "inverse_kinematics", cp=deep)
    assert is_empty(none) and "quaternion of length 1" in none.message


@pytest.mark.parametrize("service", ["solve_fk", "solve_ik", "solve_differential"])
def test_empty_requests_are_answered_with_no_rows(client: KinematicsClient, service: str) -> None:
    answer = client.ask("PSM1", service)
    assert answer.success and len(answer.status) == 0 and len(answer.joint_names) == 6


REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "joints that are no rows": ("solve_fk", {"jp": np.zeros(7)}, "jp: 7 numbers are no whole"),
    "poses that are no rows": ("solve_ik", {"cp": np.zeros(8)}, "cp: 8 numbers are no whole"),
    "a seed that is no row": (
        "solve_ik",
        {"cp": np.zeros(7), "seed": np.zeros(5)},
        "seed: 5 numbers are no whole rows of 6",
    ),
    "seeds of another number": (
        "solve_ik",
        {"cp": np.zeros(21), "seed": np.zeros(12)},
        "seed: 12 numbers, must be none, 6 numbers or 3 x 6",
    ),
    "many seeds of a path": (
        "solve_ik",
        {"cp": np.zeros(14), "seed": np.zeros(12), "is_path": True},
        "seed: 12 numbers, must be none, 6 numbers",
    ),
    "a seed for all that is NaN": (
        "solve_ik",
        {"cp": np.array([0.0, 0.0, -0.1, 0.0, 1.0, 0.0, 0.0]), "seed": np.full(6, NAN)},
        "seed",
    ),
    "another policy": ("solve_ik", {"policy": 7}, "policy: must be one of [0, 1], is 7"),
    "velocities of another number": (
        "solve_differential",
        {"jp": np.zeros(12), "jv": np.zeros(6)},
        "jv: has 1 rows, jp has 2",
    ),
    "twists that are no rows": (
        "solve_differential",
        {"jp": np.zeros(6), "cv": np.zeros(5)},
        "cv: 5 numbers are no whole rows of 6",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_refused_as_a_whole(client: KinematicsClient, case: str) -> None:
    service, fields, words = REFUSED[case]
    answer = client.ask("PSM1", service, **fields)
    assert is_empty(answer) and words in answer.message, answer

from __future__ import annotations

import numpy as np
import pytest

from dvrk_kinematics import Arm, load_arm
from dvrk_kinematics.errors import InvalidInput, UnknownName
from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.kinematics.link_tree import LinkTree
from dvrk_kinematics.models.schema import JointKind


def test_the_tip_of_the_tree_is_the_tip_of_the_chain(
    every_arm: Arm, rng: np.random.Generator
) -> None:
    """For PSM and ECM the tree goes through the linkage, the chain does not."""
    q = every_arm.random_q(rng, 200)
    assert np.abs(every_arm.frames(q)["tip"] - every_arm.forward(q)).max() < 1e-12


def test_frames_of_a_batch_equal_single_calls(every_arm: Arm, rng: np.random.Generator) -> None:
    q = every_arm.random_q(rng, 5)
    many = every_arm.frames(q)
    assert set(many) == set(every_arm.link_names)
    for i in range(5):
        for name, T in every_arm.frames(q[i]).items():
            assert np.abs(T - many[name][i]).max() < 1e-15, name


def test_frames_equal_a_plain_walk_down_the_tree(every_arm: Arm, rng: np.random.Generator) -> None:
    q = every_arm.random_q(rng)
    values = dict(zip(every_arm.joint_names, q, strict=True)) | {"jaw": 0.4}
    jaw = 0.4 if every_arm.jaw else None
    expected = {}
    for link in every_arm.model.links:
        J = np.eye(4)
        value = link.multiplier * values[link.joint] + link.offset if link.joint else 0.0
        if link.kind is JointKind.REVOLUTE:
            J[:3, :3] = so3.rot_z(value)
        elif link.kind is JointKind.PRISMATIC:
            J[2, 3] = value
        local = link.T_pre @ J @ link.T_post
        expected[link.name] = expected[link.parent] @ local if link.parent else local
    for name, T in every_arm.frames(q, jaw).items():
        assert np.abs(T - expected[name]).max() < 1e-14, name


@pytest.mark.parametrize("name", ["PSM", "ECM"])
def test_loops_stay_closed(name: str, rng: np.random.Generator) -> None:
    arm = load_arm(name)
    frames = arm.frames(arm.random_q(rng, 500))
    assert [loop.name for loop in arm.model.loops] == ["c1", "c2"]
    for loop in arm.model.loops:
        a = se3.apply(frames[loop.link_a], loop.point_a)
        b = se3.apply(frames[loop.link_b], loop.point_b)
        assert np.abs(a - b).max() < 1e-12, loop.name


@pytest.mark.parametrize("name", ["PSM", "ECM"])
def test_the_tool_axis_always_meets_the_remote_centre(name: str, rng: np.random.Generator) -> None:
    arm = load_arm(name)
    T = arm.frames(arm.random_q(rng, 500))["insertion_link"]
    p, z = T[:, :3, 3], T[:, :3, 2]
    assert np.linalg.norm(np.cross(p, z), axis=1).max() < 1e-12


def test_frames_of_the_linkage_are_those_of_the_controller(rng: np.random.Generator) -> None:
    """Yaw frame on the yaw axis 486.4 mm away, adaptor frame equal to the controller's frame 3."""
    arm = load_arm("PSM")
    q = arm.random_q(rng)
    frames = arm.frames(q)
    assert np.allclose(frames["yaw_link"][:3, 3], [0.0, -0.4864, 0.0])
    shaft = frames["adaptor_link"] @ se3.translation([0.0, 0.0, 0.4162])
    assert np.allclose(shaft[:3, 3], frames["wrist_pitch_link"][:3, 3], atol=1e-15)


def test_the_counterweight_moves_against_the_tool(rng: np.random.Generator) -> None:
    arm = load_arm("PSM")
    q = arm.random_q(rng)
    q[2] = 0.0
    before = arm.frames(q)
    q[2] = 0.2
    after = arm.frames(q)
    tool = after["insertion_link"][:3, 3] - before["insertion_link"][:3, 3]
    weight = after["counterweight_link"][:3, 3] - before["counterweight_link"][:3, 3]
    assert np.allclose(weight, -0.6025 * tool, atol=1e-15)


def test_jaw_halves_open_to_both_sides() -> None:
    arm = load_arm("PSM")
    frames = arm.frames(np.zeros(6), jaw=0.6)
    left = frames["wrist_yaw_link"].T @ frames["jaw_left_link"]
    right = frames["wrist_yaw_link"].T @ frames["jaw_right_link"]
    assert np.allclose(left[:3, :3], so3.rot_z(0.3))
    assert np.allclose(right[:3, :3], so3.rot_z(-0.3))
    assert np.allclose(
        frames["jaw_tip"][:3, 3] - frames["tip"][:3, 3], 0.0102 * frames["tip"][:3, 2]
    )


def test_a_jaw_has_to_make_sense() -> None:
    with pytest.raises(InvalidInput, match="ECM has none"):
        load_arm("ECM").frames(np.zeros(4), jaw=0.1)
    with pytest.raises(InvalidInput, match="jaw"):
        load_arm("PSM").frames(np.zeros(6), jaw=np.nan)
    with pytest.raises(InvalidInput, match="jaw"):
        load_arm("PSM").frames(np.zeros((3, 6)), jaw=[0.1, 0.2])


def test_a_link_that_follows_a_joint_unknown_to_the_tree_is_refused() -> None:
    arm = load_arm("PSM")
    with pytest.raises(UnknownName, match="jaw_link"):
        LinkTree(arm.model.links, arm.joint_names)

"""Arms whose joints have the zero of the controller's own table."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import numpy as np
import pytest

from dvrk_kinematics import Arm, load_arm
from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.geometry import so3
from dvrk_kinematics.models.zero import Zero

DATA = Path(__file__).resolve().parents[2] / "data" / "dvrk_truth"
ROUNDED = 1.5708 - np.pi / 2
ARMS = {
    "PSM": {"instrument": "400006"},
    "PSM Si": {"instrument": "420006", "generation": "Si"},
    "PSM snake": {"instrument": "400117"},
    "ECM": {},
    "ECM Si": {"generation": "Si"},
}


def both(name: str) -> tuple[Arm, Arm]:
    arm = name.split()[0]
    return load_arm(arm, **ARMS[name]), load_arm(arm, zero="controller", **ARMS[name])


def poses_inside(arm: Arm, rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    q = arm.random_q(rng, count)
    if "wrist_pitch1" in arm.joint_names:
        # The controller keeps both pitches and both yaws of a snake equal.
        q[:, 7], q[:, 6] = q[:, 4], q[:, 5]
    return q, arm.forward(q)


@pytest.fixture(scope="module")
def recorded() -> np.ndarray:
    """Joints, position and quaternion as the original software told them, shape (161, 13)."""
    with gzip.open(DATA / "psm1_400006_setpoint_js_cp.csv.gz", "rt", encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    return np.array(rows, dtype=np.float64)


def test_recorded_pairs_of_joints_and_poses_agree(recorded: np.ndarray) -> None:
    assert len(recorded) == 161
    arm = load_arm("PSM", instrument="400006", zero="controller")
    T = arm.forward(recorded[:, :6])
    R = so3.from_quaternion(recorded[:, 9:])
    np.testing.assert_allclose(T[:, :3, 3], recorded[:, 6:9], rtol=0, atol=1e-12)
    np.testing.assert_allclose(T[:, :3, :3], R, rtol=0, atol=1e-12)


def test_the_ideal_arm_is_a_micrometre_beside_them(recorded: np.ndarray) -> None:
    T = load_arm("PSM", instrument="400006").forward(recorded[:, :6])
    miss = np.linalg.norm(T[:, :3, 3] - recorded[:, 6:9], axis=1)
    assert 0.5e-6 < miss.max() < 1e-6


def test_recorded_poses_are_solved_to_the_recorded_joints(recorded: np.ndarray) -> None:
    arm = load_arm("PSM", instrument="400006", zero="controller")
    T = np.tile(np.eye(4), (len(recorded), 1, 1))
    T[:, :3, :3] = so3.from_quaternion(recorded[:, 9:])
    T[:, :3, 3] = recorded[:, 6:9]
    solved = arm.inverse_batch(T, seed=recorded[:, :6])
    assert solved.ok.all()
    np.testing.assert_allclose(solved.q, recorded[:, :6], rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", ARMS)
def test_inverse_is_as_exact_as_that_of_the_ideal_arm(name: str, rng: np.random.Generator) -> None:
    _, arm = both(name)
    q, T = poses_inside(arm, rng, 200)
    batch = arm.inverse_batch(T, seed=q)
    assert batch.ok.all()
    np.testing.assert_allclose(batch.q, q, rtol=0, atol=1e-9)
    for joints, pose in zip(q[:40], T[:40], strict=True):
        one = arm.inverse(pose, seed=joints)
        assert one.ok
        np.testing.assert_allclose(one.q, joints, rtol=0, atol=1e-9)
        assert not one.q.flags.writeable
        exact = [one for one in arm.inverse_all(pose) if one.rotation_error < 1e-9]
        assert exact
        for branch in exact:
            np.testing.assert_allclose(arm.forward(branch.q), pose, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ARMS)
def test_every_frame_and_the_jacobian_have_the_same_zero(
    name: str, rng: np.random.Generator
) -> None:
    ideal, arm = both(name)
    shift = np.array(arm.model.zero_shift)
    q, T = poses_inside(arm, rng, 20)
    np.testing.assert_allclose(ideal.forward(q + shift), T, rtol=0, atol=1e-14)
    np.testing.assert_allclose(arm.jacobian(q), ideal.jacobian(q + shift), rtol=0, atol=1e-14)
    frames, exact = arm.frames(q), ideal.frames(q + shift)
    for link, pose in frames.items():
        np.testing.assert_allclose(pose, exact[link], rtol=0, atol=1e-14, err_msg=link)
    np.testing.assert_allclose(frames[arm.model.tip_link], T, rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", ARMS)
def test_only_offsets_that_were_rounded_are_shifted(name: str) -> None:
    ideal, arm = both(name)
    assert ideal.model.zero_shift == (0.0,) * len(ideal.joint_names)
    shift = np.array(arm.model.zero_shift)
    assert shift.any()
    np.testing.assert_allclose(np.abs(shift[shift != 0.0]), ROUNDED, rtol=1e-9)
    assert (arm.limits.lower == ideal.limits.lower).all()
    assert (arm.limits.upper == ideal.limits.upper).all()


@pytest.mark.parametrize("name", ["PSM", "ECM"])
def test_limits_are_those_of_its_own_joints(name: str) -> None:
    _, arm = both(name)
    middle = 0.5 * (arm.limits.lower + arm.limits.upper)
    for joint, bound in enumerate(arm.limits.upper):
        if arm.limits.upper[joint] - arm.limits.lower[joint] > 2.0 * np.pi:
            continue  # A whole turn less is inside.
        q = middle.copy()
        q[joint] = bound - 1e-6
        assert arm.inverse(arm.forward(q), seed=q).ok
        q[joint] = bound + 1e-6
        refused = arm.inverse(arm.forward(q), seed=q)
        (violation,) = refused.violations
        assert violation.joint == arm.joint_names[joint]
        assert violation.upper == bound
        np.testing.assert_allclose(violation.value, q[joint], rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["PSM", "ECM"])
def test_the_nearest_orientation_is_found_too(name: str, rng: np.random.Generator) -> None:
    _, arm = both(name)
    q, T = poses_inside(arm, rng, 5)
    turned = T.copy()
    turned[:, :3, :3] = T[:, :3, :3] @ so3.from_quaternion(np.array([0.0, 0.0, 1.0, 0.0]))
    batch = arm.inverse_batch(turned, seed=q, policy="position_first")
    near = arm.inverse_near(turned, q[0])
    for result in (batch, near):
        reached = arm.forward(result.q[result.ok])
        np.testing.assert_allclose(
            reached[:, :3, 3], turned[result.ok][:, :3, 3], rtol=0, atol=1e-6
        )


def test_masters_have_it_too(rng: np.random.Generator) -> None:
    for name in ("MTML", "MTMR"):
        arm, ideal = load_arm(name, zero="controller"), load_arm(name)
        q = arm.random_q(rng)
        shift = np.array(arm.model.zero_shift)
        assert np.count_nonzero(shift) == 5
        np.testing.assert_allclose(arm.forward(q), ideal.forward(q + shift), rtol=0, atol=1e-14)
        assert arm.inverse(arm.forward(q), seed=q).ok


def test_an_arm_with_exact_offsets_has_one_zero() -> None:
    assert load_arm("RVM1", zero="controller").model.ideal is None


def test_the_default_is_the_ideal_arm() -> None:
    assert load_arm("PSM").model.ideal is None
    assert load_arm("PSM", zero=Zero.IDEAL).model.ideal is None


def test_an_unknown_zero_is_refused_in_words() -> None:
    with pytest.raises(InvalidInput, match="must be one of ideal, controller, is 'nominal'"):
        load_arm("PSM", zero="nominal")

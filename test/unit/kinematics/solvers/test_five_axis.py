"""The RV-M1: poses, the closed form of five joints, and what five joints cannot have."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dvrk_kinematics import load_arm
from dvrk_kinematics.errors import ModelError, UnknownName
from dvrk_kinematics.geometry import so3
from dvrk_kinematics.kinematics.result import IkPolicy, IkStatus
from dvrk_kinematics.kinematics.solvers.five_axis import FiveAxisSolver

RVM1 = load_arm("RVM1")
HALF = np.pi / 2

# By hand, from the drawing: 300 mm up to the shoulder, links of 250 and 160 mm, 179 mm from the
# wrist to the tip. Rotations row by row.
GOLDEN = {
    "stretched forward": (
        [0.0, 0.0, 0.0, HALF, 0.0],
        [0.589, 0.0, 0.3],
        [[0, 0, 1], [0, -1, 0], [1, 0, 0]],
    ),
    "hand hanging down": (
        [0.0, 0.0, 0.0, 0.0, 0.0],
        [0.41, 0.0, 0.121],
        [[1, 0, 0], [0, -1, 0], [0, 0, -1]],
    ),
    "elbow square, to the left": (
        [HALF, HALF, -HALF, HALF, 0.0],
        [0.0, 0.339, 0.55],
        [[0, 1, 0], [0, 0, 1], [1, 0, 0]],
    ),
    "straight up, rolled": (
        [0.0, HALF, 0.0, HALF, HALF],
        [0.0, 0.0, 0.889],
        [[0, 1, 0], [-1, 0, 0], [0, 0, 1]],
    ),
}

# Shoulder, elbow and wrist pitch for a level hand 500 mm in front, by height (m): the law of
# cosines evaluated with 30 digits (mpmath).
LEVEL = {
    0.45: (0.847634713029632423, -1.08375590246127978, 1.80691751622654397),
    0.325: (0.58688006466798747, -1.37497217628759185, 2.358888438414501),
    0.2: (0.167195564459392272, -1.25374890682185761, 2.65734966915736196),
}


def pose(R: object, p: object) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    return T


def turned(T: np.ndarray, R: np.ndarray) -> np.ndarray:
    return pose(R @ T[:3, :3], T[:3, 3])


@pytest.mark.parametrize("name", GOLDEN)
def test_poses_that_can_be_read_off_the_drawing(name: str) -> None:
    q, p, R = GOLDEN[name]
    np.testing.assert_allclose(RVM1.forward(q), pose(R, p), atol=1e-15)
    result = RVM1.inverse(pose(R, p), seed=q)
    assert result.ok
    np.testing.assert_allclose(result.q, q, atol=1e-7)


@pytest.mark.parametrize("height", LEVEL)
def test_the_joints_of_the_weld_line_follow_from_the_law_of_cosines(height: float) -> None:
    T = pose([[0, 0, 1], [0, -1, 0], [1, 0, 0]], [0.5, 0.0, height])
    result = RVM1.inverse(T)
    assert result.ok
    np.testing.assert_allclose(result.q, [0.0, *LEVEL[height], 0.0], atol=1e-14)


@given(fraction=st.lists(st.floats(0.0, 1.0), min_size=5, max_size=5))
def test_joints_come_back_from_their_own_pose(fraction: list[float]) -> None:
    limits = RVM1.limits
    q = limits.lower + np.array(fraction) * (limits.upper - limits.lower)
    T = RVM1.forward(q)
    result = RVM1.inverse(T, seed=q)
    assert result.ok, result
    np.testing.assert_allclose(RVM1.forward(result.q), T, atol=1e-9)
    # Where the tip is on the waist's axis or the elbow straight, joints trade with each other.
    if np.hypot(*T[:2, 3]) > 1e-3 and q[2] < -1e-3:
        np.testing.assert_allclose(result.q, q, atol=1e-7)


def test_all_four_branches_map_back_to_the_pose_and_have_the_names_they_deserve(
    rng: np.random.Generator,
) -> None:
    assert RVM1.branch_names == (
        "front/elbow_up",
        "front/elbow_down",
        "back/elbow_up",
        "back/elbow_down",
    )
    for q in RVM1.random_q(rng, 50):
        T = RVM1.forward(q)
        for name, result in zip(RVM1.branch_names, RVM1.inverse_all(T), strict=True):
            np.testing.assert_allclose(RVM1.forward(result.q), T, atol=1e-12)
            faces = np.cos(result.q[0] - np.arctan2(T[1, 3], T[0, 3])) > 0.0
            assert faces == name.startswith("front")
            bends_back = np.sin(result.q[2]) < 0.0
            assert bends_back == (name in ("front/elbow_up", "back/elbow_down"))
            by_name = RVM1.inverse_branch(T, name)
            np.testing.assert_array_equal(by_name.q, result.q)


def test_the_limits_of_the_elbow_leave_one_branch() -> None:
    """As the paper says: of two solutions, the one in the working range."""
    q = [0.3, 0.8, -1.2, 1.9, 0.4]
    found = RVM1.inverse_all(RVM1.forward(q))
    assert [result.ok for result in found] == [True, False, False, False]
    assert "elbow" in [violation.joint for violation in found[1].violations]


def test_an_unknown_branch_answers_with_the_valid_ones() -> None:
    T = RVM1.forward([0.3, 0.8, -1.2, 1.9, 0.4])
    with pytest.raises(UnknownName, match="front/elbow_up, front/elbow_down"):
        RVM1.inverse_branch(T, "left")
    with pytest.raises(UnknownName, match="branch of PSM"):
        psm = load_arm("PSM")
        psm.inverse_branch(psm.forward(np.zeros(6)), "left")


@given(tilt=st.floats(1e-5, 1.5), sign=st.sampled_from([-1.0, 1.0]))
def test_a_hand_that_leaves_the_plane_is_unreachable_by_exactly_that_angle(
    tilt: float, sign: float
) -> None:
    q = np.array([0.3, 0.8, -1.2, 1.9, 0.4])
    T = RVM1.forward(q)
    # Turned about the normal of the hand's axis inside the plane: straight out of the plane.
    inside = np.cross([-np.sin(0.3), np.cos(0.3), 0.0], T[:3, 2])
    result = RVM1.inverse(turned(T, so3.exp(sign * tilt * inside)), seed=q)
    assert result.status is IkStatus.UNREACHABLE
    assert result.rotation_error == pytest.approx(tilt, abs=1e-9)
    assert result.position_error < 1e-12
    np.testing.assert_allclose(result.q, q, atol=1e-6)
    assert f"leaves it by {result.rotation_error:.3g} rad" in result.reason


def test_no_other_pitch_or_roll_comes_nearer(rng: np.random.Generator) -> None:
    for q in RVM1.random_q(rng, 20):
        T = turned(RVM1.forward(q), so3.exp(rng.normal(size=3)))
        best = min(result.rotation_error for result in RVM1.inverse_all(T))
        plane = np.arctan2(T[1, 3], T[0, 3])
        for pitch, roll in rng.uniform(-np.pi, np.pi, (200, 2)):
            R = RVM1.forward([plane, 0.0, 0.0, pitch, roll])[:3, :3]
            assert so3.angle_between(R, T[:3, :3]) > best - 1e-12


@pytest.mark.parametrize(
    ("x", "sentence"),
    [
        (
            0.7,
            "0.5210 m from the shoulder, which reaches from 0.0900 to 0.4100 m: 0.111 m too far",
        ),
        (0.22, "0.0410 m from the shoulder, which reaches from 0.0900 to 0.4100 m: 0.049 m too n"),
        (
            0.58901,
            "0.4100 m from the shoulder, which reaches from 0.0900 to 0.4100 m: 1e-05 m too",
        ),
    ],
)
def test_a_wrist_out_of_reach_is_said_with_its_distance(x: float, sentence: str) -> None:
    T = pose([[0, 0, 1], [0, -1, 0], [1, 0, 0]], [x, 0.0, 0.3])
    result = RVM1.inverse(T)
    assert result.status is IkStatus.UNREACHABLE
    assert sentence in result.reason
    missing = abs(x - 0.179 - (0.41 if x > 0.5 else 0.09))
    assert result.position_error == pytest.approx(missing, abs=1e-9)


def test_a_pose_that_misses_in_both_parts_says_both() -> None:
    sideways = pose([[1, 0, 0], [0, 0, 1], [0, -1, 0]], [0.4, 0.0, 0.3])
    result = RVM1.inverse(sideways)
    assert result.status is IkStatus.UNREACHABLE
    assert "the wrist would have to be 0.4382 m from the shoulder" in result.reason
    assert result.reason.endswith("the axis asked for leaves it by 1.57 rad")
    straight = RVM1.inverse(pose([[0, 0, 1], [0, -1, 0], [1, 0, 0]], [0.7, 0.0, 0.3]))
    assert "five joints" not in straight.reason


def test_a_pose_beyond_a_limit_names_the_joint() -> None:
    q = [2.9, 0.8, -1.2, 1.9, 0.4]
    result = RVM1.inverse(RVM1.forward(q), seed=q)
    assert result.status is IkStatus.OUTSIDE_LIMITS
    assert [violation.joint for violation in result.violations] == ["waist"]
    assert result.reason == "waist would be 2.9000, allowed -2.6180 to 2.6180"


def test_the_reason_says_what_is_wrong_and_nothing_where_all_is_well() -> None:
    q = [0.3, 0.8, -1.2, 1.9, 0.4]
    assert RVM1.inverse(RVM1.forward(q), seed=q).reason == ""
    far = pose(np.eye(3), [3.0, 0.0, 0.3])
    assert "the wrist would have to be" in RVM1.inverse(far).reason
    free = load_arm("SUJ_PSM1").inverse(pose(np.eye(3), [30.0, 0.0, 0.0]))
    missed = f"{free.position_error:.3g} m and {free.rotation_error:.3g} rad"
    assert not free.ok and missed in free.reason


def test_on_the_waists_axis_the_hand_gives_the_plane_and_then_the_seed() -> None:
    q = np.array([0.4, 1.7, -1.9, 0.0, 0.0])
    # A hand that reaches back over the waist's axis, so that the tip is on it.
    x = 0.25 * np.cos(q[1]) + 0.16 * np.cos(q[1] + q[2])
    q[3] = np.arcsin(-x / 0.179) - q[1] - q[2]
    T = RVM1.forward(q)
    assert np.hypot(*T[:2, 3]) < 1e-12
    plane = RVM1.inverse(T, seed=np.zeros(5))
    np.testing.assert_allclose(RVM1.forward(plane.q), T, atol=1e-9)
    up = RVM1.forward([0.0, HALF, 0.0, HALF, 0.0])
    for waist in (-1.0, 0.5):
        result = RVM1.inverse(up, seed=[waist, HALF, 0.0, HALF, 0.0])
        assert result.ok and result.q[0] == pytest.approx(waist)


def test_single_and_batch_agree_on_any_pose(rng: np.random.Generator) -> None:
    q = RVM1.random_q(rng, 300)
    T = RVM1.forward(q)
    for i in range(100):
        T[i] = turned(T[i], so3.exp(rng.normal(size=3)))
    T[100:150, :3, 3] *= 1.5
    T[7, 0, 0] = np.nan
    for policy in IkPolicy:
        rows = np.arange(0, 300 if policy is IkPolicy.EXACT else 20)
        batch = RVM1.inverse_batch(T[rows], seed=q[rows], policy=policy)
        assert batch.status[7] == IkStatus.INVALID_INPUT
        for i in rows[rows != 7]:
            one = RVM1.inverse(T[i], seed=q[i], policy=policy)
            np.testing.assert_allclose(one.q, batch.q[i], atol=1e-12)
            assert one.status == batch.status[i]
            assert one.rotation_error == pytest.approx(batch.rotation_error[i], abs=1e-12)


def test_position_first_takes_the_nearest_pitch_inside_the_limits() -> None:
    q = np.array([0.3, 0.8, -1.2, 3.4, 0.4])
    T = RVM1.forward(q)
    assert [v.joint for v in RVM1.inverse(T, seed=q).violations] == ["wrist_pitch"]
    result = RVM1.inverse(T, seed=q, policy="position_first")
    assert result.ok
    np.testing.assert_allclose(RVM1.forward(result.q)[:3, 3], T[:3, 3], atol=1e-9)
    # No pitch on a fine scale does better, and the limit is met.
    best = np.inf
    for pitch in np.linspace(2.0, 3.0, 4001):
        R = so3.rot_z(q[0]) @ RVM1.forward([0, 0, 0, pitch, q[4]])[:3, :3]
        other = RVM1.inverse(pose(R, T[:3, 3]), seed=q)
        if other.ok:
            best = min(best, so3.angle_between(R, T[:3, :3]))
    assert result.rotation_error <= best + 1e-6
    assert result.q[3] == pytest.approx(np.pi, abs=1e-5)


def test_position_first_finds_the_few_pitches_at_full_reach(rng: np.random.Generator) -> None:
    """Was refused: an interval of pitches narrower than the grid that was searched."""
    for q in RVM1.random_q(rng, 20):
        q[2:4] = -0.001, HALF
        T = RVM1.forward(q)
        for tilt in (0.0, 0.02, 1.0):
            asked = turned(T, so3.exp(tilt * rng.normal(size=3)))
            result = RVM1.inverse(asked, seed=q, policy="position_first")
            assert result.ok
            assert result.position_error < 1e-9
            own = so3.angle_between(T[:3, :3], asked[:3, :3])
            assert result.rotation_error <= own + 1e-6


def test_position_first_says_when_not_even_the_position_is_reached() -> None:
    T = pose(np.eye(3), [0.0, 0.9, 0.9])
    result = RVM1.inverse(T, policy="position_first")
    assert result.status is IkStatus.POSITION_UNREACHABLE


def test_another_chain_is_refused() -> None:
    psm = load_arm("PSM")
    with pytest.raises(ModelError, match="parallel pitch axes"):
        FiveAxisSolver(psm.model, psm.limits)
    rows = list(RVM1.model.chain)
    rows[3] = dataclasses.replace(rows[3], d=0.01)
    with pytest.raises(ModelError, match=r"rvm1\.yaml: chain"):
        FiveAxisSolver(dataclasses.replace(RVM1.model, chain=tuple(rows)), RVM1.limits)

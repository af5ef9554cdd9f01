"""The CYBER 310: poses, and the eight named solutions of an arm with a spherical wrist."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dvrk_kinematics import load_arm
from dvrk_kinematics.errors import InvalidInput, ModelError, UnknownName
from dvrk_kinematics.kinematics.limits import JointLimits
from dvrk_kinematics.kinematics.result import IkStatus
from dvrk_kinematics.kinematics.solvers.spherical_wrist import SphericalWristSolver

CYBER = load_arm("CYBER310")
PI, HALF = np.pi, np.pi / 2

# By hand, from the drawing: 176 mm up to the shoulder, links of 275 and 152 mm, a hand of 165 mm.
# The hand's axes x, y, z are the columns, given row by row. At zero they are x forward, y to the
# right, z down. Shoulder and elbow turn all that follows about y of the base at waist 0, so that
# -90 deg take forward up and down forward; wrist_pitch then takes z up and x backward about the
# hand's y; forearm_roll turns about the fore arm, wrist_roll about the hand's z, the waist about
# the vertical.
GOLDEN = {
    "fore arm and hand hanging": (
        [0, 0, 0, 0, 0, 0],
        [0.275, 0.0, -0.141],
        [[1, 0, 0], [0, -1, 0], [0, 0, -1]],
    ),
    # About z down by 90 deg: x goes where y was, y where x was, backward.
    "hanging, wrist rolled": (
        [0, 0, 0, 0, 0, HALF],
        [0.275, 0.0, -0.141],
        [[0, -1, 0], [-1, 0, 0], [0, 0, -1]],
    ),
    "fore arm level": (
        [0, -HALF, 0, 0, 0, 0],
        [0.317, 0.0, 0.451],
        [[0, 0, 1], [0, -1, 0], [1, 0, 0]],
    ),
    # At waist 0 the hand has x backward, y to the right, z up; the waist takes x to the right of
    # the base and y forward.
    "hand up, to the left": (
        [HALF, -HALF, 0, 0, HALF, 0],
        [0.0, 0.152, 0.616],
        [[0, 1, 0], [-1, 0, 0], [0, 0, 1]],
    ),
    # The same at waist 0, rolled by 90 deg about forward: right goes down, up goes right.
    "fore arm rolled, hand to the right": (
        [0, -HALF, 0, HALF, HALF, 0],
        [0.152, -0.165, 0.451],
        [[-1, 0, 0], [0, 0, -1], [0, -1, 0]],
    ),
    # Half a turn about y in all: x backward, z up.
    "stretched up": (
        [0, -HALF, -HALF, 0, 0, 0],
        [0.0, 0.0, 0.768],
        [[-1, 0, 0], [0, -1, 0], [0, 0, 1]],
    ),
}

# All eight solutions of the pose with the upper arm upright, the fore arm level and the hand up,
# derived by hand: psi is the angle of the line from shoulder to wrist. The other elbow mirrors the
# arm at that line, the other arm mirrors it at the waist's axis, the other wrist turns both rolls
# by half a turn and the pitch round.
PSI = np.arctan2(0.275, 0.152)
EIGHT = {
    "left/elbow_up/wrist_up": [0, -HALF, 0, 0, HALF, 0],
    "left/elbow_up/wrist_down": [0, -HALF, 0, PI, -HALF, PI],
    "left/elbow_down/wrist_up": [0, HALF - 2 * PSI, PI, PI, 2 * PSI - HALF, PI],
    "left/elbow_down/wrist_down": [0, HALF - 2 * PSI, PI, 0, HALF - 2 * PSI, 0],
    "right/elbow_up/wrist_up": [PI, -HALF, PI, PI, HALF, 0],
    "right/elbow_up/wrist_down": [PI, -HALF, PI, 0, -HALF, PI],
    "right/elbow_down/wrist_up": [PI, 2 * PSI - 3 * HALF, 0, 0, 2 * PSI - HALF, PI],
    "right/elbow_down/wrist_down": [PI, 2 * PSI - 3 * HALF, 0, PI, HALF - 2 * PSI, 0],
}


def apart(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Angles between joint positions, whole turns apart (rad)."""
    return np.abs((np.asarray(a) - b + PI) % (2 * PI) - PI)


@pytest.mark.parametrize("name", GOLDEN)
def test_poses_that_can_be_read_off_the_drawing(name: str) -> None:
    q, p, R = GOLDEN[name]
    T = CYBER.forward(q)
    np.testing.assert_allclose(T[:3, 3], p, atol=1e-15)
    np.testing.assert_allclose(T[:3, :3], R, atol=1e-15)


def test_the_eight_solutions_are_those_derived_by_hand() -> None:
    T = CYBER.forward(EIGHT["left/elbow_up/wrist_up"])
    found = dict(zip(CYBER.branch_names, CYBER.inverse_all(T), strict=True))
    assert list(found) == list(EIGHT)
    for name, q in EIGHT.items():
        np.testing.assert_allclose(CYBER.forward(q), T, atol=1e-15, err_msg=name)
        assert apart(found[name].q, q).max() < 1e-12, name


def test_all_eight_map_back_to_the_pose_and_have_the_names_they_deserve(
    rng: np.random.Generator,
) -> None:
    for q in CYBER.random_q(rng, 60):
        T = CYBER.forward(q)
        wrist = T[:3, 3] - 0.165 * T[:3, 2]
        distinct = []
        for name, result in zip(CYBER.branch_names, CYBER.inverse_all(T), strict=True):
            np.testing.assert_allclose(CYBER.forward(result.q), T, atol=1e-12, err_msg=name)
            assert max(result.position_error, result.rotation_error) < 1e-12
            arm, elbow_side, wrist_side = name.split("/")
            elbow = CYBER.frames(result.q)["elbow_link"][:3, 3]
            ahead = np.array([np.cos(result.q[0]), np.sin(result.q[0]), 0.0])
            assert (ahead @ wrist > 0.0) == (arm == "left")
            # Above the line from shoulder to wrist: on the upper side of the plane through both.
            shoulder = np.array([0.0, 0.0, 0.176])
            across = np.cross([0.0, 0.0, 1.0], wrist - shoulder)
            above = np.cross(wrist - shoulder, across) @ (elbow - shoulder)
            assert (above > 0.0) == (elbow_side == "elbow_up"), name
            assert (np.sin(result.q[4]) > 0.0) == (wrist_side == "wrist_up")
            assert all(apart(result.q, other).max() > 1e-6 for other in distinct)
            distinct.append(result.q)


@given(fraction=st.lists(st.floats(0.0, 1.0), min_size=6, max_size=6))
def test_joints_come_back_from_their_own_pose(fraction: list[float]) -> None:
    limits = CYBER.limits
    q = limits.lower + np.array(fraction) * (limits.upper - limits.lower)
    T = CYBER.forward(q)
    result = CYBER.inverse(T, seed=q)
    assert result.ok, result
    np.testing.assert_allclose(CYBER.forward(result.q), T, atol=1e-9)
    wrist = T[:3, 3] - 0.165 * T[:3, 2]
    folded = abs(np.cos(q[2])) < 1e-3
    if abs(np.sin(q[4])) > 1e-3 and np.hypot(*wrist[:2]) > 1e-3 and not folded:
        np.testing.assert_allclose(result.q, q, atol=1e-7)


def test_a_solution_is_chosen_by_name_or_as_the_nearest() -> None:
    q = np.array([0.4, -1.2, 0.6, 0.3, 0.9, -0.5])
    T = CYBER.forward(q)
    by_name = CYBER.inverse_branch(T, "left/elbow_up/wrist_up")
    np.testing.assert_allclose(by_name.q, q, atol=1e-12)
    other = CYBER.inverse_branch(T, "left/elbow_up/wrist_down")
    np.testing.assert_allclose(other.q[:3], q[:3], atol=1e-12)
    assert apart(other.q[3:], [q[3] + PI, -q[4], q[5] + PI]).max() < 1e-12
    assert CYBER.inverse(T, seed=other.q).q == pytest.approx(other.q)
    assert CYBER.inverse(T, seed=by_name.q).q == pytest.approx(by_name.q)
    with pytest.raises(UnknownName, match="left/elbow_up/wrist_up"):
        CYBER.inverse_branch(T, "elbow up")


def test_a_straight_wrist_shares_its_rolls_as_the_seed_has_them() -> None:
    q = np.array([0.4, -1.2, 0.6, 0.7, 0.0, -0.3])
    T = CYBER.forward(q)
    np.testing.assert_allclose(CYBER.inverse(T, seed=q).q, q, atol=1e-9)
    seed = q + np.array([0, 0, 0, -0.5, 0, 0.2])
    found = CYBER.inverse(T, seed=seed)
    assert found.ok and found.q[3] == pytest.approx(0.2)
    assert found.q[3] + found.q[5] == pytest.approx(0.4)


@pytest.mark.parametrize(
    "q", [[0.4, -1.2, 0.6, 1.5, 0.0, 1.6], [0.278, -2.101, 0.146, -2.441, 0.0, -0.313]]
)
def test_a_straight_wrist_shares_its_rolls_so_that_both_are_inside_their_limits(q) -> None:
    """Was refused: forearm_roll of the seed, and a wrist_roll that had to take all the rest."""
    T = CYBER.forward(q)
    for seed in (None, q, np.zeros(6), CYBER.limits.lower, CYBER.limits.upper):
        found = CYBER.inverse(T, seed=seed)
        assert found.ok, found.reason
        np.testing.assert_allclose(CYBER.forward(found.q), T, atol=1e-12)
    assert CYBER.inverse_branch(T, "left/elbow_up/wrist_up").ok
    # As near to the seed as the other roll allows: it is at its limit then.
    far = CYBER.inverse(T, seed=np.zeros(6))
    assert min(CYBER.limits.upper[5] - far.q[5], far.q[5] - CYBER.limits.lower[5]) < 1e-9


def test_a_straight_wrist_whose_rolls_fit_nowhere_names_the_joint() -> None:
    q = np.array([0.4, -1.2, 0.6, 0.7, 0.0, -0.3])
    T = CYBER.forward(q)
    lower, upper = CYBER.limits.lower.copy(), CYBER.limits.upper.copy()
    lower[[3, 5]], upper[[3, 5]] = -0.1, 0.1
    narrow = JointLimits(CYBER.joint_names, lower, upper)
    found = SphericalWristSolver(CYBER.model, narrow).solve(T, np.zeros(6))
    assert [violation.joint for violation in found.violations] == ["wrist_roll"]
    assert found.q[5] == pytest.approx(0.4)


def test_a_wrist_above_the_waist_leaves_the_waist_to_the_seed() -> None:
    q = np.array([0.8, -HALF, -HALF, 0.3, 0.9, -0.5])
    T = CYBER.forward(q)
    found = CYBER.inverse(T, seed=q)
    np.testing.assert_allclose(CYBER.forward(found.q), T, atol=1e-9)
    assert found.q[0] == pytest.approx(0.8)
    assert [violation.joint for violation in found.violations] == ["elbow"]


def test_a_wrist_above_the_waist_takes_a_waist_that_leaves_the_wrist_inside_its_limits(
    rng: np.random.Generator,
) -> None:
    """Some were refused without a seed: at waist 0 they need rolls beyond the limits."""
    q = CYBER.random_q(rng, 1000)
    # The fore arm folds back to the waist's axis.
    q[:, 1] = rng.uniform(-HALF - 0.5, -HALF + 0.5, 1000)
    q[:, 2] = PI - np.arcsin(0.275 * np.cos(q[:, 1]) / 0.152) - q[:, 1]
    q = q[CYBER.limits.contains(q)]
    assert len(q) > 200
    T = CYBER.forward(q)
    assert np.hypot(*(T[:, :3, 3] - 0.165 * T[:, :3, 2])[:, :2].T).max() < 1e-12
    for found in (CYBER.inverse_batch(T), CYBER.inverse_batch(T, seed=q)):
        assert found.ok.all()
        np.testing.assert_allclose(CYBER.forward(found.q), T, atol=1e-9)
    np.testing.assert_allclose(found.q[:, 0], q[:, 0], atol=1e-9)


@pytest.mark.parametrize(
    ("distance", "sentence"), [(0.5, "0.5000 m"), (0.427001, "0.4270 m"), (0.1, "0.1000 m")]
)
def test_a_wrist_out_of_reach_is_said_with_its_distance(distance: float, sentence: str) -> None:
    T = np.eye(4)
    T[:3, 3] = [distance, 0.0, 0.176 + 0.165]
    result = CYBER.inverse(T)
    assert result.status is IkStatus.UNREACHABLE
    missing = max(distance - 0.427, 0.123 - distance)
    how = f"{missing:.3g} m too {'far' if distance > 0.2 else 'near'}"
    assert f"{sentence} from the shoulder, which reaches from 0.1230 to 0.4270" in result.reason
    assert result.reason.endswith(how)
    assert result.rotation_error < 1e-12
    assert result.position_error == pytest.approx(missing, abs=1e-9)


def test_single_and_batch_agree_on_any_pose(rng: np.random.Generator) -> None:
    q = CYBER.random_q(rng, 200)
    T = CYBER.forward(q)
    T[:50, :3, 3] *= 1.4
    T[7, 0, 0] = np.nan
    batch = CYBER.inverse_batch(T, seed=q)
    assert batch.status[7] == IkStatus.INVALID_INPUT
    for i in np.flatnonzero(np.arange(200) != 7):
        one = CYBER.inverse(T[i], seed=q[i])
        np.testing.assert_allclose(one.q, batch.q[i], atol=1e-12)
        assert one.status == batch.status[i]
    assert CYBER.inverse_batch(T[50:]).ok.all(), "without a seed, too"


def test_position_first_is_refused_whatever_the_pose_is() -> None:
    T = CYBER.forward(CYBER.random_q(np.random.default_rng(0)))
    with pytest.raises(InvalidInput, match="position_first is not offered"):
        CYBER.inverse(T, policy="position_first")
    with pytest.raises(InvalidInput, match="position_first is not offered"):
        CYBER.inverse_batch(T[None], policy="position_first")


def test_another_chain_is_refused() -> None:
    psm = load_arm("PSM")
    with pytest.raises(ModelError, match="PUMA"):
        SphericalWristSolver(psm.model, psm.limits)
    rows = list(CYBER.model.chain)
    rows[2] = dataclasses.replace(rows[2], d=0.15)
    with pytest.raises(ModelError, match="without offsets"):
        SphericalWristSolver(dataclasses.replace(CYBER.model, chain=tuple(rows)), CYBER.limits)

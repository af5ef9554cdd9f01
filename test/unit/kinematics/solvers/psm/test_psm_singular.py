"""The PSM at and beside the poses that leave a joint open: the seed decides, nothing jumps."""

from __future__ import annotations

import numpy as np
import pytest

from dvrk_kinematics import Arm, load_arm

PSM = load_arm("PSM", instrument="400006")
A, B = 0.0091, 0.4318 - 0.4162


def track(arm: Arm, poses: np.ndarray, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Solve along a path, each solution the seed of the next: joints (N, 6) and ok (N,)."""
    q, ok = [], []
    seed = start
    for T in poses:
        result = arm.inverse(T, seed=seed)
        seed = result.q
        q.append(result.q)
        ok.append(result.ok)
    return np.array(q), np.array(ok)


@pytest.mark.parametrize("wrist", [(0.4, 0.3), (-1.2, 0.9), (0.0, 0.0), (1.3, -1.3)])
def test_a_line_through_the_remote_centre_changes_the_insertion_only(
    wrist: tuple[float, float],
) -> None:
    q = np.array([0.5, -0.4, B + 0.012, 1.0, *wrist])
    path = np.repeat(q[None], 49, axis=0)
    path[:, 2] = B + np.linspace(0.012, -0.012, 49)
    assert path[24, 2] == pytest.approx(B, abs=1e-15)
    solved, ok = track(PSM, PSM.forward(path), q)
    assert ok.all()
    np.testing.assert_allclose(solved, path, atol=1e-9)


@pytest.mark.parametrize("wrist_pitch", [0.0, 0.6, -0.9])
def test_a_line_through_the_last_axis_changes_the_insertion_only(wrist_pitch: float) -> None:
    middle = B - A / np.cos(wrist_pitch)
    q = np.array([-0.3, 0.5, middle, -2.0, wrist_pitch, 0.7])
    path = np.repeat(q[None], 41, axis=0)
    path[:, 2] = middle + np.linspace(-1e-4, 1e-4, 41)
    solved, ok = track(PSM, PSM.forward(path), path[0])
    assert ok.all()
    np.testing.assert_allclose(solved, path, atol=1e-7)


@pytest.mark.parametrize("instrument", ["400006", "410298"])
def test_the_seed_decides_what_the_pose_leaves_open(instrument: str) -> None:
    """Also for a wrist whose axes meet (410298), where one place leaves two joints open."""
    arm = load_arm(
        "PSM", instrument=instrument, generation="Si" if instrument[1] == "1" else "Classic"
    )
    b = -arm.model.chain[2].d - arm.model.chain[3].d
    for pitch in (-0.4, 0.0, 0.3):
        q = np.array([0.2, -0.3, b, 0.4, pitch, 0.25])
        if not arm.limits.contains(q):
            continue
        result = arm.inverse(arm.forward(q), seed=q)
        assert result.ok
        np.testing.assert_allclose(result.q, q, atol=1e-9)


def test_an_open_joint_is_moved_where_the_seed_would_leave_the_limits() -> None:
    q = np.array([0.0, 0.9, B, 0.0, 1.2, 0.0])
    T = PSM.forward(q)
    seed = q.copy()
    seed[4] = -1.2
    kept = [r for r in PSM.inverse_all(T) if r.ok]
    result = PSM.inverse(T, seed=seed)
    assert result.ok
    np.testing.assert_allclose(PSM.forward(result.q), T, atol=1e-9)
    batch = PSM.inverse_batch(T[None], seed=seed)
    np.testing.assert_array_equal(batch.q[0], result.q)
    assert len(kept) <= 8


@pytest.mark.parametrize("beside", [1e-7, 1e-5, 1e-3])
def test_beside_the_remote_centre_no_joint_jumps_more_than_the_pose_demands(
    beside: float,
) -> None:
    """Of the solutions inside limits the one nearest the seed is taken, at every step."""
    q = np.array([0.3, 0.2, B + 0.003, -1.0, 0.3, 0.4])
    T = np.repeat(PSM.forward(q)[None], 121, axis=0)
    shaft = PSM.jacobian(q)[:3, 2]
    across = np.cross(shaft, [0.3, 0.9, 0.1])
    across /= np.linalg.norm(across)
    T[:, :3, 3] += np.linspace(0.0, -0.006, 121)[:, None] * shaft + beside * across
    span = PSM.limits.upper - PSM.limits.lower
    seed = q
    for pose in T:
        result = PSM.inverse(pose, seed=seed)
        choices = []
        for branch in PSM.inverse_all(pose):
            for turn in (-1, 0, 1):
                other = branch.q + np.eye(6)[3] * turn * 2.0 * np.pi
                if PSM.limits.contains(other):
                    choices.append((np.abs(other - seed) / span).sum())
        assert result.ok == bool(choices)
        if choices:
            assert (np.abs(result.q - seed) / span).sum() <= min(choices) + 1e-6
        seed = result.q


def test_beside_the_remote_centre_the_path_is_continuous_while_inside_limits() -> None:
    q = np.array([0.3, 0.2, B + 0.002, -1.0, 0.3, 0.4])
    T = PSM.forward(q)
    shaft = PSM.jacobian(q)[:3, 2]
    across = np.cross(shaft, [0.3, 0.9, 0.1])
    across /= np.linalg.norm(across)
    poses = np.repeat(T[None], 4001, axis=0)
    poses[:, :3, 3] += np.linspace(0.0, -0.004, 4001)[:, None] * shaft + 5e-5 * across
    solved, ok = track(PSM, poses, q)
    jumps = np.abs(np.diff(solved, axis=0)).max(axis=1)
    both = ok[1:] & ok[:-1]
    assert both.sum() > 3000
    # 1 um steps at 50 um from the centre turn the shaft by 0.02 rad, and the roll with it.
    assert jumps[both].max() < 0.1


def test_near_a_right_angle_of_yaw_the_seed_is_followed() -> None:
    arm = load_arm("PSM", instrument="400205")
    path = np.repeat(np.array([[0.1, 0.2, 0.1, 0.3, 0.4, 0.0]]), 9, axis=0)
    path[:, 5] = np.linspace(1.5707, 1.5708, 9)
    for sign in (1.0, -1.0):
        path[:, 5] = sign * np.abs(path[:, 5])
        solved, ok = track(arm, arm.forward(path), path[0])
        assert ok.all()
        np.testing.assert_allclose(solved, path, atol=1e-9)
        batch = arm.inverse_batch(arm.forward(path), seed=path)
        np.testing.assert_allclose(batch.q, path, atol=1e-9)


def test_with_the_shaft_along_the_yaw_axis_the_seed_decides_the_yaw() -> None:
    q = np.array([0.4, np.pi / 2, 0.1, 0.3, 0.2, -0.1])
    T = PSM.forward(q)
    result = PSM.inverse(T, seed=q)
    assert [v.joint for v in result.violations] == ["pitch"]
    np.testing.assert_allclose(result.q, q, atol=1e-7)
    np.testing.assert_allclose(PSM.forward(result.q), T, atol=1e-12)
    np.testing.assert_allclose(PSM.inverse_batch(T[None], seed=q).q[0], result.q, atol=1e-12)
    for branch in PSM.inverse_all(T):
        np.testing.assert_allclose(PSM.forward(branch.q), T, atol=1e-12)


@pytest.mark.parametrize("tilt", [1e-4, 1e-6, 1e-8])
def test_close_to_the_yaw_axis_the_pose_is_still_exact(tilt: float) -> None:
    q = np.array([0.4, np.pi / 2 - tilt, 0.1, 0.3, 0.2, -0.1])
    T = PSM.forward(q)
    np.testing.assert_allclose(PSM.forward(PSM.inverse(T, seed=q).q), T, atol=1e-12)
    np.testing.assert_allclose(PSM.forward(PSM.inverse_batch(T[None]).q), T[None], atol=1e-12)


@pytest.mark.parametrize(
    ("generation", "instrument"),
    [("Classic", "400006"), ("Classic", "400205"), ("Classic", "CAUDIER"), ("Si", "410298")],
)
def test_however_close_to_a_degenerate_place_the_answer_is_exact_and_inside(
    generation: str, instrument: str
) -> None:
    arm = load_arm("PSM", instrument=instrument, generation=generation)
    a, b = arm.model.chain[5].a, -arm.model.chain[2].d - arm.model.chain[3].d
    rng = np.random.default_rng(21)
    q = arm.random_q(rng, 200)
    q[:, 2] = b + rng.choice([-1.0, 1.0], 200) * 10.0 ** rng.uniform(-14.0, -3.0, 200)
    q[:100, 2] -= a / np.cos(q[:100, 4])
    q = q[arm.limits.contains(q)]
    assert len(q) > 100
    T = arm.forward(q)
    spread = [0.02, 0.02, 0.002, 0.02, 0.02, 0.02]
    seed = arm.limits.clamp(q + rng.normal(size=q.shape) * spread)
    batch = arm.inverse_batch(T, seed=seed)
    assert batch.ok.all()
    np.testing.assert_allclose(arm.forward(batch.q), T, atol=1e-9)
    for pose, near, solved in zip(T, seed, batch.q, strict=True):
        np.testing.assert_allclose(arm.inverse(pose, seed=near).q, solved, atol=1e-12)


def test_a_narrow_strip_inside_limits_is_found_at_a_degenerate_place() -> None:
    q = np.array([1.53027883, 0.91568067, B, 3.83785159, 1.37086596, 0.75167189])
    seed = np.array([1.55, 0.89, B, 3.81, 1.30899375, 0.75])
    T = PSM.forward(q)
    result = PSM.inverse(T, seed=seed)
    assert result.ok
    np.testing.assert_allclose(PSM.forward(result.q), T, atol=1e-9)

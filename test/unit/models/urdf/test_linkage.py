"""The parallelograms stay closed and the remote centre stays put, measured on the URDF itself."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from dvrk_kinematics import load_arm
from dvrk_kinematics.geometry.arrays import Array

TOLERANCE_M = 1e-9
LOOPS = {
    "PSM1": [("c1_pitch_front", "c1_pitch_bottom"), ("c2_pitch_top", "c2_pitch_end")],
    "ECM": [("c1_pitch_back", "c1_pitch_bottom"), ("c2_pitch_top", "c2_pitch_end")],
}


def _grid(name: str, steps: int = 9) -> list[dict[str, float]]:
    """The whole range of yaw, pitch and insertion, ends included."""
    limits = load_arm(name.rstrip("0123456789")).limits
    axes = [np.linspace(limits.lower[i], limits.upper[i], steps) for i in range(3)]
    names = ("yaw", "pitch", "insertion")
    return [dict(zip(names, values, strict=True)) for values in itertools.product(*axes)]


def _pivot(poses: list[Array]) -> tuple[Array, Array, Array]:
    """The paper's pivot calibration, equations 3 to 5.

    Args:
        poses: Poses of one frame, shape (4, 4) each.

    Returns:
        The pivot in the base, the pivot in the frame, and what is left at every pose: (n, 3).
    """
    A = np.vstack([np.hstack([T[:3, :3], -np.eye(3)]) for T in poses])
    b = np.concatenate([-T[:3, 3] for T in poses])
    solution = np.linalg.pinv(A) @ b
    tip, post = solution[:3], solution[3:]
    return post, tip, np.array([post - T[:3, :3] @ tip - T[:3, 3] for T in poses])


@pytest.mark.parametrize("name", LOOPS)
def test_loops_stay_closed_over_the_whole_range(name: str, described: Any, oracle: Any) -> None:
    robot = oracle(described(name))
    worst = 0.0
    for positions in _grid(name):
        found = robot.frames(positions)
        for a, b in LOOPS[name]:
            gap = found[f"{name}_{a}"][:3, 3] - found[f"{name}_{b}"][:3, 3]
            worst = max(worst, float(np.linalg.norm(gap)))
    assert worst < TOLERANCE_M


@pytest.mark.parametrize("name", LOOPS)
def test_the_remote_centre_does_not_move(name: str, described: Any, oracle: Any) -> None:
    """The paper's own simulation is 0.85 to 2.17 mm off (RMS, table 7)."""
    robot = oracle(described(name))
    poses = [robot.frames(p)[f"{name}_pitch_end_link"] for p in _grid(name)]
    post, _, left = _pivot(poses)
    assert np.abs(post).max() < TOLERANCE_M, "the pivot is the arm's base"
    assert np.sqrt((left**2).mean(axis=0)).max() < TOLERANCE_M
    assert np.abs(left).max() < TOLERANCE_M


@pytest.mark.parametrize("name", LOOPS)
def test_the_tool_axis_meets_the_remote_centre(name: str, described: Any, oracle: Any) -> None:
    robot = oracle(described(name))
    for positions in _grid(name, 7):
        T = robot.frames(positions)[f"{name}_insertion_link"]
        assert np.linalg.norm(np.cross(T[:3, 3], T[:3, 2])) < TOLERANCE_M


def test_a_bar_that_is_a_tenth_of_a_millimetre_long_is_noticed() -> None:
    """The pivot method is sharp enough to see what it is asked to rule out."""
    rng = np.random.default_rng(7)
    poses = []
    for _ in range(50):
        w = rng.normal(size=3) * 0.3
        T = np.eye(4)
        angle = float(np.linalg.norm(w))
        K = np.cross(np.eye(3), w / angle)
        T[:3, :3] = np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K
        T[:3, 3] = T[:3, :3] @ [0.0, 0.0, 0.2] + rng.normal(size=3) * 1e-4
        poses.append(T)
    _, _, left = _pivot(poses)
    assert np.abs(left).max() > 1e-5


def test_the_counterweight_slides_against_the_tool(described: Any, oracle: Any) -> None:
    robot = oracle(described("PSM1"))
    before, after = (
        robot.frames({"yaw": 0.3, "pitch": -0.5, "insertion": x}) for x in (0.0, 0.24)
    )

    def moved(link: str) -> Array:
        travel: Array = after[link][:3, 3] - before[link][:3, 3]
        return travel

    tool = moved("PSM1_insertion_link")
    assert np.allclose(moved("PSM1_counterweight_link"), -0.6025 * tool, atol=1e-12)


def test_bars_stay_parallel(described: Any, oracle: Any) -> None:
    """Bottom and top bar keep the orientation that they have at pitch 0, whatever the pitch."""
    for name in LOOPS:
        robot = oracle(described(name))
        rest = robot.frames({})
        for pitch in (-0.7, 0.4, 0.9):
            moved = robot.frames({"pitch": pitch})
            for bar in ("pitch_bottom_link", "pitch_top_link"):
                R = moved[f"{name}_{bar}"][:3, :3]
                assert np.allclose(R, rest[f"{name}_{bar}"][:3, :3], atol=1e-12)

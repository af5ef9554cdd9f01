"""Rounded corners are what their formulas say."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from path_checks import check_path, measure, random_pose

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.geometry import se3
from dvrk_kinematics.motion.paths.blend import Blend, BlendedLines
from dvrk_kinematics.motion.timing.speeds import TipSpeeds, time_path


def _corner(phi: float, radius: float) -> BlendedLines:
    """Two lines of 0.1 m with an angle of phi between their directions (rad)."""
    end = [0.1 + 0.1 * np.cos(phi), 0.1 * np.sin(phi), 0.0]
    poses = [np.eye(4), se3.translation([0.1, 0.0, 0.0]), se3.translation(end)]
    return BlendedLines(np.array(poses), [radius])


@given(seed=st.integers(0, 10**9), count=st.integers(2, 5))
def test_blended_lines_are_continuous_in_pose_and_twist(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    poses = np.array([random_pose(rng) for _ in range(count)])
    steps = np.linalg.norm(np.diff(poses[:, :3, 3], axis=0), axis=1)
    radii = [0.45 * min(a, b) for a, b in pairwise(steps)]
    path = BlendedLines(poses, radii)
    np.testing.assert_allclose(path.pose(np.array([0.0, 1.0])), poses[[0, -1]], atol=1e-14)
    h = 1e-9
    before, after = path.breaks - h, path.breaks + h
    np.testing.assert_allclose(path.pose(before), path.pose(after), atol=1e-7)
    np.testing.assert_allclose(path.twist(before), path.twist(after), atol=1e-5)
    check_path(path, tolerance=1e-5)
    assert measure(path) == pytest.approx(path.length, rel=1e-4)


@given(phi=st.floats(0.01, 3.1), radius=st.floats(0.001, 0.09))
def test_deviation_acceleration_and_speed_are_as_said(phi: float, radius: float) -> None:
    path = _corner(phi, radius)
    speed = 0.01
    rate = speed / path.nominal_length
    u = np.linspace(0.0, 1.0, 20_001)
    p = path.pose(u)[:, :3, 3]
    nearest = np.linalg.norm(p - [0.1, 0.0, 0.0], axis=1).min()
    said = 0.5 * radius * np.sin(0.5 * phi)
    assert nearest == pytest.approx(said, abs=1e-5)
    blend = path.pieces[1]
    assert isinstance(blend, Blend)
    assert blend.deviation_m == pytest.approx(said)
    acceleration = np.linalg.norm(path.bend(u)[:, :3], axis=1) * rate**2
    assert acceleration.max() == pytest.approx(speed**2 * np.sin(0.5 * phi) / radius, rel=1e-6)
    speeds = np.linalg.norm(path.twist(u)[:, :3], axis=1) * rate
    assert speeds.max() == pytest.approx(speed)
    assert speeds.min() == pytest.approx(speed * np.cos(0.5 * phi), rel=1e-2, abs=1e-5)


def test_the_speed_is_lowered_for_the_acceleration_across_a_tight_corner() -> None:
    speeds = TipSpeeds(0.05, 0.1, 1.0, 1.0)
    for radius in (0.09, 0.001):
        path = _corner(np.pi / 2, radius)
        scaling = time_path("trapezoid", path, speeds)
        rate = scaling.sample(np.linspace(0.0, scaling.duration_s, 2001)).sd.max()
        across = path.peak_bend[0] * rate**2
        assert across <= 0.1 * (1.0 + 1e-9)
        assert rate * path.nominal_length <= 0.05 * (1.0 + 1e-9)
        assert across == pytest.approx(0.1) or rate * path.nominal_length == pytest.approx(0.05)


def test_radii_that_do_not_fit_are_refused_with_the_room_there_is() -> None:
    with pytest.raises(InvalidInput, match=r"line 0 is 0.1 m long, its blends need 0.11 m"):
        _corner(1.0, 0.11)
    for bad in (0.0, -0.01, float("nan"), float("inf")):
        with pytest.raises(InvalidInput, match="corner 0: must be positive"):
            _corner(1.0, bad)
    with pytest.raises(InvalidInput, match="needs one for each of 1 corners, got 0"):
        BlendedLines(np.array([np.eye(4)] * 3), [])
    with pytest.raises(InvalidInput, match="line 0 is 0 m long"):
        BlendedLines(np.array([np.eye(4)] * 3), [0.01])

"""Paths begin and end where they should, and their twists are their derivatives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from path_checks import check_path, measure, random_pose

from dvrk_kinematics.errors import CollinearPoints, InvalidInput
from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.motion.paths.arc import Arc
from dvrk_kinematics.motion.paths.path import Line, Polyline, Turn, geodesic

seeds = st.integers(0, 10**9)


@given(seed=seeds)
def test_a_line_goes_straight_and_turns_about_one_axis(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = random_pose(rng), random_pose(rng)
    line = Line(a, b)
    ends = line.pose(np.array([0.0, 1.0]))
    np.testing.assert_allclose(ends, [a, b], atol=1e-14)
    check_path(line)
    assert line.length == pytest.approx(np.linalg.norm(a[:3, 3] - b[:3, 3]))
    assert line.angle == pytest.approx(float(so3.angle_between(a[:3, :3], b[:3, :3])))
    middle = line.pose(np.array([0.5]))[0]
    assert float(so3.angle_between(a[:3, :3], middle[:3, :3])) == pytest.approx(0.5 * line.angle)


@given(seed=seeds)
def test_half_a_turn_goes_about_the_axis_with_a_positive_largest_component(seed: int) -> None:
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    R = so3.exp(rng.normal(size=3))
    expected = axis * np.sign(axis[np.argmax(np.abs(axis))])
    for noise in (-1e-9, 0.0, 1e-9):
        for sign in (-1.0, 1.0):
            R_end = so3.exp(sign * (np.pi + noise) * axis) @ R
            turn = geodesic(R, R_end)
            np.testing.assert_allclose(turn, np.pi * expected, atol=1e-7)
            np.testing.assert_allclose(so3.exp(turn) @ R, R_end, atol=1e-14)


@given(seed=seeds, amount=st.floats(0.01, 12.0))
def test_a_turn_stays_in_place_and_may_be_more_than_half_a_turn(seed: int, amount: float) -> None:
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=3)
    turn = Turn(random_pose(rng), amount * axis / np.linalg.norm(axis))
    check_path(turn, tolerance=1e-5)
    assert turn.length == 0.0 and measure(turn, 11) == 0.0
    assert turn.angle == pytest.approx(amount)


@given(seed=seeds)
def test_an_arc_goes_through_its_three_points_on_a_circle(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b, via = random_pose(rng), random_pose(rng), rng.uniform(-0.2, 0.2, 3)
    arc = Arc(a, via, b)
    np.testing.assert_allclose(arc.pose(np.array([0.0, 1.0])), [a, b], atol=1e-9)
    p = arc.pose(np.linspace(0.0, 1.0, 5001))[:, :3, 3]
    np.testing.assert_allclose(np.linalg.norm(p - arc.centre, axis=1), arc.radius, rtol=1e-12)
    assert np.linalg.norm(p - via, axis=1).min() < arc.length / 9000.0
    assert measure(arc) == pytest.approx(arc.length, rel=1e-6)
    check_path(arc, tolerance=1e-6 * max(1.0, arc.radius))


def test_an_arc_may_be_more_than_half_a_circle() -> None:
    a, b = se3.translation([0.1, 0.0, 0.0]), se3.translation([0.0, 0.1, 0.0])
    assert Arc(a, np.array([0.1, 0.1, 0.0]) / np.sqrt(2), b).sweep == pytest.approx(np.pi / 2)
    assert Arc(a, np.array([-0.1, 0.0, 0.0]), b).sweep == pytest.approx(1.5 * np.pi)


@pytest.mark.parametrize(
    "via", [[0.05, 0.0, 0.0], [-3.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.05, 1e-9, 0]]
)
def test_points_in_a_row_make_no_arc_and_the_error_has_them(via: list[float]) -> None:
    a, b = se3.translation([0.0, 0.0, 0.0]), se3.translation([0.1, 0.0, 0.0])
    with pytest.raises(CollinearPoints, match="no circle goes through") as caught:
        Arc(a, np.array(via), b)
    assert caught.value.via == tuple(via)
    assert caught.value.off_line_m < 1e-8
    with pytest.raises(CollinearPoints):
        Arc(a, np.array([0.0, 0.1, 0.0]), a)


def test_a_polyline_has_a_line_or_a_turn_wherever_something_changes() -> None:
    quarter = se3.make(so3.rot_z(np.pi / 2), [0.1, 0.0, 0.0])
    poses = [np.eye(4), se3.translation([0.1, 0.0, 0.0]), quarter, quarter]
    poses.append(quarter @ se3.translation([0.05, 0.0, 0.0]))
    polyline = Polyline(np.array(poses))
    assert [type(piece).__name__ for piece in polyline.pieces] == ["Line", "Turn", "Line"]
    assert polyline.length == pytest.approx(0.15)
    assert polyline.angle == pytest.approx(np.pi / 2)
    ends = [piece.pose(np.array([1.0]))[0] for piece in polyline.pieces]
    np.testing.assert_allclose(ends, np.array(poses)[[1, 2, 4]], atol=1e-15)


def test_what_is_no_pose_makes_no_path() -> None:
    mirrored = np.diag([1.0, 1.0, -1.0, 1.0])
    skewed = np.eye(4)
    skewed[0, 1] = 0.01
    for bad, reason in ((mirrored, "mirrored"), (skewed, "is no rotation"), (np.eye(3), "shape")):
        with pytest.raises(InvalidInput, match=reason):
            Line(np.eye(4), bad)
    nan = np.eye(4)
    nan[1, 3] = np.nan
    with pytest.raises(InvalidInput, match="T_start: holds NaN"):
        Turn(nan, np.ones(3))
    with pytest.raises(InvalidInput, match="turn: needs three finite"):
        Turn(np.eye(4), np.array([0.0, np.inf, 0.0]))
    with pytest.raises(InvalidInput, match="via"):
        Arc(np.eye(4), np.array([np.nan, 0.0, 0.0]), se3.translation([0.1, 0, 0]))
    for poses in (np.eye(4)[None], np.eye(4), np.empty((0, 4, 4))):
        with pytest.raises(InvalidInput, match="poses"):
            Polyline(poses)

"""Figures: the Block-O of the paper, polygons of one's own, and how the tip traces them."""

from __future__ import annotations

import re
from itertools import pairwise
from math import pi, radians
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dvrk_kinematics import Arm
from dvrk_kinematics.errors import InvalidInput, ModelError, UnknownName
from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.motion.cannula import make_cannula_rule
from dvrk_kinematics.motion.figures.block_o import (
    BLOCK_O,
    PRESETS,
    QUICK,
    find_preset,
    trace_figure,
    trace_paths,
)
from dvrk_kinematics.motion.figures.figure import Figure, Orientation, load_figure
from dvrk_kinematics.motion.limits import make_motion_limits
from dvrk_kinematics.motion.paths.path import Line, Turn
from dvrk_kinematics.motion.planning.planner import plan_motion

TOL_M = 1e-12
SOMEWHERE = se3.make(so3.exp(np.array([0.3, -0.2, 2.0])), [0.01, -0.02, -0.12])


def test_the_block_o_has_sixteen_poses_eight_translations_and_seven_turns_of_45_degrees() -> None:
    poses = BLOCK_O.poses(SOMEWHERE, 0.5)
    pieces = trace_paths(BLOCK_O, SOMEWHERE, 0.5)
    assert len(poses) == 16
    assert [type(piece) for piece in pieces] == [Line, Turn] * 7 + [Line]
    turns = [piece.angle for piece in pieces if isinstance(piece, Turn)]
    np.testing.assert_allclose(turns, radians(45.0), atol=1e-12)
    np.testing.assert_allclose(BLOCK_O.turns, -radians(45.0), atol=1e-12)
    assert BLOCK_O.length == pytest.approx(2 * (0.1 + 0.16) + 4 * 0.048 * 2**0.5)


def test_every_piece_ends_exactly_where_the_next_begins() -> None:
    poses = BLOCK_O.poses(SOMEWHERE, 0.5)
    pieces = trace_paths(BLOCK_O, SOMEWHERE, 0.5)
    ends = np.array([0.0, 1.0])
    for piece, (begin, end) in zip(pieces, pairwise(poses), strict=True):
        np.testing.assert_allclose(piece.pose(ends), np.stack([begin, end]), atol=TOL_M)
    np.testing.assert_allclose(poses[-1, :3, 3], poses[0, :3, 3], atol=TOL_M)


def test_tool_x_is_along_the_travel_and_tool_z_into_the_plane() -> None:
    for piece in trace_paths(BLOCK_O, SOMEWHERE, 0.5):
        u = np.linspace(0.0, 1.0, 5)
        T, V = piece.pose(u), piece.twist(u)
        np.testing.assert_allclose(T[:, :3, 2], np.tile(-SOMEWHERE[:3, 2], (5, 1)), atol=TOL_M)
        if isinstance(piece, Line):
            along = V[:, :3] / np.linalg.norm(V[:, :3], axis=1, keepdims=True)
            np.testing.assert_allclose(T[:, :3, 0], along, atol=1e-9)


def test_scale_orientation_and_offset_are_those_of_the_paper() -> None:
    R, offset, scale = SOMEWHERE[:3, :3], SOMEWHERE[:3, 3], 0.7
    corners = np.column_stack([BLOCK_O.corners, np.zeros(8)])
    expected = scale * corners @ R.T + offset
    np.testing.assert_allclose(BLOCK_O.poses(SOMEWHERE, scale)[::2, :3, 3], expected, atol=TOL_M)


def test_samples_repeat_nothing_and_hold_every_pose_of_the_figure() -> None:
    T = BLOCK_O.sample(0.5, 5, 3)
    assert len(T) == 8 * 5 + 7 * 3 + 1
    distance, angle = se3.pose_error(T[1:], T[:-1])
    assert (distance + angle > 1e-3).all()
    ends = np.cumsum([0, *[5, 3] * 7, 5])
    np.testing.assert_allclose(T[ends], BLOCK_O.poses(np.eye(4), 0.5), atol=TOL_M)


def test_a_second_round_begins_with_turning_back() -> None:
    pieces = trace_paths(BLOCK_O, SOMEWHERE, 0.5, repeat=2)
    assert len(pieces) == 15 + 1 + 15
    assert pieces[15].angle == pytest.approx(radians(315.0))
    np.testing.assert_allclose(
        pieces[15].pose(np.ones(1))[0], pieces[0].pose(np.zeros(1))[0], atol=TOL_M
    )
    turned = sum(float(piece.twist(np.zeros(1))[0, 3:] @ SOMEWHERE[:3, 2]) for piece in pieces)
    assert turned == pytest.approx(-radians(315.0))


def test_a_fixed_orientation_is_that_of_the_first_side_all_the_way_round() -> None:
    fixed = BLOCK_O.oriented("fixed")
    poses, along = fixed.poses(SOMEWHERE, 0.5), BLOCK_O.poses(SOMEWHERE, 0.5)
    np.testing.assert_allclose(poses[:, :3, 3], along[:, :3, 3], atol=TOL_M)
    np.testing.assert_allclose(poses[:, :3, :3], np.tile(along[0, :3, :3], (16, 1, 1)), atol=TOL_M)
    assert not fixed.turns.any()
    once, thrice = (trace_paths(fixed, SOMEWHERE, 0.5, repeat) for repeat in (1, 3))
    assert [type(piece) for piece in once] == [Line] * 8
    assert len(thrice) == 24, "there is nothing to turn back"
    assert sum(piece.angle for piece in thrice) < 1e-9
    T = fixed.sample(0.5, 5, 3)
    assert len(T) == 8 * 5 + 1
    np.testing.assert_allclose(T[::5], fixed.poses(np.eye(4), 0.5)[[*range(0, 16, 2), 15]])
    again = fixed.oriented(Orientation.ALONG)
    np.testing.assert_array_equal(again.poses(SOMEWHERE, 0.5), along)


def test_only_a_fixed_orientation_lets_the_way_turn_straight_back() -> None:
    there_and_back = np.array([[0.0, 0.0], [0.1, 0.0], [0.05, 0.0]])
    assert len(trace_paths(Figure("line", there_and_back, Orientation.FIXED), SOMEWHERE)) == 3
    with pytest.raises(InvalidInput, match=r'straight back there; only the orientation "fixed"'):
        Figure("line", there_and_back)
    with pytest.raises(InvalidInput, match='orientation: must be "along" or "fixed", is \'both\''):
        BLOCK_O.oriented("both")


def test_the_presets_are_the_four_tests_of_the_paper() -> None:
    pairs = [(speeds.speed, speeds.acceleration) for speeds in PRESETS.values()]
    assert pairs == [(0.005, 0.01), (0.0075, 0.014), (0.01, 0.02), (0.02, 0.04)]
    for speeds in PRESETS.values():
        assert (speeds.angular_speed, speeds.angular_acceleration) == (pi / 12, pi / 6)
    assert find_preset("d") is PRESETS["d"]
    with pytest.raises(UnknownName, match="unknown preset 'e'; valid: a, b, c, d"):
        find_preset("e")


def test_half_size_takes_108_seconds_in_true_units_and_27_minutes_by_the_papers_rule() -> None:
    durations = {
        scaling: sum(
            segment.duration_s
            for segment in trace_figure(BLOCK_O, SOMEWHERE, 0.5, scaling=scaling)
        )
        for scaling in ("trapezoid", "normalised")
    }
    lines, turns = 0.5 * BLOCK_O.length / 0.005 + 8 * 0.5, 7 * (3.0 + 0.5)
    assert durations["trapezoid"] == pytest.approx(lines + turns)
    assert 100.0 < durations["trapezoid"] < 110.0
    # T = (a + v^2) / (v a) of the fraction, 200.5 s a side and 4.32 s a turn, whatever the size.
    rule = 8 * (0.01 + 0.005**2) / (0.005 * 0.01)
    rule += 7 * (pi / 6 + (pi / 12) ** 2) / (pi / 12 * pi / 6)
    assert durations["normalised"] == pytest.approx(rule)
    assert rule == pytest.approx(1634.2, abs=0.1)


@given(st.lists(st.tuples(st.floats(-0.1, 0.1), st.floats(-0.1, 0.1)), min_size=3, max_size=9))
def test_any_polygon_that_is_accepted_is_traced_whole(corners: list[tuple[float, float]]) -> None:
    try:
        figure = Figure("any", np.array(corners))
    except InvalidInput:
        assume(False)
    T = SOMEWHERE @ figure.sample(1.0, 3, 8)
    assert so3.deviation(T[:, :3, :3]).max() < 1e-12
    distance, angle = se3.pose_error(T[1:], T[:-1])
    assert angle.max() <= pi / 8 + 1e-9
    pieces = trace_paths(figure, SOMEWHERE)
    assert sum(piece.length for piece in pieces) == pytest.approx(figure.length)
    assert distance.sum() == pytest.approx(figure.length)
    assert sum(piece.angle for piece in pieces) == pytest.approx(np.abs(figure.turns).sum())


# Where place() puts the half-size Block-O, rounded; roll is on the turn that has room for it all.
T_PLACED = se3.make(so3.rot_z(1.969), [0.0137, -0.0518, -0.123])
SEED = np.array([0.03, 0.25, 0.133, -2.74, 0.22, 0.12])


@pytest.mark.parametrize("preset", PRESETS)
def test_the_placed_figure_is_planned_at_all_speeds_of_the_paper(psm: Arm, preset: str) -> None:
    q_start = psm.inverse(BLOCK_O.poses(T_PLACED, 0.5)[0], seed=SEED).q
    segments = trace_figure(BLOCK_O, T_PLACED, 0.5, PRESETS[preset])
    plan = plan_motion(psm, segments, q_start, make_motion_limits(psm), make_cannula_rule(psm))
    flight = plan.flight_plan
    assert flight.ok
    assert flight.length == pytest.approx(0.5 * BLOCK_O.length)
    assert flight.limit_margin > 0.15
    assert flight.position_deviation < 1e-6 and flight.rotation_deviation < 1e-6
    assert (np.diff(plan.times_ns) > 0).all(), "no sample is repeated"
    ends = np.cumsum([0.0] + [segment.duration_s for segment in segments])
    knots = np.searchsorted(plan.spline.times, ends - 1e-6)
    distance, angle = se3.pose_error(
        psm.forward(plan.spline.position[knots]), BLOCK_O.poses(T_PLACED, 0.5)
    )
    assert distance.max() < 1e-9 and angle.max() < 1e-9, "every piece ends exactly on its end"
    np.testing.assert_allclose(plan.spline.velocity[knots], 0.0, atol=1e-9)


def test_two_rounds_end_with_the_joints_where_one_does(psm: Arm) -> None:
    q_start = psm.inverse(BLOCK_O.poses(T_PLACED, 0.5)[0], seed=SEED).q
    ends = []
    for repeat in (1, 2):
        segments = trace_figure(BLOCK_O, T_PLACED, 0.5, PRESETS["d"], repeat=repeat)
        plan = plan_motion(psm, segments, q_start, make_motion_limits(psm))
        ends.append(plan.spline.position[-1])
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-9)


SQUARE = [[0.0, 0.0], [0.0, 0.1], [0.1, 0.1], [0.1, 0.0]]


@pytest.mark.parametrize(
    ("corners", "sentence"),
    [
        (np.zeros((0, 2)), "at least three, got 0"),
        ([], "there are none; a figure needs at least three"),
        ([[0.0, 0.0]], "at least three, got 1"),
        (SQUARE[:2], "at least three, got 2"),
        ([[0.0], [1.0], [2.0]], r"need shape \(C, 2\) or \(C, 3\), got \(3, 1\)"),
        ([*SQUARE[:2], *SQUARE[1:]], r"corners\[2\]: repeats corner 1: they are 0 m apart"),
        ([*SQUARE, SQUARE[0]], r"corners\[4\]: repeats corner the first"),
        ([[0, 0], [0, np.nan], [1, 1]], r"corners\[1\]: must be finite and within 1000 m"),
        ([[0, 0], [0, 1e300], [1, 1]], r"corners\[1\]: must be finite and within 1000 m"),
        ([[0, 0, 0], [0, 1, 0], [1, 1, 0.002]], r"corners\[2\]: lies 0.002 m off the plane"),
        ([[0, 0], [0.1, 0], [0.05, 0]], r"corners\[1\]: the way turns straight back there"),
    ],
)
def test_a_figure_that_is_none_is_refused_by_sentence(corners: Array, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        Figure("wrong", np.array(corners))


@pytest.mark.parametrize("scale", [0.0, -1.0, np.nan, np.inf])
def test_a_scale_that_is_none_is_refused(scale: float) -> None:
    with pytest.raises(InvalidInput, match="scale: must be positive and finite"):
        trace_figure(BLOCK_O, SOMEWHERE, scale)


def test_a_pose_that_is_none_and_no_round_at_all_are_refused() -> None:
    with pytest.raises(InvalidInput, match="T_base_figure: is no rotation"):
        trace_figure(BLOCK_O, np.diag([1.0, 1.0, -1.0, 1.0]))
    with pytest.raises(InvalidInput, match="repeat: must be at least 1, is 0"):
        trace_figure(BLOCK_O, SOMEWHERE, repeat=0)


def test_a_figure_comes_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "house.yaml"
    file.write_text("corners: [[0.0, 0.0], [0.0, 0.04], [0.02, 0.06], [0.04, 0.0]]")
    house = load_figure(file)
    assert house.name == "house"
    np.testing.assert_array_equal(house.corners[2], [0.02, 0.06])
    file.write_text("name: hut\ncorners: [[0, 0, 0], [0, 1, 0], [1, 1, 0]]")
    assert load_figure(str(file)).name == "hut"
    assert load_figure(file).orientation is Orientation.ALONG
    file.write_text("orientation: fixed\ncorners: [[0, 0, 0], [0, 1, 0], [1, 1, 0]]")
    assert load_figure(file).orientation is Orientation.FIXED


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "wrong.yaml: must be a mapping, is empty"),
        ("corners:", "wrong.yaml: corners: must be a list, is empty"),
        ("corners: []", "wrong.yaml: corners: there are none; a figure needs at least three"),
        ("corners: [[0, 0], [0, 1e-7], [1, 1]]", r"corners.1.1: must be a number.*1\.0e-7"),
        ("corners: [[0, 0], [0, .nan], [1, 1]]", "corners.1.1: must be finite, is nan"),
        ("corners: [[0, 0], [0], [1, 1]]", "corners.1: needs 2 numbers, has 1"),
        ("corners: [[0, 0], [0, 1, 0], [1, 1]]", "corners: must all have two numbers"),
        ("corners: [[0, 0], [0, 0], [1, 1]]", r"wrong.yaml: corners\[1\]: repeats corner 0"),
        ("points: [[0, 0], [0, 0], [1, 1]]", "missing: corners"),
        ("corners: [[0, 0], [0, 1], [1, 1]]\norientation: free", 'must be "along" or "fixed"'),
        ("corners: [", "is not valid YAML"),
    ],
)
def test_a_file_that_is_no_figure_is_refused_with_its_place(
    tmp_path: Path, text: str, sentence: str
) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text(text)
    with pytest.raises(ModelError, match=sentence):
        load_figure(file)


def test_the_durations_in_the_docs_are_those_of_the_figure() -> None:
    page = Path(__file__).parents[4] / "docs" / "block_o.md"
    rows = re.findall(r"^\| `(\S+?)`.*\| ([\d.]+) s \| (\d+) s \|$", page.read_text(), re.M)
    speeds = {f'PRESETS["{name}"]': preset for name, preset in PRESETS.items()}
    speeds["QUICK"] = QUICK
    assert [name for name, _, _ in rows] == list(speeds)
    for name, true_s, rule_s in rows:
        for scaling, told in (("trapezoid", true_s), ("normalised", rule_s)):
            segments = trace_figure(BLOCK_O, np.eye(4), 0.5, speeds[name], scaling=scaling)
            took = sum(segment.duration_s for segment in segments)
            digits = len(told.partition(".")[2])
            assert f"{took:.{digits}f}" == told, (name, scaling)

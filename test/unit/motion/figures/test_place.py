"""Where a figure fits best, how large it may be, and that nothing better was overlooked."""

from __future__ import annotations

import numpy as np
import pytest

from dvrk_kinematics import Arm, load_arm
from dvrk_kinematics.errors import DoesNotFit, FitCause, InvalidInput
from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.motion.cannula import WRIST_DEPTH_M, make_cannula_rule
from dvrk_kinematics.motion.figures.block_o import BLOCK_O, PRESETS, trace_figure
from dvrk_kinematics.motion.figures.figure import Figure
from dvrk_kinematics.motion.figures.place_margin import PlaceMargin, plane_rotation
from dvrk_kinematics.motion.figures.place_search import grid, reach_box, search
from dvrk_kinematics.motion.figures.placement import (
    CANNULA,
    Misfit,
    Placement,
    find_misfit,
    largest_scale,
    measure_placement,
    place,
)
from dvrk_kinematics.motion.limits import make_motion_limits
from dvrk_kinematics.motion.planning.planner import plan_motion

TRIANGLE = Figure("triangle", np.array([[0.0, 0.0], [0.06, 0.0], [0.0, 0.04]]))
_TIPS = 0.8 * np.pi * np.arange(5)
STAR = Figure("star", 0.05 * np.column_stack([np.cos(_TIPS), np.sin(_TIPS)]))


@pytest.fixture(scope="module")
def half(psm: Arm) -> Placement:
    """The Block-O at half size, where it fits best."""
    return place(psm, BLOCK_O, 0.5)


def _follow(arm: Arm, figure: Figure, placed: Placement) -> np.ndarray:
    """Joint positions along a figure, sample by sample from its start, each seeded by the last."""
    q, path = placed.q_start, []
    for T in placed.T_base_figure @ figure.sample(placed.scale, 20, 10):
        solved = arm.inverse(T, seed=q)
        assert solved.ok, solved.violations
        q = solved.q
        path.append(q)
    return np.array(path)


def test_the_figure_can_be_traced_from_q_start_without_a_jump(psm: Arm, half: Placement) -> None:
    T_first = BLOCK_O.poses(half.T_base_figure, half.scale)[0]
    distance, angle = se3.pose_error(psm.forward(half.q_start), T_first)
    assert distance < 1e-9 and angle < 1e-9
    q = _follow(psm, BLOCK_O, half)
    assert np.abs(np.diff(q, axis=0)).max() < 0.15
    # Between denser samples of another path nothing is worse than what was promised.
    assert psm.limits.margin(q).min() >= half.margin - 1e-6
    assert np.ptp(q[:, 3]) > np.radians(270.0), "roll goes nearly all the way around"


def test_the_margin_is_large_and_what_limits_it_is_named(psm: Arm, half: Placement) -> None:
    assert half.margin > 0.19
    assert half.limited_by in (*psm.joint_names, CANNULA)
    assert 0.0 <= half.limited_where <= 1.0
    again = measure_placement(psm, BLOCK_O, half.T_base_figure, half.scale)
    assert again.margin == pytest.approx(half.margin)
    assert again.limited_by == half.limited_by


def test_the_wrist_keeps_out_of_the_cannula(psm: Arm, half: Placement) -> None:
    rule = make_cannula_rule(psm)
    assert rule is not None
    depth = _follow(psm, BLOCK_O, half)[:, rule.joint] + rule.offset_m
    span = psm.limits.upper[rule.joint] - psm.limits.lower[rule.joint]
    assert depth.min() >= WRIST_DEPTH_M + (half.margin - 1e-6) * span
    shallow = se3.make(so3.rot_z(2.0), [0.0, 0.0, -0.05])
    found = measure_placement(psm, BLOCK_O, shallow, 0.05)
    assert found.margin < 0.0
    assert found.limited_by == CANNULA


def test_the_papers_own_place_is_worse(psm: Arm, half: Placement) -> None:
    corner_below = se3.make(np.diag([-1.0, -1.0, 1.0]), [0.0, 0.0, -0.1])
    found = measure_placement(psm, BLOCK_O, corner_below, 0.5)
    assert 0.0 < found.margin < 0.1 * half.margin
    at_the_centre = se3.make(np.diag([-1.0, -1.0, 1.0]), [0.0, 0.0, 0.0])
    assert measure_placement(psm, BLOCK_O, at_the_centre, 0.5).margin < 0.0


@pytest.mark.parametrize(("figure", "scale"), [(BLOCK_O, 0.5), (TRIANGLE, 4.0)])
def test_a_ten_times_denser_search_finds_nothing_much_better(
    psm: Arm, figure: Figure, scale: float
) -> None:
    usual = place(psm, figure, scale)
    denser = place(psm, figure, scale, density=10.0)
    assert usual.margin >= 0.95 * denser.margin > 0.0


def test_a_figure_that_turns_farther_than_roll_can_is_refused_and_told_why(psm: Arm) -> None:
    assert np.degrees(STAR.turns.sum()) == pytest.approx(576.0)
    found = place(psm, STAR, 0.5, min_margin=-0.5)
    assert found.limited_by == "roll"
    assert found.margin == pytest.approx((520.0 - 576.0) / 2.0 / 520.0, abs=0.002)
    with pytest.raises(DoesNotFit) as refusal:
        place(psm, STAR, density=0.1)
    error = refusal.value
    assert str(error) == (
        "star: fits nowhere, whatever its size: it turns the tool by 576 degrees, and roll has "
        '520; the orientation "fixed" needs no turn'
    )
    assert (error.scale, error.largest_scale) == (None, 0.0), "nobody asked for a scale"
    assert (error.cause, error.joint) == (FitCause.TURN, "roll")
    assert np.degrees([error.value, error.limit]) == pytest.approx([576.0, 520.0], abs=0.1)


def test_with_its_orientation_fixed_the_same_figure_fits_and_is_planned(psm: Arm) -> None:
    fixed = STAR.oriented("fixed")
    placed = place(psm, fixed, 0.5)
    assert placed.margin > 0.3
    segments = trace_figure(fixed, placed.T_base_figure, 0.5, PRESETS["d"], repeat=2)
    limits, cannula = make_motion_limits(psm), make_cannula_rule(psm)
    plan = plan_motion(psm, segments, placed.q_start, limits, cannula)
    assert plan.flight_plan.limit_margin == pytest.approx(placed.margin, abs=1e-4)
    T = psm.forward(plan.spline.position)
    assert so3.angle_between(T[:, :3, :3], T[0, :3, :3]).max() < 1e-6, "the tool never turns"
    assert np.linalg.norm(T[-1, :3, 3] - T[0, :3, 3]) < 1e-9


def _misfit(
    arm: Arm,
    figure: Figure,
    scale: float,
    normal: tuple[float, float, float] = (0.0, 0.0, 1.0),
    depth: float = WRIST_DEPTH_M,
    min_margin: float = 0.0,
) -> Misfit:
    """Why a figure does not fit at the best place of one size."""
    margin = PlaceMargin(arm, figure, normal, depth)
    box = reach_box(arm)
    T = margin.pose(search(margin, box, scale, 0.1)[0], scale)
    return find_misfit(margin, T, scale, min_margin, grid(box, 0.1)[0])


def test_each_cause_is_told_by_sentence_and_as_data(psm: Arm) -> None:
    wrist = _misfit(psm, TRIANGLE, 1.0, normal=(0, 0, -1))
    assert wrist.cause is FitCause.JOINT_LIMIT and wrist.joint.startswith("wrist")
    assert f"{wrist.joint} would be {wrist.value:.4f}, allowed -1.3963 to 1.3963" in wrist.reason
    large = _misfit(psm, TRIANGLE, 8.0)
    assert large.cause is FitCause.JOINT_LIMIT and "also outside there: " in large.reason
    assert abs(large.value) > abs(large.limit)
    huge = _misfit(psm, TRIANGLE, 5000.0)
    assert huge.cause is FitCause.JOINT_LIMIT and abs(huge.value) > 10.0 * abs(huge.limit)
    shallow = _misfit(psm, TRIANGLE, 0.5, depth=0.23)
    assert (shallow.cause, shallow.joint) == (FitCause.CANNULA, "insertion")
    assert shallow.value < shallow.limit == 0.23
    assert f"the wrist would be {shallow.value:.4f} m beyond the remote centre" in shallow.reason
    tight = _misfit(psm, TRIANGLE, 1.0, min_margin=0.4)
    assert tight.cause is FitCause.MARGIN and 0.2 < tight.value < tight.limit == 0.4
    assert f"a margin of {tight.value:.4g} (roll), and 0.4 was asked for" in tight.reason
    unheld = _misfit(load_arm("ECM"), TRIANGLE, 1.0)
    assert unheld.cause is FitCause.REACH and unheld.joint == ""
    assert "no joint positions put the tip into some of its poses" in unheld.reason
    broken = _misfit(load_arm("CYBER310"), BLOCK_O, 0.5)
    assert broken.cause is FitCause.JUMP and "would have to jump" in broken.reason


# The second has a wrist whose yaw reaches 90 degrees, where the closed form is not unique.
@pytest.mark.parametrize("instrument", ["400006", "400205"])
def test_a_placed_figure_is_planned_with_the_margin_that_was_promised(instrument: str) -> None:
    arm = load_arm("PSM", instrument=instrument)
    placed = place(arm, BLOCK_O, 1.0)
    segments = trace_figure(BLOCK_O, placed.T_base_figure, placed.scale, PRESETS["d"])
    limits, cannula = make_motion_limits(arm), make_cannula_rule(arm)
    plan = plan_motion(arm, segments, placed.q_start, limits, cannula)
    assert plan.flight_plan.limit_margin == pytest.approx(placed.margin, abs=1e-4)


def test_random_places_are_no_better(psm: Arm, half: Placement, rng: np.random.Generator) -> None:
    centre = np.append(0.5 * BLOCK_O.centre, 0.0)
    for _ in range(300):
        R = so3.rot_z(rng.uniform(-np.pi, np.pi))
        middle = rng.uniform([-0.1, -0.1, -0.2], [0.1, 0.1, -0.06])
        T = se3.make(R, middle - R @ centre)
        assert measure_placement(psm, BLOCK_O, T, 0.5).margin <= half.margin + 1e-4


def test_the_same_question_has_the_same_answer(psm: Arm) -> None:
    first, second = (place(psm, TRIANGLE, 1.0) for _ in range(2))
    np.testing.assert_array_equal(first.T_base_figure, second.T_base_figure)
    np.testing.assert_array_equal(first.q_start, second.q_start)


def test_a_plane_of_ones_own_is_kept(psm: Arm) -> None:
    normal = np.array([0.3, 0.2, 1.0])
    found = place(psm, TRIANGLE, 1.0, normal=normal)
    np.testing.assert_allclose(
        found.T_base_figure[:3, 2], normal / np.linalg.norm(normal), atol=1e-12
    )
    assert found.margin > 0.1


def test_a_figure_that_is_too_large_is_refused_with_the_largest_scale_that_fits(psm: Arm) -> None:
    with pytest.raises(DoesNotFit, match="triangle: fits nowhere at scale 8, at most") as refusal:
        place(psm, TRIANGLE, 8.0, min_margin=0.05)
    largest = refusal.value.largest_scale
    assert f", at most {largest:.4g} fits: at its best place" in str(refusal.value)
    assert place(psm, TRIANGLE, largest, min_margin=0.05).margin >= 0.05
    assert place(psm, TRIANGLE, 1.005 * largest, min_margin=-0.5).margin < 0.05


def test_a_figure_that_is_thousands_of_times_too_large_is_told_the_same(psm: Arm) -> None:
    with pytest.raises(
        DoesNotFit, match="triangle: fits nowhere at scale 5000, at most"
    ) as refusal:
        place(psm, TRIANGLE, 5000.0, density=0.3)
    largest = refusal.value.largest_scale
    assert place(psm, TRIANGLE, largest, density=0.3).margin >= 0.0
    assert place(psm, TRIANGLE, 1.005 * largest, min_margin=-0.5, density=0.3).margin < 0.0


def test_the_rule_that_is_given_is_the_one_that_is_kept(psm: Arm) -> None:
    rule = make_cannula_rule(psm)
    assert rule is not None
    margins = []
    for depth in (0.0, WRIST_DEPTH_M, 0.16):
        placed = place(psm, BLOCK_O, 0.5, wrist_depth_m=depth)
        margins.append(placed.margin)
        depths = _follow(psm, BLOCK_O, placed)[:, rule.joint] + rule.offset_m
        assert depths.min() >= depth + placed.margin * 0.24 - 1e-6
        again = measure_placement(psm, BLOCK_O, placed.T_base_figure, 0.5, wrist_depth_m=depth)
        assert again.margin == pytest.approx(placed.margin)
    assert margins[0] >= margins[1] - 1e-4 and margins[1] > margins[2] + 0.01


def test_an_arm_that_cannot_hold_the_tool_upright_is_told_so() -> None:
    with pytest.raises(DoesNotFit, match=r"block_o: fits nowhere, neither at scale 0\.5 nor sm"):
        place(load_arm("ECM"), BLOCK_O, 0.5)
    with pytest.raises(DoesNotFit) as refusal:
        largest_scale(load_arm("ECM"), TRIANGLE)
    assert refusal.value.largest_scale == 0.0


def test_what_makes_no_sense_is_refused(psm: Arm) -> None:
    for scale in (0.0, -0.5, np.nan):
        with pytest.raises(InvalidInput, match="scale: must be positive"):
            place(psm, BLOCK_O, scale)
    with pytest.raises(InvalidInput, match="normal: must be three finite numbers, not all 0"):
        place(psm, BLOCK_O, 0.5, normal=(0.0, 0.0, 0.0))
    with pytest.raises(InvalidInput, match="min_margin: must be within"):
        place(psm, BLOCK_O, 0.5, min_margin=0.6)
    with pytest.raises(InvalidInput, match="density: must be within"):
        place(psm, BLOCK_O, 0.5, density=0.0)
    with pytest.raises(InvalidInput, match="wrist_depth_m: must be 0 or positive"):
        place(psm, BLOCK_O, 0.5, wrist_depth_m=-0.01)
    with pytest.raises(InvalidInput, match="arm: MTML is solved by iteration"):
        place(load_arm("MTML"), BLOCK_O, 0.5)
    with pytest.raises(InvalidInput, match="T_base_figure: holds NaN"):
        measure_placement(psm, BLOCK_O, np.full((4, 4), np.nan))


@pytest.mark.parametrize("normal", [(0, 0, 1), (0, 0, -2), (1, 0, 0), (0.1, -3, 0.2)])
def test_a_normal_gives_a_rotation_whose_z_it_is(normal: tuple[float, float, float]) -> None:
    R = so3.check(plane_rotation(normal))
    np.testing.assert_allclose(R[:, 2], np.array(normal) / np.linalg.norm(normal), atol=1e-12)

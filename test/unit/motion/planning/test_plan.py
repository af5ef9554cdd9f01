"""Plans are proven, or refused with the place and the reason."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from plan_checks import check_plan

from dvrk_kinematics import Arm, load_arm
from dvrk_kinematics.errors import CollinearPoints, InvalidInput, PlanReason, PlanRefused
from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.motion.cannula import make_cannula_rule
from dvrk_kinematics.motion.limits import make_motion_limits
from dvrk_kinematics.motion.moves import MoveAbsJ, MoveC, MoveJ, MoveL, repeat_moves
from dvrk_kinematics.motion.paths.path import Line, Polyline, Turn
from dvrk_kinematics.motion.planning.flight_plan import FlightPlan
from dvrk_kinematics.motion.planning.planner import Plan, PlanOptions, plan_motion
from dvrk_kinematics.motion.segments import make_segments
from dvrk_kinematics.motion.timing.logistic import Curve
from dvrk_kinematics.motion.timing.speeds import TipSpeeds

Q = np.array([0.1, -0.2, 0.14, 0.3, 0.2, -0.1])
QUICK = TipSpeeds(0.02, 0.04, 0.5, 1.0)


def _shift(x: float = 0.0, y: float = 0.0, z: float = 0.0, turn: float = 0.0) -> np.ndarray:
    return se3.make(so3.rot_z(turn), [x, y, z])


def _plan(arm: Arm, motion, q_start=Q, **options: object) -> Plan:
    limits, rule = make_motion_limits(arm), make_cannula_rule(arm)
    return plan_motion(arm, motion, q_start, limits, rule, PlanOptions(**options))


@pytest.mark.parametrize("scaling", ["trapezoid", "quintic", "hyperbolic", "normalised"])
def test_a_line_is_planned_with_every_scaling(psm: Arm, scaling: str) -> None:
    speeds = TipSpeeds(0.5, 1.0, 0.5, 1.0) if scaling == "normalised" else QUICK
    plan = _plan(psm, [MoveL(_shift(0.02, -0.01, 0.01, 0.4), "tool", speeds)], scaling=scaling)
    check_plan(psm, plan, Q)
    is_smooth = scaling in ("quintic", "hyperbolic")
    assert (plan.spline.acceleration is not None) == is_smooth
    assert np.diff(plan.spline.times).max() <= 0.05 + 1e-8
    T_end = psm.forward(Q) @ _shift(0.02, -0.01, 0.01, 0.4)
    np.testing.assert_allclose(psm.forward(plan.spline.position[-1]), T_end, atol=1e-12)
    assert plan.flight_plan.length == pytest.approx(np.sqrt(6e-4))
    assert plan.is_cartesian


def test_there_is_a_knot_at_every_change_of_phase(psm: Arm) -> None:
    plan = _plan(psm, [MoveL(_shift(0.02), "tool", TipSpeeds(0.007, 0.03))])
    for change in (0.007 / 0.03, 0.02 / 0.007):
        assert np.abs(plan.spline.times - change).min() < 1e-8


def test_moves_in_base_tool_and_any_frame_mean_what_they_say(psm: Arm) -> None:
    T = psm.forward(Q)
    T_base_frame = _shift(0.05, 0.02, -0.1, 0.3)
    target = T @ _shift(0.01, 0.0, 0.005)
    ends = [
        _plan(psm, [MoveL(target, "base", QUICK)]),
        _plan(psm, [MoveL(_shift(0.01, 0.0, 0.005), "tool", QUICK)]),
        _plan(psm, [MoveL(se3.inverse(T_base_frame) @ target, T_base_frame, QUICK)]),
        _plan(psm, [MoveJ(target)]),
    ]
    for plan in ends:
        check_plan(psm, plan, Q)
        np.testing.assert_allclose(plan.path.pose_at(1e9), target, atol=1e-9)


def test_a_tool_relative_move_starts_where_the_last_one_ended(psm: Arm) -> None:
    moves = [MoveL(_shift(0.01, turn=0.5), "tool", QUICK), MoveL(_shift(0.01), "tool", QUICK)]
    plan = _plan(psm, moves)
    expected = psm.forward(Q) @ _shift(0.01, turn=0.5) @ _shift(0.01)
    np.testing.assert_allclose(plan.path.pose_at(plan.duration_s), expected, atol=1e-12)


def test_all_kinds_of_moves_are_planned_as_one_motion(psm: Arm) -> None:
    T = psm.forward(Q)
    moves = [
        MoveAbsJ(Q + np.array([0.1, 0.1, 0.01, 1.0, 0.2, 0.1])),
        MoveJ(T),
        MoveL(T @ _shift(0.01), speeds=QUICK, blend_radius=0.004),
        MoveL(T @ _shift(0.01, 0.01, turn=0.3), speeds=QUICK, blend_radius=0.003),
        MoveL(T @ _shift(0.0, 0.01, 0.005), speeds=QUICK),
        MoveC(T, se3.apply(T, np.array([-0.004, 0.004, 0.0])), speeds=QUICK),
        MoveAbsJ(Q),
    ]
    plan = _plan(psm, moves)
    check_plan(psm, plan, Q)
    np.testing.assert_allclose(plan.spline.position[-1], Q, atol=1e-12)
    corner = (T @ _shift(0.01))[:3, 3]
    times = np.linspace(0.0, plan.duration_s, 5000)
    gap = np.linalg.norm(plan.path.poses_at(times)[:, :3, 3] - corner, axis=1).min()
    assert gap == pytest.approx(0.002 * np.sin(np.pi / 4), abs=1e-5)


def test_repeating_plans_the_same_again(psm: Arm) -> None:
    there = [MoveL(_shift(0.01), "tool", QUICK), MoveL(_shift(-0.01), "tool", QUICK)]
    once, thrice = _plan(psm, there), _plan(psm, repeat_moves(there, 3))
    check_plan(psm, thrice, Q)
    assert thrice.duration_s == pytest.approx(3.0 * once.duration_s, abs=1e-6)
    with pytest.raises(InvalidInput, match="at least 1"):
        repeat_moves(there, 0)


def test_joints_with_curves_of_their_own_go_one_after_the_other(psm: Arm) -> None:
    curves = tuple(Curve(centre, 0.2, 0.005) for centre in (0.3, 0.4, 0.5, 0.6, 0.7, 0.75))
    plan = _plan(psm, [MoveAbsJ(Q + 0.05, 1.0, 1.0, curves)])
    check_plan(psm, plan, Q)
    half = [
        float(np.interp(0.025, plan.spline.position[:, j] - Q[j], plan.spline.times))
        for j in range(6)
    ]
    np.testing.assert_allclose(
        np.array(half) / plan.duration_s, [curve.centre for curve in curves], atol=0.02
    )
    assert plan.flight_plan.peak_velocity <= 1.001


def test_a_move_to_where_the_arm_is_takes_no_time(psm: Arm) -> None:
    plan = _plan(psm, [MoveL(np.eye(4), "tool"), MoveAbsJ(Q), MoveJ(psm.forward(Q))])
    assert plan.duration_s == 0.0 and len(plan.times_ns) == 1
    check_plan(psm, plan, Q)
    assert plan.flight_plan.limit_margin == pytest.approx(float(psm.margin(Q)))


def test_a_full_joint_move_uses_its_limits_and_keeps_them(psm: Arm) -> None:
    plan = _plan(psm, [MoveAbsJ(Q + np.eye(6)[0] * 0.9, 1.0, 1.0)])
    check_plan(psm, plan, Q)
    assert plan.flight_plan.peak_acceleration == pytest.approx(1.0, abs=1e-6)


def test_a_polyline_turns_in_place_at_its_corners(psm: Arm) -> None:
    T = psm.forward(Q)
    steps = [_shift(), _shift(0.01), _shift(turn=0.7), _shift(0.01)]
    poses = np.array([T := T @ step for step in steps])
    plan = _plan(psm, make_segments(Polyline(poses).pieces, QUICK))
    check_plan(psm, plan, Q)
    assert plan.flight_plan.samples > 200.0 * plan.duration_s
    assert plan.flight_plan.length == pytest.approx(0.02)
    rests = np.flatnonzero(~plan.spline.velocity.any(axis=1))
    assert len(rests) == 4, "the tip rests at every corner"


def test_what_cannot_be_reached_is_refused_with_its_place(psm: Arm) -> None:
    with pytest.raises(PlanRefused, match=r"step 0, 0\.\d+ m along the path \(\d+\.\d %\)") as out:
        _plan(psm, [MoveL(_shift(0.0, 0.0, 0.3), "tool", QUICK)])
    refused = out.value
    assert refused.reason is PlanReason.POSITION_LIMIT
    assert refused.joint in psm.joint_names
    assert 0.0 < refused.fraction < 1.0
    assert refused.distance_m == pytest.approx(0.3 * refused.fraction)
    # There the joint really is at its limit.
    T = psm.forward(Q) @ _shift(0.0, 0.0, refused.distance_m)
    j = psm.joint_names.index(refused.joint)
    assert psm.inverse(T, seed=Q).q[j] == pytest.approx(refused.limit, abs=1e-3)
    flight = refused.flight_plan
    assert flight is not None and not flight.ok and flight.reason == str(refused)


def test_the_target_of_a_joint_move_that_cannot_be_reached_is_named(psm: Arm) -> None:
    with pytest.raises(PlanRefused, match=r"insertion .*the target") as out:
        _plan(psm, [MoveJ(_shift(0.0, 0.0, 0.3), "tool")])
    assert out.value.fraction == 1.0
    with pytest.raises(PlanRefused, match=r"yaw 2, allowed 1\.588") as out:
        _plan(psm, [MoveAbsJ([2.0, 0, 0.1, 0, 0, 0])])
    assert out.value.reason is PlanReason.POSITION_LIMIT


def test_the_roll_limit_is_a_limit_and_no_reason_to_turn_back(psm: Arm) -> None:
    q = np.array([0.0, 0.0, 0.12, 4.0, 0.0, 0.0])
    T = psm.forward(q)
    T_up = psm.forward(q + np.eye(6)[3])
    up = so3.log(T_up[:3, :3] @ T[:3, :3].T)
    with pytest.raises(PlanRefused) as out:
        _plan(psm, make_segments([Turn(T, up)], QUICK), q)
    assert (out.value.reason, out.value.joint) == (PlanReason.POSITION_LIMIT, "roll")
    assert out.value.value == pytest.approx(4.53786, abs=0.01)
    plan = _plan(psm, make_segments([Turn(T, -6.5 * up)], QUICK), q)
    check_plan(psm, plan, q)
    assert plan.spline.position[-1, 3] == pytest.approx(-2.5)


@pytest.mark.parametrize(
    ("step", "speeds", "reason"),
    [
        (_shift(z=0.06), TipSpeeds(0.6, 0.9, 5.0, 10.0), PlanReason.VELOCITY_LIMIT),
        (_shift(turn=2.0), TipSpeeds(0.02, 0.04, 15.0, 40.0), PlanReason.ACCELERATION_LIMIT),
    ],
)
def test_too_fast_is_refused_or_slowed_down_on_request(
    psm: Arm, step: np.ndarray, speeds: TipSpeeds, reason: PlanReason
) -> None:
    moves = [MoveL(step, "tool", speeds)]
    with pytest.raises(PlanRefused) as out:
        _plan(psm, moves)
    assert out.value.reason is reason
    assert abs(out.value.value) > out.value.limit
    advice = re.search(
        r"fits (\d+\.\d\d) times slower: set slow_down to true, in the goal or in "
        r"PlanOptions",
        str(out.value),
    )
    assert advice is not None, str(out.value)
    plan = _plan(psm, moves, slow_down=True)
    check_plan(psm, plan, Q)
    flight = plan.flight_plan
    assert flight.slowed_by == pytest.approx(float(advice[1]), abs=0.02)
    assert flight.slowed_by > 1.0 and "step 0" in flight.slowed_for
    assert max(flight.peak_velocity, flight.peak_acceleration) == pytest.approx(1.0, abs=2e-3)


def test_only_the_step_that_is_too_fast_is_slowed_down(psm: Arm) -> None:
    slow = MoveL(_shift(0.01), "tool", QUICK)
    fast = MoveL(_shift(turn=2.0), "tool", TipSpeeds(0.02, 0.04, 15.0, 40.0))
    alone = _plan(psm, [slow])
    both = _plan(psm, [slow, fast], slow_down=True)
    check_plan(psm, both, Q)
    assert alone.times_ns[-1] in both.times_ns


def test_the_cannula_rule_holds_for_paths_and_not_for_joint_moves(psm: Arm) -> None:
    q = np.array([0.0, 0.0, 0.07, 0.0, 0.0, 0.0])
    with pytest.raises(PlanRefused, match="depth of the wrist") as out:
        _plan(psm, [MoveL(_shift(0.0, 0.0, -0.03), "tool", QUICK)], q)
    assert out.value.reason is PlanReason.IN_CANNULA and out.value.limit == 0.045
    shallow = _plan(psm, [MoveAbsJ(q - np.eye(6)[2] * 0.03)], q)
    assert not shallow.is_cartesian and shallow.flight_plan.wrist_depth < 0.045
    # From a shallow start, deeper always works.
    deeper = _plan(psm, [MoveL(_shift(0.0, 0.0, 0.05), "tool", QUICK)], [0, 0, 0.03, 0, 0, 0])
    check_plan(psm, deeper, np.array([0, 0, 0.03, 0, 0, 0]))


def test_a_path_that_begins_elsewhere_is_refused(psm: Arm) -> None:
    T = psm.forward(Q)
    line = Line(T @ _shift(0.001), T @ _shift(0.01))
    with pytest.raises(PlanRefused, match="begins elsewhere") as out:
        _plan(psm, make_segments([line], QUICK))
    assert out.value.reason is PlanReason.START
    first, second = Line(T, T @ _shift(0.01)), Line(T @ _shift(0.02), T)
    with pytest.raises(PlanRefused, match="begins elsewhere") as out:
        _plan(psm, make_segments([first, second], QUICK))
    assert out.value.step == 1


def test_bad_input_is_refused_by_name(psm: Arm) -> None:
    nan = np.full(6, np.nan)
    mirrored = np.diag([1.0, 1.0, -1.0, 1.0])
    for what, match in (
        (lambda: _plan(psm, []), "moves: is empty"),
        (lambda: _plan(psm, [MoveL(np.eye(4), "tool")], nan), "q_start: yaw is nan"),
        (lambda: _plan(psm, [MoveL(np.eye(4), "tool")], np.zeros(5)), "q_start: needs shape"),
        (lambda: MoveAbsJ(nan), "jp: needs one finite"),
        (lambda: _plan(psm, [MoveAbsJ(np.zeros(5))]), "step 0: has 5 joints"),
        (lambda: MoveAbsJ(Q, speed=0.0), r"speed: .*\(0, 1\]"),
        (lambda: MoveJ(np.eye(4), acceleration=-1.0), "acceleration: "),
        (lambda: MoveL(mirrored), "T: is no rotation: mirrored"),
        (lambda: MoveL(np.eye(4), mirrored), "frame: is no rotation"),
        (lambda: MoveL(np.eye(4), "wrist"), 'must be "base", "tool" or a pose'),
        (lambda: MoveL(np.eye(4), speeds=TipSpeeds(speed=-0.1)), "speed: must be positive"),
        (lambda: MoveL(np.eye(4), blend_radius=-0.1), "blend_radius: must be positive"),
        (lambda: MoveC(np.eye(4), nan[:3]), "via: needs three"),
        (lambda: PlanOptions(policy="best"), "policy: must be one of exact, position_first"),
        (lambda: PlanOptions(max_knots=1), "max_knots"),
    ):
        with pytest.raises(InvalidInput, match=match):
            what()
    with pytest.raises(InvalidInput, match="between MoveL only"):
        _plan(psm, [MoveL(_shift(0.01), "tool", blend_radius=0.002)])
    with pytest.raises(CollinearPoints):
        _plan(psm, [MoveC(_shift(0.02), [0.01, 0.0, 0.0], "tool")])


def test_a_flight_plan_has_the_fields_of_its_message() -> None:
    root = Path(__file__).resolve().parents[4]
    text = (root / "interfaces/dvrk_kinematics_interfaces/msg/FlightPlan.msg").read_text()
    code = [line.partition("#")[0].split() for line in text.splitlines()]
    assert [field.name for field in fields(FlightPlan)] == [words[1] for words in code if words]


def test_a_long_motion_gets_knots_farther_apart_and_stays_proven(psm: Arm) -> None:
    moves = [MoveL(_shift(0.02), "tool", TipSpeeds(0.002, 0.01))]
    plan = _plan(psm, moves, max_knots=60)
    assert len(plan.times_ns) <= 60
    check_plan(psm, plan, Q)
    with pytest.raises(PlanRefused) as out:
        _plan(psm, [MoveL(_shift(0.02, turn=2.0), "tool", QUICK)], max_knots=5)
    assert out.value.reason is PlanReason.TOO_MANY_KNOTS


def test_arms_without_a_closed_form_are_planned_in_their_joints() -> None:
    mtm = load_arm("MTML")
    q = np.asarray(0.5 * (mtm.limits.lower + mtm.limits.upper))
    plan = _plan(mtm, [MoveAbsJ(q + 0.1), MoveAbsJ(q)], q)
    check_plan(mtm, plan, q)
    assert np.isnan(plan.flight_plan.wrist_depth)


def test_an_ecm_goes_along_its_shaft_and_says_where_it_cannot_go() -> None:
    ecm = load_arm("ECM")
    q = np.array([0.2, -0.1, 0.12, 0.3])
    along = _plan(ecm, [MoveL(_shift(0.0, 0.0, 0.03), "tool", QUICK)], q)
    check_plan(ecm, along, q)
    assert along.spline.position[-1, 2] == pytest.approx(0.15)
    with pytest.raises(PlanRefused) as out:
        _plan(ecm, [MoveL(_shift(0.03), "tool", QUICK)], q)
    assert out.value.reason is PlanReason.UNREACHABLE
    assert "misses" in str(out.value)


@pytest.mark.parametrize("instrument", ["420093", "400117", "400143", "caudier", "400205"])
def test_every_kind_of_instrument_follows_a_line(instrument: str) -> None:
    generation = "Si" if instrument.startswith("42") else "Classic"
    arm = load_arm("PSM", instrument=instrument, generation=generation)
    start = np.zeros(len(arm.joint_names))
    start[:4] = [0.1, -0.1, 0.14, 0.2]
    q = arm.inverse(arm.forward(start) @ se3.make(so3.rot_x(0.2), np.zeros(3)), seed=start).q
    plan = _plan(arm, [MoveL(_shift(0.01, 0.005, 0.01, 0.3), "tool", QUICK)], q)
    check_plan(arm, plan, q)

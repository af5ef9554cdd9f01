"""Starting: only a ready arm, and only a goal that makes sense."""

from __future__ import annotations

import numpy as np
import pytest

from dvrk_kinematics import load_arm
from dvrk_kinematics.driver import OperatingState, Reason, ResultCode, make_cannula_rule
from dvrk_kinematics.driver.guard.arm_checks import is_same_tool

HOME = np.array([0.0, 0.0, 0.12, 0.0, 0.0, 0.0])
NEAR = HOME + np.array([0.1, 0.05, 0.01, 0.2, 0.1, 0.1])

NOT_READY = {
    "disabled though homed": ({"operating_state": OperatingState.DISABLED}, Reason.LEFT_ENABLED),
    "paused": ({"operating_state": OperatingState.PAUSED}, Reason.LEFT_ENABLED),
    "undefined": ({"operating_state": OperatingState.UNDEFINED}, Reason.LEFT_ENABLED),
    "fault though homed": ({"operating_state": OperatingState.FAULT}, Reason.FAULT),
    "not homed": ({"is_homed": False}, Reason.NOT_HOMED),
    "busy": ({"is_busy": True}, Reason.BUSY),
    "no tool": ({"tool": ""}, Reason.WRONG_TOOL),
    "unknown tool": ({"tool": "ERROR"}, Reason.WRONG_TOOL),
    "another tool": ({"tool": "LARGE_NEEDLE_DRIVER:400001[..]"}, Reason.WRONG_TOOL),
    "discs": ({"joint_names": ("disc_1",)}, Reason.WRONG_JOINTS),
    "seven joints": ({"measured_q": np.zeros(7), "joint_names": ("a",) * 7}, Reason.WRONG_JOINTS),
    "no velocity for all": ({"measured_qd": np.zeros(3)}, Reason.WRONG_JOINTS),
    "NaN velocity": ({"measured_qd": np.full(6, np.nan)}, Reason.NOT_FINITE_STATE),
}


@pytest.mark.parametrize("name", NOT_READY)
def test_no_start_unless_the_arm_is_ready(rig, name) -> None:
    fields, reason = NOT_READY[name]
    if "measured_q" in fields:
        rig.arm.publish = lambda: None
    rig.arm.say(**fields)
    rig.tick()
    refused = rig.play(1.0, q=NEAR)
    assert refused is not None and refused.reason is reason, refused
    rig.ticks(10)
    assert not rig.arm.order


def test_the_right_joints_with_the_wrong_number_of_values_are_told_as_that(rig) -> None:
    """It said "the arm reports other joints: [the six], not [the six]"."""
    rig.arm.publish = lambda: None
    rig.arm.say(measured_q=np.zeros(5))
    rig.tick()
    refused = rig.play(1.0, q=NEAR)
    assert refused.reason is Reason.WRONG_JOINTS
    assert str(refused).endswith(": 5 positions in measured_js for 6 joints"), refused


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_number_that_would_overflow_is_told_as_it_is(rig, sign) -> None:
    """It said "yaw = nan"."""
    huge, rest = np.zeros(6), np.zeros((2, 6))
    huge[0] = sign * 1e308
    q = [HOME, NEAR]
    for goal, reason in (
        ({"q": [HOME, huge]}, Reason.GOAL_POSITION_LIMIT),
        ({"q": q, "qd": [huge, np.zeros(6)]}, Reason.GOAL_VELOCITY_LIMIT),
        ({"q": q, "qd": rest, "qdd": [huge, np.zeros(6)]}, Reason.GOAL_ACCELERATION_LIMIT),
    ):
        refused = rig.play(0.0, 1.0, **goal)
        assert refused.reason is reason and abs(refused.value) == 1e308, refused


def test_nothing_arrived_yet(make_rig) -> None:
    rig = make_rig(is_ready=False)
    assert rig.play(1.0, q=NEAR).reason is Reason.STALE_STATE
    rig.arm.is_reporting = False
    rig.ticks(30)
    assert rig.play(1.0, q=NEAR).reason is Reason.STALE_STATE


def test_ready_for_a_few_ms_before_homing_is_not_ready(make_rig) -> None:
    """The real arm is homed and not busy for about 4 ms before its homing motion."""
    rig = make_rig(is_ready=False)
    rig.arm.say(is_busy=True, is_homed=False)
    rig.ticks(30)
    rig.arm.say(is_busy=False, is_homed=True)
    rig.tick()
    assert rig.play(1.0, q=NEAR).reason is Reason.NOT_READY_LONG_ENOUGH
    rig.arm.say(is_busy=True)
    rig.ticks(300)
    rig.arm.say(is_busy=False)
    rig.ticks(19)
    assert rig.play(1.0, q=NEAR).reason is Reason.NOT_READY_LONG_ENOUGH
    rig.ticks(3)
    assert rig.play(1.0, q=NEAR) is None


def test_an_arm_that_says_nothing_does_not_become_ready(make_rig) -> None:
    """What an arm had no time to say, such as the end of its homing, may still come."""
    rig = make_rig(is_ready=False, max_age_s=1.0)
    rig.ticks(3)
    rig.arm.is_reporting = False
    rig.ticks(60)
    refused = rig.play(1.0, q=NEAR)
    assert refused.reason is Reason.NOT_READY_LONG_ENOUGH
    assert refused.value < 0.02 and "nothing was read yet" in refused.detail
    rig.arm.is_reporting = True
    rig.ticks(3)
    assert rig.play(1.0, q=NEAR) is None


def test_readiness_that_breaks_between_two_ticks_begins_anew(rig) -> None:
    rig.arm.say(interruptions=5)
    rig.tick()
    assert rig.play(1.0, q=NEAR).reason is Reason.BUSY
    rig.tick()
    assert rig.play(1.0, q=NEAR).reason is Reason.NOT_READY_LONG_ENOUGH


def test_somebody_else_moves_the_setpoint(rig) -> None:
    for _ in range(30):
        rig.arm._setpoints = [q + 3e-4 for q in rig.arm._setpoints]
        rig.tick()
    assert rig.play(1.0, q=NEAR).reason is Reason.FOREIGN_SETPOINT
    rig.ticks(30)
    assert rig.play(1.0, q=NEAR) is None


def test_somebody_who_moves_slowly_is_noticed_too(rig) -> None:
    found = set()
    for _ in range(60):
        rig.arm._setpoints = [q + 2e-5 for q in rig.arm._setpoints]
        rig.tick()
        refused = rig.guard.find_start_obstacle()
        found.add(None if refused is None else refused.reason)
    assert Reason.FOREIGN_SETPOINT in found


def test_a_jump_of_the_arms_wall_clock_forwards_does_not_matter(rig) -> None:
    rig.arm.say(measured_stamp_ns=10**18, setpoint_stamp_ns=10**18)
    rig.tick()
    assert rig.play(1.0, q=NEAR) is None


def test_after_a_jump_backwards_the_arm_is_ready_again(rig) -> None:
    rig.arm.say(measured_stamp_ns=5, setpoint_stamp_ns=5)
    rig.tick()
    assert rig.play(1.0, q=NEAR).reason is Reason.STAMP_WENT_BACK
    rig.ticks(25)
    assert rig.play(1.0, q=NEAR) is None


NAN = HOME * np.nan
BAD_GOALS = {
    "no points": ((), {"q": np.zeros((0, 6))}, Reason.EMPTY_GOAL),
    "five joints": ((1.0,), {"q": np.zeros(5)}, Reason.WRONG_SHAPE),
    "five velocities": ((1.0,), {"q": HOME, "qd": np.zeros(5)}, Reason.WRONG_SHAPE),
    "NaN": ((1.0,), {"q": NAN}, Reason.NOT_FINITE_GOAL),
    "infinite": ((1.0,), {"q": HOME + np.inf}, Reason.NOT_FINITE_GOAL),
    "NaN velocity": ((1.0,), {"q": HOME, "qd": NAN}, Reason.NOT_FINITE_GOAL),
    "NaN acceleration": ((1.0,), {"q": HOME, "qd": 0 * HOME, "qdd": NAN}, Reason.NOT_FINITE_GOAL),
    "unsorted": ((1.0, 0.5), {"q": [HOME, NEAR]}, Reason.TIMES_NOT_INCREASING),
    "repeated": ((1.0, 1.0), {"q": [HOME, NEAR]}, Reason.TIMES_NOT_INCREASING),
    "negative": ((-1.0, 1.0), {"q": [HOME, NEAR]}, Reason.TIMES_NOT_INCREASING),
    "moving end": ((1.0,), {"q": NEAR, "qd": HOME}, Reason.END_VELOCITY),
    "far away": ((0.0, 1.0), {"q": [HOME + 0.02, NEAR]}, Reason.START_TOO_FAR),
    "running start": (
        (0.0, 2.0),
        {"q": [HOME, NEAR], "qd": [[0.1, 0, 0, 0, 0, 0], np.zeros(6)]},
        Reason.START_VELOCITY,
    ),
    "outside": ((3.0,), {"q": HOME + np.array([1.7, 0, 0, 0, 0, 0])}, Reason.GOAL_POSITION_LIMIT),
    "too fast": (
        (0.0, 0.3),
        {"q": [HOME, HOME + np.array([0.5, 0, 0, 0, 0, 0])], "qd": np.zeros((2, 6))},
        Reason.GOAL_VELOCITY_LIMIT,
    ),
    "too sharp": (
        (0.0, 0.5),
        {"q": [HOME, HOME + np.array([0.2, 0, 0, 0, 0, 0])], "qd": np.zeros((2, 6))},
        Reason.GOAL_ACCELERATION_LIMIT,
    ),
    "corner too sharp": (
        (0.0, 0.1),
        {"q": [HOME, HOME + np.array([0.1, 0, 0, 0, 0, 0])]},
        Reason.GOAL_ACCELERATION_LIMIT,
    ),
    "into the cannula": (
        (2.0,),
        {"q": [0, 0, 0.05, 0, 0, 0], "is_cartesian": True},
        Reason.GOAL_IN_CANNULA,
    ),
}


@pytest.mark.parametrize("size", [1e10, 1e150, 1.7e308])
@pytest.mark.parametrize("field", ["q", "qd", "qdd"])
@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_numbers_too_large_to_compute_with_are_refused(rig, field, size) -> None:
    q = [HOME, HOME, HOME]
    fields = {"q": np.array(q), "qd": np.zeros((3, 6)), "qdd": np.zeros((3, 6))}
    fields[field][1, 3] = size
    assert rig.play(0.0, 1.0, 2.0, **fields) is not None
    if field == "q":
        fields[field][2, 3] = -size
        assert rig.play(0.0, 1.0, 2.0, q=fields["q"]) is not None
    rig.ticks(10)
    assert not rig.arm.order


@pytest.mark.parametrize("name", BAD_GOALS)
def test_a_bad_goal_moves_nothing_and_says_why(rig, name) -> None:
    times, fields, reason = BAD_GOALS[name]
    refused = rig.play(*times, **fields)
    assert refused is not None and refused.reason is reason, refused
    assert refused.code in (ResultCode.INVALID_GOAL, ResultCode.INVALID_JOINTS)
    rig.ticks(20)
    assert not rig.arm.order


@pytest.mark.parametrize("name", BAD_GOALS)
def test_a_bad_goal_leaves_the_one_that_is_played_alone(rig, name) -> None:
    assert rig.play(0.0, 1.0, q=[HOME, NEAR], qd=np.zeros((2, 6)), goal_id="good") is None
    times, fields, _ = BAD_GOALS[name]
    if name != "running start":
        assert rig.play(*times, **fields) is not None
    rig.run()
    assert rig.results[-1].finding.reason is Reason.REACHED
    rig.check_commands()


@pytest.mark.parametrize("value", [-0.5, np.nan, np.inf])
def test_tolerances_that_mean_nothing_are_refused(rig, tolerance, value) -> None:
    for asked in (tolerance(path=value), tolerance(goal=value), tolerance(goal_time_s=value)):
        assert rig.play(1.0, q=NEAR, tolerances=asked).reason is Reason.BAD_TOLERANCE


def test_points_are_counted_before_they_are_looked_at(make_rig) -> None:
    rig = make_rig(max_points=3)
    refused = rig.play(1.0, 2.0, 3.0, 4.0, q=np.full((4, 6), np.nan))
    assert refused.reason is Reason.TOO_MANY_POINTS
    assert (refused.value, refused.limit) == (4, 3)


def test_a_finding_tells_joint_value_and_limit(rig) -> None:
    refused = rig.play(3.0, q=HOME + np.array([0, 1.2, 0, 0, 0, 0]))
    assert str(refused) == "goal leaves the joint limits, pitch = 1.2 (allowed 0.925025)"


def test_tools_as_the_arm_names_them() -> None:
    assert is_same_tool("LARGE_NEEDLE_DRIVER:400006[..]", "400006")
    assert is_same_tool("LARGE_NEEDLE_DRIVER:400006", "400006")
    assert is_same_tool("CAUDIER", "caudier")
    assert not is_same_tool("", "400006")
    assert not is_same_tool("LARGE_NEEDLE_DRIVER:400006[..]", "40000")


def test_the_wrist_is_45_mm_from_the_rcm_at_the_insertion_that_the_arm_itself_uses() -> None:
    rule = make_cannula_rule(load_arm("PSM", instrument="400006"))
    assert rule is not None
    assert rule.depth(np.array([0, 0, 0.0606, 0, 0, 0])) == pytest.approx(0.045)
    assert make_cannula_rule(load_arm("MTML")) is None


def test_out_of_the_cannula_rule_going_deeper_always_works(rig) -> None:
    shallow = np.array([0.0, 0.0, 0.03, 0.0, 0.0, 0.0])
    rig.arm.rest_at(shallow)
    rig.ticks(30)
    assert (
        rig.play(1.0, q=shallow - np.array([0, 0, 0.01, 0, 0, 0]), is_cartesian=True) is not None
    )
    assert rig.play(1.5, q=HOME, is_cartesian=True) is None
    rig.run()
    assert rig.results[-1].finding.reason is Reason.REACHED


def test_an_arm_outside_its_limits_may_come_back_only(rig) -> None:
    outside = HOME + np.array([0, 0.93, 0, 0, 0, 0])
    rig.arm.rest_at(outside)
    rig.ticks(30)
    assert rig.play(1.0, q=outside + np.array([0, 0.01, 0, 0, 0, 0])) is not None
    assert rig.play(2.0, q=HOME) is None
    rig.run()
    assert rig.results[-1].finding.reason is Reason.REACHED

"""Joint space: servo, move, effort, hold, limits, the PID's tolerance, and ratios."""

from __future__ import annotations

import numpy as np
import pytest

from dvrk_kinematics.simulation import ArmSpec, KinematicPlant

HOME = [0.0, 0.0, 0.12, 0.0, 0.0, 0.0]
LOWER = [-1.588, -0.925025, 0.0, -4.53786, -1.39626, -1.39626]
UPPER = [1.588, 0.925025, 0.24, 4.53786, 1.39626, 1.39626]


def moved(joint, value, start=HOME):
    goal = list(start)
    goal[joint] += value
    return goal


@pytest.mark.parametrize(
    ("joint", "fine", "too_far", "mask"),
    [
        (0, 0.45, 0.55, "1000000"),
        (1, -0.45, -0.55, "0100000"),
        (2, 0.045, 0.055, "0010000"),
        (3, 0.9, 1.0, "0001000"),  # 0.6 rad of the disc times 1.5632
        (4, 0.6, 0.7, "0000100"),  # 0.6 rad times 1.0186
    ],
)
def test_a_step_beyond_the_tolerance_faults(psm, joint, fine, too_far, mask):
    """X1: the set-point goes there, and the joint too, then FAULT; is_homed stays."""
    assert psm.texts("error", "servo_jp", moved(joint, fine)) == []
    psm.do("move_jp", HOME, seconds=3.0)
    columns = "".join(f"            {bit}" for bit in mask)
    assert psm.texts("error", "servo_jp", moved(joint, too_far)) == [
        f"PSM1: received [PSM1_PID: tracking error, mask (1 for error):{columns}]"
    ]
    assert psm.arm.operating_state == ("FAULT", True, False)
    for reading in (psm.arm.setpoint_js, psm.arm.measured_js):
        np.testing.assert_allclose(reading.position, moved(joint, too_far), atol=1e-12)
        assert reading.is_valid


def test_wrist_yaw_steps_are_shared_by_two_discs(psm):
    assert psm.texts("error", "servo_jp", moved(5, 0.4)) == []


@pytest.mark.parametrize(
    ("joint", "fine", "too_far"),
    [(0, 0.55, 0.65), (1, 0.55, 0.65), (2, 0.025, 0.035), (3, 0.2, 0.3)],
)
def test_tolerances_of_the_ecm(ecm, joint, fine, too_far):
    home = [0.0, 0.0, 0.12, 0.0]
    assert ecm.texts("error", "servo_jp", moved(joint, fine, home)) == []
    ecm.do("move_jp", home, seconds=4.0)
    assert len(ecm.texts("error", "servo_jp", moved(joint, too_far, home))) == 1


def test_a_late_step_is_no_tracking_error(psm):
    """One step of half a second in the middle of the fastest move of a disc."""
    psm.do("move_jp", moved(3, 4.0), seconds=0.3)
    psm.run(0.5, period_s=0.5)
    assert psm.told("error") == []
    psm.run(2.0)
    assert psm.arm.measured_js.position[3] == pytest.approx(4.0)


@pytest.mark.parametrize("limit", (LOWER, UPPER))
def test_moves_are_clipped_silently(psm, limit):
    goal = [10.0 * value if value else -1.0 for value in limit]
    events = psm.do("move_jp", goal, seconds=6.0)
    assert [event for event in events if event[0] in ("warning", "error")] == []
    assert ("goal_reached", "True") in events
    np.testing.assert_allclose(psm.arm.measured_js.position, limit, atol=1e-12)


def test_servo_is_clipped_at_the_limits(psm):
    psm.do("move_jp", [1.5, 0.9, 0.23, 4.4, 1.3, 1.3], seconds=4.0)
    assert psm.texts("error", "servo_jp", [1.9, 1.2, 0.26, 4.8, 1.6, 1.6]) == []
    np.testing.assert_allclose(psm.arm.setpoint_js.position, UPPER, atol=1e-12)


def test_move_jr_takes_the_time_of_the_unclipped_goal(psm):
    psm.do("move_jp", moved(0, 1.4), seconds=3.0)
    psm.do("move_jr", [1.0, 0, 0, 0, 0, 0], seconds=1.2)
    assert psm.arm.setpoint_js.position[0] == pytest.approx(1.588)
    assert psm.arm.operating_state.is_busy
    psm.run(1.0)
    assert not psm.arm.operating_state.is_busy


def test_move_jr_in_flight_adds_to_the_pending_goal(psm):
    psm.do("move_jr", [0.2, 0, 0, 0, 0, 0], seconds=0.3)
    psm.do("move_jr", [0.2, 0, 0, 0, 0, 0], seconds=2.0)
    assert psm.arm.measured_js.position[0] == pytest.approx(0.4)


def test_servo_never_sets_busy(psm):
    for command, argument in (("servo_jp", moved(0, 0.1)), ("servo_jr", [0.01] + [0.0] * 5)):
        assert psm.texts("operating_state", command, argument) == []


def test_the_newest_servo_command_wins(psm):
    for value in (0.1, 0.3, 0.2):
        psm.arm.servo_jp(moved(0, value))
    psm.run(0.005)
    assert psm.arm.setpoint_js.position[0] == pytest.approx(0.2)


def test_servo_holds_for_ever(psm):
    """No watchdog: an hour later the goal is still held."""
    psm.do("servo_jp", moved(0, 0.2))
    psm.run(3600.0, period_s=1.0)
    assert psm.arm.measured_js.position[0] == pytest.approx(0.2)
    assert psm.told() == []


def test_feed_forward_is_kept_for_messages_without_one(psm):
    """X17: also over servo_jr, and after a hold with the next servo_jp."""
    psm.do("servo_jp", HOME, [0.5, 0, 0, 0, 0, 0])
    assert psm.arm.setpoint_js.velocity[0] == 0.5
    assert psm.arm.setpoint_js.effort[0] == pytest.approx(3.0)
    for command, argument in (("servo_jp", HOME), ("servo_jr", [0.01] + [0.0] * 5)):
        psm.do(command, argument)
        assert psm.arm.setpoint_js.velocity[0] == 0.5
    psm.do("hold")
    assert psm.arm.setpoint_js.velocity[0] == 0.0
    psm.do("servo_jp", HOME)
    assert psm.arm.setpoint_js.velocity[0] == 0.5
    psm.do("servo_jp", HOME, [0.0] * 6)
    assert not psm.arm.setpoint_js.velocity.any()


def test_pid_gains_show_in_the_effort(psm):
    psm.do("servo_jp", HOME, [0.1, 0.1, 0.1, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(psm.arm.setpoint_js.effort[:3], [0.6, 0.5, 20.0], atol=1e-12)


@pytest.mark.parametrize(
    ("command", "argument", "control"),
    [
        ("hold", (), "JOINT_SPACE/POSITION_MODE"),
        ("servo_jp", ([0.1, *HOME[1:]],), "JOINT_SPACE/POSITION_MODE"),
        ("free", (), "JOINT_SPACE/EFFORT_MODE"),
        ("servo_jf", ([0.0] * 6,), "JOINT_SPACE/EFFORT_MODE"),
        ("body_servo_cf", ([0.0] * 6,), "CARTESIAN_SPACE/EFFORT_MODE"),
    ],
)
def test_a_move_is_stopped_in_the_same_cycle(psm, command, argument, control):
    psm.do("move_jp", moved(0, 0.6), seconds=0.4)
    position = psm.arm.setpoint_js.position[0]
    events = psm.do(command, *argument, seconds=1.0)
    assert ("goal_reached", "False") in events
    assert ("operating_state", "ENABLED homed=1 busy=0") in events
    assert ("status", f"PSM1: control {control}") in events
    expected = 0.1 if command == "servo_jp" else position
    assert psm.arm.setpoint_js.position[0] == pytest.approx(expected)


def test_a_move_to_where_it_is_pulses_busy(psm):
    events = psm.do("move_jp", HOME)
    assert [e for e in events if e[0] in ("operating_state", "goal_reached")] == [
        ("operating_state", "ENABLED homed=1 busy=1"),
        ("goal_reached", "True"),
        ("operating_state", "ENABLED homed=1 busy=0"),
    ]


def test_a_new_goal_in_flight_keeps_the_speed(psm):
    psm.do("move_jp", moved(0, 0.6), seconds=0.5)
    before = psm.arm.setpoint_js.velocity[0]
    events = psm.do("move_jp", moved(0, -0.2), seconds=0.005)
    assert events == [("operating_state", "ENABLED homed=1 busy=1")]
    assert psm.arm.setpoint_js.velocity[0] == pytest.approx(before - 0.005 * np.pi / 2)
    psm.run(3.0)
    assert psm.told("goal_reached") == ["True"]
    assert psm.arm.measured_js.position[0] == pytest.approx(-0.2)


def test_efforts_are_told_and_nothing_moves(psm):
    psm.do("servo_jf", [0.1, 0.2, 0.3, 0.01, 0.02, 0.03], seconds=2.0)
    np.testing.assert_allclose(psm.arm.setpoint_js.effort, [0.1, 0.2, 0.3, 0.01, 0.02, 0.03])
    np.testing.assert_allclose(psm.arm.measured_js.position, HOME, atol=1e-12)
    psm.do("free")
    assert not psm.arm.setpoint_js.effort.any()


@pytest.mark.parametrize("value", (0.0, 2.0, -1.0, float("nan"), float("inf")))
def test_ratios_outside_their_range_change_nothing(psm, value):
    for suffix in ("", "_v", "_a"):
        command = f"trajectory_j_set_ratio{suffix}"
        assert psm.do(command, value) == [
            ("warning", f"PSM1: {command}, ratio must be within ]0;1], received {value:g}")
        ]


def test_ratio_is_zero_while_those_of_speed_and_acceleration_differ(psm):
    assert psm.do("trajectory_j_set_ratio_v", 0.2) == [
        ("trajectory_j/ratio_v", "0.2"),
        ("trajectory_j/ratio", "0.0"),
    ]
    assert psm.do("trajectory_j_set_ratio_a", 0.2) == [
        ("trajectory_j/ratio_a", "0.2"),
        ("trajectory_j/ratio", "0.2"),
    ]


@pytest.mark.parametrize("suffix", ("", "_v", "_a"))
def test_a_ratio_near_zero_all_but_stops_a_move(psm, suffix):
    psm.do("move_jp", moved(0, 0.8), seconds=0.3)
    psm.do(f"trajectory_j_set_ratio{suffix}", 5e-324, seconds=0.5)
    psm.do("move_jp", moved(0, 0.1), seconds=0.5)
    assert np.isfinite(psm.arm.setpoint_js.position).all()
    psm.do("trajectory_j_set_ratio", 1.0)
    psm.do("move_jp", moved(0, 0.2), seconds=60.0)
    assert np.isfinite(psm.arm.setpoint_js.position).all()


def test_ratio_slows_a_move_in_flight_at_once(psm):
    psm.do("move_jp", moved(0, 0.8), seconds=0.3)
    psm.do("trajectory_j_set_ratio", 0.3, seconds=0.5)
    assert psm.arm.setpoint_js.velocity[0] < 0.3 * np.pi / 2 + 1e-9
    psm.run(3.0)
    assert psm.arm.measured_js.position[0] == pytest.approx(0.8)


def test_a_servo_lag_is_followed_and_felt(robot):
    machine = robot(ArmSpec("PSM1", plant=KinematicPlant(lag_s=0.1))).home()
    machine.do("servo_jp", moved(0, 0.3), seconds=0.1)
    measured = machine.arm.measured_js.position[0]
    assert measured == pytest.approx(0.3 * (1 - np.exp(-1.0)), abs=1e-6)
    assert machine.arm.setpoint_js.effort[0] > 0.0
    machine.run(2.0)
    assert machine.arm.measured_js.position[0] == pytest.approx(0.3, abs=1e-6)
    # Slowly driven, the lag is a constant distance; two steps of 0.3 in a row are too far.
    machine.arm.servo_jp(moved(0, 0.6))
    machine.run(0.005)
    assert machine.texts("error", "servo_jp", moved(0, 0.85)) != []


@pytest.mark.parametrize("bad", (float("nan"), float("inf")))
def test_a_velocity_that_is_no_number_drops_the_message(psm, bad):
    assert psm.do("servo_jp", moved(0, 0.1), [bad] + [0.0] * 5) == [
        ("warning", "PSM1: servo_jp, received values that are not numbers")
    ]
    np.testing.assert_allclose(psm.arm.setpoint_js.position, HOME, atol=1e-12)


def test_another_tool_ends_a_move(psm):
    psm.do("move_jp", moved(0, 0.6), seconds=0.4)
    assert ("goal_reached", "False") in psm.do("set_tool_type", "CADIERE_FORCEPS:400049")

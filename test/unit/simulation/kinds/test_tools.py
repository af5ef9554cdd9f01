"""Tools and the jaw of a PSM."""

from __future__ import annotations

import numpy as np
import pytest

from dvrk_kinematics.errors import UnknownName
from dvrk_kinematics.simulation import ArmSpec, Fault, FaultKind, ToolDetection
from dvrk_kinematics.simulation.kinds import find_tool, load_tool

HOME = [0.0, 0.0, 0.12, 0.0, 0.0, 0.0]
NAMES = ("yaw", "pitch", "insertion", "roll", "wrist_pitch", "wrist_yaw")
DISCS = ("yaw", "pitch", "insertion", "disc_1", "disc_2", "disc_3", "disc_4")
SNAKE = (
    "yaw",
    "pitch",
    "insertion",
    "roll",
    "wrist_pitch1",
    "wrist_yaw1",
    "wrist_yaw2",
    "wrist_pitch2",
)


@pytest.fixture
def manual(robot):
    return robot(ArmSpec("PSM1", tool_detection=ToolDetection.MANUAL))


def test_joints_come_and_change_with_homing(robot):
    """X3: none before the first homing, seven while the tool is not engaged, then six."""
    machine = robot(ArmSpec("PSM1"))
    machine.run(0.1)
    assert machine.arm.measured_js.names == machine.arm.setpoint_js.names == ()
    machine.system.power_on()
    machine.run(0.1)
    assert machine.arm.joint_names == ()
    machine.system.home()
    machine.run(0.5)
    assert machine.arm.joint_names == DISCS
    assert machine.arm.jaw_measured_js.names == ()
    assert not machine.arm.measured_cp.is_valid
    machine.run(2.0)
    assert machine.arm.joint_names == NAMES
    assert machine.arm.jaw_measured_js.names == ("jaw",)
    assert machine.arm.measured_cp.is_valid


def test_a_manual_tool_is_asked_for_and_told(manual):
    manual.system.power_on()
    manual.run(0.1)
    manual.system.home()
    manual.run(3.0)
    events = manual.told()
    assert ("tool_type_request", "None") in events
    assert ("warning", "PSM1: tool type requested from user") in events
    assert manual.arm.operating_state == ("ENABLED", True, False)
    assert manual.arm.joint_names == DISCS
    assert manual.texts("warning", "servo_cp", None) == ["PSM1: servo_cp, arm not ready"]
    assert manual.texts("warning", "jaw_move_jp", [0.1], seconds=2.1) == []
    events = manual.do("set_tool_type", "PROGRASP_FORCEPS:400093", seconds=0.2)
    assert ("tool_type", "PROGRASP_FORCEPS:400093[..]") in events
    assert ("status", "PSM1: current state TOOL_ENGAGED") in events
    assert manual.arm.joint_names == NAMES
    assert manual.arm.measured_cp.is_valid


def test_a_manual_tool_is_there_before_it_is_known(manual):
    """X3, X12: detected when homed, asked for once, told when it is named, and then engaged."""
    manual.system.power_on()
    manual.run(0.1)
    manual.system.home()
    manual.run(3.0)
    events = manual.told()
    told = [("status", "PSM1: tool detected"), ("tool_type_request", "None")]
    assert [event for event in events if event in told] == told
    assert "tool_type" not in {topic for topic, _ in events}
    events = manual.do("set_tool_type", "LARGE_NEEDLE_DRIVER:400006", seconds=0.2)
    assert ("status", "PSM1: tool detected") not in events
    assert [value for topic, value in events if topic == "tool_type"] == [
        "LARGE_NEEDLE_DRIVER:400006[..]"
    ]
    events = manual.do("set_tool_type", "PROGRASP_FORCEPS:400093", seconds=0.2)
    assert {topic for topic, _ in events} == {"status"}


def test_a_manual_tool_can_be_named_before_it_is_there(manual):
    events = manual.do("set_tool_type", "LARGE_NEEDLE_DRIVER:400006", seconds=0.1)
    assert {topic for topic, _ in events} == {"status"}
    manual.system.power_on()
    manual.run(0.1)
    manual.system.home()
    manual.run(3.0)
    events = manual.told()
    assert "tool_type_request" not in {topic for topic, _ in events}
    assert ("tool_type", "LARGE_NEEDLE_DRIVER:400006[..]") in events
    assert manual.arm.joint_names == NAMES


def test_an_unknown_manual_tool_can_be_named_again(manual):
    manual.home()
    assert manual.do("set_tool_type", "nonsense", seconds=0.1)[-1][0] == "error"
    assert manual.arm.joint_names == DISCS
    events = manual.do("set_tool_type", "LARGE_NEEDLE_DRIVER:400006", seconds=0.2)
    assert "tool_type_request" not in {topic for topic, _ in events}
    assert manual.arm.joint_names == NAMES


def test_a_manual_tool_that_is_put_back_is_asked_for_again(manual):
    manual.home()
    manual.do("set_tool_type", "LARGE_NEEDLE_DRIVER:400006", seconds=0.2)
    assert manual.do("emulate_tool_present", False) == [
        ("tool_type", ""),
        ("status", "PSM1: no tool detected"),
    ]
    assert manual.do("emulate_tool_present", True, seconds=0.1) == [
        ("status", "PSM1: tool detected"),
        ("tool_type_request", "None"),
        ("warning", "PSM1: tool type requested from user"),
    ]
    events = manual.do("set_tool_type", "LARGE_NEEDLE_DRIVER:400006", seconds=0.1)
    assert ("tool_type", "LARGE_NEEDLE_DRIVER:400006[..]") in events
    assert manual.arm.measured_cp.is_valid


def test_discs_without_a_tool_turn_as_far_as_discs_do(manual):
    manual.home()
    manual.do("move_jp", [0.0, 0.0, 0.12, 9.0, -9.0, 9.0, -9.0], seconds=4.0)
    limit = np.radians(172.0)
    np.testing.assert_allclose(
        manual.arm.measured_js.position[3:], [limit, -limit, limit, -limit], atol=1e-12
    )


def test_six_values_without_a_tool_go_to_the_goal_of_the_last_move(manual):
    """The dVRK takes them, leaves its goal as it was, and reports success."""
    manual.home()
    events = manual.do("move_jp", [0.3, 0.0, 0.12, 0.0, 0.0, 0.0], seconds=2.0)
    assert ("goal_reached", "True") in events
    np.testing.assert_allclose(manual.arm.measured_js.position, [0, 0, 0.12, 0, 0, 0, 0])
    manual.do("move_jp", [0.1, 0.0, 0.12, 0.0, 0.0, 0.0, 0.0], seconds=2.0)
    manual.do("servo_jp", [0.2, 0.0, 0.12, 0.0, 0.0, 0.0, 0.0])
    manual.do("move_jp", [0.3, 0.0, 0.12], seconds=2.0)
    assert manual.arm.measured_js.position[0] == pytest.approx(0.1)


def test_joint_motion_works_without_a_tool(manual):
    manual.home()
    manual.do("move_jp", [0.1, 0.2, 0.1, 0.3, -0.3, 0.2, 0.1], seconds=3.0)
    np.testing.assert_allclose(
        manual.arm.measured_js.position, [0.1, 0.2, 0.1, 0.3, -0.3, 0.2, 0.1], atol=1e-12
    )


@pytest.mark.parametrize("text", ("nonsense", "400006", "", "LARGE_NEEDLE_DRIVER:420006", "A:B[1"))
def test_unknown_tools_are_errors_and_the_old_one_stays(psm, text):
    assert psm.do("set_tool_type", text) == [
        ("status", f'PSM1: setting up for tool type "{text}"'),
        ("tool_type", "ERROR"),
        ("error", f'PSM1: tool type "{text}" is not supported, see cisstLog for details'),
    ]
    psm.do("move_jp", [0.1, *HOME[1:]], seconds=2.0)
    assert psm.arm.measured_js.position[0] == pytest.approx(0.1)


@pytest.mark.parametrize("version", ("", "[..]", "[1]"))
def test_versions_do_not_matter(version):
    tool = find_tool(f"LARGE_NEEDLE_DRIVER:400006{version}", "Classic")
    assert tool is load_tool("400006", "Classic")


def test_every_classic_tool_of_the_dvrk_can_be_mounted(psm, data_dir):
    lines = (data_dir / "dvrk_tools.csv").read_text().splitlines()[1:]
    names = [line.split(",")[0] for line in lines]
    classic = [n for n in names if n.rpartition("_")[2].startswith("40")]
    assert len(classic) > 20
    for name in classic:
        base, _, number = name.rpartition("_")
        psm.arm.take_events()
        psm.arm.set_tool_type(f"{base}:{number}")
        assert "error" not in {topic for topic, _ in psm.told()}, name
        psm.run(0.01)
        assert np.isfinite(psm.arm.measured_cp.T).all()


def test_another_tool_turns_the_wrist_and_moves_no_disc(psm):
    """The discs stay; what they mean changes: wrist yaw -0.077 becomes +0.119."""
    start = [0.07717, 0.04574, 0.12045, 0.0, -0.04574, -0.07717]
    psm.do("move_jp", start, seconds=2.0)
    events = psm.do("set_tool_type", "PROGRASP_FORCEPS:400093")
    assert [topic for topic, _ in events] == ["status", "status"]
    q = psm.arm.measured_js.position
    np.testing.assert_allclose(q, [0.07717, 0.04574, 0.12045, 0.0, -0.04491, 0.11929], atol=2e-5)
    psm.do("set_tool_type", "LARGE_NEEDLE_DRIVER:400006")
    np.testing.assert_allclose(psm.arm.measured_js.position, start, atol=1e-9)


def test_a_snake_on_an_arm_with_six_joints_disables_it(psm):
    """X20."""
    errors = psm.texts("error", "set_tool_type", "5MM_NEEDLE_DRIVER:400117")
    assert errors == ['PSM1: in state HOMED, caught exception "vctDynamicVector: Invalid index"']
    assert psm.arm.operating_state.state == "DISABLED"
    psm.home()
    assert psm.arm.operating_state == ("ENABLED", True, False)
    assert psm.arm.joint_names == SNAKE
    assert psm.texts("error", "servo_cp", psm.arm.measured_cp.T) == []


def test_a_fixed_snake_has_eight_joints(robot):
    machine = robot(ArmSpec("PSM1", tool="400117")).home()
    assert machine.arm.joint_names == SNAKE
    machine.do("move_jp", [0.1, 0.1, 0.15, 0.2, 0.1, -0.2, -0.2, 0.1], seconds=3.0)
    np.testing.assert_allclose(
        machine.arm.measured_js.position, [0.1, 0.1, 0.15, 0.2, 0.1, -0.2, -0.2, 0.1], atol=1e-9
    )
    goal = machine.arm.setpoint_cp.T.copy()
    goal[:3, 3] += [0.002, 0.0, 0.001]
    machine.do("move_cp", goal, seconds=2.0)
    np.testing.assert_allclose(machine.arm.measured_cp.T, goal, atol=1e-6)


def test_a_tool_that_does_not_exist_is_refused(robot):
    with pytest.raises(UnknownName, match="999999"):
        robot(ArmSpec("PSM1", tool="999999"))


@pytest.mark.parametrize("by_fault", (False, True))
def test_a_tool_taken_off(psm, by_fault):
    """Six names stay, poses become frame 3, Cartesian commands err."""
    psm.arm.take_events()
    if by_fault:
        psm.arm.inject(Fault(FaultKind.TOOL_REMOVED))
    else:
        psm.arm.emulate_tool_present(False)
    assert psm.told() == [("tool_type", ""), ("status", "PSM1: no tool detected")]
    assert psm.arm.operating_state == ("ENABLED", True, False)
    assert psm.arm.joint_names == NAMES
    reading = psm.arm.measured_cp
    assert reading.is_valid
    assert reading.T[2, 3] == pytest.approx(0.3118)
    error = (
        "PSM1: unable to solve inverse kinematics "
        "(robManipulator::InverseKinematics: expected 3 joints values but received 6)"
    )
    assert psm.texts("error", "servo_cp", reading.T) == [error]
    assert psm.texts("error", "jaw_servo_jp", [0.2]) == [error]
    answer = psm.arm.forward_kinematics(HOME)
    assert (answer.result, answer.message) == (False, "no tool is configured")
    psm.arm.take_events()
    if by_fault:
        psm.arm.inject(Fault(FaultKind.NONE))
    else:
        psm.arm.emulate_tool_present(True)
    assert ("tool_type", "LARGE_NEEDLE_DRIVER:400006[..]") in psm.told()
    assert psm.arm.measured_cp.T[2, 3] == pytest.approx(-0.1135)


def test_jaw_moves_share_busy_and_trajectory(psm):
    psm.do("move_jp", [0.5, *HOME[1:]], seconds=0.2)
    events = psm.do("jaw_move_jp", [0.8], seconds=3.0)
    assert events == [
        ("operating_state", "ENABLED homed=1 busy=1"),
        ("goal_reached", "True"),
        ("operating_state", "ENABLED homed=1 busy=0"),
    ]
    assert psm.arm.measured_js.position[0] == pytest.approx(0.5)
    assert psm.arm.jaw_measured_js.position[0] == pytest.approx(0.8)


def test_a_move_of_the_arm_keeps_that_of_the_jaw(psm):
    psm.do("jaw_move_jp", [1.2], seconds=0.05)
    psm.do("move_jp", [0.1, *HOME[1:]], seconds=3.0)
    assert psm.arm.jaw_measured_js.position[0] == pytest.approx(1.2)


@pytest.mark.parametrize(("goal", "limit"), ((3.0, 1.39626), (-3.0, -0.698132)))
def test_the_jaw_is_clipped(psm, goal, limit):
    psm.do("jaw_move_jp", [goal], seconds=3.0)
    assert psm.arm.jaw_measured_js.position[0] == pytest.approx(limit)


def test_jaw_steps_fault_beyond_the_tolerance_of_the_discs(psm):
    assert psm.texts("error", "jaw_servo_jp", [1.2]) == []
    psm.do("jaw_move_jp", [1.39626], seconds=2.0)
    errors = psm.texts("error", "jaw_servo_jp", [-3.0])
    assert errors[0].endswith("            0            0            0            1            1]")


def test_jaw_readings_have_no_velocity_in_the_set_point(psm):
    psm.do("jaw_move_jp", [0.5], seconds=0.2)
    measured, setpoint = psm.arm.jaw_measured_js, psm.arm.jaw_setpoint_js
    assert len(measured.velocity) == 1 and measured.velocity[0] > 0.0
    assert len(setpoint.velocity) == 0 and len(setpoint.effort) == 1


def test_jaw_effort_takes_the_arm_to_effort_mode(psm):
    events = psm.do("jaw_servo_jf", [0.05])
    assert events == [("status", "PSM1: control CARTESIAN_SPACE/EFFORT_MODE")]
    assert psm.arm.jaw_setpoint_js.effort[0] == pytest.approx(0.05)
    assert not psm.arm.setpoint_js.effort.any()


def test_jaw_keeps_cartesian_space(psm):
    psm.do("servo_cp", psm.arm.setpoint_cp.T)
    assert psm.do("jaw_servo_jp", [0.3]) == []
    assert psm.texts("status", "jaw_move_jp", [0.5]) == [
        "PSM1: control CARTESIAN_SPACE/TRAJECTORY_MODE"
    ]


def test_the_tool_is_not_forgotten_at_disable(psm):
    psm.do("jaw_move_jp", [0.5], seconds=2.0)
    psm.do("state_command", "disable")
    for reading in (psm.arm.jaw_measured_js, psm.arm.jaw_setpoint_js):
        assert reading.is_valid
        assert reading.position[0] == pytest.approx(0.5)


def test_forward_kinematics_before_there_is_a_tool(robot):
    """X14: three joints are right, four give frame 3; with six the dVRK dies."""
    machine = robot(ArmSpec("PSM1"))
    machine.run(0.1)
    three = machine.arm.forward_kinematics([0.2, -0.1, 0.15])
    four = machine.arm.forward_kinematics([0.2, -0.1, 0.15, 0.3])
    assert three.result and four.result
    np.testing.assert_allclose(three.T[:3, 3], [-0.05571, -0.02813, 0.2748], atol=1e-5)
    np.testing.assert_array_equal(four.T, three.T)
    six = machine.arm.forward_kinematics(HOME)
    assert (six.result, six.message) == (False, "no tool is configured")
    seven = machine.arm.forward_kinematics([*HOME, 0.0])
    assert (seven.result, seven.message) == (False, "too many joints")


def test_six_values_are_too_few_without_a_tool(manual):
    manual.home()
    manual.do("move_jp", [0.1, 0.2, 0.1, 0.3, -0.3, 0.2, 0.1], seconds=3.0)
    before = manual.arm.setpoint_js.position
    assert ("goal_reached", "True") in manual.do("move_jp", HOME, seconds=2.0)
    np.testing.assert_array_equal(manual.arm.setpoint_js.position, before)


def test_a_tool_told_before_homing_is_there_after_it(manual):
    manual.run(0.1)
    manual.do("set_tool_type", "CADIERE_FORCEPS:400049")
    manual.home()
    assert manual.arm.joint_names == NAMES
    assert manual.arm.measured_cp.is_valid


def test_the_coupling_of_400006():
    """As actuator_to_joint_position answered for half a radian on each disc."""
    joints = load_tool("400006", "Classic").to_joints @ np.array([0, 0, 0, 0.5, 0.5, 0.5, 0.5])
    np.testing.assert_allclose(joints[3:], [-0.7816, 0.5093, 0.1936, 0.0], atol=1e-9)

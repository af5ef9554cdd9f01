"""The operating state machine, row by row of the dVRK's tables."""

from __future__ import annotations

import numpy as np
import pytest

from dvrk_kinematics.simulation import ArmSpec, Fault, FaultKind, SystemOptions
from dvrk_kinematics.simulation.control import ACCEPTED, COMMANDS, State

HOME = [0.0, 0.0, 0.12, 0.0, 0.0, 0.0]
SUB_STATES = {"DISABLED": "DISABLED", "ENABLED": "HOMED", "PAUSED": "PAUSED", "FAULT": "FAULT"}


def bring(machine, state):
    """Brings a homed arm into a state."""
    if state == "DISABLED":
        machine.arm.state_command("disable")
    elif state == "PAUSED":
        machine.arm.state_command("pause")
    elif state == "FAULT":
        machine.arm.servo_jp([1.0, *HOME[1:]])
    machine.run(0.05)
    assert machine.arm.operating_state.state == state
    machine.arm.take_events()


@pytest.mark.parametrize("state", SUB_STATES)
@pytest.mark.parametrize("word", COMMANDS)
def test_each_command_in_each_state(psm, state, word):
    bring(psm, state)
    accepted = {
        "DISABLED": {"enable", "disable", "unhome"},
        "ENABLED": {"enable", "disable", "home", "unhome", "pause"},
        "PAUSED": {"disable", "unhome", "pause", "resume"},
        "FAULT": {"enable", "disable", "unhome"},
    }[state]
    assert accepted == ACCEPTED[State(state)]
    warnings = psm.texts("warning", "state_command", word)
    expected = f'PSM1: command "{word}" is not supported in state "{state} ({SUB_STATES[state]})"'
    assert warnings == ([] if word in accepted else [expected])
    if word not in accepted:
        assert psm.arm.operating_state.state == state


@pytest.mark.parametrize("word", ("foo", "ENABLE", "", "Home"))
def test_unknown_words_are_named_with_the_options(psm, word):
    assert psm.do("state_command", word) == [
        (
            "warning",
            f"PSM1: {word} doesn't seem to be a valid state_command "
            f"(prmOperatingState::CommandTypeFromString can't find matching enum for {word}.  "
            "Options are: enable disable pause resume home unhome )",
        )
    ]


def test_home_is_refused_while_disabled(robot):
    machine = robot(ArmSpec("PSM1"))
    machine.run(0.1)
    assert machine.texts("warning", "state_command", "home") == [
        'PSM1: command "home" is not supported in state "DISABLED (DISABLED)"'
    ]


def test_homed_and_not_busy_is_true_once_before_the_homing_motion(robot):
    """X5: a client that waits for it sees it about one cycle too early."""
    machine = robot(ArmSpec("PSM1"))
    machine.system.power_on()
    machine.run(0.1)
    machine.arm.take_events()
    machine.arm.state_command("home")
    machine.run(4.0)
    flags = [text.split(" ", 1)[1] for text in machine.told("operating_state")]
    assert flags[:8:2] == [
        "homed=0 busy=0",
        "homed=0 busy=1",
        "homed=1 busy=0",
        "homed=1 busy=1",
    ]


def test_is_homed_outlives_disable_and_fault_but_not_enable(psm):
    psm.arm.state_command("disable")
    psm.run(0.05)
    assert psm.arm.operating_state == ("DISABLED", True, False)
    psm.arm.state_command("enable")
    psm.run(0.05)
    assert psm.arm.operating_state == ("ENABLED", False, False)
    psm.home()
    bring(psm, "FAULT")
    assert psm.arm.operating_state == ("FAULT", True, False)


def test_a_second_disable_clears_is_homed(psm):
    bring(psm, "DISABLED")
    states = psm.texts("operating_state", "state_command", "disable")
    assert states == ["DISABLED homed=1 busy=0"] * 2 + ["DISABLED homed=0 busy=0"] * 2


def test_recovery_from_fault_is_disable_enable_home(psm):
    bring(psm, "FAULT")
    psm.do("state_command", "enable", seconds=1.0)
    assert psm.arm.operating_state.state == "FAULT"
    for word, state in (("disable", "DISABLED"), ("enable", "ENABLED"), ("home", "ENABLED")):
        psm.do("state_command", word, seconds=3.0)
        assert psm.arm.operating_state.state == state
    assert psm.arm.operating_state == ("ENABLED", True, False)
    assert psm.arm.measured_js.position == pytest.approx(HOME)


def test_unhome_needs_disable_enable_home(psm):
    """X6: home alone does nothing after unhome."""
    assert psm.do("state_command", "unhome") == [("operating_state", "ENABLED homed=0 busy=0")]
    assert not psm.arm.measured_js.is_valid
    psm.do("state_command", "home", seconds=3.0)
    assert psm.arm.operating_state == ("ENABLED", False, False)
    assert psm.texts("warning", "move_jp", HOME) == ["PSM1: move_jp, arm not ready"]
    for word in ("disable", "enable", "home"):
        psm.do("state_command", word, seconds=3.0)
    assert psm.arm.operating_state == ("ENABLED", True, False)


def test_a_move_runs_on_after_unhome_while_setpoint_js_is_frozen(psm):
    psm.do("move_jp", [0.6, *HOME[1:]], seconds=0.5)
    psm.do("state_command", "unhome", seconds=0.05)
    frozen = psm.arm.setpoint_js
    psm.arm.take_events()
    psm.run(2.0)
    assert psm.told("goal_reached") == ["True"]
    assert psm.arm.setpoint_js.position == pytest.approx(frozen.position, abs=0)
    assert psm.arm.setpoint_js.is_valid


def test_pause_and_resume(psm):
    psm.do("state_command", "pause")
    assert psm.arm.operating_state == ("PAUSED", True, False)
    psm.do("state_command", "resume")
    assert psm.arm.operating_state == ("ENABLED", True, False)
    psm.do("move_jp", [0.3, *HOME[1:]], seconds=1.5)
    assert psm.arm.measured_js.position[0] == pytest.approx(0.3)


def test_pause_twice_stays_paused_for_ever(psm):
    """X7: only disable leaves."""
    for word in ("pause", "pause", "resume"):
        psm.do("state_command", word)
    assert psm.arm.operating_state.state == "PAUSED"
    psm.do("state_command", "disable")
    assert psm.arm.operating_state.state == "DISABLED"


def test_pause_aborts_a_move_and_resume_does_not_go_on_with_it(psm):
    psm.do("move_jp", [0.6, *HOME[1:]], seconds=0.5)
    assert psm.texts("goal_reached", "state_command", "pause") == ["False"]
    stopped = psm.arm.setpoint_js.position[0]
    psm.do("state_command", "resume", seconds=2.0)
    assert psm.arm.setpoint_js.position[0] == stopped
    assert 0.1 < stopped < 0.3


@pytest.mark.parametrize("word", ("enable", "home"))
def test_enable_and_home_on_a_homed_arm_only_change_the_desired_state(psm, word):
    desired = {"enable": "ENABLED", "home": "HOMED"}[word]
    events = psm.do("state_command", word, seconds=1.0)
    assert events == [
        ("operating_state", "ENABLED homed=1 busy=0"),
        ("desired_state", "HOMED"),
        ("operating_state", "ENABLED homed=1 busy=0"),
        ("desired_state", desired),
        ("status", f"PSM1: desired state {desired}"),
    ]


def test_refusals_are_told_every_two_seconds_with_their_number(robot):
    """X23: from the third refusal on the number of those before is told."""
    machine = robot(ArmSpec("PSM1"))
    machine.run(0.1)
    said = []
    for command in ("servo_jp", "move_jp", "servo_jr", "servo_jf", "move_jr", "servo_jp"):
        said += machine.texts("warning", command, HOME, seconds=0.1)
        said += machine.texts("warning", command, HOME, seconds=2.1)
    assert said == [
        "PSM1: servo_jp, arm not ready",
        "PSM1: move_jp, arm not ready (2 errors)",
        "PSM1: servo_jr, arm not ready (4 errors)",
        "PSM1: servo_jf, arm not ready (6 errors)",
        "PSM1: move_jr, arm not ready (8 errors)",
        "PSM1: servo_jp, arm not ready (10 errors)",
    ]


@pytest.mark.parametrize(
    ("command", "argument", "told_as"),
    [
        ("servo_jp", HOME, "servo_jp"),
        ("servo_jr", HOME, "servo_jr"),
        ("servo_jf", HOME, "servo_jf"),
        ("servo_cp", None, "servo_cp"),
        ("servo_cs", None, "servo_cs"),
        ("move_jp", HOME, "move_jp"),
        ("move_jr", HOME, "move_jr"),
        ("move_cp", None, "move_cp"),
        ("body_servo_cf", [0.0] * 6, "body_servo_cf"),
        ("spatial_servo_cf", [0.0] * 6, "spatial_servo_cf"),
        ("jaw_servo_jp", [0.1], "jaw_servo_jp"),
        ("jaw_move_jp", [0.1], "jaw_move_jp"),
        ("jaw_servo_jf", [0.1], "servo_jf"),
        ("hold", (), "hold"),
        ("free", (), "free"),
        ("servo_ci", (), "servo_ci"),
    ],
)
@pytest.mark.parametrize("state", ("DISABLED", "PAUSED", "FAULT"))
def test_motion_is_refused_by_name_where_the_arm_is_not_enabled(
    psm, state, command, argument, told_as
):
    bring(psm, state)
    before = psm.arm.setpoint_js.position.copy()
    arguments = () if argument == () else (argument,)
    assert psm.do(command, *arguments, seconds=0.5) == [
        ("warning", f"PSM1: {told_as}, arm not ready")
    ]
    assert (psm.arm.setpoint_js.position == before).all()


def enabled_again(psm):
    """Enabled after a disable, and not homed: where a dVRK takes commands and does not move."""
    for word in ("disable", "enable"):
        psm.do("state_command", word, seconds=0.1)
    assert psm.arm.operating_state == ("ENABLED", False, False)
    assert psm.arm.measured_js.is_valid
    return psm


@pytest.mark.parametrize(
    ("command", "argument"),
    [("servo_jp", [0.1, *HOME[1:]]), ("servo_jr", [0.1] * 6), ("hold", ())],
)
def test_a_servo_of_an_arm_that_is_not_homed_is_swallowed(psm, command, argument):
    """X26: no warning, no effect, also not when the arm is homed later."""
    before = enabled_again(psm).arm.setpoint_js.position.copy()
    arguments = () if argument == () else (argument,)
    assert psm.texts("warning", command, *arguments, seconds=1.0) == []
    assert (psm.arm.setpoint_js.position == before).all()
    assert not psm.arm.operating_state.is_busy
    psm.do("state_command", "home", seconds=0.02)
    psm.run(3.0)
    np.testing.assert_allclose(psm.arm.setpoint_js.position, HOME, atol=1e-12)


def test_a_move_of_an_arm_that_is_not_homed_is_busy_until_it_is_homed(psm):
    """X26."""
    before = enabled_again(psm).arm.setpoint_js.position.copy()
    assert psm.texts("warning", "move_jp", [0.3, *HOME[1:]], seconds=5.0) == []
    assert psm.arm.operating_state == ("ENABLED", False, True)
    assert (psm.arm.setpoint_js.position == before).all()
    events = psm.do("state_command", "home", seconds=3.0)
    assert [value for topic, value in events if topic == "goal_reached"] == ["False"]
    assert psm.arm.operating_state == ("ENABLED", True, False)
    np.testing.assert_allclose(psm.arm.setpoint_js.position, HOME, atol=1e-12)


def test_motion_before_the_first_homing_is_refused(robot):
    machine = robot(ArmSpec("PSM1"))
    machine.system.power_on()
    machine.run(0.1)
    for command in ("servo_jp", "move_jp"):
        refused = machine.texts("warning", command, HOME, seconds=2.1)
        assert [text.split(" (")[0] for text in refused] == [f"PSM1: {command}, arm not ready"]


def test_a_move_in_homing_replaces_its_goal(robot):
    """X26: commands are accepted while homing."""
    machine = robot(ArmSpec("PSM1")).home()
    for word in ("disable", "enable"):
        machine.do("state_command", word)
    machine.do("state_command", "home", seconds=0.2)
    assert machine.texts("warning", "move_jp", [0.2, 0.0, 0.1, 0.0, 0.0, 0.0], seconds=3.0) == []
    assert machine.arm.operating_state == ("ENABLED", True, False)
    assert machine.arm.measured_js.position[:3] == pytest.approx([0.2, 0.0, 0.1])


def test_power_takes_its_time_if_told_so(robot):
    machine = robot(ArmSpec("PSM1"), options=SystemOptions(powering_s=1.0))
    machine.system.power_on()
    machine.run(0.9)
    assert machine.arm.operating_state == ("DISABLED", False, True)
    machine.run(0.2)
    assert machine.arm.operating_state == ("ENABLED", False, False)


def test_joints_stay_at_enable_unless_the_option_is_set(robot):
    for reset, yaw in ((False, 0.3), (True, 0.0)):
        machine = robot(ArmSpec("PSM1"), options=SystemOptions(reset_joints_on_enable=reset))
        machine.home()
        machine.do("move_jp", [0.3, *HOME[1:]], seconds=1.5)
        for word in ("disable", "enable"):
            machine.do("state_command", word)
        assert machine.arm.measured_js.position[0] == pytest.approx(yaw)


def test_power_loss_is_a_fault(psm):
    psm.arm.take_events()
    psm.arm.inject(Fault(FaultKind.POWER_LOSS))
    assert psm.told("error") == ["PSM1: detected power loss (actuators)"]
    assert psm.arm.operating_state.state == "FAULT"
    assert not psm.arm.measured_js.is_valid
    for word in ("disable", "enable", "home"):
        psm.do("state_command", word, seconds=3.0)
    assert psm.arm.operating_state == ("ENABLED", True, False)


@pytest.fixture
def homing(psm):
    """PSM1 on its way back to the home position, at about 0.48 rad of yaw."""
    psm.do("move_jp", [0.5, *HOME[1:]], seconds=2.0)
    for word in ("disable", "enable"):
        psm.do("state_command", word)
    psm.do("state_command", "home", seconds=0.2)
    assert psm.arm.operating_state == ("ENABLED", True, True)
    return psm


def test_a_servo_step_in_homing_faults(homing):
    """X26."""
    errors = homing.texts("error", "servo_jp", [-0.2, *HOME[1:]])
    assert len(errors) == 1
    assert homing.arm.operating_state.state == "FAULT"


@pytest.mark.parametrize(
    ("command", "arguments"), (("servo_jp", ([0.4, *HOME[1:]],)), ("hold", ()), ("free", ()))
)
def test_homing_goes_on_after_other_commands(homing, command, arguments):
    assert homing.texts("error", command, *arguments, seconds=3.0) == []
    assert homing.arm.operating_state == ("ENABLED", True, False)
    assert homing.arm.measured_js.position == pytest.approx(HOME)


@pytest.mark.parametrize("word", ("disable", "pause"))
def test_homing_can_be_left(robot, word):
    machine = robot(ArmSpec("PSM1"))
    machine.system.power_on()
    machine.run(0.1)
    machine.system.home()
    machine.run(0.5)
    events = machine.do("state_command", word)
    assert "goal_reached" not in {topic for topic, _ in events}
    if word == "pause":
        machine.do("state_command", "resume", seconds=3.0)
    else:
        for again in ("enable", "home"):
            machine.do("state_command", again, seconds=3.0)
    assert machine.arm.operating_state == ("ENABLED", True, False)
    assert machine.arm.measured_js.position == pytest.approx(HOME)


@pytest.mark.parametrize("name", ("PSM1", "ECM"))
@pytest.mark.parametrize("times", (1, 2))
def test_a_client_that_moves_as_soon_as_the_arm_says_homed_and_idle(robot, name, times):
    """X5: the official client does; it is neither refused nor left busy."""
    machine = robot(ArmSpec(name))
    for _ in range(times):
        for word in ("disable", "enable"):
            machine.do("state_command", word)
        machine.arm.take_events()
        machine.arm.state_command("home")
        for _ in range(100):
            machine.run(0.005)
            if machine.arm.operating_state.is_homed and not machine.arm.operating_state.is_busy:
                break
        assert (
            machine.texts("warning", "move_jp", [0.1, 0.1, 0.1, 0.1, 0.1, 0.1], seconds=5.0) == []
        )
        assert machine.arm.operating_state == ("ENABLED", True, False)
    # A PSM whose tool is not engaged yet has seven joints, so that six are too few.
    expected = 0.1 if name == "ECM" or times == 2 else 0.0
    assert machine.arm.measured_js.position[0] == pytest.approx(expected)
    assert machine.texts("goal_reached", "move_jp", HOME, seconds=3.0) == ["True"]

"""What is particular to the ECM: endoscopes, gravity, its inverse kinematics."""

from __future__ import annotations

import numpy as np
import pytest

from dvrk_kinematics.errors import UnknownName
from dvrk_kinematics.simulation import ArmSpec
from dvrk_kinematics.simulation.kinds import ENDOSCOPES

HOME = [0.0, 0.0, 0.12, 0.0]
CANNULA = "ECM: tool/endoscope needs to be inserted past the cannula to switch to cartesian space"


@pytest.mark.parametrize("name", ENDOSCOPES)
def test_endoscopes(ecm, name):
    straight = ecm.arm.measured_cp.T.copy()
    assert ecm.do("set_endoscope_type", name) == [
        ("status", f'ECM: setting up for endoscope type "{name}"'),
        ("endoscope_type", name),
    ]
    T = np.linalg.inv(straight) @ ecm.arm.measured_cp.T
    assert T[2, 3] == pytest.approx(0.18 if name.startswith("Custom") else 0.0)
    angle = {"UP": -30.0, "DOWN": 30.0}.get(name.rpartition("_")[2], 0.0)
    assert np.degrees(np.arctan2(T[2, 1], T[1, 1])) == pytest.approx(angle)


@pytest.mark.parametrize("name", ("nonsense", "SD_UP", ""))
def test_unknown_endoscopes_change_nothing(ecm, name):
    before = ecm.arm.measured_cp.T.copy()
    events = ecm.do("set_endoscope_type", name)
    assert ("error", f'ECM: endoscope type "{name}" is not supported') in events
    assert ("endoscope_type", "ERROR") in events
    np.testing.assert_array_equal(ecm.arm.measured_cp.T, before)


def test_an_endoscope_in_the_spec(robot):
    machine = robot(ArmSpec("ECM", tool="Classic_HD_UP"))
    machine.system.power_on()
    machine.run(0.1)
    machine.system.home()
    machine.run(4.0)
    assert machine.told("endoscope_type") == ["Classic_HD_UP"]
    with pytest.raises(UnknownName, match="Classic_SD_STRAIGHT"):
        robot(ArmSpec("ECM", tool="SD"))


def test_homing_takes_the_recorded_time(robot):
    """1.9: 3.3 s with the speed limit of the insertion; the limiter's overspeed is not copied."""
    machine = robot(ArmSpec("ECM"))
    machine.system.power_on()
    machine.run(0.1)
    machine.system.home()
    machine.run(2.9)
    assert machine.arm.operating_state.is_busy
    machine.run(0.5)
    assert machine.arm.operating_state == ("ENABLED", True, False)
    np.testing.assert_allclose(machine.arm.measured_js.position, HOME, atol=1e-12)


def test_a_position_is_exact_and_the_orientation_gives_way(ecm):
    goal = ecm.arm.setpoint_cp.T.copy()
    goal[:3, 3] += [0.01, 0.0, 0.0]
    ecm.do("servo_cp", goal)
    np.testing.assert_allclose(ecm.arm.setpoint_cp.T[:3, 3], goal[:3, 3], atol=1e-9)
    np.testing.assert_allclose(
        ecm.arm.setpoint_js.position, [0.08266, 0.0, 0.12041, 0.0], atol=1e-5
    )


@pytest.mark.parametrize(
    ("z", "reason"),
    [
        (-0.5, "robManipulatorECM::InverseKinematics: goal is too far, out of reach for q[2]"),
        (0.1, "robManipulator: position clamped to upper joint limit 3"),
    ],
)
def test_goals_out_of_reach_are_errors(ecm, z, reason):
    goal = ecm.arm.setpoint_cp.T.copy()
    goal[:3, 3] = [0.0, 0.0, z]
    for command in ("servo_cp", "move_cp"):
        assert ecm.texts("error", command, goal) == [
            f"ECM: unable to solve inverse kinematics ({reason})"
        ]
    assert ecm.arm.operating_state == ("ENABLED", True, False)
    np.testing.assert_allclose(ecm.arm.setpoint_js.position, HOME, atol=1e-12)


def test_the_cannula_of_the_ecm(ecm):
    ecm.do("move_jp", [0.0, 0.0, 0.03, 0.0], seconds=5.0)
    assert ecm.texts("warning", "servo_cp", ecm.arm.setpoint_cp.T) == [CANNULA]
    ecm.do("move_jp", [0.0, 0.0, 0.06, 0.0], seconds=5.0)
    assert ecm.texts("warning", "servo_cp", ecm.arm.setpoint_cp.T) == []


def test_gravity_is_fed_forward_by_moves_and_not_by_poses(ecm):
    weight = [0.0, -3.7687, -10.40512, 0.0]
    np.testing.assert_allclose(ecm.arm.setpoint_js.effort, weight, atol=1e-4)
    np.testing.assert_allclose(ecm.arm.gravity_compensation_setpoint_js.effort, weight, atol=1e-4)
    ecm.do("servo_cp", ecm.arm.setpoint_cp.T)
    assert not ecm.arm.setpoint_js.effort.any()
    assert ecm.texts("warning", "use_gravity_compensation", True) == []


def test_gravity_compensation_is_not_loaded_on_a_psm(psm):
    assert psm.do("use_gravity_compensation", True) == [
        (
            "warning",
            "PSM1: use_gravity_compensation(true) since gravity compensation is not loaded",
        )
    ]
    assert psm.do("use_gravity_compensation", False) == []
    reading = psm.arm.gravity_compensation_setpoint_js
    assert len(reading.effort) == 6 and not reading.effort.any()


def test_the_insertion_is_kept_at_40_mm(ecm):
    goal = ecm.arm.setpoint_cp.T.copy()
    goal[:3, 3] = [0.0, 0.0, -0.02]
    assert ("goal_reached", "True") in ecm.do("move_cp", goal, seconds=4.0)
    assert ecm.arm.setpoint_js.position[2] == pytest.approx(0.04)


def test_a_joint_beyond_its_limit_is_named(ecm):
    goal = ecm.arm.setpoint_cp.T.copy()
    goal[:3, 3] = [0.0, 0.15, -0.05]
    assert ecm.texts("error", "servo_cp", goal) == [
        "ECM: unable to solve inverse kinematics "
        "(robManipulator: position clamped to lower joint limit 1)"
    ]

"""Which reading is valid when, and faults on purpose."""

from __future__ import annotations

import numpy as np
import pytest

from dvrk_kinematics.errors import UnknownName
from dvrk_kinematics.simulation import ArmSpec, Fault, FaultKind
from dvrk_kinematics.simulation.faults import FaultInjector

HOME = [0.0, 0.0, 0.12, 0.0, 0.0, 0.0]
POSES = ("measured_cp", "setpoint_cp", "local_measured_cp", "local_setpoint_cp")
OTHERS = ("measured_cv", "local_measured_cv", "body_measured_cf", "spatial_measured_cf")


def test_before_the_first_homing(robot):
    """X3, X4: empty joints, identity poses, nothing valid."""
    machine = robot(ArmSpec("PSM1"))
    machine.run(0.1)
    arm = machine.arm
    for name in ("measured_js", "setpoint_js", "jaw_measured_js", "jaw_setpoint_js"):
        reading = getattr(arm, name)
        assert reading.names == () and len(reading.position) == 0 and not reading.is_valid
    for name in POSES:
        reading = getattr(arm, name)
        np.testing.assert_array_equal(reading.T, np.eye(4))
        assert (reading.frame_id, reading.is_valid) == ("PSM1_base", False)
    for name in OTHERS:
        assert not getattr(arm, name).is_valid
    assert arm.body_jacobian.shape == arm.spatial_jacobian.shape == (6, 6)


@pytest.mark.parametrize("word", ("disable", "unhome"))
def test_after_disable_and_unhome(psm, word):
    """X4: what is zero, what keeps its content, what stays valid."""
    psm.do("move_jp", [0.6, *HOME[1:]], seconds=0.5)
    poses = {name: getattr(psm.arm, name).T.copy() for name in POSES}
    last = psm.arm.setpoint_js
    psm.arm.state_command(word)
    psm.run(2.0)
    measured = psm.arm.measured_js
    assert not measured.is_valid and not measured.position.any()
    assert measured.names == last.names
    assert psm.arm.setpoint_js.is_valid
    np.testing.assert_array_equal(psm.arm.setpoint_js.position, last.position)
    assert psm.arm.setpoint_js.velocity[0] == last.velocity[0] != 0.0
    for name in POSES:
        assert not getattr(psm.arm, name).is_valid
        np.testing.assert_array_equal(getattr(psm.arm, name).T, poses[name])
    for name in OTHERS:
        assert not getattr(psm.arm, name).is_valid
    assert not psm.arm.gravity_compensation_setpoint_js.is_valid
    assert psm.arm.jaw_measured_js.is_valid and psm.arm.jaw_setpoint_js.is_valid


@pytest.mark.parametrize("state", ("PAUSED", "FAULT"))
def test_readings_stay_valid_in_pause_and_fault(psm, state):
    if state == "PAUSED":
        psm.do("state_command", "pause")
    else:
        psm.do("servo_jp", [1.0, *HOME[1:]])
    assert psm.arm.operating_state.state == state
    for name in ("measured_js", "setpoint_js", "jaw_measured_js", *POSES, *OTHERS):
        assert getattr(psm.arm, name).is_valid, name


def test_readings_are_computed_once_a_cycle_and_cannot_be_written(psm):
    assert psm.arm.measured_cp.T is psm.arm.measured_cp.T
    assert psm.arm.measured_js is psm.arm.measured_js
    for array in (psm.arm.measured_js.position, psm.arm.measured_cp.T, psm.arm.body_jacobian):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


def test_velocity_is_that_of_the_motion_and_then_zero(psm):
    psm.do("move_jp", [0.6, *HOME[1:]], seconds=0.4)
    js, sp = psm.arm.measured_js, psm.arm.setpoint_js
    assert js.velocity[0] == pytest.approx(sp.velocity[0], rel=0.02)
    psm.run(2.0)
    assert not psm.arm.measured_js.velocity.any()


def test_a_stalled_joint_faults_when_it_is_left_behind(psm):
    psm.arm.inject(Fault(FaultKind.STALLED_JOINT, joint="yaw"))
    events = psm.do("move_jp", [1.0, *HOME[1:]], seconds=3.0)
    errors = [text for topic, text in events if topic == "error"]
    assert len(errors) == 1 and "tracking error" in errors[0]
    assert ("goal_reached", "False") in events
    assert psm.arm.measured_js.position[0] == 0.0
    psm.arm.inject(Fault(FaultKind.NONE))
    for word in ("disable", "enable", "home"):
        psm.do("state_command", word, seconds=3.0)
    psm.do("move_jp", [0.4, *HOME[1:]], seconds=2.0)
    assert psm.arm.measured_js.position[0] == pytest.approx(0.4)


def test_a_short_stall_is_caught_up_with(psm):
    psm.arm.inject(Fault(FaultKind.STALLED_JOINT, joint="pitch", duration_s=0.2))
    assert psm.texts("error", "move_jp", [0.0, 0.5, 0.12, 0.0, 0.0, 0.0], seconds=3.0) == []
    assert psm.arm.measured_js.position[1] == pytest.approx(0.5)


@pytest.mark.parametrize(("value", "faults"), ((0.3, False), (0.6, True)))
def test_an_encoder_that_jumps(psm, value, faults):
    psm.arm.take_events()
    psm.arm.inject(Fault(FaultKind.ENCODER_JUMP, joint="yaw", value=value))
    psm.run(0.05)
    assert (psm.told("error") != []) is faults
    assert psm.arm.measured_js.position[0] == pytest.approx(value)
    assert psm.arm.setpoint_js.position[0] == 0.0
    for word in ("disable", "enable", "home"):
        psm.do("state_command", word, seconds=3.0)
    assert psm.arm.measured_js.position[0] == pytest.approx(0.0)


@pytest.mark.parametrize(
    "kinds", (("jump", "stall"), ("stall", "jump"), ("jump", "stall", "stall"))
)
def test_an_encoder_jump_counts_once_for_a_joint_that_stalls(kinds):
    """The stalled joint was measured with the jump, which was then added once more."""
    faults, measured = FaultInjector(), [0.2, 0.5]
    for kind in kinds:
        if kind == "jump":
            faults.offset(1, 0.3)
        else:
            faults.stall(1, measured[1], until_s=10.0)
        measured, _ = faults.apply([0.2, 0.5], [0.0, 0.0], now_s=1.0)
    assert measured == pytest.approx([0.2, 0.8])
    assert faults.truth(measured) == pytest.approx([0.2, 0.5])
    # Homing biases the encoders anew: the joint still stands where it stalled.
    faults.clear_offsets()
    measured, _ = faults.apply([0.2, 0.9], [0.0, 0.1], now_s=2.0)
    assert measured == pytest.approx([0.2, 0.5])


def test_a_jump_of_a_stalled_joint_is_measured_once(psm):
    psm.arm.inject(Fault(FaultKind.ENCODER_JUMP, joint="yaw", value=0.2))
    psm.run(0.05)
    psm.arm.inject(Fault(FaultKind.STALLED_JOINT, joint="yaw"))
    psm.run(0.05)
    assert psm.arm.measured_js.position[0] == pytest.approx(0.2)


def test_a_jaw_can_stall(psm):
    psm.arm.inject(Fault(FaultKind.STALLED_JOINT, joint="jaw"))
    psm.do("jaw_move_jp", [0.4], seconds=2.0)
    assert psm.arm.jaw_measured_js.position[0] == 0.0
    assert psm.arm.jaw_setpoint_js.position[0] == pytest.approx(0.4)


def test_a_joint_that_does_not_exist(psm):
    with pytest.raises(UnknownName, match="wrist_yaw, jaw"):
        psm.arm.inject(Fault(FaultKind.STALLED_JOINT, joint="elbow"))


def test_power_loss_of_an_arm_without_power_is_nothing(robot):
    machine = robot(ArmSpec("PSM1"))
    machine.run(0.1)
    machine.arm.take_events()
    machine.arm.inject(Fault(FaultKind.POWER_LOSS))
    assert machine.told() == []

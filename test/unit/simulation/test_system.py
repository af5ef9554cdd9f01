"""A whole cart: setup joints that drive base frames, power, homing, tf."""

from __future__ import annotations

import numpy as np
import pytest

from dvrk_kinematics.errors import InvalidInput, UnknownName
from dvrk_kinematics.simulation import ArmSpec, SimulatedSystem, SystemOptions

CART = [ArmSpec(name) for name in ("PSM1", "PSM2", "PSM3", "ECM")]


@pytest.fixture
def cart(robot):
    return robot(*CART, options=SystemOptions(with_suj=True))


def frames(machine):
    return {(f.parent, f.child): f for f in machine.system.transforms()}


def test_frames_before_homing(cart):
    """Base frames are told although the tip of the ECM is not known yet, and marked."""
    cart.run(0.1)
    told = frames(cart)
    assert set(told) == {
        ("Cart", "ECM_base"),
        ("ECM", "PSM1_base"),
        ("ECM", "PSM2_base"),
        ("ECM", "PSM3_base"),
    }
    assert told["Cart", "ECM_base"].is_valid
    assert not told["ECM", "PSM1_base"].is_valid
    reading = cart.arm.measured_cp
    assert (reading.frame_id, reading.is_valid) == ("PSM1_base", False)
    assert cart.system.arms["ECM"].measured_cp.frame_id == "Cart"


def test_frames_when_homed_and_after(cart):
    cart.home()
    told = frames(cart)
    assert told["ECM", "PSM1"].is_valid and told["Cart", "ECM"].is_valid
    tip = told["ECM", "PSM1_base"].T @ cart.arm.local_measured_cp.T
    np.testing.assert_allclose(tip, told["ECM", "PSM1"].T, atol=1e-12)
    cart.system.arms["ECM"].state_command("disable")
    cart.run(0.1)
    told = frames(cart)
    assert not told["Cart", "ECM"].is_valid
    assert not told["ECM", "PSM1"].is_valid
    assert told["Cart", "ECM_base"].is_valid


def test_a_psm_pose_changes_when_the_ecm_moves(cart):
    cart.home()
    before = cart.arm.measured_cp.T.copy()
    cart.system.arms["ECM"].move_jp([0.1, 0.05, 0.13, 0.1])
    cart.run(2.0)
    after = cart.arm.measured_cp
    assert after.frame_id == "ECM"
    assert np.linalg.norm(after.T[:3, 3] - before[:3, 3]) > 0.01
    np.testing.assert_allclose(cart.arm.measured_js.position, [0, 0, 0.12, 0, 0, 0], atol=1e-12)


def test_poses_agree_with_the_chain_of_all_frames(cart):
    cart.home()
    system = cart.system
    for name in ("PSM1", "PSM2", "PSM3"):
        T_cart_tip = system.sujs["ECM"].T_cart_base @ system.arms["ECM"].local_measured_cp.T
        T_cart_psm = system.sujs[name].T_cart_base @ system.arms[name].local_measured_cp.T
        np.testing.assert_allclose(
            T_cart_tip @ system.arms[name].measured_cp.T, T_cart_psm, atol=1e-12
        )


def test_a_psm_still_moves_in_the_last_frame_of_a_disabled_ecm(cart):
    """X25."""
    cart.home()
    cart.system.arms["ECM"].state_command("disable")
    cart.run(0.1)
    reading = cart.arm.measured_cp
    assert not reading.is_valid
    assert cart.arm.local_measured_cp.is_valid
    goal = reading.T.copy()
    goal[:3, 3] += [0.01, 0.0, 0.0]
    assert ("goal_reached", "True") in cart.do("move_cp", goal, seconds=2.0)
    np.testing.assert_allclose(cart.arm.measured_cp.T, goal, atol=1e-9)


def test_another_reference_arm(cart):
    cart.home()
    cart.system.set_reference_arm("PSM2")
    cart.run(0.01)
    for name in ("PSM1", "PSM3", "ECM"):
        assert cart.system.arms[name].measured_cp.frame_id == "PSM2"
        assert cart.system.sujs[name].measured_cp.frame_id == "PSM2"
        assert cart.system.sujs[name].local_measured_cp.frame_id == "Cart"
    assert cart.system.arms["PSM2"].measured_cp.frame_id == "Cart"
    cart.system.set_reference_arm("FOO")
    assert cart.system.arms["PSM1"].measured_cp.frame_id == "PSM2"
    cart.system.set_reference_arm("ECM")
    assert cart.system.arms["PSM1"].measured_cp.frame_id == "ECM"


def test_a_state_command_to_one_setup_joint_reaches_all(cart):
    """X24."""
    cart.run(0.1)
    cart.system.sujs["PSM1"].state_command("enable")
    cart.run(0.1)
    assert {suj.operating_state.state for suj in cart.system.sujs.values()} == {"ENABLED"}
    assert cart.arm.operating_state.state == "DISABLED"
    for suj in cart.system.sujs.values():
        suj.take_events()
    cart.system.sujs["PSM1"].state_command("resume")
    for name, suj in cart.system.sujs.items():
        assert [e.value for e in suj.take_events()] == [
            f'{name} SUJ: command "resume" is not supported in state "ENABLED"'
        ]
    cart.system.sujs["PSM1"].state_command("pause")
    assert all(suj.take_events() == [] for suj in cart.system.sujs.values())


def test_setup_joints_are_homed_from_the_start(cart):
    assert cart.system.sujs["PSM1"].operating_state == ("DISABLED", True, False)


def test_setup_joints_have_six_positions_and_nothing_else(cart):
    for name, suj in cart.system.sujs.items():
        reading = suj.measured_js
        assert reading.names == tuple(f"SUJ_{name}_J{k}" for k in range(6))
        assert (len(reading.position), len(reading.velocity), len(reading.effort)) == (6, 0, 0)


@pytest.mark.parametrize("command", ("servo_jp", "move_jp"))
@pytest.mark.parametrize("bad", ([0.0] * 4, [0.0] * 7, [float("nan")] * 6))
def test_wrong_setup_joints_change_nothing(cart, command, bad):
    suj = cart.system.sujs["PSM1"]
    before = suj.measured_js.position
    suj.take_events()
    getattr(suj, command)(bad)
    assert [event.topic for event in suj.take_events()] == ["warning"]
    np.testing.assert_array_equal(suj.measured_js.position, before)


def test_setup_joints_given_by_the_user(robot):
    joints = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
    options = SystemOptions(with_suj=True, suj_joints={"PSM1": joints})
    machine = robot(ArmSpec("PSM1"), options=options)
    np.testing.assert_allclose(machine.system.sujs["PSM1"].measured_js.position, joints)
    # Without an ECM there is no tip to refer to.
    assert machine.system.sujs["PSM1"].measured_cp.frame_id == "Cart"


def test_power_and_homing_of_the_system(cart):
    cart.system.power_on()
    cart.run(0.1)
    assert {arm.operating_state.state for arm in cart.system.arms.values()} == {"ENABLED"}
    cart.system.home()
    cart.run(4.0)
    assert all(arm.operating_state.is_homed for arm in cart.system.arms.values())
    cart.system.power_off()
    cart.run(0.1)
    assert {arm.operating_state.state for arm in cart.system.arms.values()} == {"DISABLED"}


def test_without_setup_joints_an_arm_has_its_own_frame(psm):
    assert [(f.parent, f.child) for f in psm.system.transforms()] == [("PSM1_base", "PSM1")]


def test_a_fixed_base_frame(robot):
    T = np.eye(4)
    T[0, 3] = 0.5
    machine = robot(ArmSpec("PSM1", base_frame=T, base_frame_id="world")).home()
    reading = machine.arm.measured_cp
    assert reading.frame_id == "world"
    assert reading.T[0, 3] == pytest.approx(0.5)


def test_wrong_systems_are_refused():
    with pytest.raises(InvalidInput, match="PSM1 occurs twice"):
        SimulatedSystem([ArmSpec("PSM1"), ArmSpec("PSM1")])
    with pytest.raises(UnknownName, match="MTML"):
        SimulatedSystem([ArmSpec("MTML")])
    with pytest.raises(UnknownName, match="PSM9"):
        SimulatedSystem([ArmSpec("PSM9")], SystemOptions(with_suj=True))


def test_an_arm_may_have_any_name(robot):
    machine = robot(ArmSpec("left", model="PSM")).home()
    assert machine.arm.measured_cp.frame_id == "left_base"


def test_hours_pass_in_seconds(cart):
    cart.home()
    cart.run(4 * 3600.0, period_s=10.0)
    assert all(
        arm.operating_state == ("ENABLED", True, False) for arm in cart.system.arms.values()
    )


@pytest.mark.parametrize("back_s", (0.2, 1.0e4))
def test_time_that_steps_back_stands_still(psm, back_s):
    psm.run(1.0)
    psm.do("move_jp", [0.5, 0.0, 0.12, 0.0, 0.0, 0.0], seconds=0.3)
    before = psm.arm.setpoint_js.position[0]
    psm.system.step(max(0, psm.now_ns - round(back_s * 1e9)))
    assert psm.arm.setpoint_js.position[0] == before
    psm.run(2.0)
    assert psm.told("error") == []
    assert psm.arm.setpoint_js.position[0] == pytest.approx(0.5)

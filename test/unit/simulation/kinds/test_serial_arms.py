"""Plain serial arms: the same states and commands as every arm, homes and limits from data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dvrk_kinematics import load_arm
from dvrk_kinematics.errors import ModelError
from dvrk_kinematics.models import model_files as files
from dvrk_kinematics.models.load_model import load_model
from dvrk_kinematics.simulation import ArmSpec, KinematicPlant, SimulatedSerialArm
from dvrk_kinematics.simulation.control import make_controller

ARMS = ["RVM1", "CYBER310"]


@pytest.fixture(params=ARMS)
def machine(request, robot):
    return robot(ArmSpec(request.param)).home()


def test_an_arm_of_a_model_without_tool_is_a_serial_arm(machine):
    assert isinstance(machine.arm, SimulatedSerialArm)
    assert machine.arm.kind == "ARM"
    assert machine.arm.joint_names == load_model(machine.arm.name).joint_names


def test_homing_ends_where_the_model_says(machine):
    model = load_model(machine.arm.name)
    reading = machine.arm.measured_js
    assert reading.is_valid and machine.arm.operating_state.is_homed
    np.testing.assert_allclose(reading.position, model.controller.home, atol=1e-12)
    expected = load_arm(machine.arm.name).forward(reading.position)
    np.testing.assert_array_equal(machine.arm.measured_cp.T, expected)
    assert machine.arm.measured_cp.frame_id == f"{machine.arm.name}_base"


def test_before_homing_nothing_moves(robot):
    machine = robot(ArmSpec("RVM1"))
    machine.run(0.1)
    machine.do("servo_jp", [0.1] * 5)
    assert not machine.arm.measured_js.is_valid
    assert machine.arm.operating_state.state == "DISABLED"


def test_a_joint_move_arrives_and_is_told(machine):
    goal = machine.arm.measured_js.position + 0.2
    events = machine.do("move_jp", goal, seconds=3.0)
    assert ("goal_reached", "True") in events
    np.testing.assert_allclose(machine.arm.measured_js.position, goal, atol=1e-12)


def test_a_joint_servo_is_clipped_to_the_limits(machine):
    lower = np.array([joint.lower for joint in load_model(machine.arm.name).joints])
    for share in np.linspace(0.0, 1.0, 200):
        start = np.array(load_model(machine.arm.name).controller.home)
        machine.do("servo_jp", start + share * (lower - 0.1 - start), seconds=0.005)
    np.testing.assert_allclose(machine.arm.measured_js.position, lower, atol=1e-12)


def test_a_step_beyond_the_tolerance_of_the_model_is_a_fault(robot):
    machine = robot(ArmSpec("RVM1", plant=KinematicPlant(lag_s=0.05))).home()
    joints = machine.arm.setpoint_js.position.copy()
    joints[0] += 0.31
    errors = machine.texts("error", "servo_jp", joints)
    assert len(errors) == 1 and "RVM1_PID: tracking error" in errors[0]
    assert machine.arm.operating_state.state == "FAULT"


def test_poses_are_served_and_moved_to(machine):
    arm = load_arm(machine.arm.name)
    q = machine.arm.measured_js.position + 0.1
    machine.do("servo_cp", arm.forward(q))
    np.testing.assert_allclose(machine.arm.measured_js.position, q, atol=1e-9)
    events = machine.do("move_cp", arm.forward(q - 0.2), seconds=3.0)
    assert ("goal_reached", "True") in events
    np.testing.assert_allclose(machine.arm.measured_js.position, q - 0.2, atol=1e-9)


def test_a_pose_that_five_joints_cannot_have_is_refused_with_the_part_that_is_missing(robot):
    machine = robot(ArmSpec("RVM1")).home()
    before = machine.arm.measured_js.position.copy()
    T = machine.arm.measured_cp.T.copy()
    T[:3, :3] = [
        [np.cos(0.3), -np.sin(0.3), 0.0],
        [np.sin(0.3), np.cos(0.3), 0.0],
        [0.0, 0.0, 1.0],
    ] @ T[:3, :3]
    errors = machine.texts("error", "servo_cp", T)
    assert errors == [
        "RVM1: unable to solve inverse kinematics (five joints keep the hand's axis in the "
        "vertical plane through waist and tip; the axis asked for leaves it by 0.3 rad)"
    ]
    np.testing.assert_array_equal(machine.arm.measured_js.position, before)


def test_a_pose_beyond_a_limit_names_the_joint(robot):
    machine = robot(ArmSpec("CYBER310")).home()
    arm = load_arm("CYBER310")
    q = machine.arm.measured_js.position.copy()
    q[1:3] = [0.3, -1.2]
    errors = machine.texts("error", "move_cp", arm.forward(q))
    assert len(errors) == 1 and "would be" in errors[0] and "allowed" in errors[0]


def test_services_give_every_frame_and_its_joints(machine):
    joints = machine.arm.measured_js.position.tolist()
    answer = machine.arm.forward_kinematics(joints)
    assert answer.result
    np.testing.assert_array_equal(answer.T, machine.arm.measured_cp.T)
    frames = load_arm(machine.arm.name).frames(joints)
    part = machine.arm.forward_kinematics(joints[:3])
    np.testing.assert_allclose(part.T, frames["elbow_link"], atol=1e-15)
    back = machine.arm.inverse_kinematics(answer.T, joints)
    np.testing.assert_allclose(back.jp, joints, atol=1e-9)
    assert not machine.arm.forward_kinematics([*joints, 0.0]).result


def test_an_arm_is_a_file_and_nothing_else(robot, tmp_path: Path, monkeypatch):
    """A sixth name for the same mechanism, with another home: no line of code knows it."""
    for path in files.find_models_dir().glob("*.yaml"):
        (tmp_path / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    text = (tmp_path / "rvm1.yaml").read_text(encoding="utf-8")
    own = text.replace("name: RVM1", "name: MINE7").replace("home: 0.0,", "home: 0.25,")
    (tmp_path / "mine7.yaml").write_text(own, encoding="utf-8")
    monkeypatch.setattr(files, "find_models_dir", lambda: tmp_path)
    machine = robot(ArmSpec("MINE7")).home()
    assert machine.arm.measured_js.position[0] == pytest.approx(0.25)


def test_a_model_without_a_controller_cannot_be_simulated():
    with pytest.raises(ModelError, match="SUJ_PSM1: has no controller"):
        make_controller(load_model("SUJ_PSM1"))

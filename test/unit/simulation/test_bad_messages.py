"""The 42 wrong messages: answered as recorded, or as the table of deviations says."""

from __future__ import annotations

import json
from math import inf, nan
from pathlib import Path

import numpy as np
import pytest

from dvrk_kinematics.simulation import DEVIATIONS, ArmSpec

RECORDED = {
    row["test"]: row
    for row in json.loads(
        (Path(__file__).resolve().parents[2] / "data/dvrk_truth/bad_messages.json").read_text()
    )
}
DEVIATES = {name: item for item in DEVIATIONS for name in item.recordings if name in RECORDED}
HOME = [0.0, 0.0, 0.12, 0.0, 0.0, 0.0]
FOLLOW_UP = [0.2, 0.0, 0.13, 0.0, 0.0, 0.0]
GOOD = np.array(
    [[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, -1.0, -0.1135], [0, 0, 0, 1]]
)
NEAR_RCM = GOOD.copy()
NEAR_RCM[2, 3] = 0.0
NAN_POSE = GOOD.copy()
NAN_POSE[0, 3] = nan

# What was sent, as a client's message reaches the arm: a zero or NaN quaternion makes no pose.
MESSAGES = {
    "disabled_fk_4": ("forward_kinematics", [0.0, 0.0, 0.12, 0.0]),
    "disabled_fk_6": ("forward_kinematics", HOME),
    "disabled_fk_6_local": ("forward_kinematics", HOME, True),
    "disabled_ik": ("inverse_kinematics", NEAR_RCM, HOME),
    "disabled_ik_good": ("inverse_kinematics", GOOD, HOME),
    "nothomed_fk_6": ("forward_kinematics", HOME),
    "fk_0": ("forward_kinematics", []),
    "fk_nan": ("forward_kinematics", [nan, *HOME[1:]]),
    "ik_nan_pose": ("inverse_kinematics", NAN_POSE, HOME),
    "ik_nan_seed": ("inverse_kinematics", GOOD, [nan, *HOME[1:]]),
    "ik_zero_quat": ("inverse_kinematics", None, HOME),
    "jaw_move_jp_0": ("jaw_move_jp", []),
    "jaw_move_jp_nan": ("jaw_move_jp", [nan]),
    "jaw_servo_jf_0": ("jaw_servo_jf", []),
    "jaw_servo_jp_0": ("jaw_servo_jp", []),
    "jaw_servo_jp_2": ("jaw_servo_jp", [0.3, 0.6]),
    "jaw_servo_jp_nan": ("jaw_servo_jp", [nan]),
    "move_cp_nan": ("move_cp", NAN_POSE),
    "move_cp_zero_quat": ("move_cp", None),
    "move_jp_0": ("move_jp", []),
    "move_jp_5": ("move_jp", [0.1, 0.0, 0.1, 0.0, 0.0]),
    "move_jp_7": ("move_jp", [0.1, 0.0, 0.1, 0.0, 0.0, 0.0, 0.5]),
    "move_jp_inf": ("move_jp", [inf, 0.0, 0.12, 0.0, 0.0, 0.0]),
    "move_jp_nan": ("move_jp", [nan, *HOME[1:]]),
    "move_jr_5": ("move_jr", [0.1, 0.0, 0.0, 0.0, 0.0]),
    "servo_cp_nan": ("servo_cp", NAN_POSE),
    "servo_cp_nan_quat": ("servo_cp", None),
    "servo_cp_zero_quat": ("servo_cp", None),
    "servo_jf_0": ("servo_jf", []),
    "servo_jf_5": ("servo_jf", [0.1] * 5),
    "servo_jf_7": ("servo_jf", [0.1] * 7),
    "servo_jf_nan": ("servo_jf", [nan] * 6),
    "servo_jp_0": ("servo_jp", []),
    "servo_jp_5": ("servo_jp", [0.0, 0.0, 0.1, 0.0, 0.0]),
    "servo_jp_7": ("servo_jp", [0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 0.5]),
    "servo_jp_8": ("servo_jp", [0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 0.5, 0.5]),
    "servo_jp_inf": ("servo_jp", [inf, 0.0, 0.12, 0.0, 0.0, 0.0]),
    "servo_jp_nan": ("servo_jp", [nan, *HOME[1:]]),
    "servo_jp_vel_3": ("servo_jp", HOME, [0.1, 0.1, 0.1]),
    "servo_jp_vel_7": ("servo_jp", HOME, [0.0] * 7),
    "servo_jr_5": ("servo_jr", [0.1, 0.0, 0.0, 0.0, 0.0]),
    "set_base_frame_zero_quat": ("set_base_frame", None, "x"),
}


def _prepare(name, robot):
    machine = robot(ArmSpec("PSM1"))
    if name.startswith("disabled"):
        machine.run(0.1)
    elif name.startswith("nothomed"):
        machine.system.power_on()
        machine.run(0.1)
    else:
        machine.home()
    machine.arm.take_events()
    return machine


def test_every_recorded_message_is_here():
    assert set(MESSAGES) == set(RECORDED)
    assert len(RECORDED) == 42


@pytest.mark.parametrize("name", sorted(set(MESSAGES) - set(DEVIATES)))
def test_answered_as_recorded(name, robot):
    machine, recorded = _prepare(name, robot), RECORDED[name]
    arm = machine.arm
    command, *arguments = MESSAGES[name]
    answer = getattr(arm, command)(*arguments)
    machine.run(1.5 if name != "move_jp_inf" else 1.9)
    events = machine.told()
    states = [text for topic, text in events if topic == "operating_state"]
    reached = [text == "True" for topic, text in events if topic == "goal_reached"]
    setpoint, jaw = arm.setpoint_js.position, arm.jaw_measured_js.position
    if name == "move_jp_inf":
        # Seen in flight. The real one never got further because the next command came.
        assert states[:1] == recorded["operating_states"]
    else:
        assert states == recorded["operating_states"]
        assert reached == recorded["goal_reached"]
        np.testing.assert_allclose(setpoint, recorded["setpoint_after"], atol=1e-9)
        np.testing.assert_allclose(jaw, recorded["jaw_after"], atol=1e-9)
    for service in recorded["service"]:
        assert (answer.result, answer.message) == (service["result"], service["message"])
    arm.move_jp(FOLLOW_UP)
    machine.run(3.0)
    events += machine.told()
    texts = [[topic, text] for topic, text in events if topic in ("error", "warning")]
    assert texts == recorded["errors_warnings"]
    after = recorded["setpoint_after_followup_move_jp(0.2,0,0.13,0,0,0)"]
    np.testing.assert_allclose(arm.setpoint_js.position, after, atol=1e-9)


@pytest.mark.parametrize("name", sorted(DEVIATES))
def test_answered_as_the_deviation_says(name, robot):
    machine = _prepare(name, robot)
    arm = machine.arm
    before = (arm.setpoint_js, arm.jaw_setpoint_js, arm.measured_cp, arm.operating_state)
    command, *arguments = MESSAGES[name]
    answer = getattr(arm, command)(*arguments)
    machine.run(1.0)
    after = (arm.setpoint_js, arm.jaw_setpoint_js, arm.measured_cp, arm.operating_state)
    events = machine.told()
    if command.endswith("kinematics"):
        assert not answer.result
        assert answer.message
        assert np.isfinite(answer[0]).all()
        assert events == []
    else:
        assert [topic for topic, _ in events] == ["warning"]
        said = "servo_jf" if "jaw_servo_jf" in command else command
        assert events[0][1].startswith(f"PSM1: {command}, ") or said in events[0][1]
    for old, new in zip(before, after, strict=True):
        for old_part, new_part in zip(old, new, strict=True):
            np.testing.assert_array_equal(new_part, old_part)
    if not name.startswith(("disabled", "nothomed")):
        arm.move_jp(FOLLOW_UP)
        machine.run(2.0)
        np.testing.assert_allclose(arm.setpoint_js.position, FOLLOW_UP, atol=1e-12)


def test_the_table_of_deviations_is_complete_and_readable():
    assert len({item.key for item in DEVIATIONS}) == len(DEVIATIONS)
    for item in DEVIATIONS:
        assert item.when and item.dvrk and item.here
    silent = {
        name
        for name, row in RECORDED.items()
        if name not in DEVIATES and any(x != x for x in row["setpoint_after"] or [])
    }
    assert not silent, "NaN set-points are never reproduced"

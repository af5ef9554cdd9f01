"""The recorded sessions, played to simulated arms: same events, same readings, same answers."""

from __future__ import annotations

import re
from collections import defaultdict

import numpy as np
import pytest

from dvrk_kinematics.simulation import ArmSpec, ToolDetection
from dvrk_kinematics.simulation.control import COMMANDS

SESSIONS = ("s1b", "s2", "s4", "s5")

# Stopped in flight: where exactly depends on how fast the real machine's clock cycles were.
IN_FLIGHT = {"71_hold_in_move", "8b_unhome_in_move"}
# A goal 10 m away: the search ends in one of several branches, and which one hangs on the last
# digits of the machine's arithmetic. So which joints fault, and where they stand, is not compared.
BY_CHANCE = {"50_servo_cp_far"}
# The simulated setup joints warn where the dVRK says nothing (deviation suj_wrong_command).
WARNS = {"c4b_suj_short", "c8_set_reference_arm_bad", "c9_set_reference_arm_cart"}

JOINT_TOLERANCE = 2e-5  # the logs have five decimals
# The dVRK writes 1.5708 and 0.7853 where our setup joints have pi/2 and pi/4: 4e-4 rad in all.
CART_TOLERANCE = 5e-4
# Rounded to five decimals each: positions, and the entries of quaternions.
POSITION_TOLERANCE = 6e-6
ROTATION_TOLERANCE = 3e-5
EFFORT_TOLERANCE = 5e-4


def _without_masks(texts):
    """Texts about tracking errors without saying of which joints."""
    return [re.sub(r"(mask \(1 for error\):)[ 01]*1[ 01]*", r"\1 some", str(t)) for t in texts]


@pytest.mark.parametrize("session", SESSIONS)
def test_the_same_events_in_the_same_order(session, played):
    """Topic by topic: the real ones travel on their own, so nothing is said about their order."""
    answered = played(session)
    events = [e for item in answered for e in item.block.entries if e.kind == "even"]
    recorded = {entry.name for entry in events}
    compared = 0
    for block, told, _, _ in answered:
        expected = defaultdict(list)
        for entry in block.entries:
            if entry.kind == "even":
                expected[entry.name].append(entry.content)
        where = block.command.step if block.command else "start"
        for topic in recorded:
            if where in WARNS and topic.startswith("SUJ/") and topic.endswith("/warning"):
                assert expected[topic] == []
                continue
            ours, real = told.get(topic, []), expected[topic]
            if where in BY_CHANCE:
                ours, real = _without_masks(ours), _without_masks(real)
            assert ours == real, f"{where}: {topic}"
            compared += len(expected[topic])
    assert compared == len(events) > 100


@pytest.mark.parametrize("session", ("s1b", "s4", "s5"))
def test_the_same_joints_and_poses(session, played, expected_joints, expected_pose):
    tolerance = CART_TOLERANCE if session == "s5" else JOINT_TOLERANCE
    compared = 0
    for item in played(session):
        for entry, ours in item.readings:
            if entry.step in IN_FLIGHT | BY_CHANCE:
                continue
            where = f"{entry.step}: {entry.name}"
            if entry.name.endswith("_js"):
                real = expected_joints(entry.content)
                assert (ours.names, ours.is_valid) == (real.names, real.is_valid), where
                near = (tolerance, 1e-5, EFFORT_TOLERANCE)
                for one, other, limit in zip(ours[1:4], real[1:4], near, strict=True):
                    np.testing.assert_allclose(one, other, 0, limit, err_msg=where)
            else:
                pose = expected_pose(entry.content)
                assert (ours.frame_id, ours.is_valid) == (pose.frame_id, pose.is_valid), where
                limits = (POSITION_TOLERANCE, ROTATION_TOLERANCE)
                position, rotation = (CART_TOLERANCE,) * 2 if session == "s5" else limits
                np.testing.assert_allclose(
                    ours.T[:3, 3], pose.T[:3, 3], 0, position, err_msg=where
                )
                np.testing.assert_allclose(ours.T, pose.T, 0, rotation, err_msg=where)
            compared += 1
    assert compared >= {"s1b": 150, "s4": 60, "s5": 190}[session]


@pytest.mark.parametrize("session", ("s1b", "s4", "s5"))
def test_the_services_answer_the_same(session, played, numbers):
    compared = 0
    for item in played(session):
        for entry, answer in item.services:
            where = f"{entry.step}: {entry.content}"
            result, message = re.findall(r"result=(\w+) msg='(.*?)'", entry.content)[0]
            assert (str(answer.result), answer.message) == (result, message), where
            values = numbers(re.findall(r"(?:cp|jp)=\[(.*?)\]", entry.content)[-1])
            if "forward" in entry.name or "local" in entry.name:
                np.testing.assert_allclose(answer.T[:3, 3], values, 0, 5e-4, err_msg=where)
                compared += 1
            elif 0.0 <= values[2] <= 0.255 and abs(values[-1]) < 3.0:
                # Outside the limits the dVRK itself answers with one branch or another.
                if abs(values[1]) > 1.6 or abs(values[0]) > 1.0:
                    continue
                np.testing.assert_allclose(answer.jp, values, 0, 2e-4, err_msg=where)
                compared += 1
    assert compared >= {"s1b": 40, "s4": 5, "s5": 2}[session]


def test_every_text_of_the_sessions_is_among_the_recorded_ones(played, truth_texts):
    known = {topic: set(_without_masks(texts)) for topic, texts in truth_texts.items()}
    for session in SESSIONS:
        for item in played(session):
            for name, texts in item.events.items():
                topic = name.rsplit("/", 1)[-1]
                for text in texts:
                    if topic not in known or text.startswith(("PSM2", "PSM3")):
                        continue
                    general = re.sub(r"\(\d+ errors\)", "(N errors)", *_without_masks([text]))
                    excused = "expected 6 values" in text or "set_reference_arm" in text
                    assert general in known[topic] or excused, text


# NaN set-points are a deviation. What led to the other was not recorded; sizes fit here.
NEVER_SAID = ("Division by quasi zero", "PID::servo_jp: size mismatch")
REFUSED = {
    "servo_jp": ([0.0] * 6,),
    "servo_jr": ([0.0] * 6,),
    "servo_jf": ([0.0] * 6,),
    "servo_cp": (None,),
    "servo_cs": (None,),
    "move_jp": ([0.0] * 6,),
    "move_jr": ([0.0] * 6,),
    "move_cp": (None,),
    "body_servo_cf": ([0.0] * 6,),
    "jaw_servo_jp": ([0.0],),
    "jaw_move_jp": ([0.0],),
    "hold": (),
    "free": (),
}


def test_every_recorded_text_can_be_heard(played, truth_texts, robot):
    heard = set()

    def listen(machine):
        heard.update(text for _, text in machine.told())

    for session in SESSIONS:
        for item in played(session):
            heard.update(text for texts in item.events.values() for text in texts)
    for command, arguments in REFUSED.items():
        machine = robot(ArmSpec("PSM1"))
        for _ in range(3):
            machine.run(2.1)
            getattr(machine.arm, command)(*arguments)
        listen(machine)
    machine = robot(ArmSpec("PSM1"))
    for bring in ((), ("enable",), ("home",), ("fault",)):
        for word in bring:
            if word == "fault":
                machine.arm.servo_jp([1.0, 0.0, 0.12, 0.0, 0.0, 0.0])
            else:
                machine.arm.state_command(word)
            machine.run(4.0)
        for word in (*COMMANDS[2:4], "home", "", "ENABLE", "badN", "bogus", "foo"):
            if bring and word in ("pause", "home") and bring != ("fault",):
                continue
            machine.arm.state_command(word)
        listen(machine)
    machine = robot(ArmSpec("PSM1", tool_detection=ToolDetection.MANUAL)).home()
    machine.arm.set_tool_type("LARGE_NEEDLE_DRIVER:400006")
    machine.run(0.1)
    machine.arm.set_tool_type("5MM_NEEDLE_DRIVER:400117")
    listen(machine)
    machine = robot(ArmSpec("PSM1", tool_detection=ToolDetection.MANUAL))
    for word in ("enable", "home"):
        machine.arm.state_command(word)
        machine.run(4.0)
    listen(machine)
    general = {re.sub(r"\(\d+ errors\)", "(N errors)", text) for text in _without_masks(heard)}
    missing = [
        text
        for texts in truth_texts.values()
        for text in _without_masks(texts)
        if text not in general and not any(part in text for part in NEVER_SAID)
    ]
    assert missing == []

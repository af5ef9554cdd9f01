"""The services that bring an arm into a state, in every order, also in wrong ones."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest
from bridge_client import BridgeClient
from joint_goals import HOME, TIMEOUT_S, at, check_ended

from dvrk_kinematics.driver import Reason, ResultCode
from dvrk_kinematics.ros.bridge.state_commands import COMMANDS

QUICK_S = 6.0
"""How long the bridge waits: one test awaits it, and no busy machine must take as long."""


@pytest.fixture(scope="module")
def rig(make_rig: Any) -> Any:
    return make_rig("commands", state_timeout=QUICK_S, home_timeout=QUICK_S * 4)


@pytest.fixture
def client(rig: Any) -> Any:
    """An arm that is enabled and homed; whatever the test does, its commands are checked."""
    rig.client.get_ready()
    yield rig.client
    rig.client.commands.check()


def refusal(client: BridgeClient, name: str) -> str:
    """Call a service that must be refused; gives what it says."""
    answer = client.trigger(name)
    assert not answer.success, f"{name}: {answer.message}"
    return str(answer.message)


def test_nothing_is_sent_before_enable(rig: Any) -> None:
    client: BridgeClient = rig.client
    client.until(lambda: client.commands.is_connected, "the bridge's commands")
    client.wait_diagnosed("connection", "DISABLED", state="DISABLED", enabled_here="False")
    for name in ("hold", "pause", "resume"):
        assert "DISABLED" in refusal(client, name)
    assert refusal(client, "home").endswith("call enable first")
    result = client.go(HOME, 1.0).result(TIMEOUT_S)
    text = check_ended(result, Reason.NOT_ENABLED_HERE, ResultCode.INVALID_GOAL)
    assert "call bridge/PSM1/enable first" in text
    assert not client.grip(0.5).result(TIMEOUT_S).result.reached_goal
    client.wait_diagnosed("last stop", refusal="NOT_ENABLED_HERE")
    assert client.commands.is_silent()


def test_an_arm_that_somebody_else_enabled_is_not_moved(rig: Any) -> None:
    client: BridgeClient = rig.client
    client.arm.enable()
    client.arm.home()
    client.wait_diagnosed("connection", "ENABLED", state="ENABLED", enabled_here="False")
    result = client.go(at(yaw=0.1), 1.0).result(TIMEOUT_S)
    check_ended(result, Reason.NOT_ENABLED_HERE, ResultCode.INVALID_GOAL)
    assert client.commands.setpoints().size == 0
    client.do("enable")
    client.reach(at(yaw=0.1))


def test_every_service_is_offered_and_says_in_its_answer_what_the_arm_is(
    client: BridgeClient,
) -> None:
    said = {}
    for name in ("enable", "home", "hold", "pause", "resume", "disable"):
        answer = client.trigger(name)
        assert answer.success, answer
        said[name] = answer.message
    assert said.keys() == COMMANDS.keys()
    assert said["enable"] == said["resume"] == "ENABLED"
    assert (said["home"], said["pause"], said["disable"]) == ("homed", "PAUSED", "DISABLED")


def test_enabling_what_is_enabled_sends_nothing(client: BridgeClient) -> None:
    words = client.commands.words()
    client.do("enable", "enable")
    assert client.commands.words() == words


def test_pausing_twice_sends_one_pause_and_resume_leads_out(client: BridgeClient) -> None:
    before = client.commands.words().count("pause")
    client.do("pause", "pause")
    assert client.commands.words().count("pause") == before + 1
    client.arm.wait("operating_state", lambda: client.arm.state.state == "PAUSED")
    client.do("resume")
    client.reach(at(yaw=0.05))


def test_services_that_do_not_fit_the_state_change_nothing(client: BridgeClient) -> None:
    assert "is ENABLED, not PAUSED" in refusal(client, "resume")
    client.do("pause")
    assert "PAUSED" in refusal(client, "enable")
    assert "PAUSED" in refusal(client, "hold")
    assert "enable" in refusal(client, "home")
    client.do("disable")
    assert "is DISABLED, not ENABLED" in refusal(client, "pause")
    assert "is DISABLED, not PAUSED" in refusal(client, "resume")
    assert client.commands.words()[-2:] == ["pause", "disable"]


def test_a_pause_in_motion_silences_the_bridge_and_the_goal_says_so(client: BridgeClient) -> None:
    before = client.commands.mark()
    goal = client.go(at(yaw=1.0), 10.0)
    client.wait_moving(0.3, before=before)
    client.do("pause")
    check_ended(goal.result(TIMEOUT_S), Reason.LEFT_ENABLED, ResultCode.PATH_TOLERANCE_VIOLATED)
    ended_ns = time.time_ns()
    client.wait_stop(Reason.LEFT_ENABLED)
    assert client.commands.last_stamp_ns() <= ended_ns
    client.do("resume")
    client.reach(HOME)


def test_a_disable_in_motion_silences_the_bridge(client: BridgeClient) -> None:
    before = client.commands.mark()
    goal = client.go(at(yaw=1.0), 10.0)
    client.wait_moving(0.3, before=before)
    client.do("disable")
    check_ended(goal.result(TIMEOUT_S), Reason.LEFT_ENABLED, ResultCode.PATH_TOLERANCE_VIOLATED)
    client.wait_stop(Reason.LEFT_ENABLED)
    client.get_ready()
    client.reach(HOME)


def test_an_arm_that_is_enabled_but_not_homed_is_not_moved(client: BridgeClient) -> None:
    client.do("disable")
    answer = client.trigger("enable")
    assert answer.success and answer.message == "ENABLED, not homed: call home next"
    result = client.go(HOME, 1.0).result(TIMEOUT_S)
    text = check_ended(result, Reason.NOT_HOMED, ResultCode.INVALID_GOAL)
    assert text == "not homed: call home first"
    client.do("home")
    client.commands.forgive()
    client.reach(HOME)


def test_enable_leads_out_of_fault_by_way_of_disable(client: BridgeClient) -> None:
    # A step beyond the PID's tolerance, past the bridge, is what the arm faults at.
    client.arm.send_joints("servo_jp", at(yaw=0.6))
    client.wait_diagnosed("connection", state="FAULT")
    result = client.go(HOME, 1.0).result(TIMEOUT_S)
    assert result.result.error_code == ResultCode.INVALID_GOAL, result
    assert "FAULT" in refusal(client, "pause")
    words = client.commands.words()
    client.get_ready()
    assert client.commands.words()[len(words) :] == ["disable", "enable", "home"]
    client.reach(HOME)


def freeze(rig: Any) -> None:
    """Let the arm stand still, and wait until it does: a busy machine gets to that later."""
    rig.simulator.freeze()
    tasks = Path(f"/proc/{rig.simulator.pid}/task")

    def is_still() -> bool:
        states = [(task / "stat").read_text().rpartition(")")[2] for task in tasks.iterdir()]
        return all(state.split()[0] == "T" for state in states)

    rig.client.until(is_still, "the arm to stand still", every_s=0.005)


def test_every_wait_on_the_arm_has_an_end(rig: Any, client: BridgeClient) -> None:
    words = client.commands.words()
    try:
        freeze(rig)
        said = refusal(client, "pause")
        # What was sent tells whether a busy machine brought the request before the arm counted as
        # silent: then its answer is waited for, and otherwise it is not asked.
        if client.commands.words()[len(words) :] == ["pause"]:
            assert f"after {QUICK_S:g} s the arm is ENABLED" in said
        else:
            assert client.commands.words() == words
            assert "seconds since the last measured_js" in said
        # From here on it is known that the arm says nothing, whatever it said before.
        for name in ("enable", "home", "pause", "hold"):
            assert "seconds since the last measured_js" in refusal(client, name)
        assert "told the arm to disable, but" in refusal(client, "disable")
    finally:
        rig.simulator.thaw()
    client.arm.wait("operating_state", lambda: client.arm.state.state == "DISABLED")


def test_a_home_that_comes_to_nothing_has_an_end(rig: Any, client: BridgeClient) -> None:
    client.do("disable", "enable")
    freeze(rig)
    try:
        assert "seconds since the last measured_js" in refusal(client, "home")
    finally:
        rig.simulator.thaw()


def test_disable_overtakes_what_is_under_way(rig: Any, client: BridgeClient) -> None:
    client.reach(at(yaw=0.5), 1.0)
    client.do("disable", "enable")
    # So slow that the homing motion cannot be over before it is overtaken.
    client.slow_moves(0.02)
    before = len(client.arm.heard["status"])
    said: list[str] = []
    homing = threading.Thread(target=lambda: said.append(refusal(client, "home")))
    homing.start()

    def is_homing() -> bool:
        texts = client.arm.texts("status")[before:]
        return any(text.endswith("current state HOMING") for text in texts)

    client.arm.wait("status", is_homing)
    client.do("disable")
    homing.join(TIMEOUT_S)
    assert said == ["overtaken by disable"]
    client.arm.wait("operating_state", lambda: client.arm.state.state == "DISABLED")
    client.slow_moves(1.0)

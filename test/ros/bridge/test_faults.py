"""Faults in motion: each stops it in its own way, says why, and leaves a way back."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
import pytest
from bridge_client import BridgeClient
from joint_goals import HOME, SUCCEEDED, TIMEOUT_S, at, check_ended
from std_msgs.msg import String

from dvrk_kinematics.driver import HOLD_ALONE, STOPS, Reason, ResultCode, StopKind

VIOLATED = ResultCode.PATH_TOLERANCE_VIOLATED
FAR, LONG_S = at(yaw=1.2), 10.0


class Fault(NamedTuple):
    """What is injected, what may come of it, and what must be done afterwards."""

    name: str
    parameters: dict[str, Any]
    reasons: tuple[Reason, ...]


# Which of these is seen first hangs on what the arm had said when it was read.
TAKEN_AWAY = (Reason.LEFT_ENABLED, Reason.FAULT, Reason.BUSY)
FAULTS = {
    "state dropped": Fault("dropped_state", {}, (Reason.STALE_STATE,)),
    "state delayed": Fault("delayed_state", {"fault_delay": 5.0}, (Reason.STALE_STATE,)),
    "joint stalled": Fault("stalled_joint", {"fault_joint": "yaw"}, (Reason.TRACKING_ERROR,)),
    "encoder jump": Fault(
        "encoder_jump", {"fault_joint": "yaw", "fault_jump": 0.3}, (Reason.TRACKING_ERROR,)
    ),
    "encoder jump beyond the PID's tolerance": Fault(
        "encoder_jump",
        {"fault_joint": "pitch", "fault_jump": 0.6},
        (Reason.TRACKING_ERROR, Reason.ARM_ERROR, *TAKEN_AWAY),
    ),
    "power lost": Fault("power_loss", {}, (Reason.ARM_ERROR, *TAKEN_AWAY)),
    "tool removed": Fault("tool_removed", {}, (Reason.WRONG_TOOL, Reason.BUSY)),
}


@pytest.fixture(scope="module")
def rig(make_rig: Any) -> Any:
    return make_rig("faults")


@pytest.fixture
def client(rig: Any) -> Any:
    """An arm at home; whatever the test does, commands are checked and a goal is reached again."""
    client: BridgeClient = rig.client
    bring_back(rig)
    client.reach(HOME)
    yield client
    client.commands.forgive()
    client.get_ready()
    client.reach(at(yaw=0.1))


def bring_back(rig: Any) -> None:
    """Get an arm ready whatever a test before has left behind, also one that failed."""
    for process in (rig.simulator, rig.bridge):
        if not process.is_running:
            process.restart()
    rig.client.fault("clear")
    rig.client.get_ready()


class Motion(NamedTuple):
    """A motion under way: its goal, and how many setpoints and holds were sent before it."""

    goal: Any
    sent: int
    holds: int


def start(client: BridgeClient) -> Motion:
    """Set the arm in motion."""
    sent, holds = client.commands.mark(), client.commands.mark("hold")
    goal = client.go(FAR, LONG_S)
    client.wait_moving(0.5, before=sent)
    return Motion(goal, sent, holds)


def check_stopped(client: BridgeClient, motion: Motion, reasons: tuple[Reason, ...]) -> None:
    """Check how a motion ended: its result, diagnostics, and what was sent last."""
    response = motion.goal.result(TIMEOUT_S)
    ended_ns = time.time_ns()
    text = response.result.error_string
    reason = next((r for r in reasons if text.startswith(r.value)), None)
    assert reason is not None, text
    check_ended(response, reason, VIOLATED)
    client.wait_stop(reason)
    is_frozen = STOPS[reason] is StopKind.FREEZE
    if is_frozen and reason not in HOLD_ALONE:
        check_repeated(client, motion)
    assert client.commands.mark("hold") == motion.holds + is_frozen
    assert client.commands.last_stamp_ns() <= ended_ns


def check_repeated(client: BridgeClient, motion: Motion) -> None:
    """Check that the last setpoint was sent twice; those in between may not have been heard."""
    gaps = client.commands.gaps(motion.sent)
    steps = np.abs(np.diff(client.commands.setpoints(motion.sent), axis=0))
    usual = (steps / gaps[:, None]).max(axis=0)
    assert (steps[-1] <= (gaps[-1] - 1) * usual).all(), (steps[-1], gaps[-1])


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_stops_the_motion_says_why_and_can_be_recovered_from(
    client: BridgeClient, name: str
) -> None:
    fault = FAULTS[name]
    motion = start(client)
    client.fault(fault.name, **fault.parameters)
    check_stopped(client, motion, fault.reasons)
    refused = client.go(FAR, LONG_S).result(TIMEOUT_S)
    assert refused.result.error_code == ResultCode.INVALID_GOAL, refused
    client.fault("clear")
    # The bridge believes in the arm again as soon as it has heard from it.
    client.until(lambda: client.trigger("disable").success, "disable", every_s=0.25)


def test_a_state_that_is_a_little_late_disturbs_nothing(client: BridgeClient) -> None:
    client.fault("delayed_state", fault_delay=0.05)
    response = client.go(at(yaw=0.3), 1.0).result(TIMEOUT_S)
    client.fault("clear")
    assert response.status == SUCCEEDED, response


def test_a_tool_that_is_exchanged_stops_the_motion(client: BridgeClient) -> None:
    motion = start(client)
    try:
        client.arm.send("set_tool_type", String(data="MARYLAND_BIPOLAR_FORCEPS:420172"))
        check_stopped(client, motion, (Reason.WRONG_TOOL, Reason.FOREIGN_SETPOINT, Reason.BUSY))
        refused = client.go(HOME, 1.0).result(TIMEOUT_S)
        check_ended(refused, Reason.WRONG_TOOL, ResultCode.INVALID_GOAL)
    finally:
        client.arm.send("set_tool_type", String(data="LARGE_NEEDLE_DRIVER:400006"))
        client.wait_diagnosed("connection", tool="LARGE_NEEDLE_DRIVER:400006")


def test_an_arm_that_dies_and_comes_back_can_be_moved_again(
    rig: Any, client: BridgeClient
) -> None:
    motion = start(client)
    rig.simulator.kill()
    check_stopped(client, motion, (Reason.STALE_STATE,))
    rig.simulator.restart()
    client.commands.forgive()


def test_a_bridge_that_dies_leaves_the_arm_holding_and_can_be_restarted(
    rig: Any, client: BridgeClient
) -> None:
    start(client)
    rig.bridge.kill()
    sent = client.commands.setpoints()[-1]
    client.commands.forgive()
    held = client.setpoint
    np.testing.assert_allclose(held, sent, atol=0.02)
    rig.bridge.restart()
    client.wait_diagnosed("connection", state="ENABLED", enabled_here="False")
    np.testing.assert_array_equal(client.setpoint, held)
    assert client.arm.state.state == "ENABLED"
    client.do("enable")
    client.reach(HOME)


def test_a_bridge_that_is_told_to_end_stops_along_the_path(rig: Any, client: BridgeClient) -> None:
    motion = start(client)
    rig.bridge.end()
    assert motion.goal.result(TIMEOUT_S).result.error_string.startswith(
        Reason.HOLD_REQUESTED.value
    )
    client.wait_at("setpoint_js", client.commands.setpoints()[-1], 1e-9)
    client.commands.check()
    rig.bridge.restart()
    client.wait_diagnosed("connection", state="ENABLED", enabled_here="False")

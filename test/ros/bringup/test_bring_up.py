"""A bridge that enables and homes its simulated arm by itself, once."""

from __future__ import annotations

import pytest
from command_log import CommandLog
from observer import until

from dvrk_kinematics import load_arm
from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.ros.bridge.settings import BridgeSettings
from dvrk_kinematics.ros.bringup.processes import Process, simulated_arms
from dvrk_kinematics.ros.demo.block_o_client import BlockOClient

pytestmark = pytest.mark.ros


def test_an_arm_comes_up_when_it_is_there_and_stays_down_when_it_is_disabled(
    run_alone, node
) -> None:
    bridge = run_alone(Process("arm_bridge", parameters={"arm": "PSM1", "bring_up": True}))
    sent = CommandLog(node, "PSM1/", load_arm("PSM"), lambda: None)
    until(lambda: sent.is_connected, "the bridge's commands")
    run_alone(simulated_arms(["PSM1"]))
    until(lambda: "home: homed" in bridge.output, "the arm is homed")
    assert sent.words() == ["enable", "home"]
    client = BlockOClient(node, "PSM1")
    client.bring_up()
    assert sent.words() == ["enable", "home"], "what is done already is not repeated"
    assert client.trigger("disable") == "DISABLED"
    assert client.trigger("enable").startswith("ENABLED")
    assert sent.words() == ["enable", "home", "disable", "enable"], "nobody else enabled it"
    client.close()


def test_a_real_arm_is_not_brought_up() -> None:
    with pytest.raises(InvalidInput, match="a real arm is brought up by the person beside it"):
        BridgeSettings(hardware="dvrk", bring_up=True).check()

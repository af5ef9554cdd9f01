"""Goals that come while their arm or its bridge is still being found, or is gone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from motion_client import (
    CANCELED,
    START,
    SUCCEEDED,
    TIMEOUT_S,
    MotionClient,
    abs_j,
    check_refused,
    make_processes,
)
from rclpy.node import Node

from dvrk_kinematics.errors import ArmNotReady, CallFailed
from dvrk_kinematics.ros.common.patience import PATIENT, Patience
from dvrk_kinematics.ros.servers.arm_watch import ArmWatch

NOT_HOMED = "the arm is not homed: call bridge/PSM3/enable, then bridge/PSM3/home"


class Rig:
    """A server whose arm and bridge are started later, if at all."""

    def __init__(self, run: Any, node: Node, folder: str) -> None:
        self._run = run
        self._simulator, self._bridge, server = make_processes(["PSM3"], folder)
        self.server = run(server)
        self.arm = MotionClient(node, "PSM3")

    def start_arm(self) -> Any:
        return self._run(self._simulator)

    def start_bridge(self) -> Any:
        return self._run(self._bridge)


@pytest.fixture(scope="module")
def rig(run: Any, node: Node, tmp_path_factory: pytest.TempPathFactory) -> Rig:
    return Rig(run, node, str(tmp_path_factory.mktemp("recordings")))


def test_goals_wait_for_their_arm_and_for_its_bridge(rig: Rig, node: Node) -> None:
    arm = rig.arm
    # No arm: the goal waits, says so, and can be cancelled.
    waiting = arm.send_move(abs_j(START))
    arm.until(lambda: arm.told, "feedback while it waits")
    assert arm.told[-1].planning_progress == 0.0 and not arm.told[-1].plan.ok
    arm.until(lambda: "waiting for PSM3/setpoint_js (up to 30 s)" in rig.server.output, "a line")
    assert waiting.cancel(TIMEOUT_S)
    done = waiting.result(TIMEOUT_S)
    assert done.status == CANCELED
    assert done.result.message == "cancelled while it waited for the arm"

    # An arm that comes meanwhile and is not homed ends the waiting, with what to do.
    waiting = arm.send_move(abs_j(START))
    simulator = rig.start_arm()
    check_refused(waiting.result(TIMEOUT_S), f"PSM3: {NOT_HOMED}")
    with pytest.raises(ArmNotReady, match=NOT_HOMED):
        ArmWatch(node, "PSM3", arm.joints).read_setpoint(PATIENT)

    # An arm that is homed, without its bridge: planned, then the bridge is waited for.
    arm.arm.enable()
    arm.arm.home()
    with pytest.raises(ArmNotReady, match=r"reports the joints yaw, .*; its model has shoulder"):
        ArmWatch(node, "PSM3", ["shoulder"]).read_setpoint(PATIENT)
    waiting = arm.send_move(abs_j(START))
    arm.until(lambda: arm.told[-1].plan.ok, "the plan")
    assert waiting.cancel(TIMEOUT_S)
    done = waiting.result(TIMEOUT_S)
    assert done.status == CANCELED and done.result.message == "cancelled; nothing moved"

    # The bridge comes meanwhile, and says why it does not move.
    waiting = arm.send_move(abs_j(START))
    arm.until(lambda: arm.told[-1].plan.ok, "the plan")
    bridge = rig.start_bridge()
    done = waiting.result(TIMEOUT_S)
    assert not done.result.success and done.result.message.startswith("bridge: ")
    arm.get_ready()
    assert arm.move(abs_j(START, speed=1.0, acceleration=1.0)).status == SUCCEEDED

    # Killed arms are waited for as well, and a goal can still be cancelled.
    simulator.kill()
    arm.told.clear()
    waiting = arm.send_move(abs_j(np.zeros(6)))
    arm.until(lambda: len(arm.told) > 3, "feedback while it waits")
    bridge.kill()
    assert waiting.cancel(TIMEOUT_S)
    done = waiting.result(TIMEOUT_S)
    assert done.status == CANCELED
    assert done.result.message == "cancelled while it waited for the arm"


def test_an_arm_that_does_not_come_is_named(node: Node) -> None:
    said: list[str] = []
    watch = ArmWatch(node, "PSM9", ["yaw"])
    words = r"PSM9/setpoint_js: nothing valid arrived within 0\.2 s; is the arm there\?"
    with pytest.raises(CallFailed, match=words):
        watch.read_setpoint(Patience(said.append), 0.2)
    assert said == []

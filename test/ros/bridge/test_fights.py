"""Others who command the arm, or turn the clock, while a goal is played."""

from __future__ import annotations

import threading
import time
from itertools import count
from typing import Any

import numpy as np
import pytest
from bridge_client import BridgeClient
from joint_goals import HOME, SUCCEEDED, TIMEOUT_S, at, check_ended
from rclpy.node import Node
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Empty

from dvrk_kinematics.driver import Reason, ResultCode
from dvrk_kinematics.ros.common.conversions import to_flat
from dvrk_kinematics.ros.common.stamps import write_stamp

VIOLATED = ResultCode.PATH_TOLERANCE_VIOLATED
HOUR_NS = 3_600_000_000_000


@pytest.fixture(scope="module")
def rig(make_rig: Any) -> Any:
    return make_rig("fights")


@pytest.fixture
def client(rig: Any) -> Any:
    """An arm at home; whatever the test does, its commands are checked."""
    rig.client.get_ready()
    rig.client.reach(HOME)
    yield rig.client
    rig.client.commands.check()


def check_silence(client: BridgeClient, goal: Any, *reasons: Reason) -> None:
    """The goal ended for one of the reasons, and nothing was sent afterwards, no hold either."""
    response = goal.result(TIMEOUT_S)
    ended_ns = time.time_ns()
    text = response.result.error_string
    assert any(text.startswith(reason.value) for reason in reasons), text
    assert response.result.error_code == VIOLATED
    client.wait_stop(*reasons)
    assert client.commands.last_stamp_ns() <= ended_ns


@pytest.mark.parametrize("command", ["servo_jp", "servo_jr", "move_jp"])
def test_a_second_client_that_moves_the_arm_silences_the_bridge(
    client: BridgeClient, command: str
) -> None:
    client.arm.prepare(command)
    client.arm.check_connections()
    before, holds = client.commands.mark(), client.commands.mark("hold")
    goal = client.go(at(yaw=1.0), 12.0)
    client.wait_moving(0.3, before=before)
    # Whoever streams is seen; one setpoint alone may be gone before the arm reports it.
    deadline = time.monotonic() + TIMEOUT_S
    for k in count():
        if k == 0 or command != "move_jp":
            there = np.array([0.0, 0.01, 0.0, 0.0, 0.0, 0.0])
            if command != "servo_jr":
                there += client.commands.newest()
            client.arm.send(command, JointState(position=to_flat(there)))
        if goal.wait(0.01):
            break
        assert time.monotonic() < deadline, "nobody was seen"
    check_silence(client, goal, Reason.FOREIGN_SETPOINT, Reason.FOREIGN_COMMAND, Reason.BUSY)
    assert client.commands.mark("hold") == holds
    client.arm.wait("operating_state", lambda: not client.arm.state.is_busy)
    client.commands.forgive()
    client.do("enable")
    client.reach(HOME)


def test_another_clients_hold_stops_the_motion_along_its_path(client: BridgeClient) -> None:
    """Once 384 setpoints followed it, and the goal was reached."""
    client.arm.prepare("hold")
    client.arm.check_connections()
    before = client.commands.mark()
    goal = client.go(at(yaw=1.0), 12.0)
    client.wait_moving(0.3, before=before)
    client.arm.send("hold", Empty())
    response = goal.result(TIMEOUT_S)
    text = check_ended(response, Reason.HOLD_REQUESTED, VIOLATED)
    assert "another client" in text
    client.wait_stop(Reason.HOLD_REQUESTED)
    assert client.setpoint[0] < 0.9
    # The arm is still ours: nobody has moved it.
    client.reach(HOME)


@pytest.mark.parametrize("command", ["free", "servo_jf"])
def test_another_client_who_takes_the_effort_silences_the_bridge(
    client: BridgeClient, command: str
) -> None:
    """The arm's setpoint does not show it, and the next one of ours would be a jump."""
    client.arm.prepare(command)
    client.arm.check_connections()
    before, holds = client.commands.mark(), client.commands.mark("hold")
    goal = client.go(at(yaw=1.0), 12.0)
    client.wait_moving(0.3, before=before)
    client.arm.send(command, Empty() if command == "free" else JointState(effort=[0.0] * 6))
    check_silence(client, goal, Reason.FOREIGN_COMMAND)
    assert client.commands.mark("hold") == holds
    client.commands.forgive()


def test_a_goal_right_after_a_freeze_is_not_taken_for_somebody_elses(client: BridgeClient) -> None:
    """The arm's own hold falls back by a setpoint."""
    client.go(at(yaw=1.0), 12.0)
    client.wait_moving(0.3)
    client.do("hold")
    response = client.go(HOME, 1.0).result(TIMEOUT_S)
    assert response.status == SUCCEEDED, response


def test_an_arm_that_others_move_is_left_alone_until_it_rests(client: BridgeClient) -> None:
    # So slowly that the bridge has told that it knows, and refused, before the arm is there.
    client.slow_moves(0.02)
    client.arm.send_joints("move_jp", at(yaw=1.2))
    client.wait_diagnosed("connection", is_busy="True")
    response = client.go(HOME, 1.0).result(TIMEOUT_S)
    check_ended(response, Reason.BUSY, ResultCode.INVALID_GOAL)
    # Whoever moves it lets it stay where it is.
    client.arm.send("hold", Empty())
    client.wait_diagnosed("connection", is_busy="False")
    client.slow_moves(1.0)
    client.commands.forgive()
    client.do("enable")
    client.reach(at(yaw=0.5))


def test_a_second_publisher_is_named_in_diagnostics(client: BridgeClient) -> None:
    client.arm.prepare("servo_jp")
    client.arm.check_connections()
    status = client.wait_diagnosed("other publishers", **{"PSM1/servo_jp": "/client"})
    assert status.level == b"\x01"


class JumpingClock:
    """Publishes /clock at 100 Hz, on the machine's time plus an offset that can be changed."""

    def __init__(self, node: Node) -> None:
        self._publisher = node.create_publisher(Clock, "/clock", 10)
        self._end = threading.Event()
        self.offset_ns = 0
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def end(self) -> None:
        self._end.set()
        self.thread.join()

    def _run(self) -> None:
        while not self._end.wait(0.01):
            message = Clock()
            write_stamp(message.clock, time.time_ns() + self.offset_ns)
            self._publisher.publish(message)


def test_no_clock_and_one_that_jumps_by_an_hour_harm_no_motion(make_rig: Any, node: Node) -> None:
    client: BridgeClient = make_rig("clock", use_sim_time=True).client
    # While nobody publishes it, simulated time stands still.
    client.get_ready()
    client.reach(HOME)
    clock = JumpingClock(node)
    try:
        for offset_ns, q in ((HOUR_NS, at(yaw=0.4)), (0, HOME), (-HOUR_NS, at(yaw=0.4))):
            before = client.commands.mark()
            goal = client.go(q, 2.5)
            client.wait_moving(0.2, before=before)
            clock.offset_ns = offset_ns
            heard, wanted = client.feedback, len(client.feedback) + 4
            client.until(lambda h=heard, n=wanted: len(h) >= n, "feedback")
            response = goal.result(TIMEOUT_S)
            assert response.status == SUCCEEDED, response
            client.wait_diagnosed("connection", state="ENABLED")
        client.reach(HOME)
    finally:
        clock.end()


def test_an_arm_whose_clock_jumps_on_is_moved_on_and_stops_when_it_jumps_back(
    make_rig: Any, node: Node
) -> None:
    """Its stamps are compared with each other only, never with a clock of ours."""
    clock = JumpingClock(node)
    try:
        client: BridgeClient = make_rig("jumps", simulator={"use_sim_time": True}).client
        client.get_ready()
        client.reach(HOME)
        ends = []
        for offset_ns, q in ((HOUR_NS, at(yaw=0.4)), (-HOUR_NS, HOME)):
            before = client.commands.mark()
            goal = client.go(q, 2.5)
            client.wait_moving(0.2, before=before)
            clock.offset_ns = offset_ns
            ends.append(goal.result(TIMEOUT_S))
        assert ends[0].status == SUCCEEDED, ends[0]
        check_ended(ends[1], Reason.STAMP_WENT_BACK, VIOLATED)
        # From then on its clock is the one that it has now.
        client.until(lambda: client.go(HOME, 1.0).result(TIMEOUT_S).status == SUCCEEDED, "home")
    finally:
        clock.end()

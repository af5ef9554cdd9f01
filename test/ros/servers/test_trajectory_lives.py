"""Goals that are cancelled, replaced, started together, or lose their bridge or arm."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

import numpy as np
import pytest
from motion_client import (
    ABORTED,
    CANCELED,
    QUICK,
    START,
    TIMEOUT_S,
    MotionClient,
    abs_j,
    check_followed,
    check_refused,
    line,
    make_processes,
)
from rclpy.node import Node

from dvrk_kinematics.geometry import se3
from dvrk_kinematics.ros.common.stamps import stamp_to_ns

SLOW = {"speed": 0.004}
FAR = se3.translation(np.array([0.03, 0.0, 0.0]))
NEAR = se3.translation(np.array([0.0, 0.004, 0.0]))
TICK_S = 0.005
AHEAD_NS = 10_000_000_000
"""Enough for two goals to be planned and sent on a busy machine."""
CRAWL_M_S = 0.002
GIVEN_UP_NS = 10_000_000_000
"""How long a server that ends waits for an arm that does not stop."""
SILENT_S = 1.0
"""Many times longer than a bridge takes to answer, and shorter than it may be out of sight."""


class Rig:
    """Two arms with their bridges, and one server for both."""

    def __init__(self, run: Any, node: Node, folder: str) -> None:
        simulator, *bridges, server = make_processes(["PSM1", "PSM2"], folder)
        self.simulator, self.server = run(simulator), run(server)
        self.bridges = [run(bridge) for bridge in bridges]
        self.arms = [MotionClient(node, name) for name in ("PSM1", "PSM2")]
        for arm in self.arms:
            arm.get_ready()


@pytest.fixture(scope="module")
def rig(run: Any, node: Node, tmp_path_factory: pytest.TempPathFactory) -> Rig:
    return Rig(run, node, str(tmp_path_factory.mktemp("recordings")))


@pytest.fixture
def arm(rig: Rig) -> MotionClient:
    rig.arms[0].go_home()
    rig.arms[0].told.clear()
    return rig.arms[0]


def wait_moving(arm: MotionClient) -> None:
    """Wait until feedback says that a motion is under way."""
    arm.until(lambda: arm.told and arm.told[-1].progress > 0.02, "progress")


def on_line(arm: MotionClient) -> float:
    """How far along the line from START the setpoint is (m); it must be on it."""
    T_start, T = arm.model.forward(START), arm.model.forward(arm.setpoint)
    moved = se3.inverse(T_start) @ T
    assert np.abs(moved[1:3, 3]).max() < 1e-6 and np.abs(moved[:3, :3] - np.eye(3)).max() < 1e-6
    return float(moved[0, 3])


def test_a_cancelled_motion_stops_on_its_path(arm: MotionClient) -> None:
    goal = arm.send_move(line(FAR, **SLOW))
    wait_moving(arm)
    assert goal.cancel(TIMEOUT_S)
    done = goal.result(TIMEOUT_S)
    assert done.status == CANCELED and not done.result.success
    assert done.result.message.startswith("cancelled; bridge: ")
    assert 0.0 < on_line(arm) < 0.029
    assert done.result.error.samples > 0 and done.result.error.contour_position_max < 2e-6
    with arm.standing_still():
        pass
    arm.commands.check()


def test_a_cancelled_motion_is_followed_until_its_bridge_answers(
    rig: Rig, arm: MotionClient
) -> None:
    goal = arm.send_move(line(FAR, **SLOW))
    wait_moving(arm)
    rig.bridges[0].freeze()
    try:
        assert goal.cancel(TIMEOUT_S)
        assert not goal.wait(SILENT_S), "whoever asks must not hear of an end that has not come"
    finally:
        rig.bridges[0].thaw()
    done = goal.result(TIMEOUT_S)
    assert done.status == CANCELED and done.result.message.startswith("cancelled; bridge: ")
    assert 0.0 < on_line(arm) < 0.029
    arm.get_ready()


def test_a_new_goal_replaces_the_one_that_moves(arm: MotionClient) -> None:
    old = arm.send_move(line(FAR, **SLOW))
    wait_moving(arm)
    check_followed(arm.move(line(NEAR)))
    ended = old.result(TIMEOUT_S)
    assert ended.status == ABORTED and not ended.result.success
    assert ended.result.message.startswith("replaced by a new goal; bridge: ")
    assert ended.result.plan.ok
    arm.commands.check()


def test_a_goal_that_makes_no_sense_disturbs_nothing(arm: MotionClient) -> None:
    moving = arm.send_move(line(FAR, speed=0.02))
    wait_moving(arm)
    check_refused(arm.move(line(NEAR, speed=-1.0)), "steps[0].speed")
    check_refused(arm.move(line(NEAR, "nowhere")), "is not on tf")
    check_followed(moving.result(TIMEOUT_S))
    assert abs(on_line(arm) - 0.03) < 1e-6


def test_a_goal_on_its_way_to_a_figure_can_be_cancelled(arm: MotionClient) -> None:
    before = arm.commands.mark()
    goal = arm.send_trace(scale=0.05, place=True, **QUICK)
    arm.wait_moving(before=before)
    assert goal.cancel(TIMEOUT_S)
    done = goal.result(TIMEOUT_S)
    assert done.status == CANCELED
    assert done.result.message.startswith("on the way to the start: cancelled; bridge: ")
    assert done.result.plan.ok and done.result.scale == 0.05


def test_a_plan_alone_that_is_cancelled_ends_as_cancelled(arm: MotionClient) -> None:
    with arm.standing_still():
        # The largest that fits: that is looked for several seconds.
        goal = arm.send_trace(scale=0.0, place=True, plan_only=True, **QUICK)
        assert goal.cancel(TIMEOUT_S)
        done = goal.result(TIMEOUT_S)
    assert done.status == CANCELED
    assert done.result.message == "cancelled while it was planned"


def move_both(rig: Rig, step: Any, ahead_ns: int = 0) -> tuple[list[Any], int]:
    """Send a step to both arms from START; gives the results, and the start that they had (ns)."""
    for arm in rig.arms:
        arm.go_home()
        arm.arm.heard["measured_js"].clear()
    start_ns = time.time_ns() + ahead_ns if ahead_ns else 0
    goals = [arm.send_move(step, start_ns=start_ns) for arm in rig.arms]
    return [goal.result(TIMEOUT_S) for goal in goals], start_ns


def test_arms_that_get_the_same_start_begin_together(rig: Rig) -> None:
    before = [arm.commands.mark() for arm in rig.arms]
    results, start_ns = move_both(rig, line(NEAR), ahead_ns=AHEAD_NS)
    for result in results:
        check_followed(result)
    assert min(first_motion_s(arm) for arm in rig.arms) - start_ns * 1e-9 >= -TICK_S
    for arm, since, result in zip(rig.arms, before, results, strict=True):
        stamps = arm.commands.stamps_ns(since)
        late_s = float(stamps[stamps > start_ns - AHEAD_NS][0] - start_ns) * 1e-9
        told = {v.key: v.value for v in arm.wait_diagnosed("control loop").values}
        # Ticks that a busy machine misses make an arm late, never early: as late as its bridge's
        # loop has been, or as it says that it had to wait.
        assert late_s >= -TICK_S
        is_late = late_s > 10.0 * TICK_S + float(told["period_max_s"])
        assert not is_late or result.result.slow_downs > 0, (late_s, told)


def first_motion_s(arm: MotionClient) -> float:
    """When an arm was first seen away from START after it had been there (s)."""
    states = list(arm.arm.heard["measured_js"])
    away = np.abs(np.array([state.position for state in states]) - START).max(axis=1) > 1e-9
    # States of the way to START may still arrive when they are no longer asked for.
    begins = np.flatnonzero(away[1:] & ~away[:-1]) + 1
    assert begins.size, "the arm was never seen to move"
    return stamp_to_ns(states[int(begins[0])].header.stamp) * 1e-9


def test_both_arms_can_move_at_the_same_time(rig: Rig) -> None:
    for result in move_both(rig, line(FAR, speed=0.02))[0]:
        check_followed(result)


def test_an_arm_that_is_not_homed_does_not_move(rig: Rig) -> None:
    arm = rig.arms[1]
    arm.do("disable")
    arm.arm.command("unhome", lambda state: not state.is_homed)
    with arm.standing_still():
        refused = arm.move(abs_j(START))
    assert refused.status == ABORTED
    # An arm that was homed once has positions; then it is the bridge that refuses.
    message = refused.result.message
    assert "the arm is not homed: call bridge/PSM2/" in message or "bridge: " in message
    arm.get_ready()


def test_a_disabled_arm_does_not_move(rig: Rig) -> None:
    arm = rig.arms[1]
    arm.go_home()
    arm.do("disable")
    with arm.standing_still():
        refused = arm.move(line(NEAR))
    assert refused.status == ABORTED and "bridge: " in refused.result.message
    arm.get_ready()


def test_a_motion_whose_arm_faults_ends_with_the_reason(rig: Rig) -> None:
    arm = rig.arms[1]
    arm.go_home()
    arm.told.clear()
    goal = arm.send_move(line(FAR, **SLOW))
    wait_moving(arm)
    arm.do("disable")
    done = goal.result(TIMEOUT_S)
    assert done.status == ABORTED and "bridge: " in done.result.message
    arm.get_ready()


def test_without_a_bridge_nothing_moves_and_the_goal_says_so(rig: Rig, arm: MotionClient) -> None:
    goal = arm.send_move(line(FAR, **SLOW))
    wait_moving(arm)
    rig.bridges[0].end()
    ended = goal.result(TIMEOUT_S)
    assert ended.status == ABORTED, ended.result.message
    assert "bridge" in ended.result.message
    refused = arm.move(line(NEAR))
    assert refused.status == ABORTED
    # A bridge that has just gone may still be seen on the graph.
    message = refused.result.message
    assert "no such action appeared" in message or "no answer to the goal came" in message
    assert "s; is the bridge running?" in message
    rig.bridges[0].restart()
    arm.get_ready()


def test_a_server_that_ends_stops_what_moves(rig: Rig, arm: MotionClient) -> None:
    arm.send_move(line(FAR, **SLOW))
    wait_moving(arm)
    rig.server.end()
    assert 0.0 < on_line(arm) < 0.029
    with arm.standing_still():
        pass
    rig.server.restart()


def test_a_silent_bridge_does_not_keep_the_other_arm_moving(rig: Rig) -> None:
    silent, other = rig.arms
    for arm in rig.arms:
        arm.go_home()
        arm.told.clear()
    for arm in rig.arms:
        arm.send_move(line(FAR, speed=CRAWL_M_S))
    for arm in rig.arms:
        wait_moving(arm)
    rig.bridges[0].freeze()
    told_ns = time.time_ns()
    os.kill(rig.server.pid, signal.SIGTERM)
    try:
        other.until(lambda: other.commands.quiet_s() > 0.5, "the end of the motion")
        # Told at once, not when the server has given up to wait for the silent one.
        assert other.commands.last_stamp_ns() - told_ns < GIVEN_UP_NS
        assert on_line(other) < 0.029
    finally:
        rig.bridges[0].thaw()
    rig.server.end()
    assert on_line(silent) < 0.029

"""Moves and figures on a simulated arm: planned, carried out on their paths, and reported."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from control_msgs.msg import SpeedScalingFactor
from dvrk_kinematics_interfaces.msg import FlightPlan
from frame_publisher import FramePublisher
from motion_client import (
    QUICK,
    START,
    SUCCEEDED,
    TIMEOUT_S,
    MotionClient,
    abs_j,
    arc,
    check_followed,
    joints,
    line,
    make_processes,
)
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory

from dvrk_kinematics.geometry import se3, so3
from dvrk_kinematics.motion.figures.block_o import BLOCK_O
from dvrk_kinematics.motion.figures.figure import Figure, Orientation
from dvrk_kinematics.motion.programs.program_file import load_recording
from dvrk_kinematics.ros.common import qos
from dvrk_kinematics.ros.common.conversions import pose_to_matrix

SMALL = 0.05


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("files") / "recordings"


@pytest.fixture(scope="module")
def arm(run: Any, node: Node, recordings: Path) -> MotionClient:
    for process in make_processes(["PSM1"], str(recordings)):
        run(process)
    client = MotionClient(node)
    client.get_ready()
    return client


@pytest.fixture(autouse=True)
def begin(arm: MotionClient) -> None:
    arm.go_home()
    arm.told.clear()


def tip(arm: MotionClient) -> np.ndarray:
    return arm.model.forward(arm.setpoint)


def shift(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> np.ndarray:
    return se3.translation(np.array([x, y, z]))


def test_a_plan_alone_moves_nothing_and_tells_the_flight_plan(
    arm: MotionClient, node: Node
) -> None:
    heard: list[Any] = []
    subscription = node.create_subscription(
        FlightPlan, "trajectory/PSM1/flight_plan", heard.append, qos.DESCRIPTION
    )
    with arm.standing_still():
        done = arm.move(line(shift(x=0.02)), plan_only=True)
    assert done.status == SUCCEEDED and done.result.message == "planned, not moved"
    plan = done.result.plan
    assert plan.ok and plan.knots > 2 and plan.samples > plan.knots
    assert abs(plan.length - 0.02) < 1e-9 and plan.duration > 0.4
    assert plan.position_deviation <= 1e-6 and plan.rotation_deviation <= 1e-6
    assert plan.limit_margin > 0.0 and plan.limit_margin_joint in arm.joints
    assert 0.0 < plan.peak_velocity < 1.0 and 0.0 < plan.peak_acceleration < 1.0
    assert plan.smallest_singular_value > 0.0 and plan.wrist_depth > 0.045
    error = done.result.error
    assert error.samples == 0 and np.isnan([error.contour_position_max, error.lag_max]).all()
    arm.until(lambda: plan in heard, "the flight plan on its topic")
    node.executor.create_task(node.destroy_subscription, subscription)


def test_a_scale_that_is_changed_between_two_goals_counts_for_the_second(
    arm: MotionClient,
) -> None:
    def plan_s() -> float:
        goal = abs_j(START + np.array([0.2, 0.0, 0.0, 0.0, 0.0, 0.0]), speed=1.0, acceleration=1.0)
        done = arm.move(goal, plan_only=True)
        assert done.status == SUCCEEDED, done.result.message
        return float(done.result.plan.duration)

    usual_s = plan_s()
    assert arm.set_parameter("velocity_scale", 0.05, "trajectory_server") == ""
    slow_s = plan_s()
    assert arm.set_parameter("velocity_scale", 1.0, "trajectory_server") == ""
    assert slow_s > 3.0 * usual_s and plan_s() == usual_s


def test_the_flight_plan_comes_first_then_progress_and_errors(arm: MotionClient) -> None:
    done = arm.move(line(shift(x=0.02), speed=0.02))
    check_followed(done)
    first, *later = arm.told
    assert first.plan == done.result.plan and first.progress == 0.0
    progress = [one.progress for one in later]
    assert progress == sorted(progress) and 0.0 < progress[-1] <= 1.0
    assert max(one.position_error for one in later) < 2e-6
    assert max(one.rotation_error for one in later) < 2e-6
    arm.commands.check()


def test_all_kinds_of_moves_one_after_the_other(arm: MotionClient) -> None:
    T_before = tip(arm)
    done = arm.move(
        line(shift(x=0.01), blend_radius=0.003),
        line(shift(y=0.01)),
        arc((0.005, 0.005, 0.0), shift(x=0.01)),
        joints(T_before, "PSM1_base", speed=0.5, acceleration=0.5),
        abs_j(START + 0.02),
        line(T_before, ""),
    )
    check_followed(done)
    np.testing.assert_allclose(tip(arm), T_before, atol=1e-6)
    arm.commands.check()


def test_steps_along_the_axes_of_the_base_whatever_the_tool_does(arm: MotionClient) -> None:
    T_before = tip(arm)
    check_followed(arm.move(line(shift(0.004, -0.003, 0.005), "", relative=True)))
    T_after = tip(arm)
    moved = T_after[:3, 3] - T_before[:3, 3]
    np.testing.assert_allclose(moved, [0.004, -0.003, 0.005], atol=1e-6)
    np.testing.assert_allclose(T_after[:3, :3], T_before[:3, :3], atol=1e-6)
    turn = se3.make(so3.rot_z(0.2), np.zeros(3))
    back = joints(shift(-0.004, 0.003, -0.005), "PSM1_base", relative=True)
    check_followed(arm.move(line(turn, "", relative=True), back, record_as="steps"))
    np.testing.assert_allclose(tip(arm)[:3, 3], T_before[:3, 3], atol=1e-6)
    np.testing.assert_allclose(tip(arm)[:3, :3], so3.rot_z(0.2) @ T_before[:3, :3], atol=1e-6)
    again = arm.move(recording="steps", plan_only=True)
    assert again.result.success, again.result.message


def test_a_pentagram_is_traced_with_its_orientation_kept(arm: MotionClient) -> None:
    corners = [(0.003 * np.cos(a), 0.003 * np.sin(a), 0.0) for a in 0.8 * np.pi * np.arange(5)]
    quick = {**QUICK, "acceleration": 0.15}
    done = arm.trace(
        scale=1.0, place=True, corners=corners, orientation="fixed", repeat=2, **quick
    )
    check_followed(done)
    figure = Figure("star", np.array(corners), Orientation.FIXED)
    poses = figure.poses(pose_to_matrix(done.result.figure), 1.0)
    np.testing.assert_allclose(tip(arm), poses[-1], atol=1e-6)
    np.testing.assert_allclose(poses[-1], poses[0], atol=1e-12)
    assert done.result.plan.length == pytest.approx(2.0 * figure.length)


def test_a_blended_corner_is_rounded_and_takes_less_time(arm: MotionClient) -> None:
    def plan(radius: float) -> Any:
        steps = line(shift(x=0.02), blend_radius=radius), line(shift(y=0.02))
        return arm.move(*steps, plan_only=True).result.plan

    stopped, rounded = plan(0.0), plan(0.005)
    assert rounded.length < stopped.length - 1e-4 and rounded.duration < stopped.duration


def test_moves_in_a_frame_on_tf(arm: MotionClient, node: Node) -> None:
    T_base_table = se3.make(so3.exp(np.array([0.0, 0.3, 0.5])), np.array([0.1, 0.0, -0.2]))
    T_wanted = tip(arm) @ shift(x=0.01)
    with FramePublisher(node).moving("PSM1_base", "table", lambda: T_base_table):
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            done = arm.move(line(se3.inverse(T_base_table) @ T_wanted, "table"))
            # Not heard yet; or its publisher had no time.
            is_late = any(words in done.result.message for words in ("is not on tf", "s old"))
            if not is_late or time.monotonic() > deadline:
                break
    check_followed(done)
    np.testing.assert_allclose(tip(arm), T_wanted, atol=1e-6)


def test_moves_are_repeated_as_often_as_asked(arm: MotionClient) -> None:
    once = arm.move(line(shift(x=0.002)), plan_only=True).result.plan
    T_before = tip(arm)
    done = arm.move(line(shift(x=0.002)), repeat=3)
    check_followed(done)
    assert abs(done.result.plan.duration - 3.0 * once.duration) < 1e-6
    np.testing.assert_allclose(tip(arm), T_before @ shift(x=0.006), atol=1e-6)


def test_what_was_recorded_can_be_replayed(arm: MotionClient, recordings: Path) -> None:
    steps = abs_j(START + 0.03), line(shift(z=-0.005))
    with arm.standing_still():
        recorded = arm.move(*steps, record_as="lift", plan_only=True)
    assert recorded.result.success
    assert len(load_recording(recordings / "lift.yaml").steps) == 2
    replayed = arm.move(recording="lift")
    check_followed(replayed)
    assert abs(replayed.result.plan.duration - recorded.result.plan.duration) < 1e-6
    by_file = arm.move(recording=str(recordings / "lift.yaml"), plan_only=True)
    assert by_file.result.success


@pytest.mark.parametrize("scaling", ["quintic", "hyperbolic", "normalised"])
def test_other_time_scalings_keep_to_the_path_too(arm: MotionClient, scaling: str) -> None:
    # The normalised rule knows fractions of the path, not metres.
    speeds = {"speed": 2.0, "acceleration": 8.0} if scaling == "normalised" else {}
    check_followed(arm.move(line(shift(x=0.01), **speeds), scaling=scaling))


def test_what_is_too_fast_is_refused_or_slowed_down(arm: MotionClient) -> None:
    hasty = line(shift(x=0.03), speed=5.0, acceleration=100.0)
    with arm.standing_still():
        refused = arm.move(hasty)
    assert not refused.result.success and "_limit, " in refused.result.message
    slowed = arm.move(hasty, slow_down=True)
    check_followed(slowed)
    assert slowed.result.plan.slowed_by > 1.0 and slowed.result.plan.slowed_for
    arm.commands.check()


def test_position_first_gives_up_orientation_where_exact_is_refused(arm: MotionClient) -> None:
    beyond = line(se3.make(so3.exp(np.array([1.6, 0.0, 0.0])), np.zeros(3)))
    with arm.standing_still():
        refused = arm.move(beyond)
    assert "position_limit, wrist" in refused.result.message, refused.result.message
    done = arm.move(beyond, policy="position_first")
    assert done.status == SUCCEEDED, done.result.message
    assert done.result.plan.orientation_given_up > 0.01
    assert done.result.error.contour_position_max <= 2e-6


def test_a_small_block_o_is_placed_and_traced(arm: MotionClient) -> None:
    done = arm.trace(scale=SMALL, place=True, **QUICK)
    check_followed(done)
    result = done.result
    assert result.scale == SMALL
    assert abs(result.plan.length - SMALL * BLOCK_O.length) < 1e-9
    T_end = BLOCK_O.poses(pose_to_matrix(result.figure), SMALL)[-1]
    np.testing.assert_allclose(tip(arm), T_end, atol=2e-6)
    arm.commands.check()


def test_a_polygon_is_traced_where_it_lies_in_a_frame_on_tf(arm: MotionClient, node: Node) -> None:
    T_base_figure = se3.translation(np.array([0.0, 0.0, -0.13]))
    T_base_board = se3.make(so3.exp(np.array([0.0, 0.0, 0.4])), np.array([0.02, 0.0, -0.1]))
    FramePublisher(node).fix("PSM1_base", "board", T_base_board)
    heard: list[Any] = []
    subscription = node.create_subscription(
        JointTrajectory, "trajectory/PSM1/planned_path", heard.append, qos.DESCRIPTION
    )
    triangle = [(0.0, 0.0, 0.0), (0.01, 0.0, 0.0), (0.0, 0.01, 0.0)]
    goal = {"corners": triangle, "scale": 1.0, "frame": "board", **QUICK}
    T = se3.inverse(T_base_board) @ T_base_figure
    arm.until(
        lambda: "not on tf" not in arm.trace(T=T, plan_only=True, **goal).result.message, "board"
    )
    done = arm.trace(T=T, **goal)
    check_followed(done)
    np.testing.assert_allclose(pose_to_matrix(done.result.figure), T_base_figure, atol=1e-9)
    assert abs(done.result.plan.length - 0.01 * (2.0 + np.sqrt(2.0))) < 1e-9
    arm.until(lambda: heard and len(heard[-1].points) == done.result.plan.knots, "planned path")
    assert heard[-1].header.frame_id == "PSM1_base"
    node.executor.create_task(node.destroy_subscription, subscription)


def test_a_line_that_is_slowed_and_paused_stays_exact_and_tells_its_speed(
    arm: MotionClient, node: Node
) -> None:
    publisher = node.create_publisher(
        SpeedScalingFactor, "bridge/PSM1/speed_scaling_input", qos.SPEED_SCALING
    )

    def hear(factor: float) -> None:
        publisher.publish(SpeedScalingFactor(factor=factor))
        arm.until(
            lambda: arm.told and arm.told[-1].progress > 0.0 and speed() == factor,
            f"feedback of the speed {factor}",
        )

    def speed() -> float:
        return float(arm.told[-1].speed_scaling)

    goal = arm.send_move(line(shift(x=0.03), speed=0.01))
    try:
        hear(0.5)
        hear(0.0)
        assert not goal.wait(0.0)
    finally:
        publisher.publish(SpeedScalingFactor(factor=1.0))
    check_followed(goal.result(TIMEOUT_S))
    node.destroy_publisher(publisher)

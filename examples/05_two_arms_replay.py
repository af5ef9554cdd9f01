"""Two arms replay one recording together, from one start.

Needs PSM1 and PSM2, homed, with their bridges and a trajectory server for both:

    ./dvrk python -m dvrk_kinematics.ros.trajectory_server --ros-args -p 'arms:=[PSM1, PSM2]'
"""

from __future__ import annotations

import time

import rclpy
from dvrk_kinematics_interfaces.action import Move
from dvrk_kinematics_interfaces.msg import MotionStep
from rclpy.action import ActionClient
from rclpy.node import Node

from dvrk_kinematics.ros.calls import send_goal
from dvrk_kinematics.ros.spinning import SpinningNode
from dvrk_kinematics.ros.stamps import write_stamp

# To the same joint positions, and then 10 mm forth and back along the tool's x.
begin = MotionStep(kind=MotionStep.MOVE_ABS_J, jp=[0.1, 0.0, 0.12, 0.0, 0.0, 0.0], speed=0.5)
forth = MotionStep(kind=MotionStep.MOVE_L, frame_id="tool", speed=0.02, acceleration=0.05)
forth.cp.position.x = 0.01
back = MotionStep(kind=MotionStep.MOVE_L, frame_id="tool", speed=0.02, acceleration=0.05)
back.cp.position.x = -0.01

rclpy.init()
node = Node("two_arms")
with SpinningNode(node):
    arms = {name: ActionClient(node, Move, f"trajectory/{name}/move") for name in ("PSM1", "PSM2")}

    # Record: the steps are planned and proven on one arm, and stored; nothing moves.
    lesson = Move.Goal(steps=[begin, forth, back], record_as="lesson", plan_only=True)
    recorded = send_goal(arms["PSM1"], lesson, timeout_s=20.0).result(60.0).result
    print("recorded:", recorded.message, f"({recorded.plan.duration:.2f} s)")

    # Planned on both arms first: that tells whether both can do it, and how long planning takes.
    began = time.monotonic()
    for name, arm in arms.items():
        goal = Move.Goal(recording="lesson", plan_only=True)
        print(f"{name}:", send_goal(arm, goal, timeout_s=20.0).result(60.0).result.message)

    # Replay: the same start for both, late enough for both to be planned once more.
    replay = Move.Goal(recording="lesson")
    ahead_s = 2.0 + 2.0 * (time.monotonic() - began)
    write_stamp(replay.start, time.time_ns() + round(ahead_s * 1e9))
    goals = {name: send_goal(arm, replay, timeout_s=20.0) for name, arm in arms.items()}
    for name, goal in goals.items():
        done = goal.result(60.0).result
        error = done.error
        print(
            f"{name} {'arrived' if done.success else 'failed'}: {done.message}; "
            f"contour {1e6 * error.contour_position_max:.3f} um, lag {1e3 * error.lag_mean:.1f} ms"
        )
node.destroy_node()
rclpy.try_shutdown()

"""Two arms replay one recording together, from one start.

./dvrk up --arm PSM1 --arm PSM2                # two simulated arms, in another terminal
./dvrk python examples/05_two_arms_replay.py
"""

import sys
import time
from contextlib import ExitStack
from typing import Any

from dvrk_kinematics_interfaces.action import Move
from dvrk_kinematics_interfaces.msg import MotionStep
from rclpy.action import ActionClient
from rclpy.node import Node

from dvrk_kinematics.ros.client import SentGoal, run_client, send_goal, write_stamp

# To the same joint positions, and then 10 mm forth and back along the tool's x.
begin = MotionStep(kind=MotionStep.MOVE_ABS_J, jp=[0.1, 0.0, 0.12, 0.0, 0.0, 0.0], speed=0.5)
forth = MotionStep(kind=MotionStep.MOVE_L, frame_id="tool", speed=0.02, acceleration=0.05)
back = MotionStep(kind=MotionStep.MOVE_L, frame_id="tool", speed=0.02, acceleration=0.05)
forth.cp.position.x, back.cp.position.x = 0.01, -0.01


def finish(what: str, goal: SentGoal) -> Any:
    """Wait for the end of a goal; the first failure ends the example."""
    done = goal.result(60.0).result
    print(f"{what}: {done.message}")
    if not done.success:
        sys.exit("are both arms homed? ./dvrk arm PSM1 home; ./dvrk arm PSM2 home")
    return done


def replay(node: Node) -> None:
    """Record a lesson on one arm, and replay it on both."""
    print("if the arms are not up, type in another terminal: ./dvrk up --arm PSM1 --arm PSM2")
    arms = {name: ActionClient(node, Move, f"trajectory/{name}/move") for name in ("PSM1", "PSM2")}
    # Record: the steps are planned and proven on one arm, and stored; nothing moves.
    lesson = Move.Goal(steps=[begin, forth, back], record_as="lesson", plan_only=True)
    finish("recorded", send_goal(arms["PSM1"], lesson))
    # Planned on both first: that tells whether both can do it, and how long planning takes.
    began = time.monotonic()
    for name, arm in arms.items():
        finish(name, send_goal(arm, Move.Goal(recording="lesson", plan_only=True)))
    # Replay: the same start for both, late enough for both to be planned once more.
    goal, ahead_s = Move.Goal(recording="lesson"), 2.0 + 2.0 * (time.monotonic() - began)
    write_stamp(goal.start, time.time_ns() + round(ahead_s * 1e9))
    with ExitStack() as stack:  # whatever ends this block early cancels both
        running = {n: stack.enter_context(send_goal(arm, goal)) for n, arm in arms.items()}
        for name, sent in running.items():
            error = finish(f"{name} arrived", sent).error
            print(f"{name}: contour {1e6 * error.contour_position_max:.3f} um")


sys.exit(run_client("two_arms", replay))

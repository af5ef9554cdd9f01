"""The Block-O on a simulated arm, at the speeds of the paper."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from dvrk_kinematics_interfaces.action import TraceBlockO
from rclpy.action import ActionClient
from rclpy.node import Node
from std_srvs.srv import Trigger

from dvrk_kinematics.motion.block_o import PRESETS
from dvrk_kinematics.ros.calls import call, send_goal

__all__ = ["Trace", "get_ready", "plan_placed", "trace"]

_WAIT_S = 60.0
_TRIES = 3


class Trace(NamedTuple):
    """A traced figure.

    Attributes:
        preset: Which speeds of the paper.
        success: Whether it arrived.
        message: What the server said.
        planned_s: How long the motion should take.
        lag_s: How much later than that it was at most: ticks that were missed.
        position_um: Largest contour error.
        rotation_urad: Largest contour error of the orientation.
        samples: States of the arm that were compared.
    """

    preset: str
    success: bool
    message: str
    planned_s: float
    lag_s: float
    position_um: float
    rotation_urad: float
    samples: int


def get_ready(node: Node, arm: str) -> None:
    """Enable and home an arm; the node must be spun."""
    for name in ("enable", "home"):
        client = node.create_client(Trigger, f"bridge/{arm}/{name}")
        deadline = time.monotonic() + _WAIT_S
        # The bridge may not have heard of the arm yet.
        while not (answer := call(client, Trigger.Request(), _WAIT_S)).success:
            if time.monotonic() > deadline:
                raise RuntimeError(f"{name}: {answer.message}")
            time.sleep(0.2)


def plan_placed(node: Node, arm: str, scale: float) -> tuple[float, Any]:
    """Place and plan a Block-O without moving; gives how long that took (s), and the result."""
    client = ActionClient(node, TraceBlockO, f"trajectory/{arm}/trace_block_o")
    client.wait_for_server(_WAIT_S)
    started = time.perf_counter()
    goal = TraceBlockO.Goal(scale=scale, place=True, plan_only=True)
    result = send_goal(client, goal, _WAIT_S).result(_WAIT_S).result
    return time.perf_counter() - started, result


def trace(node: Node, arm: str, scale: float, preset: str) -> Trace:
    """Trace a Block-O with the speeds of a preset."""
    client = ActionClient(node, TraceBlockO, f"trajectory/{arm}/trace_block_o")
    speeds = PRESETS[preset]
    goal = TraceBlockO.Goal(
        scale=scale,
        place=True,
        speed=speeds.speed,
        acceleration=speeds.acceleration,
        angular_speed=speeds.angular_speed,
        angular_acceleration=speeds.angular_acceleration,
    )
    # A machine that has no time for the bridge stops a motion, rightly; then it is sent again.
    for _ in range(_TRIES):
        result = send_goal(client, goal, _WAIT_S).result(10.0 * _WAIT_S).result
        if result.success:
            break
    error = result.error
    return Trace(
        preset,
        result.success,
        result.message,
        result.plan.duration,
        error.lag_max,
        1e6 * error.contour_position_max,
        1e6 * error.contour_rotation_max,
        error.samples,
    )

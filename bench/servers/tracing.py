"""The Block-O on a simulated arm, at the speeds of the paper."""

from __future__ import annotations

import time
from math import inf
from typing import Any, NamedTuple

from dvrk_kinematics_interfaces.action import TraceBlockO
from rclpy.action import ActionClient
from rclpy.node import Node
from std_srvs.srv import Trigger

from bench.servers.setpoints import TICK_S, SetpointTimes
from dvrk_kinematics.motion.figures.block_o import PRESETS
from dvrk_kinematics.ros.client.calls import call, send_goal

__all__ = ["Trace", "get_ready", "plan_placed", "trace"]

_WAIT_S = 60.0
_TRIES = 3
_POLL_S = 0.5


class Trace(NamedTuple):
    """A traced figure.

    Attributes:
        preset: Which speeds of the paper.
        success: Whether it arrived.
        message: The server's message.
        planned_s: How long the motion should take.
        took_s: How long it took, from its first setpoint to its last.
        missed_ticks: Ticks in between in which the bridge sent none.
        lost_s: Time of those that the motion could not make up for.
        slow_downs: How often lateness slowed it down.
        tries: How often it was sent until it arrived.
        lag_s: How much later than planned the tip was anywhere.
        position_um: How far the tip was off the exact figure at most: its contour error, and how
            far the planned path is off that figure.
        rotation_urad: The same of the orientation.
        samples: States of the arm that were compared.
    """

    preset: str
    success: bool
    message: str
    planned_s: float
    took_s: float
    missed_ticks: int
    lost_s: float
    slow_downs: int
    tries: int
    lag_s: float
    position_um: float
    rotation_urad: float
    samples: int

    @property
    def computed_s(self) -> float:
        """What the motion may have taken: the planned time, and the ticks missed."""
        return self.planned_s + self.missed_ticks * TICK_S

    @property
    def is_in_time(self) -> bool:
        """Whether it took neither less nor more than planned, by more than missed ticks explain.

        A missed tick at the start or end shortens the visible motion. The duration of a motion
        that lateness slowed down depends on the machine.
        """
        missed_s = self.computed_s - self.planned_s + 2.0 * TICK_S
        latest_s = inf if self.slow_downs else self.planned_s + missed_s
        return self.planned_s - missed_s <= self.took_s <= latest_s


def get_ready(node: Node, arm: str) -> None:
    """Enable and home an arm; the node must be spun."""
    for name in ("enable", "home"):
        client = node.create_client(Trigger, f"bridge/{arm}/{name}")
        deadline = time.monotonic() + _WAIT_S
        # The bridge may not have found the arm yet.
        while not (answer := call(client, Trigger.Request(), _WAIT_S)).success:
            if time.monotonic() > deadline:
                raise RuntimeError(f"{name}: {answer.message}")
            time.sleep(0.2)


def plan_placed(node: Node, arm: str, scale: float) -> tuple[float, Any]:
    """Place and plan a Block-O without moving; return how long that took (s), and the result."""
    client = ActionClient(node, TraceBlockO, f"trajectory/{arm}/trace_block_o")
    client.wait_for_server(_WAIT_S)
    started = time.perf_counter()
    goal = TraceBlockO.Goal(scale=scale, place=True, plan_only=True)
    result = send_goal(client, goal, _WAIT_S).result(_WAIT_S).result
    return time.perf_counter() - started, result


def trace(node: Node, arm: str, scale: float, preset: str, turning: float) -> Trace:
    """Trace a Block-O with the speeds of a preset, turning so many times as fast."""
    client = ActionClient(node, TraceBlockO, f"trajectory/{arm}/trace_block_o")
    speeds = PRESETS[preset]
    goal = TraceBlockO.Goal(
        scale=scale,
        place=True,
        speed=speeds.speed,
        acceleration=speeds.acceleration,
        angular_speed=turning * speeds.angular_speed,
        angular_acceleration=turning * speeds.angular_acceleration,
    )
    times = SetpointTimes(node, arm)
    result, tries = _send(client, goal, times), 1
    # A machine without time for the bridge rightly stops a motion; then we send it again.
    while not result.success and tries < _TRIES:
        result, tries = _send(client, goal, times), tries + 1
    taken, error, plan = times.read(), result.error, result.plan
    return Trace(
        preset,
        result.success,
        result.message,
        plan.duration,
        taken.took_s,
        taken.missed_ticks,
        taken.lost_s,
        result.slow_downs,
        tries,
        error.lag_max,
        1e6 * (error.contour_position_max + plan.position_deviation),
        1e6 * (error.contour_rotation_max + plan.rotation_deviation),
        error.samples,
    )


def _send(client: ActionClient, goal: TraceBlockO.Goal, times: SetpointTimes) -> Any:
    """Have a figure traced, and note when its setpoints are sent; return its result."""
    times.begin()
    sent = send_goal(client, goal, _WAIT_S)
    while not sent.wait(_POLL_S):
        times.poll()
    return sent.result(_WAIT_S).result

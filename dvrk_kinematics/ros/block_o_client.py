"""A client that brings an arm up and lets its tip trace the Block-O; for demonstrations."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from math import pi
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from dvrk_kinematics_interfaces.action import TraceBlockO
from rclpy.action import ActionClient
from rclpy.node import Node
from std_srvs.srv import Trigger

from dvrk_kinematics.errors import CallFailed
from dvrk_kinematics.motion.speeds import TipSpeeds
from dvrk_kinematics.ros import qos
from dvrk_kinematics.ros.calls import call, send_goal

__all__ = ["QUICK", "BlockOClient", "LoopFigures", "Trace"]

_START_S = 30.0
_HOME_S = 70.0
_PLAN_S = 60.0


QUICK = TipSpeeds(0.02, 0.04, pi / 4.0, pi / 2.0)
"""Speeds at which a person will wait for a figure."""


@dataclass(frozen=True, slots=True)
class Trace:
    """What to trace.

    Attributes:
        scale: Size; 1 is the Block-O of the paper.
        speeds: How fast.
    """

    scale: float = 0.5
    speeds: TipSpeeds = QUICK

    def goal(self) -> TraceBlockO.Goal:
        """The goal, placed by the server."""
        return TraceBlockO.Goal(
            scale=self.scale,
            place=True,
            speed=self.speeds.speed,
            acceleration=self.speeds.acceleration,
            angular_speed=self.speeds.angular_speed,
            angular_acceleration=self.speeds.angular_acceleration,
        )


@dataclass(frozen=True, slots=True)
class LoopFigures:
    """How steady a bridge's loop is, as /diagnostics say.

    Attributes:
        rate_hz: The rate aimed at.
        ticks: Ticks made.
        missed: Ticks missed.
        p50_s: Median period.
        p99_s: 99 of 100 periods are at most this.
        longest_s: The longest period.
    """

    rate_hz: float
    ticks: int
    missed: int
    p50_s: float
    p99_s: float
    longest_s: float


class BlockOClient:
    """Enables and homes an arm through its bridge, and lets it trace.

    Args:
        node: A spinning node.
        arm: Name of the arm.
    """

    def __init__(self, node: Node, arm: str) -> None:
        self._node = node
        self._arm = arm
        self._trace = ActionClient(node, TraceBlockO, f"trajectory/{arm}/trace_block_o")
        self._loop: dict[str, str] = {}
        node.create_subscription(DiagnosticArray, "/diagnostics", self._hear, qos.STATE)

    def trigger(self, name: str, timeout_s: float = _START_S) -> str:
        """Call a service of the bridge.

        Returns:
            Its message.

        Raises:
            CallFailed: It is not there, does not answer, or answers that it could not.
        """
        service = f"bridge/{self._arm}/{name}"
        client = self._node.create_client(Trigger, service)
        begin = time.monotonic()
        answer = call(client, Trigger.Request(), timeout_s)
        if not answer.success:
            raise CallFailed(service, round(time.monotonic() - begin, 1), answer.message)
        return str(answer.message)

    def bring_up(self) -> None:
        """Enable and home.

        Raises:
            CallFailed: The arm did not; says why.
        """
        self.trigger("enable")
        self.trigger("home", _HOME_S)

    def trace(self, trace: Trace, on_feedback: Callable[[Any], None]) -> Any:
        """Trace, and wait for the end.

        Args:
            trace: What.
            on_feedback: Called with every feedback; the first one comes before anything moves.

        Returns:
            The TraceBlockO.Result.

        Raises:
            CallFailed: The server is not there, or does not answer.
        """
        durations: list[float] = []

        def hear(feedback: Any) -> None:
            durations.append(feedback.plan.duration)
            on_feedback(feedback)

        goal = send_goal(self._trace, trace.goal(), _START_S, hear)
        deadline = time.monotonic() + _PLAN_S
        while not goal.wait(0.1):
            # Until the plan is known nobody can say how long it takes.
            if durations and deadline < time.monotonic() + durations[0]:
                deadline = time.monotonic() + 2.0 * durations[0] + _PLAN_S
            if time.monotonic() > deadline:
                goal.cancel(_START_S)
                raise CallFailed(f"trajectory/{self._arm}", _PLAN_S, "the figure did not end")
        return goal.result(_START_S).result

    def loop_figures(self) -> LoopFigures | None:
        """How steady the bridge's loop was; None before the first diagnostics."""
        loop = self._loop
        if not loop:
            return None
        return LoopFigures(
            float(loop["rate_hz"]),
            int(loop["ticks"]),
            int(loop["missed_ticks"]),
            float(loop["period_p50_s"]),
            float(loop["period_p99_s"]),
            float(loop["period_max_s"]),
        )

    def _hear(self, message: Any) -> None:
        for status in message.status:
            if status.name.endswith(f"{self._arm} control loop"):
                self._loop = {value.key: value.value for value in status.values}

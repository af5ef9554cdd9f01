"""A client that brings an arm up and lets its tip trace the Block-O; for demonstrations."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from math import pi
from queue import Empty, SimpleQueue
from typing import Any

from dvrk_kinematics_interfaces.action import TraceBlockO
from rclpy.action import ActionClient
from rclpy.node import Node
from std_srvs.srv import Trigger

from dvrk_kinematics.errors import CallFailed
from dvrk_kinematics.motion.speeds import TipSpeeds
from dvrk_kinematics.ros.calls import Goal, send_goal
from dvrk_kinematics.ros.heard_diagnostics import HeardDiagnostics, Line
from dvrk_kinematics.ros.loop_figures import LoopFigures, compare_lines
from dvrk_kinematics.ros.server_watch import ServerWatch

__all__ = ["QUICK", "BlockOClient", "Trace"]

_START_S = 30.0
_HOME_S = 70.0
_SILENT_S = 60.0
"""How long nothing may be heard of a goal, or a figure that is not paused may stay where it is."""
_GONE_S = 1.0
"""How long the server may be out of sight before it counts as gone."""
_CANCEL_S = 5.0
_SAID_S = 3.0
"""By when a bridge says how its loop is: it does so every second."""
_LOOK_S = 0.1
"""How often a wait looks whether it still makes sense."""
_RECORDING = "recorder: bag"
"""The line of diagnostics that a recorder says from when it records."""

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


class BlockOClient:
    """Enables and homes an arm through its bridge, and lets it trace.

    Args:
        node: A spinning node.
        arm: Name of the arm.
        check: Called again and again during every wait; raises if there is nothing more to wait
            for, such as when a process has died.
    """

    def __init__(self, node: Node, arm: str, check: Callable[[], None] = lambda: None) -> None:
        self._node = node
        self._arm = arm
        self._check = check
        self._action = f"trajectory/{arm}/trace_block_o"
        self._trace = ActionClient(node, TraceBlockO, self._action)
        self._server = ServerWatch(node, self._action)
        self._diagnostics = HeardDiagnostics(node)
        self._loop = f"{arm} control loop"
        self._before: Line | None = None
        self._after: Line | None = None

    def close(self) -> None:
        """Leave nothing behind; for when the node no longer spins and is not destroyed yet.

        A node does not destroy its actions, and while they are there the middleware goes on.
        """
        self._trace.destroy()

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
        if not self._attend(_polled(client.service_is_ready), timeout_s):
            raise CallFailed(service, timeout_s, "no such service appeared")
        answered = threading.Event()
        future = client.call_async(Trigger.Request())
        future.add_done_callback(lambda _: answered.set())
        if not self._attend(answered.wait, begin + timeout_s - time.monotonic()):
            raise CallFailed(service, timeout_s, "no answer came")
        answer = future.result()
        if not answer.success:
            raise CallFailed(service, round(time.monotonic() - begin, 1), answer.message)
        return str(answer.message)

    def bring_up(self) -> None:
        """Enable and home.

        Raises:
            CallFailed: The arm did not; says why.
        """
        self.trigger("enable")
        self.home()

    def home(self) -> None:
        """Home, which moves the arm.

        Raises:
            CallFailed: The arm did not; says why.
        """
        self.trigger("home", _HOME_S)

    def wait_for_recorder(self) -> None:
        """Wait until a recorder says that it records.

        Raises:
            CallFailed: None does.
        """
        if not self._attend(lambda s: self._diagnostics.wait(_RECORDING, 0.0, s), _START_S):
            raise CallFailed("recorder", _START_S, "nothing was recorded")

    def trace(self, trace: Trace, on_feedback: Callable[[Any], None]) -> Any:
        """Trace, and wait for the end.

        Args:
            trace: What.
            on_feedback: Called in this thread with every feedback. Its plan is ``ok`` from when
                there is one, before anything moves; until then it tells how far planning is.

        Returns:
            The TraceBlockO.Result.

        Raises:
            CallFailed: The server is not there, does not answer, or goes away.
        """
        if not self._attend(_polled(self._trace.server_is_ready), _START_S):
            raise CallFailed(self._action, _START_S, "no such action appeared")
        heard: SimpleQueue[Any] = SimpleQueue()
        self._before = self._after = None
        goal = send_goal(self._trace, trace.goal(), _START_S, heard.put)
        self._follow(goal, heard, on_feedback)
        if self._before is not None:
            ended_s = time.monotonic()
            self._attend(lambda s: self._diagnostics.wait(self._loop, ended_s, s), _SAID_S)
            self._after = self._diagnostics.newest(self._loop)
        return goal.result(_START_S).result

    def _follow(
        self, goal: Goal, heard: SimpleQueue[Any], on_feedback: Callable[[Any], None]
    ) -> None:
        """Wait for the end of a goal: for ever while it gets on, or is paused."""
        begin = since = time.monotonic()
        reached = (0.0, 0.0)
        is_planned = has_ended = False
        while not has_ended:
            has_ended = goal.wait(_LOOK_S)
            for feedback in _take_all(heard):
                self._server.note_life()
                if feedback.plan.ok and not is_planned:
                    is_planned = True
                    self._before = self._diagnostics.newest(self._loop)
                now_at = (feedback.planning_progress, feedback.progress)
                if now_at != reached or feedback.speed_scaling == 0.0:
                    since, reached = time.monotonic(), now_at
                on_feedback(feedback)
            if has_ended:
                return
            self._check()
            waited_s = round(time.monotonic() - begin, 1)
            is_ready = self._trace.server_is_ready()
            if not is_ready or self._server.silent_s > _GONE_S:
                raise CallFailed(self._action, waited_s, "the server went away")
            if time.monotonic() - since > _SILENT_S:
                with suppress(CallFailed):
                    goal.cancel(_CANCEL_S)
                raise CallFailed(self._action, waited_s, "the figure did not go on")

    def loop_figures(self) -> LoopFigures | None:
        """How steady the bridge's loop was while it traced; None if nothing moved."""
        return compare_lines(self._before, self._after)

    def _attend(self, wait: Callable[[float], bool], timeout_s: float) -> bool:
        """Wait for something, and look meanwhile whether that still makes sense.

        Args:
            wait: Waits for it so many seconds, and tells whether it has come.
            timeout_s: Longest time to wait (s).

        Returns:
            Whether it has come.
        """
        deadline = time.monotonic() + timeout_s
        while not wait(_LOOK_S):
            self._check()
            if time.monotonic() > deadline:
                return False
        return True


def _polled(is_there: Callable[[], bool]) -> Callable[[float], bool]:
    """Wait for what nobody tells of: look, and look again later."""

    def wait(timeout_s: float) -> bool:
        if is_there():
            return True
        time.sleep(timeout_s)
        return is_there()

    return wait


def _take_all(queue: SimpleQueue[Any]) -> Iterator[Any]:
    with suppress(Empty):
        while True:
            yield queue.get_nowait()

"""A client that brings an arm up and lets its tip trace the Block-O; for demonstrations."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

from dvrk_kinematics_interfaces.action import TraceBlockO
from rclpy.action import ActionClient
from rclpy.node import Node
from std_srvs.srv import Trigger

from dvrk_kinematics.errors import AlreadyRunning, CallFailed
from dvrk_kinematics.motion.figures.block_o import QUICK
from dvrk_kinematics.motion.figures.figure import Orientation
from dvrk_kinematics.motion.timing.speeds import TipSpeeds
from dvrk_kinematics.ros.client.calls import SentGoal, call, send_goal
from dvrk_kinematics.ros.client.heard_diagnostics import DiagnosticLine, HeardDiagnostics
from dvrk_kinematics.ros.common.patience import ANSWER_S, BOUND_S, PATIENT, Patience, looking_at
from dvrk_kinematics.ros.common.sole_publisher import find_claimant, sole_topic
from dvrk_kinematics.ros.demo.loop_figures import LoopFigures, compare_lines
from dvrk_kinematics.ros.rclpy_ext.server_watch import GONE_S, ServerWatch

__all__ = ["BlockOClient", "TracedFigure"]

_HOME_S = 70.0
_SILENT_S = 60.0
"""How long a goal may be silent, or a figure that is not paused may make no progress."""
_SAID_S = 30.0
"""How long to wait for a bridge's loop diagnostics: every second if the machine is not busy."""
_LOOK_S = 0.1
"""How often to check a figure's progress."""
_RECORDING = "recorder: bag"
"""The diagnostics line that a recorder publishes once it records."""


@dataclass(frozen=True, slots=True)
class TracedFigure:
    """What to trace.

    Attributes:
        scale: Size; 1 is the Block-O of the paper.
        speeds: How fast.
        orientation: Orientation of the tool: along the travel, or fixed.
    """

    scale: float = 0.5
    speeds: TipSpeeds = QUICK
    orientation: Orientation = Orientation.ALONG

    def goal(self) -> TraceBlockO.Goal:
        """Make the goal, to be placed by the server."""
        return TraceBlockO.Goal(
            scale=self.scale,
            orientation=self.orientation.value,
            place=True,
            speed=self.speeds.speed,
            acceleration=self.speeds.acceleration,
            angular_speed=self.speeds.angular_speed,
            angular_acceleration=self.speeds.angular_acceleration,
        )


class BlockOClient:
    """Enables and homes an arm through its bridge, and makes it trace.

    Args:
        node: A spinning node.
        arm: Name of the arm.
        patience: How to wait; its check ends every wait, such as when a process has died.
    """

    def __init__(self, node: Node, arm: str, patience: Patience = PATIENT) -> None:
        self._node = node
        self._arm = arm
        self._patience = patience
        self._action = f"trajectory/{arm}/trace_block_o"
        self._trace = ActionClient(node, TraceBlockO, self._action)
        self._server = ServerWatch(node, self._action)
        self._diagnostics = HeardDiagnostics(node)
        self._loop = f"{arm} control loop"
        self._before: DiagnosticLine | None = None
        self._after: DiagnosticLine | None = None

    def close(self) -> None:
        """Clean up; call it when the node no longer spins and is not yet destroyed.

        A node does not destroy its actions, and they keep the middleware running.
        """
        self._trace.destroy()

    def await_own_bridge(self, is_ours: Callable[[int], bool]) -> None:
        """Wait for the arm's bridge, and make sure that it is ours.

        A program that starts its own system must not command the arm of a system that already
        runs, before its own bridge has noticed that and ended.

        Args:
            is_ours: Returns whether a process, by its id, belongs to our system.

        Raises:
            CallFailed: No bridge starts.
            AlreadyRunning: It belongs to another system.
        """
        topic, what = sole_topic(self._arm), f"bridge of {self._arm}"
        found: list[int] = []

        def has_come() -> bool:
            process = find_claimant(self._node, topic)
            found.extend([] if process is None else [process])
            return bool(found)

        if not self._patience.wait(looking_at(has_come), f"the {what}"):
            raise CallFailed(what, BOUND_S, "none has started")
        if not is_ours(found[0]):
            raise AlreadyRunning(what, found[0], self._node.resolve_topic_name(topic))

    def trigger(self, name: str, timeout_s: float = ANSWER_S) -> str:
        """Call a service of the bridge.

        Returns:
            Its message.

        Raises:
            CallFailed: It is not there, does not answer, or reports a failure.
        """
        service = f"bridge/{self._arm}/{name}"
        client = self._node.create_client(Trigger, service)
        begin = time.monotonic()
        answer = call(client, Trigger.Request(), timeout_s, self._patience)
        if not answer.success:
            raise CallFailed(service, round(time.monotonic() - begin, 1), answer.message)
        return str(answer.message)

    def bring_up(self) -> None:
        """Enable and home.

        Raises:
            CallFailed: The arm did not; states why.
        """
        self.trigger("enable")
        self.home()

    def home(self) -> None:
        """Home, which moves the arm.

        Raises:
            CallFailed: The arm did not; states why.
        """
        self.trigger("home", _HOME_S)

    def wait_for_recorder(self) -> None:
        """Wait until a recorder reports that it records.

        Raises:
            CallFailed: No recorder does.
        """
        if not self._patience.wait(
            lambda s: self._diagnostics.wait(_RECORDING, 0.0, s), "the recorder"
        ):
            raise CallFailed("recorder", BOUND_S, "nothing was recorded")

    def trace(self, trace: TracedFigure, on_feedback: Callable[[Any], None]) -> Any:
        """Trace, and wait for the end; leaving early, such as by Ctrl-C, cancels it.

        Args:
            trace: The figure.
            on_feedback: Called in this thread with every feedback. Its plan is ``ok`` once there
                is one, before anything moves; until then it reports the progress of planning.

        Returns:
            The TraceBlockO.Result.

        Raises:
            CallFailed: The server is not there, does not answer, or goes away.
        """
        heard: SimpleQueue[Any] = SimpleQueue()
        self._before = self._after = None
        with send_goal(self._trace, trace.goal(), BOUND_S, heard.put, self._patience) as goal:
            self._follow(goal, heard, on_feedback)
        ended_s = time.monotonic()
        result = goal.result(BOUND_S).result
        # If a motion failed, the bridge may be gone, and nobody would report on its loop.
        if self._before is not None and result.success:
            self._patience.wait(
                lambda s: self._diagnostics.wait(self._loop, ended_s, s), "diagnostics", _SAID_S
            )
        self._after = self._diagnostics.newest(self._loop)
        return result

    def _follow(
        self, goal: SentGoal, heard: SimpleQueue[Any], on_feedback: Callable[[Any], None]
    ) -> None:
        """Wait for the end of a goal: forever while it makes progress or is paused."""
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
            self._patience.check()
            waited_s = round(time.monotonic() - begin, 1)
            is_ready = self._trace.server_is_ready()
            if not is_ready or self._server.silent_s > GONE_S:
                raise CallFailed(self._action, waited_s, "the server went away")
            if time.monotonic() - since > _SILENT_S:
                raise CallFailed(self._action, waited_s, "the figure did not go on")

    def loop_figures(self) -> LoopFigures | None:
        """Return how steady the bridge's loop was while it traced; None if nothing moved."""
        return compare_lines(self._before, self._after)


def _take_all(queue: SimpleQueue[Any]) -> Iterator[Any]:
    with suppress(Empty):
        while True:
            yield queue.get_nowait()

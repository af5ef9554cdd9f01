"""Calls with a time-out: every wait ends, and says what did not come."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable
from types import FunctionType
from typing import Any

import pytest
from dvrk_kinematics_interfaces.action import TraceBlockO
from rclpy.action import ActionClient, ActionServer, CancelResponse, GoalResponse
from rclpy.node import Node
from rclpy.task import Future
from std_srvs.srv import Trigger

from dvrk_kinematics.errors import CallFailed, GoalRejected
from dvrk_kinematics.ros.client.calls import call, send_goal

TIMEOUT_S = 30.0


def test_many_calls_are_all_answered(spinning: Callable[..., Node]) -> None:
    server, client = spinning("server"), spinning("client")
    server.create_service(Trigger, "go", lambda _, r: setattr(r, "success", True) or r)
    service = client.create_client(Trigger, "go")
    assert all(call(service, Trigger.Request(), TIMEOUT_S).success for _ in range(200))


def test_spinning_for_long_keeps_nothing_of_each_round(spinning: Callable[..., Node]) -> None:
    server, client = spinning("server"), spinning("client")
    server.create_service(Trigger, "go", lambda _, r: r)
    service = client.create_client(Trigger, "go")

    def functions_after(calls: int) -> int:
        for _ in range(calls):
            call(service, Trigger.Request(), TIMEOUT_S)
        gc.collect()
        return sum(isinstance(thing, FunctionType) for thing in gc.get_objects())

    assert functions_after(20) + 20 > functions_after(200)


def test_a_missing_service_is_named(spinning: Callable[..., Node]) -> None:
    service = spinning("client").create_client(Trigger, "nowhere")
    with pytest.raises(CallFailed, match=r"/nowhere: no such service appeared within 0\.1 s"):
        call(service, Trigger.Request(), 0.1)


def test_a_service_that_does_not_answer_is_named(spinning: Callable[..., Node]) -> None:
    server, client = spinning("server"), spinning("client")
    release = threading.Event()
    server.create_service(Trigger, "stuck", lambda _, r: release.wait(TIMEOUT_S) and r)
    service = client.create_client(Trigger, "stuck")
    assert service.wait_for_service(TIMEOUT_S)
    with pytest.raises(CallFailed, match="/stuck: no answer came") as caught:
        call(service, Trigger.Request(), 0.2)
    assert (caught.value.name, caught.value.waited_s) == ("/stuck", 0.2)
    release.set()


class Counter:
    """An action server that rejects goals of 0 ticks and runs until it is cancelled."""

    def __init__(self, node: Node) -> None:
        self.cancelled: Future = Future()
        self.server = ActionServer(
            node,
            TraceBlockO,
            "count",
            self.run,
            goal_callback=lambda g: GoalResponse.ACCEPT if g.repeat else GoalResponse.REJECT,
            cancel_callback=self.cancel,
        )

    def cancel(self, _: Any) -> CancelResponse:
        self.cancelled.set_result(None)
        return CancelResponse.ACCEPT

    async def run(self, goal: Any) -> Any:
        goal.publish_feedback(TraceBlockO.Feedback(progress=1.0))
        await self.cancelled
        goal.canceled()
        return TraceBlockO.Result(slow_downs=1)


def test_a_goal_can_be_waited_for_and_cancelled(spinning: Callable[..., Node]) -> None:
    counter, client = Counter(spinning("server")), spinning("client")
    heard = threading.Event()
    action = ActionClient(client, TraceBlockO, "count")
    goal = send_goal(action, TraceBlockO.Goal(repeat=1), TIMEOUT_S, lambda _: heard.set())
    assert heard.wait(TIMEOUT_S)
    with pytest.raises(CallFailed, match=r"the goal did not end within 0\.1 s"):
        goal.result(0.1)
    assert goal.cancel(TIMEOUT_S)
    assert goal.result(TIMEOUT_S).result.slow_downs == 1
    counter.server.destroy()


def test_a_rejected_goal_and_a_missing_server_are_told(spinning: Callable[..., Node]) -> None:
    counter, client = Counter(spinning("server")), spinning("client")
    with pytest.raises(GoalRejected, match="count: the goal was rejected"):
        send_goal(
            ActionClient(client, TraceBlockO, "count"), TraceBlockO.Goal(repeat=0), TIMEOUT_S
        )
    with pytest.raises(CallFailed, match="no such action appeared"):
        send_goal(ActionClient(client, TraceBlockO, "nowhere"), TraceBlockO.Goal(repeat=1), 0.1)
    counter.server.destroy()


def test_no_answer_is_lost_that_comes_before_its_request_is_noted(
    spinning: Callable[..., Node],
) -> None:
    counter, client = Counter(spinning("server")), spinning("client")
    action = ActionClient(client, TraceBlockO, "count")
    before = sys.getswitchinterval()
    # Threads that take turns this often meet in every unlucky way.
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(300):
            with pytest.raises(GoalRejected):
                send_goal(action, TraceBlockO.Goal(repeat=0), TIMEOUT_S)
    finally:
        sys.setswitchinterval(before)
    counter.server.destroy()


def test_a_goal_that_is_accepted_too_late_is_cancelled(spinning: Callable[..., Node]) -> None:
    server, client = spinning("server"), spinning("client")
    is_given_up, is_cancelled = threading.Event(), threading.Event()

    def accept(_: Any) -> GoalResponse:
        is_given_up.wait(TIMEOUT_S)
        return GoalResponse.ACCEPT

    def cancel(_: Any) -> CancelResponse:
        is_cancelled.set()
        return CancelResponse.ACCEPT

    slow = ActionServer(
        server,
        TraceBlockO,
        "slow",
        lambda handle: TraceBlockO.Result(),
        goal_callback=accept,
        handle_accepted_callback=lambda handle: None,
        cancel_callback=cancel,
    )
    action = ActionClient(client, TraceBlockO, "slow")
    assert action.wait_for_server(TIMEOUT_S)
    with pytest.raises(CallFailed, match="no answer to the goal came"):
        send_goal(action, TraceBlockO.Goal(repeat=1), 0.3)
    is_given_up.set()
    assert is_cancelled.wait(TIMEOUT_S)
    slow.destroy()

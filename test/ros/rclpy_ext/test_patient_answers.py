"""Answers and goals whose clients were only half found yet."""

from __future__ import annotations

import queue
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from action_msgs.srv import CancelGoal
from dvrk_kinematics_interfaces.action import TraceBlockO
from rclpy.action import ActionClient
from rclpy.node import Node
from std_srvs.srv import Trigger

from dvrk_kinematics.driver.playback.goal_result import GoalStatus
from dvrk_kinematics.ros.client.calls import call, send_goal
from dvrk_kinematics.ros.rclpy_ext.deferred_action import DeferredActionServer
from dvrk_kinematics.ros.rclpy_ext.patient_answers import (
    PATIENCE_S,
    ReplyGate,
    count_participants,
    create_patient_service,
)
from dvrk_kinematics.ros.rclpy_ext.polled_service import PolledService

TIMEOUT_S = 30.0
SHORT_S = 0.3


class Door(ReplyGate):
    """A gate that also waits until it is told to open."""

    def __init__(self, node: Node, service: str) -> None:
        super().__init__(node, service)
        self.asked, self.may_open = threading.Event(), threading.Event()

    @property
    def is_open(self) -> bool:
        self.asked.set()
        return self.may_open.is_set() and super().is_open


class Caller:
    """Calls in a thread of its own, and keeps what comes of it."""

    def __init__(self, ask: Callable[[], Any]) -> None:
        self.answers: queue.Queue[Any] = queue.Queue()
        self._thread = threading.Thread(target=lambda: self.answers.put(ask()), daemon=True)
        self._thread.start()

    def check_waiting(self) -> None:
        with pytest.raises(queue.Empty):
            self.answers.get(timeout=SHORT_S)

    def result(self) -> Any:
        return self.answers.get(timeout=TIMEOUT_S)


def succeed(_: Any, response: Any) -> Any:
    response.success = True
    return response


def test_a_service_keeps_its_answer_until_it_can_be_heard(spinning: Callable[..., Node]) -> None:
    server, client = spinning("server"), spinning("client")
    door = Door(server, "go")
    create_patient_service(server, Trigger, "go", succeed, door)
    service = client.create_client(Trigger, "go")
    first = Caller(lambda: call(service, Trigger.Request(), TIMEOUT_S))
    assert door.asked.wait(TIMEOUT_S)
    first.check_waiting()
    door.may_open.set()
    assert first.result().success
    # One that is known is not asked about any more.
    for _ in range(10):
        assert call(service, Trigger.Request(), TIMEOUT_S).success
    door.asked.clear()
    door.may_open.clear()
    assert call(service, Trigger.Request(), TIMEOUT_S).success
    assert not door.asked.is_set()


def test_a_loop_that_answers_is_not_held_up(spinning: Callable[..., Node]) -> None:
    server, client = spinning("server"), spinning("client")
    door = Door(server, "go")
    service = PolledService(server, Trigger, "go", door)
    asked = client.create_client(Trigger, "go")
    caller = Caller(lambda: call(asked, Trigger.Request(), TIMEOUT_S))
    deadline = time.monotonic() + TIMEOUT_S
    while (taken := service.take()) is None:
        assert time.monotonic() < deadline
        time.sleep(0.005)
    service.answer(taken[1], success=True)
    caller.check_waiting()
    assert service.take() is None
    door.may_open.set()
    assert service.take() is None
    assert caller.result().success


@pytest.fixture
def counting(spinning: Callable[..., Node]) -> Any:
    """A server whose goals end at once, its gate, the ids that it got, and a client."""
    server = spinning("server")
    door = Door(server, "count/_action/send_goal")
    ids: list[bytes] = []
    actions: list[DeferredActionServer] = []

    def take(goal_id: bytes, goal: Any) -> None:
        ids.append(goal_id)
        result = TraceBlockO.Result(slow_downs=goal.repeat)
        is_cancelled = goal_id in actions[0].find_cancelled()
        status = GoalStatus.CANCELED if is_cancelled else GoalStatus.SUCCEEDED
        actions[0].finish(goal_id, status, result)

    actions.append(DeferredActionServer(server, TraceBlockO, "count", take, door))
    node = spinning("client")
    yield door, ids, node, ActionClient(node, TraceBlockO, "count")
    actions[0].destroy()


def test_a_goal_begins_once_its_client_can_hear_of_it(counting: Any) -> None:
    door, ids, _, client = counting
    callers = [
        Caller(lambda n=n: send_goal(client, TraceBlockO.Goal(repeat=n), TIMEOUT_S))
        for n in (1, 2)
    ]
    assert door.asked.wait(TIMEOUT_S)
    callers[0].check_waiting()
    assert ids == []
    door.may_open.set()
    done = [caller.result().result(TIMEOUT_S).result.slow_downs for caller in callers]
    assert sorted(done) == [1, 2] and len(ids) == 2


def test_who_cancels_all_goals_means_those_that_wait_too(counting: Any) -> None:
    door, ids, node, client = counting
    caller = Caller(lambda: send_goal(client, TraceBlockO.Goal(repeat=1), TIMEOUT_S))
    assert door.asked.wait(TIMEOUT_S)
    assert ids == []
    cancel = node.create_client(CancelGoal, "count/_action/cancel_goal")
    call(cancel, CancelGoal.Request(), TIMEOUT_S)
    # It is not kept for later: it was taken in before the others were cancelled.
    assert len(ids) == 1
    assert caller.result().result(TIMEOUT_S).result.slow_downs == 1


def test_both_ends_of_every_client_are_counted(spinning: Callable[..., Node]) -> None:
    server, client = spinning("server"), spinning("client")
    server.create_service(Trigger, "go", succeed)
    clients = [client.create_client(Trigger, "go") for _ in range(3)]
    assert all(call(one, Trigger.Request(), TIMEOUT_S).success for one in clients)
    assert ReplyGate(server, "go").is_open
    counts = [
        count_participants(server.get_publishers_info_by_topic("rq/goRequest", no_mangle=True)),
        count_participants(server.get_subscriptions_info_by_topic("rr/goReply", no_mangle=True)),
    ]
    assert counts[0] == counts[1] and list(counts[0].values()) == [3]


class HalfDeaf(ReplyGate):
    """A gate with participants that ask and do not hear."""

    def __init__(self, node: Node, service: str) -> None:
        super().__init__(node, service)
        self.deaf: Counter[bytes] = Counter()

    def _find_deaf(self) -> Counter[bytes]:
        return self.deaf


def test_who_never_hears_closes_the_gate_for_a_while_only(
    spinning: Callable[..., Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = HalfDeaf(spinning("server"), "go")
    assert gate.is_open
    now_s = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now_s)
    gate.deaf = Counter([b"one"])
    assert not gate.is_open
    now_s += 0.9 * PATIENCE_S
    assert not gate.is_open
    # Another one has its own time.
    gate.deaf = Counter([b"one", b"two"])
    now_s += 0.9 * PATIENCE_S
    assert not gate.is_open
    now_s += 1.1 * PATIENCE_S
    assert gate.is_open
    gate.deaf = Counter()
    assert gate.is_open

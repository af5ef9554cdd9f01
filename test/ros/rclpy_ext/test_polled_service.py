"""Services that a loop answers when it likes: at once, later, out of order, or to nobody."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from rclpy.node import Node
from std_srvs.srv import SetBool, Trigger

from dvrk_kinematics.errors import CallFailed
from dvrk_kinematics.ros.client.calls import call
from dvrk_kinematics.ros.rclpy_ext.polled_service import PolledService

TIMEOUT_S = 30.0


def take(service: PolledService) -> tuple[Any, Any]:
    """Wait for a request, as a loop would look for it."""
    deadline = time.monotonic() + TIMEOUT_S
    while (taken := service.take()) is None:
        assert time.monotonic() < deadline
        time.sleep(0.005)
    return taken


class Caller:
    """Calls a service in a thread of its own."""

    def __init__(self, node: Node, kind: Any, name: str, **fields: Any) -> None:
        self.answer: Any = None
        client, request = node.create_client(kind, name), kind.Request(**fields)
        self._thread = threading.Thread(target=lambda: self._call(client, request))
        self._thread.start()

    def _call(self, client: Any, request: Any) -> None:
        self.answer = call(client, request, TIMEOUT_S)

    def wait(self) -> Any:
        self._thread.join(TIMEOUT_S)
        return self.answer


def test_a_request_waits_until_it_is_taken_and_answered(spinning: Callable[..., Node]) -> None:
    service = PolledService(spinning("server"), Trigger, "go")
    assert service.take() is None
    caller = Caller(spinning("client"), Trigger, "go")
    _, header = take(service)
    assert caller.answer is None and service.take() is None
    service.answer(header, success=True, message="done")
    answer = caller.wait()
    assert answer.success and answer.message == "done"


def test_answers_reach_those_who_asked_in_whatever_order(spinning: Callable[..., Node]) -> None:
    service = PolledService(spinning("server"), SetBool, "set")
    client = spinning("client")
    callers = {data: Caller(client, SetBool, "set", data=data) for data in (True, False)}
    taken = [take(service) for _ in callers]
    for request, header in reversed(taken):
        service.answer(header, success=request.data, message=str(request.data))
    for data, caller in callers.items():
        assert caller.wait().message == str(data)


def test_the_server_spins_on_while_a_request_waits(spinning: Callable[..., Node]) -> None:
    server = spinning("server")
    service = PolledService(server, Trigger, "slow")
    server.create_service(Trigger, "quick", lambda _, r: setattr(r, "success", True) or r)
    client = spinning("client")
    caller = Caller(client, Trigger, "slow")
    _, header = take(service)
    assert call(client.create_client(Trigger, "quick"), Trigger.Request(), TIMEOUT_S).success
    assert caller.answer is None
    service.answer(header, success=True)
    assert caller.wait().success


def test_an_answer_to_somebody_who_left_is_no_failure(spinning: Callable[..., Node]) -> None:
    service, client = PolledService(spinning("server"), Trigger, "go"), spinning("client")
    gone = client.create_client(Trigger, "go")
    assert gone.wait_for_service(TIMEOUT_S)
    with pytest.raises(CallFailed, match="no answer came"):
        call(gone, Trigger.Request(), 0.2)
    _, header = take(service)
    client.executor.create_task(client.destroy_client, gone)
    service.answer(header, success=True)
    caller = Caller(client, Trigger, "go")
    service.answer(take(service)[1], success=True)
    assert caller.wait().success

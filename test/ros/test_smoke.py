"""Two processes exchange a message, a service call and an action, with types built here."""

from __future__ import annotations

import signal
import subprocess
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from crtk_msgs.msg import OperatingState
from dvrk_kinematics_interfaces.action import TraceBlockO
from dvrk_kinematics_interfaces.srv import SolveFk
from rclpy.action import ActionClient
from rclpy.node import Node

from dvrk_kinematics.ros.client.calls import call, send_goal
from dvrk_kinematics.ros.common import qos
from dvrk_kinematics.ros.common.conversions import cp_to_rows, to_flat

Start = Callable[..., subprocess.Popen[str]]
TIMEOUT_S = 30.0


@pytest.fixture
def client(start: Start, spinning: Callable[..., Node]) -> tuple[Node, subprocess.Popen[str]]:
    return spinning("smoke_client"), start("smoke_server.py")


def listen(node: Node, wanted: str) -> tuple[threading.Event, list[str]]:
    """Tells when a state was heard, and all that were."""
    heard, states = threading.Event(), []

    def hear(message: Any) -> None:
        states.append(message.state)
        if message.state == wanted:
            heard.set()

    node.create_subscription(OperatingState, "operating_state", hear, qos.EVENT)
    return heard, states


def meet(node: Node) -> None:
    """Wait until the server knows of all that was made before.

    An ordinary server loses the answers to a client that it has not found yet. DDS tells it of
    subscriptions in their order, so that it knows those before one that it serves.
    """
    heard, states = listen(node, "ENABLED")
    assert heard.wait(TIMEOUT_S), states


def test_latched_message_reaches_a_late_subscriber(client: Any) -> None:
    node, _ = client
    service = node.create_client(SolveFk, "solve_fk")
    assert service.wait_for_service(TIMEOUT_S)
    heard, states = listen(node, "ENABLED")
    assert heard.wait(TIMEOUT_S), states


def test_service_answers_a_batch(client: Any) -> None:
    node, _ = client
    jp = np.arange(20_000.0).reshape(-1, 2)
    service = node.create_client(SolveFk, "solve_fk")
    meet(node)
    answer = call(service, SolveFk.Request(jp=to_flat(jp)), TIMEOUT_S)
    assert answer.success
    np.testing.assert_array_equal(cp_to_rows(answer.cp)[:, :2], 2.0 * jp)
    assert len(answer.status) == 10_000


def test_action_gives_feedback_and_result(client: Any) -> None:
    node, _ = client
    ticks: list[float] = []
    action = ActionClient(node, TraceBlockO, "countdown")
    meet(node)
    goal = send_goal(
        action,
        TraceBlockO.Goal(repeat=5),
        TIMEOUT_S,
        on_feedback=lambda feedback: ticks.append(feedback.progress),
    )
    answer = goal.result(TIMEOUT_S)
    assert answer.status == GoalStatus.STATUS_SUCCEEDED
    assert answer.result.slow_downs == 5
    assert ticks == sorted(ticks) and set(ticks) <= {1, 2, 3, 4, 5}


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_process_ends_cleanly_and_can_still_publish(client: Any, sign: signal.Signals) -> None:
    node, process = client
    gone, states = listen(node, "DISABLED")
    meet(node)
    process.send_signal(sign)
    output, _ = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 0, output
    assert "Traceback" not in output
    assert gone.wait(TIMEOUT_S), states

"""Goals that are taken in by one thread and ended by another."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from action_msgs.msg import GoalStatus as Status
from dvrk_kinematics_interfaces.action import TraceBlockO
from rclpy.action import ActionClient
from rclpy.node import Node

from dvrk_kinematics.driver.playback.goal_result import GoalStatus
from dvrk_kinematics.errors import CallFailed
from dvrk_kinematics.ros.client.calls import SentGoal, send_goal
from dvrk_kinematics.ros.rclpy_ext.deferred_action import DeferredActionServer

TIMEOUT_S = 30.0


class Rig:
    """A server whose goals come into a queue, and a client."""

    def __init__(self, spinning: Callable[..., Node]) -> None:
        self.goals: queue.Queue[tuple[bytes, Any]] = queue.Queue()
        self.server = DeferredActionServer(
            spinning("server"), TraceBlockO, "count", lambda *goal: self.goals.put(goal)
        )
        self._client = ActionClient(spinning("client"), TraceBlockO, "count")
        self.feedback: queue.Queue[Any] = queue.Queue()

    def send(self, ticks: int) -> tuple[SentGoal, bytes]:
        sent = send_goal(
            self._client, TraceBlockO.Goal(repeat=ticks), TIMEOUT_S, self.feedback.put
        )
        goal_id, request = self.goals.get(timeout=TIMEOUT_S)
        assert request.repeat == ticks
        return sent, goal_id

    def finish(self, goal_id: bytes, status: GoalStatus, ticks: int) -> None:
        """End a goal from a thread of its own."""
        result = TraceBlockO.Result(slow_downs=ticks)
        thread = threading.Thread(target=self.server.finish, args=(goal_id, status, result))
        thread.start()
        thread.join(TIMEOUT_S)

    def wait_cancelled(self) -> list[bytes]:
        deadline = time.monotonic() + TIMEOUT_S
        while not (found := self.server.find_cancelled()):
            assert time.monotonic() < deadline
            time.sleep(0.005)
        return found


@pytest.fixture
def rig(spinning: Callable[..., Node]) -> Any:
    made = Rig(spinning)
    yield made
    made.server.destroy()


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (GoalStatus.SUCCEEDED, Status.STATUS_SUCCEEDED),
        (GoalStatus.ABORTED, Status.STATUS_ABORTED),
        (GoalStatus.CANCELED, Status.STATUS_ABORTED),
    ],
)
def test_a_goal_ends_when_and_as_it_is_told_to(rig: Rig, status: GoalStatus, told: int) -> None:
    goal, goal_id = rig.send(3)
    with pytest.raises(CallFailed, match="did not end"):
        goal.result(0.1)
    rig.finish(goal_id, status, 2)
    response = goal.result(TIMEOUT_S)
    assert (response.status, response.result.slow_downs) == (told, 2)


def test_a_wish_to_cancel_is_found_and_the_goal_ends_as_canceled(rig: Rig) -> None:
    goal, goal_id = rig.send(1)
    other, other_id = rig.send(2)
    assert rig.server.find_cancelled() == []
    assert goal.cancel(TIMEOUT_S)
    assert rig.wait_cancelled() == [goal_id]
    rig.finish(goal_id, GoalStatus.CANCELED, 0)
    assert goal.result(TIMEOUT_S).status == Status.STATUS_CANCELED
    assert rig.server.find_cancelled() == []
    rig.finish(other_id, GoalStatus.SUCCEEDED, 2)
    assert other.result(TIMEOUT_S).status == Status.STATUS_SUCCEEDED


def test_a_goal_that_was_cancelled_too_late_still_succeeds(rig: Rig) -> None:
    goal, goal_id = rig.send(1)
    assert goal.cancel(TIMEOUT_S)
    rig.finish(goal_id, GoalStatus.SUCCEEDED, 1)
    assert goal.result(TIMEOUT_S).status == Status.STATUS_SUCCEEDED


def test_goals_end_in_whatever_order(rig: Rig) -> None:
    sent = [rig.send(ticks) for ticks in range(5)]
    for ticks, (_, goal_id) in reversed(list(enumerate(sent))):
        rig.finish(goal_id, GoalStatus.SUCCEEDED, ticks)
    assert [goal.result(TIMEOUT_S).result.slow_downs for goal, _ in sent] == list(range(5))


def test_feedback_reaches_the_client_until_the_goal_ends(rig: Rig) -> None:
    goal, goal_id = rig.send(1)
    rig.server.feed_back(goal_id, TraceBlockO.Feedback(progress=7.0))
    assert rig.feedback.get(timeout=TIMEOUT_S).progress == 7
    rig.finish(goal_id, GoalStatus.SUCCEEDED, 1)
    goal.result(TIMEOUT_S)
    rig.server.feed_back(goal_id, TraceBlockO.Feedback(progress=8.0))
    assert rig.feedback.empty()


def test_a_goal_that_is_ended_twice_keeps_its_first_end(rig: Rig) -> None:
    goal, goal_id = rig.send(1)
    rig.finish(goal_id, GoalStatus.SUCCEEDED, 1)
    rig.finish(goal_id, GoalStatus.ABORTED, 0)
    response = goal.result(TIMEOUT_S)
    assert (response.status, response.result.slow_downs) == (Status.STATUS_SUCCEEDED, 1)

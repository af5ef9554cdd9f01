"""A client that waits for a figure: what it hears, and when it gives up."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing

import pytest
from dvrk_kinematics_interfaces.action import TraceBlockO
from rclpy.context import Context
from rclpy.node import Node
from std_srvs.srv import Trigger

from dvrk_kinematics.errors import CallFailed
from dvrk_kinematics.ros.common.patience import Patience
from dvrk_kinematics.ros.common.spinning_node import SpinningNode
from dvrk_kinematics.ros.demo import block_o_client
from dvrk_kinematics.ros.demo.block_o_client import BlockOClient, TracedFigure
from dvrk_kinematics.ros.rclpy_ext.deferred_action import DeferredActionServer

pytestmark = pytest.mark.ros

ARM = "PSM7"
"""No other test has an arm of that name: what is left of this server confuses nobody."""


class EndlessFigure:
    """A server that tells its plan and then never ends, nor goes on.

    Args:
        context: Where its node lives.

    Attributes:
        speed_scaling: What it says of its speed, again and again.
    """

    def __init__(self, context: Context) -> None:
        self.speed_scaling = 1.0
        self._node = Node("server", context=context)
        self._server = DeferredActionServer(
            self._node, TraceBlockO, f"trajectory/{ARM}/trace_block_o", self._begin
        )
        self._spinning = SpinningNode(self._node)
        self._spinning.__enter__()
        self._is_open = True

    def close(self) -> None:
        """Go away, in the middle of whatever is asked for."""
        if self._is_open:
            self._is_open = False
            self._spinning.__exit__(None, None, None)
            self._server.destroy()
            self._node.destroy_node()

    def _begin(self, goal_id: bytes, _goal: TraceBlockO.Goal) -> None:
        def tell() -> None:
            feedback = TraceBlockO.Feedback(speed_scaling=self.speed_scaling)
            feedback.plan.ok = True
            self._server.feed_back(goal_id, feedback)

        tell()
        self._node.create_timer(0.1, tell)


@pytest.fixture
def figure(context) -> Iterator[EndlessFigure]:
    with closing(EndlessFigure(context)) as made:
        yield made


Connect = Callable[..., BlockOClient]


@pytest.fixture
def connect(context) -> Iterator[Connect]:
    """Makes clients."""
    with ExitStack() as stack:

        def make(check: Callable[[], None] = lambda: None) -> BlockOClient:
            node = Node("client", context=context)
            stack.callback(node.destroy_node)
            client = BlockOClient(node, ARM, Patience(check=check))
            stack.callback(client.close)
            stack.enter_context(SpinningNode(node))
            return client

        yield make


def test_a_figure_that_does_not_go_on_is_given_up(figure, connect, monkeypatch) -> None:
    monkeypatch.setattr(block_o_client, "_SILENT_S", 1.0)
    heard: list[object] = []
    begin = time.monotonic()
    with pytest.raises(CallFailed, match="the figure did not go on"):
        connect().trace(TracedFigure(), heard.append)
    assert heard
    assert time.monotonic() - begin < 60.0


def test_a_figure_that_is_paused_is_waited_for(figure, connect, monkeypatch) -> None:
    monkeypatch.setattr(block_o_client, "_SILENT_S", 0.5)
    figure.speed_scaling = 0.0
    heard: list[object] = []

    def hear(feedback: object) -> None:
        heard.append(feedback)
        if len(heard) == 20:
            figure.speed_scaling = 1.0

    with pytest.raises(CallFailed, match="the figure did not go on"):
        connect().trace(TracedFigure(), hear)
    assert len(heard) > 20, "two seconds of pause are no end, half a second without one is"


def test_feedback_comes_in_the_thread_that_waits_and_may_raise(figure, connect) -> None:
    threads: list[threading.Thread] = []

    def hear(_feedback: object) -> None:
        threads.append(threading.current_thread())
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        connect().trace(TracedFigure(), hear)
    assert threads == [threading.main_thread()]


def test_a_check_ends_every_wait(figure, connect) -> None:
    has_died = threading.Event()

    def check() -> None:
        if has_died.is_set():
            raise CallFailed("trajectory_server", 1.0, "ended with exit code -9")

    client = connect(check)
    with pytest.raises(CallFailed, match="trajectory_server: ended with exit code -9"):
        client.trace(TracedFigure(), lambda _: has_died.set())
    for wait in (client.bring_up, client.wait_for_recorder):
        with pytest.raises(CallFailed, match="trajectory_server: ended with exit code -9"):
            wait()


def test_a_check_ends_the_wait_for_an_answer(context, connect) -> None:
    asked, answer = threading.Event(), threading.Event()

    def serve(_request: object, response: Trigger.Response) -> Trigger.Response:
        asked.set()
        answer.wait(60.0)
        return response

    node = Node("server", context=context)
    node.create_service(Trigger, f"bridge/{ARM}/enable", serve)

    def check() -> None:
        if asked.is_set():
            raise CallFailed("bridge_PSM7", 1.0, "ended with exit code -9")

    with SpinningNode(node):
        try:
            with pytest.raises(CallFailed, match="bridge_PSM7: ended with exit code -9"):
                connect(check).trigger("enable")
        finally:
            answer.set()
    node.destroy_node()


def test_a_server_that_goes_away_ends_the_wait(figure, connect) -> None:
    client = connect()
    with pytest.raises(CallFailed, match="the server went away"):
        client.trace(TracedFigure(), lambda _: figure.close())

"""A recorder that is stopped from another thread, at the moments at which it could lose something.

It runs in this process, so that a test can hold a thread at such a moment.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import rclpy
from rclpy.node import Node
from rosbags.rosbag2 import Reader
from std_msgs.msg import String

from dvrk_kinematics.ros.common import qos
from dvrk_kinematics.ros.common.spinning_node import SpinningNode
from dvrk_kinematics.ros.recorder.node import Recorder
from dvrk_kinematics.ros.recorder.topic_reader import Taken, TopicReader

pytestmark = pytest.mark.ros

TIMEOUT_S = 30.0
SOON_S = 1.0
"""Long enough for a thread that nothing holds to do what it must not do, several times."""

TOPIC, LATE = "/PSM1/status", "/late"


@pytest.fixture
def recorder(own_domain: None, tmp_path: Path) -> Iterator[Recorder]:
    """A recorder that spins, of one topic that is published and one that is not yet."""
    parameters = {"output": tmp_path / "bag", "topics": f'["{TOPIC}", "{LATE}"]'}
    given = [part for name, value in parameters.items() for part in ("-p", f"{name}:={value}")]
    rclpy.init(args=["--ros-args", *given])
    made = Recorder()
    try:
        with SpinningNode(made) as spinning:
            yield made
            made.stop()
        assert spinning.failure is None
    finally:
        made.destroy_node()
        rclpy.try_shutdown()


@pytest.fixture
def client(recorder: Recorder) -> Iterator[Node]:
    made = Node("client")
    yield made
    made.destroy_node()


def until(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def written(folder: Path) -> int:
    with Reader(folder) as reader:
        return int(reader.message_count)


def test_a_message_that_is_taken_but_not_written_when_the_recorder_stops_is_not_lost(
    recorder: Recorder, client: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_taken, may_go_on = threading.Event(), threading.Event()
    take = TopicReader.take

    def take_and_wait(reader: TopicReader) -> list[Taken]:
        taken = take(reader)
        if taken:
            is_taken.set()
            assert may_go_on.wait(TIMEOUT_S)
        return taken

    monkeypatch.setattr(TopicReader, "take", take_and_wait)
    client.create_publisher(String, TOPIC, qos.EVENT).publish(String(data="PSM1: hello"))
    assert is_taken.wait(TIMEOUT_S)
    stopping = threading.Thread(target=recorder.stop)
    stopping.start()
    stopping.join(SOON_S)
    may_go_on.set()
    stopping.join(TIMEOUT_S)
    assert written(recorder.bag.folder) == 1


def test_a_topic_that_is_found_while_the_recorder_stops_leaves_the_bag_whole(
    recorder: Recorder, client: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_found, is_taking = threading.Event(), threading.Event()
    make, take = TopicReader.__init__, TopicReader.take

    def find_and_wait(reader: TopicReader, *arguments: Any) -> None:
        make(reader, *arguments)
        is_found.set()
        is_taking.wait(SOON_S)

    def take_and_wait(reader: TopicReader) -> list[Taken]:
        if threading.current_thread() is threading.main_thread():
            is_taking.set()
            time.sleep(SOON_S)
        return take(reader)

    client.create_publisher(String, TOPIC, qos.EVENT).publish(String(data="PSM1: hello"))
    until(lambda: recorder.bag.messages.get(TOPIC) == 1)
    monkeypatch.setattr(TopicReader, "__init__", find_and_wait)
    client.create_publisher(String, LATE, qos.EVENT)
    assert is_found.wait(TIMEOUT_S)
    monkeypatch.setattr(TopicReader, "take", take_and_wait)
    recorder.stop()
    assert written(recorder.bag.folder) == 1

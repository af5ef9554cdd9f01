"""The recorder as a real process: what was published is in the bag, and what is not is told."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import QoSDurabilityPolicy, QoSProfile, QoSReliabilityPolicy
from rclpy.serialization import deserialize_message
from rosbags.interfaces import QosDurability
from rosbags.rosbag2 import Reader
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from bench.processes import die_with_parent
from dvrk_kinematics.cli.report.read_recording import read_recording
from dvrk_kinematics.errors import BagError
from dvrk_kinematics.ros.bringup.processes import Process, command_line, recording
from dvrk_kinematics.ros.common import qos
from dvrk_kinematics.ros.recorder.loss_counter import SEVERAL

pytestmark = pytest.mark.ros

TIMEOUT_S = 30.0
NAMES = [f"joint_{k}" for k in range(6)]


class Recording:
    """A recorder that runs."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.output = ""

    def await_text(self, text: str) -> None:
        """Wait until it has said something."""
        deadline = time.monotonic() + TIMEOUT_S
        assert self.process.stdout is not None
        while text not in self.output:
            ready, _, _ = select.select([self.process.stdout], [], [], 1.0)
            if ready:
                self.output += os.read(self.process.stdout.fileno(), 4096).decode()
            assert time.monotonic() < deadline, self.output
            assert self.process.poll() is None or text in self.output, self.output

    def end(self, sign: signal.Signals = signal.SIGINT) -> str:
        """Stop it, and give all that it said."""
        self.process.send_signal(sign)
        rest, _ = self.process.communicate(timeout=TIMEOUT_S)
        self.output += rest
        return self.output


def _prepare() -> None:
    """In the recorder, before it runs."""
    die_with_parent()
    # Whoever runs the tests may have set it aside, as nohup does.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@contextmanager
def running(process: Process) -> Iterator[Recording]:
    """A recorder that records, and is gone afterwards."""
    started = subprocess.Popen(
        command_line(process),
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=_prepare,
    )
    try:
        yield Recording(started)
    finally:
        if started.poll() is None:
            started.kill()
            started.communicate()


@contextmanager
def recording_to(folder: Path, **options: Any) -> Iterator[Recording]:
    """A recorder of PSM1 that has begun."""
    with running(recording(options.pop("arms", ["PSM1"]), folder, **options)) as made:
        made.await_text("recording ")
        yield made


class Bag:
    """A bag as another library reads it."""

    def __init__(self, folder: Path) -> None:
        self.messages: dict[str, list[tuple[int, bytes]]] = defaultdict(list)
        self.order: list[str] = []
        with Reader(folder) as reader:
            self.durabilities = {
                c.topic: c.ext.offered_qos_profiles[0].durability for c in reader.connections
            }
            self.lost = json.loads(reader.storage.metadata.custom["lost"])
            self.count = reader.message_count
            for connection, time_ns, data in reader.messages():
                self.messages[connection.topic].append((time_ns, bytes(data)))
                self.order.append(connection.topic)

    def first_positions(self, topic: str) -> list[float]:
        """The first joint of every JointState of a topic."""
        return [deserialize_message(d, JointState).position[0] for _, d in self.messages[topic]]


class Client:
    """Publishes, and hears from the recorder what it has written."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.written: dict[str, int] = defaultdict(int)
        self.told: dict[str, str] = {}
        node.create_subscription(DiagnosticArray, "/diagnostics", self._hear, 10)

    def publish_joints(self, *names: str, profile: QoSProfile = qos.ARM_STATE) -> dict[str, Any]:
        """Publishers of joint states."""
        return {n: self.node.create_publisher(JointState, n, profile) for n in names}

    def await_written(self, publishers: dict[str, Any], namespace: str = "/") -> int:
        """Publish -1, -2, ... until the recorder has written one: both ends have found each other.

        Returns:
            The last number that was published.
        """
        numbers = count(-1, -1)

        def is_written() -> bool:
            number = next(numbers)
            publish(publishers, range(number, number + 1), 0.05)
            return all(self.written[f"{namespace}{name}"] for name in publishers)

        self.until(is_written)
        return next(numbers) + 1

    def until(self, done: Callable[[], bool]) -> None:
        """Wait until something holds."""
        deadline = time.monotonic() + TIMEOUT_S
        while not done():
            assert time.monotonic() < deadline, dict(self.written)
            time.sleep(0.01)

    def _hear(self, told: DiagnosticArray) -> None:
        for status in told.status:
            if status.name in ("recorder: bag", "lab/recorder: bag"):
                rows = self.told = {row.key: row.value for row in status.values}
                self.written |= {k: int(v) for k, v in rows.items() if k.startswith("/")}


def state(number: int) -> JointState:
    return JointState(name=NAMES, position=[float(number)] * 6, velocity=[0.0] * 6)


def publish(publishers: dict[str, Any], numbers: range, period_s: float) -> None:
    """Publish numbered messages to all, at a rate."""
    due = time.monotonic()
    for number in numbers:
        for publisher in publishers.values():
            publisher.publish(state(number))
        due += period_s
        time.sleep(max(0.0, due - time.monotonic()))


def await_delivered(publishers: dict[str, Any]) -> None:
    """Wait until what was published is at the reader's."""
    for name, publisher in publishers.items():
        assert publisher.wait_for_all_acked(Duration(seconds=TIMEOUT_S)), name


@pytest.fixture
def client(spinning: Callable[..., Node]) -> Client:
    return Client(spinning("client"))


def test_four_topics_at_200_hz_are_written_without_a_loss(client: Client, tmp_path: Path) -> None:
    names = ["PSM1/servo_jp", "PSM1/jaw/servo_jp", "PSM1/measured_js", "PSM1/setpoint_js"]
    # As many as are sent: nothing is pushed out on this side, however slow the machine is.
    publishers = client.publish_joints(*names, profile=QoSProfile(depth=1000))
    sent = 600
    with recording_to(tmp_path / "bag") as recorder:
        client.await_written(publishers)
        publish(publishers, range(sent), 0.005)
        await_delivered(publishers)
        # Its diagnostics come once a second, and tell of every topic.
        for name in names:
            client.until(lambda n=name: client.told.get(f"lost /{n}") == "0")
        client.until(lambda: client.told.get("lost /rosout") == SEVERAL)
        output = recorder.end()

    assert recorder.process.returncode == 0
    assert "lost: none" in output
    bag = Bag(tmp_path / "bag")
    for name in names:
        numbers = [number for number in bag.first_positions(f"/{name}") if number >= 0.0]
        assert numbers == [float(k) for k in range(sent)]
        assert bag.lost[f"/{name}"] == 0
        times = [time_ns for time_ns, _ in bag.messages[f"/{name}"]]
        assert all(a <= b for a, b in pairwise(times))
    # The recorder and this test both log.
    assert re.search(r"several publishers: not counted on .*/rosout", output)
    assert bag.messages["/rosout"] and bag.lost["/rosout"] is None
    told = re.search(r"wrote (\d+) messages", output)
    assert told is not None and int(told.group(1)) == bag.count == len(bag.order)


def test_what_was_latched_before_comes_first_and_stays_latched(
    client: Client, tmp_path: Path
) -> None:
    topic = "PSM1/robot_description"
    description = client.node.create_publisher(String, topic, qos.DESCRIPTION)
    description.publish(String(data="<robot/>"))
    publishers = client.publish_joints("PSM1/measured_js")
    with recording_to(tmp_path / "bag") as recorder:
        client.await_written(publishers)
        recorder.end()

    bag = Bag(tmp_path / "bag")
    ours = [name for name in bag.order if name.startswith("/PSM1")]
    assert ours[0] == f"/{topic}"
    assert deserialize_message(bag.messages[ours[0]][0][1], String).data == "<robot/>"
    assert bag.durabilities[ours[0]] == QosDurability.TRANSIENT_LOCAL
    assert bag.durabilities["/PSM1/measured_js"] == QosDurability.VOLATILE


def test_every_message_that_a_halted_recorder_missed_is_counted(
    client: Client, tmp_path: Path
) -> None:
    publishers = client.publish_joints("PSM1/measured_js")
    with recording_to(tmp_path / "bag") as recorder:
        lowest = client.await_written(publishers)
        recorder.process.send_signal(signal.SIGSTOP)
        publish(publishers, range(3000), 0.0)
        before = client.written["/PSM1/measured_js"]
        recorder.process.send_signal(signal.SIGCONT)
        client.until(lambda: client.written["/PSM1/measured_js"] > before)
        publish(publishers, range(3000, 3010), 0.005)
        await_delivered(publishers)
        output = recorder.end()

    bag = Bag(tmp_path / "bag")
    written = bag.first_positions("/PSM1/measured_js")
    assert written[-1] == 3009.0
    # The negative ones count down from the first that was heard; the last may be missing as well.
    sent = int(written[0]) - lowest + 1 + 3010
    missing = sent - len(written)
    assert bag.lost["/PSM1/measured_js"] == missing > 0
    assert f"lost: {missing} of /PSM1/measured_js" in output


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_recorder_that_is_told_to_stop_leaves_a_whole_bag(
    tmp_path: Path, sign: signal.Signals
) -> None:
    with recording_to(tmp_path / "bag", topics=["/rosout"]) as recorder:
        recorder.process.send_signal(sign)
        # Once more, as by a user who does not wait.
        output = recorder.end(sign)
    assert recorder.process.returncode == 0, output
    assert "Traceback" not in output
    bag = Bag(tmp_path / "bag")
    assert bag.count == len(bag.order)


def test_what_a_killed_recorder_leaves_is_explained(tmp_path: Path) -> None:
    with recording_to(tmp_path / "bag") as recorder:
        recorder.end(signal.SIGKILL)
    with pytest.raises(BagError, match="is empty; the bag was not closed"):
        read_recording(tmp_path / "bag")


def test_a_recording_can_end_by_itself_and_tells_which_arms_were_never_heard(
    tmp_path: Path,
) -> None:
    arms = ["PSM8", "PSM9"]
    with recording_to(tmp_path / "bag", arms=arms, duration_s=3.5) as recorder:
        recorder.await_text("waiting for PSM8, PSM9: nothing arrives yet; is the arm there?")
        rest, _ = recorder.process.communicate(timeout=TIMEOUT_S)
    assert recorder.process.returncode == 1, rest
    assert "never heard: PSM8, PSM9\n" in rest and "Traceback" not in rest
    bag = Bag(tmp_path / "bag")
    assert bag.count == len(bag.order)


def test_a_publisher_that_offers_less_is_recorded_with_what_it_offers(
    client: Client, tmp_path: Path
) -> None:
    weak = QoSProfile(depth=100, reliability=QoSReliabilityPolicy.BEST_EFFORT)
    publishers = client.publish_joints("PSM1/measured_js", profile=weak)
    volatile = QoSProfile(depth=100, durability=QoSDurabilityPolicy.VOLATILE)
    text = client.node.create_publisher(String, "PSM1/status", volatile)

    def has_text() -> bool:
        text.publish(String(data="PSM1: hello"))
        return client.written["/PSM1/status"] > 0

    with recording_to(tmp_path / "bag") as recorder:
        client.await_written(publishers)
        client.until(has_text)
        recorder.end()
    bag = Bag(tmp_path / "bag")
    assert bag.first_positions("/PSM1/measured_js")[0] < 0.0
    assert bag.durabilities["/PSM1/status"] == QosDurability.VOLATILE


def test_other_topics_are_found_by_their_publishers_below_a_namespace(
    client: Client, tmp_path: Path
) -> None:
    mine = client.node.create_publisher(String, "lab/my_text", qos.EVENT)
    mine.publish(String(data="before"))
    publishers = client.publish_joints("lab/PSM2/measured_js")
    options = {"namespace": "lab", "arms": ["PSM2"], "topics": ["standard", "my_text"]}
    with recording_to(tmp_path / "bag", **options) as recorder:
        client.await_written(publishers)
        client.until(lambda: client.written["/lab/my_text"] == 1)
        mine.publish(String(data="after"))
        client.until(lambda: client.written["/lab/my_text"] == 2)
        recorder.end()
    bag = Bag(tmp_path / "bag")
    texts = [deserialize_message(data, String).data for _, data in bag.messages["/lab/my_text"]]
    assert texts == ["before", "after"]
    assert bag.durabilities["/lab/my_text"] == QosDurability.TRANSIENT_LOCAL


def test_a_topic_of_another_type_is_told(client: Client, tmp_path: Path) -> None:
    client.node.create_publisher(String, "PSM1/measured_js", 10)
    with recording_to(tmp_path / "bag") as recorder:
        recorder.await_text("/PSM1/measured_js: not all is recorded: also of type std_msgs")
        assert "never heard: PSM1\n" in recorder.end()
    assert recorder.process.returncode == 1


def test_a_folder_that_exists_is_refused(tmp_path: Path) -> None:
    with running(recording(["PSM1"], tmp_path)) as recorder:
        output, _ = recorder.process.communicate(timeout=TIMEOUT_S)
    assert recorder.process.returncode == 1
    assert f"output: {tmp_path} exists already" in output
    assert "Traceback" not in output
    assert list(tmp_path.iterdir()) == []

"""A recorder whose disk is full or that is killed: what fits is read, and one sentence says so."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rosbags.rosbag2 import Reader
from sensor_msgs.msg import JointState

from bench.processes import die_with_parent
from dvrk_kinematics.bags.bag_reader import BagReader
from dvrk_kinematics.ros.bringup.processes import Process, command_line, recording

pytestmark = pytest.mark.ros

TIMEOUT_S = 60.0
TOPIC = "/PSM1/measured_js"
SIZE = 20_000
"""Numbers in a message: 160 kB, so that some twenty of them fill the disk of these tests."""

DISK = 3 * 2**20

# Inside of a room of its own a disk can be mounted that nobody else sees; what is on it at the end
# is copied to where the test can read it.
ON_A_SMALL_DISK = f"""
set -u
folder=$1 copy=$2; shift 2
mount -t tmpfs -o size={DISK} tmpfs "$folder" || exit 99
"$@" &
trap "kill $!" TERM
wait $!
code=$?
cp -r "$folder/bag" "$copy"
exit $code
"""


@pytest.fixture
def node(spinning: Callable[..., Node]) -> Node:
    return spinning("client")


def _prepare(sizes: tuple[int, int]) -> None:
    """In the recorder, before it runs."""
    die_with_parent()
    resource.setrlimit(resource.RLIMIT_FSIZE, sizes)


@contextmanager
def recorder(
    command: list[str], output: Path, limit: int | None = None
) -> Iterator[subprocess.Popen[str]]:
    """A recorder that runs, and is gone afterwards."""
    sizes = (resource.RLIM_INFINITY, resource.RLIM_INFINITY) if limit is None else (limit, limit)
    with output.open("w") as stream:
        started = subprocess.Popen(
            command,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            stdout=stream,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            preexec_fn=partial(_prepare, sizes),
        )
    try:
        yield started
    finally:
        if started.poll() is None:
            os.killpg(started.pid, signal.SIGKILL)
            started.wait()


def recorder_command(bag: Path) -> list[str]:
    return command_line(recording(["PSM1"], bag, topics=[TOPIC]))


def publish_until(node: Node, done: Callable[[], bool], wait: Callable[[], Any]) -> int:
    """Publish numbered states until something holds; gives how many."""
    publisher = node.create_publisher(JointState, TOPIC, QoSProfile(depth=10))
    for number in range(10_000):
        if done():
            return number
        publisher.publish(JointState(position=[float(number)] * SIZE))
        wait()
    raise AssertionError("it did not come to its end")


def check_full(bag: Path, told: str, code: int, reason: str) -> None:
    """What fits is a whole bag, and the recorder has said so once."""
    assert code == 1, told
    assert "Traceback" not in told
    sentences = [line for line in told.splitlines() if "cannot be written any more" in line]
    assert len(sentences) == 1 and reason in sentences[0], told
    with Reader(bag) as reader:
        count = len(list(reader.messages()))
        assert count == reader.message_count > 5
    assert f"the bag is closed and holds the first {count} messages" in sentences[0]
    ours = BagReader(bag)
    assert (ours.count, ours.notes) == (count, [])
    ours.close()


def ended(process: subprocess.Popen[str]) -> Callable[[], Any]:
    """Wait for the end of a process, a moment."""

    def wait() -> None:
        try:
            process.wait(0.02)
        except subprocess.TimeoutExpired:
            return

    return wait


def test_a_recorder_whose_file_may_not_grow_closes_the_bag_with_what_fits(
    node: Node, tmp_path: Path
) -> None:
    bag, output = tmp_path / "bag", tmp_path / "told.txt"
    with recorder(recorder_command(bag), output, limit=DISK) as process:
        publish_until(node, lambda: process.poll() is not None, ended(process))
        code = process.wait(TIMEOUT_S)
    check_full(bag, output.read_text(), code, "File too large")


def test_a_recorder_on_a_full_disk_closes_the_bag_with_what_fits(
    node: Node, tmp_path: Path
) -> None:
    disk, copy, output = tmp_path / "disk", tmp_path / "bag", tmp_path / "told.txt"
    disk.mkdir()
    if shutil.which("unshare") is None:
        pytest.skip("unshare is not installed")
    room = ["unshare", "--mount", "sh", "-c", ON_A_SMALL_DISK, "sh", str(disk), str(copy)]
    if subprocess.run([*room[:2], "mount", "-t", "tmpfs", "tmpfs", disk], check=False).returncode:
        pytest.skip("mounting is not permitted")
    with recorder([*room, *recorder_command(disk / "bag")], output) as process:
        publish_until(node, lambda: process.poll() is not None, ended(process))
        code = process.wait(TIMEOUT_S)
    check_full(copy, output.read_text(), code, "No space left on device")


# A disk that is full before a recorder starts, and one that is full when it ends.
FULL_AT_START_AND_END = """
set -u
disk=$1; shift
mount -t tmpfs -o size=64k tmpfs "$disk" || exit 99
head -c 1000000 /dev/zero > "$disk/fill" 2> /dev/null
"$@"
echo "at its start: $?, left: $(ls "$disk")"
rm "$disk/fill"
"$@" &
trap "kill $!" TERM
while [ ! -s "$disk/bag/bag.mcap" ]; do sleep 0.05; done
head -c 1000000 /dev/zero > "$disk/fill" 2> /dev/null
kill -INT $!
wait $!
echo "at its end: $?, left: $(ls "$disk/bag")"
"""


def test_a_disk_that_is_full_at_the_start_or_the_end_is_told(tmp_path: Path) -> None:
    disk, output = tmp_path / "disk", tmp_path / "told.txt"
    disk.mkdir()
    if shutil.which("unshare") is None:
        pytest.skip("unshare is not installed")
    room = ["unshare", "--mount", "sh", "-c", FULL_AT_START_AND_END, "sh", str(disk)]
    if subprocess.run([*room[:2], "mount", "-t", "tmpfs", "tmpfs", disk], check=False).returncode:
        pytest.skip("mounting is not permitted")
    with recorder([*room, *recorder_command(disk / "bag")], output) as process:
        process.wait(TIMEOUT_S)
    told = output.read_text()
    assert f"{disk / 'bag'} cannot be written: No space left on device" in told
    assert "at its start: 1, left: fill\n" in told
    assert f"{disk / 'bag'}: it cannot be closed: No space left on device" in told
    assert "at its end: 1, left: bag.mcap\n" in told
    assert "Traceback" not in told


def test_what_a_killed_recorder_has_written_is_recovered(node: Node, tmp_path: Path) -> None:
    bag, output = tmp_path / "bag", tmp_path / "told.txt"
    file = bag / "bag.mcap"
    with recorder(recorder_command(bag), output) as process:
        publish_until(node, lambda: file.exists() and file.stat().st_size > 2**21, ended(process))
        process.kill()
        process.wait(TIMEOUT_S)
    reader = BagReader(bag)
    (note,) = reader.notes
    assert note.startswith("the bag was not closed: its recorder was killed, or still runs; ")
    assert note.endswith(f"{reader.count} messages were recovered") and reader.count > 5
    assert len(reader.messages(TOPIC, "sensor_msgs/msg/JointState")) == reader.count
    reader.close()


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("~nosuchuser/bag", "output: ~nosuchuser/bag: there is no such user"),
        ("/tmp/" + "x" * 300, "is too long; allowed are 255 in a name"),
        ("/proc/nowhere/bag", "/proc/nowhere/bag cannot be written: No such file"),
    ],
)
def test_a_folder_that_cannot_be_is_refused_in_words(
    output: str, words: str, tmp_path: Path
) -> None:
    told = tmp_path / "told.txt"
    command = [*command_line(Process("recorder")), "--ros-args", "-p", f"output:={output}"]
    with recorder(command, told) as process:
        assert process.wait(TIMEOUT_S) == 1
    assert words in told.read_text() and "Traceback" not in told.read_text()

"""./dvrk record chooses a recorder and ends it in order."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from rclpy.qos import QoSProfile
from rosbags.rosbag2 import Reader

from dvrk_kinematics.ros.recorder.bag_file import BagFile
from dvrk_kinematics.ros.recorder.command import main, rosbag2_command
from dvrk_kinematics.ros.recorder.recorder_child import run_for

TIMEOUT_S = 30.0

# Plays a recorder that needs SIGINT to close its bag. The signal is kept back until it is awaited,
# so that "ready" holds. One that is left behind ends by itself.
PROGRAM = """
import pathlib, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
pathlib.Path(sys.argv[1]).write_text("open")
print("ready", flush=True)
signal.sigtimedwait([signal.SIGINT], 60) or sys.exit(1)
pathlib.Path(sys.argv[1]).write_text("closed")
"""

# A terminal, as it is: whoever runs the tests may have set its signal aside.
WRAPPER = """
import os, signal, sys
from dvrk_kinematics.ros.recorder.recorder_child import run_for
signal.signal(signal.SIGHUP, signal.SIG_DFL)
sys.exit(run_for(sys.argv[2:], float(sys.argv[1]), os.environ))
"""


@contextmanager
def wrapped(closed: Path, wrapper: str = WRAPPER) -> Iterator[subprocess.Popen[str]]:
    """A recorder that is ready, below a process that hands signals on."""
    process = subprocess.Popen(
        [sys.executable, "-c", wrapper, "0", sys.executable, "-c", PROGRAM, str(closed)],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def await_closed(closed: Path) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while closed.read_text() != "closed":
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_rosbag2_is_told_topics_storage_and_quality_of_service() -> None:
    command = rosbag2_command(Path("bag"), ["/PSM1/measured_js", "/tf"], Path("qos.yaml"))
    assert command[:3] == ["ros2", "bag", "record"]
    assert command[-3:] == ["--topics", "/PSM1/measured_js", "/tf"]
    pairs = list(pairwise(command))
    for pair in (
        ("--storage", "mcap"),
        ("--output", "bag"),
        ("--qos-profile-overrides-path", "qos.yaml"),
    ):
        assert pair in pairs
    assert "--include-hidden-topics" in command


def test_a_recorder_ends_by_sigint_after_its_time(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    # Kept back from the start on: an interpreter under load may begin only after that time.
    wrapper = "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])" + WRAPPER
    command = [sys.executable, "-c", wrapper, "0.5", sys.executable, "-c", PROGRAM, str(closed)]
    told = subprocess.run(command, timeout=60, check=False, capture_output=True)
    assert (told.returncode, closed.read_text()) == (0, "closed"), told


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_are_handed_on_to_the_recorder(tmp_path: Path, sign: signal.Signals) -> None:
    closed = tmp_path / "closed"
    with wrapped(closed) as process:
        process.send_signal(sign)
        process.wait(TIMEOUT_S)
    assert (process.returncode, closed.read_text()) == (0, "closed")


def test_a_closed_terminal_does_not_end_what_nohup_started(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    with wrapped(closed, WRAPPER.replace("SIG_DFL", "SIG_IGN")) as process:
        process.send_signal(signal.SIGHUP)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.5)
        process.send_signal(signal.SIGINT)
        process.wait(TIMEOUT_S)
    assert (process.returncode, closed.read_text()) == (0, "closed")


def test_a_ctrl_c_while_the_recorder_starts_leaves_none_behind(tmp_path: Path) -> None:
    """It comes when the recorder has begun, and before anybody has heard of it."""
    closed = tmp_path / "closed"
    hasty = """
import os, signal, subprocess, sys, time
class Hasty(subprocess.Popen):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        while not os.path.exists(sys.argv[-1]):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)
subprocess.Popen = Hasty
"""
    with wrapped(closed, hasty + WRAPPER) as process:
        process.wait(TIMEOUT_S)
    assert (process.returncode, closed.read_text()) == (0, "closed")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of the death of a parent")
def test_a_recorder_whose_parent_is_killed_closes_its_bag(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    with wrapped(closed) as process:
        process.kill()
        await_closed(closed)


def test_a_recorder_that_is_not_installed_is_told_and_signals_are_as_before() -> None:
    before = signal.getsignal(signal.SIGTERM), signal.pthread_sigmask(signal.SIG_BLOCK, [])
    with pytest.raises(FileNotFoundError):
        run_for(["/absent/ros2"], 0.0, os.environ)
    now = signal.getsignal(signal.SIGTERM), signal.pthread_sigmask(signal.SIG_BLOCK, [])
    assert now == before


def test_a_folder_that_exists_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--output", str(tmp_path)]) == 1
    assert capsys.readouterr().err == (
        f"record: --output: {tmp_path} exists already; name another folder\n"
    )


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("~nosuchuser/bag", "~nosuchuser/bag: there is no such user"),
        ("x" * 300, "is too long; allowed are 255 in a name and 4095 in all"),
        ("y" * 1_000_000, "(1000000 characters) is too long"),
        ("a\0b", "has signs that cannot be printed"),
    ],
)
def test_a_folder_that_cannot_be_is_refused_in_words(
    output: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--output", output]) == 1
    told = capsys.readouterr().err
    assert told.startswith("record: --output: ") and words in told
    assert told.count("\n") == 1 and len(told) < 400


@pytest.mark.parametrize("text", ["-1", "nan", "inf"])
def test_a_duration_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(SystemExit):
        main(["--duration", text])


def test_a_recorder_that_fails_to_start_is_told_by_its_code() -> None:
    assert run_for([sys.executable, "-c", "raise SystemExit(3)"], 0.0, os.environ) == 3


def run_command(environ: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dvrk_kinematics.ros.recorder.command", *arguments],
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_without_rosbag2_our_recorder_writes_the_bag(tmp_path: Path) -> None:
    arguments = ("--output", str(tmp_path / "bag"), "--duration", "0.5", "--topics", "/rosout")
    told = run_command({}, *arguments)
    assert told.returncode == 0, told.stderr
    with Reader(tmp_path / "bag") as reader:
        assert {connection.topic for connection in reader.connections} <= {"/rosout"}


def test_where_rosbag2_is_installed_it_records(tmp_path: Path) -> None:
    """A stand-in for the program ros2 writes down what it was asked to do, and leaves a bag."""
    made = BagFile(tmp_path / "bag_of_ros2")
    made.add_topic("/ECM/operating_state", "crtk_msgs/msg/OperatingState", QoSProfile(depth=1), 1)
    made.write("/ECM/operating_state", 1, b"")
    made.close({})
    index = tmp_path / "share" / "ament_index" / "resource_index" / "packages"
    index.mkdir(parents=True)
    for package in ("ros2bag", "rosbag2_storage_mcap"):
        (index / package).touch()
    program = tmp_path / "ros2"
    note, copy = tmp_path / "asked.txt", tmp_path / "overrides.yaml"
    words = "--qos-profile-overrides-path"
    program.write_text(
        f"""#!/bin/sh
echo "$@" > {note}
cp -r {made.folder} "$6"
while [ "$1" != {words} ]; do shift; done
cp "$2" {copy}
"""
    )
    program.chmod(0o755)
    environ = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "AMENT_PREFIX_PATH": f"{tmp_path}:{os.environ['AMENT_PREFIX_PATH']}",
    }
    told = run_command(environ, "--output", str(tmp_path / "other"), "--arms", "ECM", "PSM9")
    assert (told.returncode, told.stderr) == (1, "record: never heard: PSM9\n")
    told = run_command(environ, "--output", str(tmp_path / "bag"), "--arms", "ECM")
    assert told.returncode == 0, told.stderr
    asked = note.read_text().split()
    assert asked[:6] == ["bag", "record", "--storage", "mcap", "--output", str(tmp_path / "bag")]
    topics = asked[asked.index("--topics") + 1 :]
    assert "/ECM/measured_js" in topics and "/tf_static" in topics
    overrides = yaml.safe_load(copy.read_text())
    assert overrides["/ECM/operating_state"]["durability"] == "transient_local"
    assert set(overrides) == set(topics)

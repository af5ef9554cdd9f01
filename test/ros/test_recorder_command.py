"""./dvrk record chooses a recorder and ends it in order."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from rosbags.rosbag2 import Reader

from dvrk_kinematics.ros.recorder_command import main, rosbag2_command, run_for

# Plays a recorder that needs SIGINT to close its bag.
PROGRAM = """
import pathlib, signal, sys
def close(*_):
    pathlib.Path(sys.argv[1]).write_text("closed")
    sys.exit(0)
signal.signal(signal.SIGINT, close)
print("ready", flush=True)
signal.pause()
"""


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
    command = [sys.executable, "-c", PROGRAM, str(closed)]
    code = (
        "import os, sys; from dvrk_kinematics.ros.recorder_command import run_for; "
        "sys.exit(run_for(sys.argv[2:], float(sys.argv[1]), os.environ))"
    )
    told = subprocess.run(
        [sys.executable, "-c", code, "2", *command], timeout=30, check=False, capture_output=True
    )
    assert (told.returncode, closed.read_text()) == (0, "closed"), told


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_signals_are_handed_on_to_the_recorder(tmp_path: Path, sign: signal.Signals) -> None:
    closed = tmp_path / "closed"
    code = (
        "import os, sys; from dvrk_kinematics.ros.recorder_command import run_for; "
        "sys.exit(run_for(sys.argv[1:], 0.0, os.environ))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, sys.executable, "-c", PROGRAM, str(closed)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    process.send_signal(sign)
    process.communicate(timeout=30)
    assert (process.returncode, closed.read_text()) == (0, "closed")


def test_a_folder_that_exists_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--output", str(tmp_path)]) == 1
    assert capsys.readouterr().err == (
        f"record: --output: {tmp_path} exists already; name another folder\n"
    )


@pytest.mark.parametrize("text", ["-1", "nan", "inf"])
def test_a_duration_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(SystemExit):
        main(["--duration", text])


def test_a_recorder_that_fails_to_start_is_told_by_its_code() -> None:
    assert run_for([sys.executable, "-c", "raise SystemExit(3)"], 0.0, os.environ) == 3


def run_command(environ: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dvrk_kinematics.ros.recorder_command", *arguments],
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
    """A stand-in for the program ros2 writes down what it was asked to do."""
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
while [ "$1" != {words} ]; do shift; done
cp "$2" {copy}
"""
    )
    program.chmod(0o755)
    environ = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "AMENT_PREFIX_PATH": f"{tmp_path}:{os.environ['AMENT_PREFIX_PATH']}",
    }
    told = run_command(environ, "--output", str(tmp_path / "bag"), "--arms", "ECM")
    assert told.returncode == 0, told.stderr
    asked = note.read_text().split()
    assert asked[:6] == ["bag", "record", "--storage", "mcap", "--output", str(tmp_path / "bag")]
    topics = asked[asked.index("--topics") + 1 :]
    assert "/ECM/measured_js" in topics and "/tf_static" in topics
    overrides = yaml.safe_load(copy.read_text())
    assert overrides["/ECM/operating_state"]["durability"] == "transient_local"
    assert set(overrides) == set(topics)

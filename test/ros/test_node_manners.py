"""How nodes answer what they are started with: help, typing errors, bad files, early signals."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest

from bench.processes import die_with_parent
from dvrk_kinematics.ros.bringup.processes import Process, command_line
from dvrk_kinematics.ros.common.answer_arguments import NODE_SETTINGS, describe_node
from dvrk_kinematics.ros.executables import COMMANDS, EXECUTABLES

TIMEOUT_S = 60.0


def run(executable: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run an executable that is expected to end by itself."""
    return subprocess.run(
        [*command_line(Process(executable)), *arguments],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        preexec_fn=die_with_parent,
    )


def test_every_node_describes_its_parameters() -> None:
    assert set(NODE_SETTINGS) == set(EXECUTABLES) - set(COMMANDS)
    for executable in NODE_SETTINGS:
        text = describe_node(executable)
        assert text.startswith(f"usage: {executable} [--ros-args -p NAME:=VALUE ...]\n\nThe node ")
    bridge = describe_node("arm_bridge")
    assert (
        "  rate (default: 200.0)\n      rate of the control loop; from 10 to 1000; unit: Hz"
        in bridge
    )
    assert "  prefix (default: {arm}_)\n" in bridge and "  publish_tf (default: true)\n" in bridge


@pytest.mark.parametrize(
    ("arguments", "code", "out", "err"),
    [
        (["--help"], 0, "usage: arm_bridge", ""),
        (["-h"], 0, "usage: arm_bridge", ""),
        (
            ["arm:=PSM7"],
            2,
            "",
            "arm_bridge: a parameter is given by --ros-args -p arm:=PSM7; "
            "--help lists its parameters\n",
        ),
        (["--arm", "PSM2"], 2, "", "arm_bridge: there is no argument '--arm'; --help lists"),
        (
            ["--ros-args", "-p", "rat:=100"],
            1,
            "",
            "rat: arm_bridge has no such parameter; did you mean rate? there are: arm, hardware",
        ),
        (
            ["--ros-args", "-p", "rate:=fast"],
            1,
            "",
            "rate: 'fast' is of the wrong type, must be float",
        ),
        (
            ["--ros-args", "-p", "prefix:="],
            1,
            "",
            "prefix has no value (prefix of links on tf; {arm} stands for the arm's name, none "
            "for no prefix); leave it out",
        ),
        (
            ["--ros-args", "-p", "joint_prefix:=controller/left_"],
            1,
            "",
            "joint_prefix: 'controller/left_': names that begin with controller/ count as the "
            "controller does; choose another",
        ),
        (
            ["--ros-args", "-p", "prefix:='\"\"'"],
            1,
            "",
            "prefix: '\"\"' begins no name of a frame or joint: letters, digits, _ - . and /, "
            "no / first; none for no prefix",
        ),
        (
            ["--ros-args", "--params-file", "bare.yaml"],
            1,
            "",
            "Cannot have a value before ros__parameters",
        ),
        (["--ros-args", "--foo"], 1, "", "arguments of ROS: ['--foo']"),
    ],
)
def test_what_a_node_cannot_use_is_one_sentence(
    arguments: list[str], code: int, out: str, err: str, tmp_path: Path
) -> None:
    (tmp_path / "bare.yaml").write_text("arm_bridge:\n  rate: 100.0\n")
    told = [str(tmp_path / text) if text == "bare.yaml" else text for text in arguments]
    done = run("arm_bridge", *told)
    assert done.returncode == code, done
    assert out in done.stdout and err in done.stderr, done
    # rcl itself adds a line when it cannot read its arguments.
    lines = [line for line in done.stderr.splitlines() if "[rcl]" not in line]
    assert len(lines) == (0 if code == 0 else 1), done.stderr


def handles_signals(pid: int) -> bool:
    """Whether a process has a way of its own to deal with SIGTERM."""
    status = Path(f"/proc/{pid}/status").read_text()
    caught = next(line for line in status.splitlines() if line.startswith("SigCgt"))
    return bool(int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1)


def interrupt(executable: str, sign: signal.Signals, delay_s: float) -> tuple[int, str]:
    """Start an executable and interrupt it twice; gives its exit code and what it said."""
    process = subprocess.Popen(
        command_line(Process(executable)),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=die_with_parent,
    )
    try:
        deadline = time.monotonic() + TIMEOUT_S
        while not handles_signals(process.pid) and time.monotonic() < deadline:
            time.sleep(0.001)
        time.sleep(delay_s)
        for _ in range(2):
            process.send_signal(sign)
            time.sleep(0.005)
        output, _ = process.communicate(timeout=TIMEOUT_S)
    finally:
        process.kill()
        process.communicate()
    return process.returncode, output


@pytest.mark.parametrize(
    ("executable", "sign", "code"),
    [
        ("arm_bridge", signal.SIGINT, 0),
        ("trajectory_server", signal.SIGTERM, 0),
        ("trace_block_o", signal.SIGINT, 130),
    ],
)
def test_a_signal_at_any_time_of_the_start_ends_it_without_a_traceback(
    executable: str, sign: signal.Signals, code: int
) -> None:
    """Ctrl-C during the start once printed a traceback out of the middle of an import."""
    for delay_s in (0.0, 0.1, 0.3, 0.7, 1.2):
        ended, output = interrupt(executable, sign, delay_s)
        assert ended == code, (delay_s, output)
        assert "Traceback" not in output and "Interrupt" not in output, (delay_s, output)

"""Processes that are started together and ended in order, none left behind."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from dvrk_kinematics.errors import MissingExtra
from dvrk_kinematics.ros.bringup.processes import Process
from dvrk_kinematics.ros.bringup.supervisor import Supervisor
from dvrk_kinematics.ros.common.interruptions import StopRequest

POLITE = """\
#!{python}
import signal, sys, time
def end(*_):
    print("ends", time.monotonic_ns(), flush=True)
    sys.exit(0)
signal.signal(signal.SIGINT, end)
print("runs", flush=True)
while True:
    time.sleep(0.05)
"""
STUBBORN = """\
#!{python}
import signal, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
print("runs", flush=True)
while True:
    time.sleep(0.05)
"""


class Heard:
    """What was said, line by line."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._changed = threading.Condition()

    def __call__(self, line: str) -> None:
        with self._changed:
            self.lines.append(line)
            self._changed.notify_all()

    def wait(self, text: str, count: int = 1) -> None:
        with self._changed:
            assert self._changed.wait_for(
                lambda: sum(text in line for line in self.lines) >= count, timeout=60.0
            ), self.lines


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def script(tmp_path):
    def make(name: str, text: str) -> Process:
        file = tmp_path / name
        file.write_text(text.format(python=sys.executable))
        file.chmod(0o755)
        return Process(str(file), name=name, package="test", environment={"ROS_DISTRO": "none"})

    return make


def _polite(script, name: str) -> Process:
    # Arguments of ROS that a name brings are nothing to these scripts.
    return script(name, POLITE)


def _is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def test_lines_carry_the_name_of_their_process(script, heard) -> None:
    with Supervisor([_polite(script, "arm_bridge"), _polite(script, "other")], heard):
        heard.wait("runs", 2)
    assert "[arm_bridge] runs" in heard.lines
    assert "[other] runs" in heard.lines


def test_the_bridge_ends_first_and_the_simulator_last(script, heard) -> None:
    names = ("arm_simulator", "kinematics_server", "arm_bridge")
    with Supervisor([_polite(script, name) for name in names], heard):
        heard.wait("runs", 3)
    ends = {
        line.split("]")[0][1:]: int(line.split()[-1]) for line in heard.lines if "ends" in line
    }
    assert ends["arm_bridge"] < ends["kinematics_server"] < ends["arm_simulator"]


def test_a_process_that_dies_is_named_with_its_code(script, heard) -> None:
    dying = script("dying", "#!{python}\nimport sys\nsys.exit(7)\n")
    with Supervisor([_polite(script, "arm_bridge"), dying], heard) as running:
        pids = running.pids
        assert running.wait(StopRequest()) == 1
    assert any("dying ended with exit code 7" in line for line in heard.lines)
    assert not any(_is_alive(pid) for pid in pids.values())


def test_what_only_looks_on_may_end_and_a_node_is_started_again(script, heard) -> None:
    """Closing the window of RViz ended the arms."""
    shown = replace(script("shown", "#!{python}\n"), is_optional=True)
    dying = replace(script("dying", "#!{python}\nimport sys\nsys.exit(7)\n"), respawn=True)
    with Supervisor([_polite(script, "arm_bridge"), shown, dying], heard) as running:
        assert running.wait(StopRequest()) == 1
    assert sum("; the others go on" in line for line in heard.lines) == 1
    assert sum("dying ended with exit code 7; starting it again" in t for t in heard.lines) == 5
    assert any("dying ended with exit code 7; stopping the others" in t for t in heard.lines)


def test_a_process_that_does_not_end_is_killed_within_five_seconds(script, heard) -> None:
    with Supervisor([script("stubborn", STUBBORN)], heard) as running:
        heard.wait("runs")
        (pid,) = running.pids.values()
        begin = time.monotonic()
        running.stop()
        # Generous for a busy machine; what is meant is 5 s.
        assert time.monotonic() - begin < 10.0
    assert not _is_alive(pid)
    assert any("does not end; it is killed" in line for line in heard.lines)


def test_all_that_do_not_end_are_killed_though_nobody_can_be_told(script, heard) -> None:
    """On a full disk the first that was killed was the last."""

    def say(line: str) -> None:
        heard(line)
        raise OSError(errno.ENOSPC, line)

    with Supervisor([script(f"stubborn_{k}", STUBBORN) for k in range(2)], say) as running:
        heard.wait("runs", 2)
        pids = running.pids
    assert sum("does not end; it is killed" in line for line in heard.lines) == 2
    assert not any(_is_alive(pid) for pid in pids.values())


def test_output_is_read_on_when_nobody_takes_it_any_more(script) -> None:
    # More than a pipe holds: whoever writes it would stand still if it were not read.
    talking = script("talking", "#!{python}\nfor k in range(3_000):\n    print(k, 'x' * 50)\n")

    def say(line: str) -> None:
        raise BrokenPipeError(line)

    with Supervisor([talking], say) as running:
        deadline = time.monotonic() + 60.0
        while running.find_ended() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        assert running.find_ended() == ("talking", 0)


def test_a_program_that_is_not_installed_is_named_and_the_others_are_ended(script, heard) -> None:
    missing = Process("rviz2-that-is-not-there", package="rviz2")
    with pytest.raises(MissingExtra, match="rviz2-that-is-not-there"):
        Supervisor([_polite(script, "arm_bridge"), missing], heard).__enter__()


def test_processes_end_when_whoever_started_them_is_killed(tmp_path, script) -> None:
    process = _polite(script, "orphan")
    code = f"""
import sys, time
from dvrk_kinematics.ros.bringup.processes import Process
from dvrk_kinematics.ros.common.interruptions import StopRequest
from dvrk_kinematics.ros.bringup.supervisor import Supervisor
process = Process({process.executable!r}, name="orphan", package="test")
with Supervisor([process], lambda line: print(line, flush=True)) as running:
    print("pid", running.pids["orphan"], flush=True)
    time.sleep(60)
"""
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert parent.stdout is not None
        lines = iter(parent.stdout.readline, "")
        pid = next(int(line.split()[1]) for line in lines if line.startswith("pid"))
        next(line for line in lines if "runs" in line)
        os.kill(parent.pid, signal.SIGKILL)
        deadline = time.monotonic() + 30.0
        while _is_alive(pid) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not _is_alive(pid)
    finally:
        parent.kill()
        parent.communicate()

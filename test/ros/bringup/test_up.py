"""./dvrk up with real processes: the nodes of two arms, ended as a user ends them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytestmark = pytest.mark.ros

START_S = 60.0


class Running:
    """The command, with what it prints."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "dvrk_kinematics.ros.up", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.lines: list[str] = []
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._changed:
                self.lines.append(line)
                self._changed.notify_all()

    def wait(self, text: str, count: int = 1) -> None:
        with self._changed:
            assert self._changed.wait_for(
                lambda: sum(text in line for line in self.lines) >= count, timeout=START_S
            ), "".join(self.lines)

    def children(self) -> list[int]:
        """Ids of the processes that it started."""
        file = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(pid) for pid in file.read_text().split()]

    def end(self, number: int) -> int:
        self.process.send_signal(number)
        code = self.process.wait(timeout=30.0)
        self._reader.join(timeout=10.0)
        return code


@contextmanager
def up(*arguments: str) -> Iterator[Running]:
    running = Running(*arguments)
    try:
        yield running
    finally:
        if running.process.poll() is None:
            running.process.kill()
            running.process.wait()


def _await_gone(pids: list[int]) -> None:
    deadline = time.monotonic() + 20.0
    while any(Path(f"/proc/{pid}").exists() for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]


def test_two_arms_start_and_ctrl_c_ends_everything() -> None:
    with up("--arm", "PSM1", "arm:=PSM2", "prefix:={arm}/") as running:
        running.wait("nothing is sent before", 2)
        pids = running.children()
        assert len(pids) == 5
        assert running.end(signal.SIGINT) == 0, "".join(running.lines)
        _await_gone(pids)
    assert not any("Traceback" in line for line in running.lines), "".join(running.lines)


def test_a_node_that_dies_takes_the_others_along() -> None:
    with up("servers:=false") as running:
        running.wait("nothing is sent before")
        pids = running.children()
        simulator = min(pids)
        os.kill(simulator, signal.SIGKILL)
        running.wait("arm_simulator ended with exit code -9")
        assert running.process.wait(timeout=30.0) == 1
        _await_gone(pids)


def test_a_real_arm_is_called_real() -> None:
    with up("hardware:=dvrk", "servers:=false") as running:
        running.wait("REAL")
        running.wait("nothing is sent before")
        assert running.end(signal.SIGTERM) == 0
    assert not any("arm_simulator" in line for line in running.lines)


def test_what_makes_no_sense_is_one_sentence(capfd) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "dvrk_kinematics.ros.up", "arm:=HAL"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1
    assert result.stderr.startswith("dvrk up: arm: must be one of PSM1")
    assert len(result.stderr.splitlines()) == 1

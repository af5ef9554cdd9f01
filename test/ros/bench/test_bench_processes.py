"""Processes of a benchmark are gone afterwards, whatever happens."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bench import processes as bench

TIMEOUT_S = 60.0
STUBBORN = """\
import signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("deaf", flush=True)
time.sleep(300)
"""
PARENT = """\
import sys, time
from bench.processes import processes
with processes([["bench.loop.bare", "--ticks", sys.argv[1]]]) as (pid,):
    print(pid, flush=True)
    time.sleep(300)
"""


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_what_does_not_end_is_killed_and_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "stubborn.py").write_text(STUBBORN)
    monkeypatch.setattr(bench, "_END_S", 0.5)
    monkeypatch.setattr(bench, "ROOT", tmp_path)
    with (
        pytest.raises(RuntimeError, match=r"processes ended with \[-9\]"),
        bench.processes([["stubborn"]]) as pids,
    ):
        # Deaf from here on: /proc tells that it ignores SIGTERM.
        deadline = time.monotonic() + TIMEOUT_S
        while not ignores_sigterm(pids[0]) and time.monotonic() < deadline:
            time.sleep(0.01)
    assert not is_alive(pids[0])


def ignores_sigterm(pid: int) -> bool:
    status = Path(f"/proc/{pid}/status").read_text()
    ignored = next(line for line in status.splitlines() if line.startswith("SigIgn"))
    return bool(int(ignored.split()[1], 16) >> (signal.SIGTERM - 1) & 1)


def test_what_a_benchmark_raises_is_told_and_nothing_is_left(tmp_path: Path) -> None:
    with (
        pytest.raises(ZeroDivisionError),
        bench.processes([["bench.loop.bare", "--ticks", str(tmp_path / "ticks")]] * 2) as pids,
    ):
        raise ZeroDivisionError
    assert not any(is_alive(pid) for pid in pids)


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGKILL])
def test_a_killed_benchmark_takes_its_processes_along(
    sign: signal.Signals, tmp_path: Path
) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path / "ticks")],
        stdout=subprocess.PIPE,
        text=True,
        cwd=bench.ROOT,
    )
    try:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        os.kill(parent.pid, sign)
        parent.wait(TIMEOUT_S)
        deadline = time.monotonic() + TIMEOUT_S
        while is_alive(child) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not is_alive(child)
    finally:
        parent.kill()
        parent.communicate()

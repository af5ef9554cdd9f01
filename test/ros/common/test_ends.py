"""Every process with a node ends: by itself, or by a watchdog that needs no interpreter lock."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bench.processes import die_with_parent
from dvrk_kinematics.ros.common.end_watchdog import HUNG_ENDS

HERE = Path(__file__).parent
TIMEOUT_S = 60.0
ROUNDS = 50
TOGETHER = 8
END_S = 5.0
"""From the signal to the end of a process, at most."""


def begin(kind: str, folder: Path) -> subprocess.Popen[str]:
    """Start a process that hangs at its end; it is gone after a minute in any case."""
    return subprocess.Popen(
        [sys.executable, str(HERE / "hanging_node.py"), kind],
        env={**os.environ, "ROS_LOG_DIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=die_with_parent,
    )


TEARDOWN = "hanging: leaving the middleware"
START = "dvrk_kinematics: a start that was interrupted"


@pytest.mark.parametrize(
    ("kind", "code", "what"),
    [
        ("node", 0, TEARDOWN),
        ("code", 5, TEARDOWN),
        ("client", 130, f"hanging: interrupted\n{TEARDOWN}"),
        ("start", 1, START),
    ],
)
def test_a_process_that_hangs_when_it_shall_end_is_ended_and_counted(
    kind: str, code: int, what: str, tmp_path: Path
) -> None:
    log = tmp_path / HUNG_ENDS
    log.write_text("Timeout (0:00:01)!\nof an earlier one\n")
    process = begin(kind, tmp_path)
    try:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        told = time.monotonic()
        process.send_signal(signal.SIGINT)
        # A second Ctrl-C of somebody who is impatient changes nothing.
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=TIMEOUT_S)
    finally:
        process.kill()
    assert 1.9 < time.monotonic() - told < END_S
    assert process.returncode == code
    assert said == (f"{what} took more than 2 s; ended with exit code {code}; number 2 in {log}\n")
    assert "hanging_node.py" in log.read_text() and log.read_text().count("Timeout (") == 2


def test_eight_nodes_that_end_together_are_all_gone_in_time(tmp_path: Path) -> None:
    """Fast DDS hung for ever where peers left at the same time."""
    done = subprocess.run(
        [sys.executable, str(HERE / "many_ends.py"), str(ROUNDS)],
        env={**os.environ, "ROS_LOG_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=600.0,
        preexec_fn=die_with_parent,
    )
    assert done.returncode == 0, done.stderr
    rounds = [json.loads(line) for line in done.stdout.splitlines()]
    assert [len(ended) for ended in rounds] == [TOGETHER] * ROUNDS
    bad = [one for ended in rounds for one in ended if one[1] > END_S or one[2] != 0]
    assert not bad, done.stderr

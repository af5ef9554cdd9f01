"""A step shows that it goes on, keeps its log, and leaves no process behind."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bootstrap import steps
from bootstrap.problems import Problem
from bootstrap.steps import run_step

# The step reports the processes of its group, one of which takes no polite hint, and when the
# hint came.
RUN = """
import os, sys
from pathlib import Path
from bootstrap import children
from bootstrap.steps import run_step
reports, log, patience = sys.argv[1:]
children._PATIENCE_S = float(patience)
script = (
    "trap 'echo asked > REPORTS' TERM; "
    "(trap '' TERM; exec sleep 300) & echo $! > REPORTS; echo $$ > REPORTS; wait; wait"
).replace("REPORTS", reports)
try:
    run_step("wait", ["sh", "-c", script], Path(log), os.environ, Path.cwd(), 1)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.exit(130)
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "logs" / "step.log"


def run_shell(script: str, log: Path) -> None:
    run_step("try it", ["sh", "-c", script], log, os.environ, log.parent.parent, 1)


def test_a_step_without_a_terminal_says_when_it_begins_and_how_long_it_took(
    log: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run_shell("echo output; echo error >&2", log)
    out, err = capfd.readouterr()
    assert out == ""
    assert err.splitlines() == ["dvrk: try it ...", "dvrk: try it: 0 s"]
    assert log.read_text().splitlines()[1:] == ["output", "error"]


def test_a_long_step_without_a_terminal_says_that_it_is_alive(
    log: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "_QUIET_SECONDS", 0.1)
    run_shell("sleep 0.7", log)
    assert "dvrk: try it: 0 s so far" in capfd.readouterr().err.splitlines()


def test_a_step_on_a_terminal_shows_the_last_line_of_its_log(tmp_path: Path) -> None:
    code = (
        "import os; from pathlib import Path; from bootstrap.steps import run_step; "
        "run_step('try it', ['sh', '-c', 'printf \"\\\\033[32mCollecting numpy\\\\033[0m\\\\n\"; "
        "sleep 0.7'], Path('step.log'), os.environ, Path.cwd(), 1)"
    )
    ours, theirs = pty.openpty()
    environ = {**os.environ, "PYTHONPATH": str(Path(steps.__file__).parents[1])}
    subprocess.run(
        [sys.executable, "-c", code], stderr=theirs, cwd=tmp_path, env=environ, check=True
    )
    os.close(theirs)
    shown = os.read(ours, 10_000).decode()
    os.close(ours)
    assert "dvrk: try it: 0 s  Collecting numpy" in shown
    assert shown.endswith("s\r\n")
    assert "\x1b[32m" not in shown


def test_a_failed_step_names_its_log_and_shows_its_end(log: Path) -> None:
    with pytest.raises(Problem) as told:
        run_shell("echo the reason; exit 3", log)
    assert str(told.value).startswith(f"cannot try it; the whole log is {log}")
    assert str(told.value).endswith("| the reason")


def test_a_command_that_is_not_there_is_a_problem_and_not_a_traceback(log: Path) -> None:
    with pytest.raises(Problem, match=r"No such file or directory.*remove \.venv and start again"):
        run_step("try it", ["./absent"], log, os.environ, log.parent.parent, 1)


def test_what_a_failed_step_has_left_running_is_ended(
    log: Path, reports: Any, ended: Callable[[int], bool]
) -> None:
    with pytest.raises(Problem):
        run_shell(f"sleep 300 & echo $! > {reports.path}; exit 1", log)
    assert ended(int(reports.next()))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_stopped_step_leaves_no_process_behind(
    tmp_path: Path, start: Any, reports: Any, ended: Callable[[int], bool], number: int
) -> None:
    process = start(RUN, reports.path, tmp_path / "step.log", 0.3)
    children = [int(reports.next()) for _ in range(2)]
    process.send_signal(number)
    assert reports.next() == "asked"
    out, err = process.communicate(timeout=30)
    assert (out, process.returncode) == ("interrupted\n", 130)
    assert "Traceback" not in err
    assert all(ended(child) for child in children)


def test_a_second_ctrl_c_ends_the_patience_and_still_leaves_no_process_behind(
    tmp_path: Path, start: Any, reports: Any, ended: Callable[[int], bool]
) -> None:
    process = start(RUN, reports.path, tmp_path / "step.log", 1000)
    children = [int(reports.next()) for _ in range(2)]
    process.send_signal(signal.SIGINT)
    assert reports.next() == "asked"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=30)[0] == "interrupted\n"
    assert all(ended(child) for child in children)


def test_a_step_holds_the_lock_that_it_is_given(log: Path, tmp_path: Path) -> None:
    descriptor = os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT)
    try:
        run_step(
            "try it",
            ["sh", "-c", f"test -e /proc/self/fd/{descriptor}"],
            log,
            os.environ,
            tmp_path,
            descriptor,
        )
    finally:
        os.close(descriptor)
    assert log.exists()

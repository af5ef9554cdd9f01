"""Commands that ./dvrk runs on the terminal end in their own way, and it waits for them."""

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

from bootstrap.children import run_command, take_stop_signals

# The child cleans up for as long as somebody reads, as pytest does with its processes.
RUN = """
import os, sys
from pathlib import Path
from bootstrap.children import run_command
reports = sys.argv[1]
child = '''
import os, sys, time
pipe = os.open(sys.argv[1], os.O_WRONLY)
def report(word):
    os.write(pipe, f"{word}\\\\n".encode())  # a file object may swallow an interrupt as it closes
try:
    report(os.getpid())
    time.sleep(300)
except KeyboardInterrupt:
    report("cleaning up")
    time.sleep(0.6)
    report("clean")
'''
try:
    run_command([sys.executable, "-c", child, reports], Path.cwd(), os.environ)
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.mark.parametrize(("script", "code"), [("exit 0", 0), ("exit 5", 5), ("kill -9 $$", 137)])
def test_the_exit_code_is_the_commands_own(tmp_path: Path, script: str, code: int) -> None:
    assert run_command(["sh", "-c", script], tmp_path, os.environ) == code


def test_the_command_runs_in_its_folder_and_environment(tmp_path: Path) -> None:
    run_command(["/bin/sh", "-c", 'pwd > "$NAME"'], tmp_path, {"NAME": "told"})
    assert (tmp_path / "told").read_text().strip() == str(tmp_path.resolve())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_is_passed_on_and_the_cleaning_up_awaited(
    start: Any, reports: Any, ended: Callable[[int], bool], number: int
) -> None:
    process = start(RUN, reports.path)
    child = int(reports.next())
    process.send_signal(number)
    assert [reports.next() for _ in range(2)] == ["cleaning up", "clean"]
    assert process.wait() == 130
    assert ended(child)


def test_a_ctrl_c_on_the_terminal_reaches_the_command_once(tmp_path: Path, reports: Any) -> None:
    ours, theirs = pty.openpty()
    program = f"import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n{RUN}"
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(reports.path)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=tmp_path,
        env=environ,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        reports.next()
        os.write(ours, b"\x03")
        assert [reports.next() for _ in range(2)] == ["cleaning up", "clean"]
        assert process.wait() == 130
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def test_handlers_are_put_back_and_ignored_signals_stay_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    taken: list[int] = []
    try:
        interrupt = signal.getsignal(signal.SIGINT)
        with take_stop_signals(lambda number, _: taken.append(number)):
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
            signal.raise_signal(signal.SIGTERM)
        assert signal.getsignal(signal.SIGINT) is interrupt
    finally:
        signal.signal(signal.SIGHUP, before)
    assert taken == [signal.SIGTERM]

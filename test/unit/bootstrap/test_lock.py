"""One ./dvrk at a time changes a clone, whatever happens to the others."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

HOLD = """
import sys
from pathlib import Path
from bootstrap.lock import hold_lock
lock, reports, name = sys.argv[1:]
with hold_lock(Path(lock)):
    Path(reports).open("w").write(f"{name} holds\\n")
    Path(f"{lock}.{name}").open().read()
    Path(reports).open("w").write(f"{name} lets go\\n")
"""

ORPHAN = """
import subprocess, sys
from pathlib import Path
from bootstrap.lock import hold_lock
lock, reports = sys.argv[1:]
with hold_lock(Path(lock)) as descriptor:
    script = f"echo $$ > '{reports}'; read word < '{lock}.orphan'; echo orphan ends > '{reports}'"
    subprocess.run(["sh", "-c", script], pass_fds=[descriptor], start_new_session=True)
"""


def test_the_second_waits_for_the_first_and_says_so(
    tmp_path: Path, start: Any, reports: Any
) -> None:
    lock = tmp_path / "work" / "lock"
    lock.parent.mkdir()
    for name in ("first", "second"):
        os.mkfifo(f"{lock}.{name}")
    first = start(HOLD, lock, reports.path, "first")
    assert reports.next() == "first holds"
    second = start(HOLD, lock, reports.path, "second")
    assert "another ./dvrk prepares this clone; waiting for it" in second.stderr.readline()

    Path(f"{lock}.first").open("w").close()
    assert [reports.next() for _ in range(2)] == ["first lets go", "second holds"]
    Path(f"{lock}.second").open("w").close()
    assert reports.next() == "second lets go"
    assert (first.wait(), second.wait()) == (0, 0)
    assert first.stderr.read() == ""


def test_a_killed_holder_leaves_nothing_to_clean_up(
    tmp_path: Path, start: Any, reports: Any
) -> None:
    lock = tmp_path / "lock"
    for name in ("killed", "next"):
        os.mkfifo(f"{lock}.{name}")
    holder = start(HOLD, lock, reports.path, "killed")
    assert reports.next() == "killed holds"
    holder.kill()
    start(HOLD, lock, reports.path, "next")
    assert reports.next() == "next holds"


def test_the_orphan_of_a_killed_parent_keeps_the_lock_until_it_ends(
    tmp_path: Path, start: Any, reports: Any, ended: Callable[[int], bool]
) -> None:
    lock = tmp_path / "lock"
    for name in ("orphan", "next"):
        os.mkfifo(f"{lock}.{name}")
    parent = start(ORPHAN, lock, reports.path)
    orphan = int(reports.next())
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()

    following = start(HOLD, lock, reports.path, "next")
    assert "waiting for it" in following.stderr.readline()
    Path(f"{lock}.orphan").open("w").close()
    assert [reports.next() for _ in range(2)] == ["orphan ends", "next holds"]
    assert ended(orphan)


def test_an_interrupt_ends_the_waiting(tmp_path: Path, start: Any, reports: Any) -> None:
    lock = tmp_path / "lock"
    os.mkfifo(f"{lock}.first")
    start(HOLD, lock, reports.path, "first")
    assert reports.next() == "first holds"
    second = start(HOLD, lock, reports.path, "second")
    assert "waiting for it" in second.stderr.readline()
    second.send_signal(signal.SIGINT)
    assert second.wait() != 0

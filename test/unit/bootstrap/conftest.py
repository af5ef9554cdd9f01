"""What the tests of ./dvrk share: a small clone, processes that report, and their ends."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
TIMEOUT_S = 30.0


@dataclass
class Reports:
    """A named pipe on which processes of any depth tell the test what they have reached."""

    path: Path
    _source: int = -1
    _pending: str = ""

    def open(self) -> None:
        """Make the pipe. Open in both directions, so that it never reports an end."""
        os.mkfifo(self.path)
        self._source = os.open(self.path, os.O_RDWR | os.O_NONBLOCK)

    def close(self) -> None:
        """Close the pipe."""
        os.close(self._source)

    def next(self) -> str:
        """The next line that somebody writes."""
        while "\n" not in self._pending:
            ready, _, _ = select.select([self._source], [], [], TIMEOUT_S)
            assert ready, f"nothing was reported within {TIMEOUT_S} s"
            self._pending += os.read(self._source, 4096).decode()
        line, self._pending = self._pending.split("\n", 1)
        return line


@dataclass
class Starter:
    """Starts Python snippets that import bootstrap, and ends whatever is left of them."""

    folder: Path
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    def __call__(self, code: str, *arguments: object) -> subprocess.Popen[str]:
        """Start a snippet in a process group of its own."""
        process = subprocess.Popen(
            [sys.executable, "-c", code, *map(str, arguments)],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.started.append(process)
        return process

    def end_all(self) -> None:
        """End what still runs."""
        for process in self.started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


def has_ended(pid: int) -> bool:
    """Wait until a process, anybody's child, has ended; false if it does not."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], TIMEOUT_S)[0])
    finally:
        os.close(descriptor)


@pytest.fixture
def ended() -> Callable[[int], bool]:
    """Waits for the end of a process that need not be a child of this one."""
    return has_ended


@pytest.fixture
def reports(tmp_path: Path) -> Iterator[Reports]:
    """A named pipe for reports."""
    pipe = Reports(tmp_path / "reports")
    pipe.open()
    yield pipe
    pipe.close()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Starter]:
    """Starts Python snippets."""
    starter = Starter(tmp_path)
    yield starter
    starter.end_all()


@pytest.fixture
def small_clone(tmp_path: Path) -> Path:
    """A copy of the files that ./dvrk itself consists of."""
    root = tmp_path / "clone"
    root.mkdir()
    for name in ("dvrk", "package.xml"):
        shutil.copy2(ROOT / name, root / name)
    for folder in ("bootstrap", "requirements", "interfaces"):
        shutil.copytree(ROOT / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__"))
    (root / "bench" / "loop").mkdir(parents=True)
    (root / "bench" / "loop" / "__main__.py").touch()
    return root

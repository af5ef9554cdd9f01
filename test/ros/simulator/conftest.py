"""Shared by the tests of the arm simulator: real processes, one for each module."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from bench.processes import die_with_parent
from dvrk_kinematics.ros.bringup.processes import Process, command_line

# Test modules are imported one by one, not as a package: what they share is found here.
sys.path.insert(0, str(Path(__file__).parent))

Run = Callable[[Process], subprocess.Popen[str]]


@contextmanager
def running(process: Process) -> Iterator[subprocess.Popen[str]]:
    """A process that ends with the with-block, and must end cleanly."""
    started = subprocess.Popen(
        command_line(process),
        env={**os.environ, **process.environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=die_with_parent,
    )
    try:
        yield started
    finally:
        started.terminate()
        try:
            output, _ = started.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            started.kill()
            output, _ = started.communicate()
    assert started.returncode == 0, output


@pytest.fixture(scope="module")
def run(own_domain: None) -> Iterator[Run]:
    """Starts processes that run until the module's tests are over."""
    with ExitStack() as stack:
        yield lambda process: stack.enter_context(running(process))

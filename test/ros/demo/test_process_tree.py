"""Who has started whom."""

from __future__ import annotations

import os
import subprocess
import sys

from dvrk_kinematics.ros.demo.trace_block_o import descends_from


def test_children_and_theirs_descend_from_us_and_not_the_other_way_round() -> None:
    script = "import os, subprocess, sys; print(os.getpid(), flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", script]
    # A shell in between, which must not become the program itself.
    nested = ["sh", "-c", f"'{sys.executable}' -c '{script}'; true"]
    for line in (command, nested):
        with subprocess.Popen(
            line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as child:
            assert child.stdout is not None
            process = int(child.stdout.readline())
            assert descends_from(process, os.getpid())
            assert not descends_from(os.getpid(), process)
            assert descends_from(process, process)


def test_a_process_that_is_gone_descends_from_nobody() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        pass
    assert not descends_from(child.pid, os.getpid())

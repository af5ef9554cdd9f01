"""The executable trace_block_o as a user runs and interrupts it."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from command_log import CommandLog
from observer import until
from running_command import RunningCommand, running

from bench.processes import die_with_parent
from dvrk_kinematics import load_arm
from dvrk_kinematics.ros.bringup.processes import Process, simulated_arms

pytestmark = pytest.mark.ros

TRACE = "dvrk_kinematics.ros.demo.trace_block_o"
ACTION = "trajectory/PSM1/trace_block_o"


class Rig:
    """An arm with its bridge and server."""

    def __init__(self, run: Any, node: Any) -> None:
        self.sent = CommandLog(node, "PSM1/", load_arm("PSM"), lambda: None)
        self.simulator = run(simulated_arms(["PSM1"]))
        self.bridge = run(Process("arm_bridge", parameters={"arm": "PSM1"}))
        self.server = run(Process("trajectory_server"))

    def check_rest(self) -> None:
        """Check that nothing moves the arm any more, long before the figure would have ended."""
        begin_s = time.monotonic()
        until(lambda: self.sent.quiet_s() > 0.5, "the end of the motion")
        assert time.monotonic() - begin_s < 10.0, "it was traced to its end, which takes 25 s"


@pytest.fixture(scope="module")
def rig(run: Any, node: Any) -> Rig:
    return Rig(run, node)


@pytest.fixture
def tracing(rig: Rig) -> Iterator[RunningCommand]:
    """A figure whose arm moves."""
    with running(TRACE, "--scale", "0.3", "--bring-up") as command:
        command.wait("tracing   0 %")
        yield command


def check_interrupted(command: RunningCommand) -> None:
    assert "Traceback" not in command.output, command.output
    # Last of its own; a middleware that hangs at the end is a watchdog's, and adds its line.
    said = [line for line in command.output.splitlines() if "leaving the middleware" not in line]
    assert said[-1] == "trace_block_o: interrupted", command.output


def test_it_says_what_it_waits_for_and_can_be_interrupted_meanwhile(own_domain: None) -> None:
    with running(TRACE, "--arm", "PSM3") as command:
        command.wait(f"waiting for the action {ACTION.replace('PSM1', 'PSM3')} (up to 60 s)")
        assert command.signal(signal.SIGINT) == 130
        check_interrupted(command)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_figure_that_is_interrupted_is_cancelled(
    rig: Rig, tracing: RunningCommand, number: int
) -> None:
    assert tracing.signal(number) == 128 + number
    assert f"{ACTION}: cancelling the goal\n" in tracing.output
    assert "is not known" not in tracing.output
    check_interrupted(tracing)
    rig.check_rest()


def test_whoever_interrupts_twice_does_not_wait(rig: Rig, tracing: RunningCommand) -> None:
    rig.bridge.freeze()
    try:
        tracing.process.send_signal(signal.SIGINT)
        tracing.wait("cancelling the goal")
        assert tracing.signal(signal.SIGINT) == 130
    finally:
        rig.bridge.thaw()
    check_interrupted(tracing)
    rig.check_rest()


def sit_at(terminal: int) -> None:
    """In a child, before it runs: a terminal is its own, and a closed one ends it."""
    die_with_parent()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    # Whoever runs the tests may have set it aside, as nohup does.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def test_a_figure_whose_terminal_is_closed_is_cancelled(rig: Rig) -> None:
    """What it then had to say failed, and it ended before it had asked for the arm's stop."""
    master, slave = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", TRACE, "--scale", "0.3", "--bring-up"],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        preexec_fn=partial(sit_at, slave),
    )
    os.close(slave)
    try:
        shown = b""
        while b"tracing [" not in shown:
            shown += os.read(master, 4096)
        until(lambda: rig.sent.quiet_s() < 0.5, "the motion")
        os.close(master)
        assert process.wait(60.0) == 128 + signal.SIGHUP, shown.decode()
    finally:
        process.kill()
        process.wait()
    rig.check_rest()


def test_a_server_that_is_killed_ends_it_with_a_sentence(
    rig: Rig, tracing: RunningCommand
) -> None:
    rig.server.kill()
    assert tracing.end() == 1
    assert f"trace_block_o: {ACTION}: the server went away within" in tracing.output
    assert "Traceback" not in tracing.output
    rig.bridge.end()
    rig.check_rest()

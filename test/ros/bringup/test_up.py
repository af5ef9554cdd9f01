"""./dvrk up with real processes, ended as a user ends them."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from functools import partial

import pytest
from command_log import CommandLog
from observer import FramesObserver, Observer, until
from running_command import await_gone, running
from std_srvs.srv import Trigger

from dvrk_kinematics import load_arm
from dvrk_kinematics.errors import CallFailed
from dvrk_kinematics.ros.bringup.processes import Process, simulated_arms
from dvrk_kinematics.ros.client.calls import call
from dvrk_kinematics.ros.client.heard_diagnostics import HeardDiagnostics
from dvrk_kinematics.ros.common.end_times import END_S
from dvrk_kinematics.ros.common.patience import ANSWER_S
from dvrk_kinematics.ros.demo.block_o_client import BlockOClient, TracedFigure

pytestmark = pytest.mark.ros

UP = "dvrk_kinematics.ros.bringup.up"
TIMEOUT_S = 60.0
READY = "nothing is sent before bridge/"
"""What a bridge says when it is there; ``up`` itself says it in other words."""

UP_AND_READY = "home: homed"
"""What the bridge of a simulated arm says when it has enabled and homed it by itself."""


def _end(command, number: int) -> None:
    """End the command as a user does: all processes end by themselves, none at its last moment."""
    pids = command.children()
    begin = time.monotonic()
    assert command.signal(number) == 0, command.output
    assert time.monotonic() - begin < END_S
    assert "it is killed" not in command.output
    assert "Traceback" not in command.output, command.output
    await_gone(pids)


def test_two_arms_are_shown_with_their_prefixes_and_recorded_in_a_namespace(
    node, tmp_path
) -> None:
    frames = FramesObserver(node)
    shown = {arm: Observer(node, f"lab/{arm}", frames=frames) for arm in ("PSM1", "PSM2")}
    told = ("prefix:={arm}/", "namespace:=lab", "record:=true", f"output:={tmp_path / 'bag'}")
    with running(UP, "--arm", "PSM1", "arm:=PSM2", *told, "rviz:=true") as command:
        if shutil.which("rviz2") is None:
            command.wait("rviz2 is not installed; going on without it")
        command.wait("started")
        command.wait("next, in another terminal: ./dvrk arm PSM1 status --namespace lab")
        assert len(command.children()) == 6
        command.wait(UP_AND_READY, 2)
        command.wait("recording")
        for arm, observer in shown.items():
            assert f'<link name="{arm}/tip"' in observer.description()
            until(
                lambda arm=arm: f"{arm}/tip" in frames.children() | set(frames.fixed()),
                f"links of {arm} on tf",
            )
            assert f"{arm}_tip" not in frames.children() | set(frames.fixed())
        # Twice, as impatient people press it.
        command.process.send_signal(signal.SIGINT)
        _end(command, signal.SIGINT)
    assert (tmp_path / "bag" / "metadata.yaml").is_file()


def test_an_arm_comes_up_at_the_lowest_rate_that_is_accepted() -> None:
    """From 10 to below 20 Hz the simulator ended at once."""
    with running(UP, "--rate", "10", "servers:=false") as command:
        command.wait(UP_AND_READY)
        _end(command, signal.SIGINT)


def test_a_node_that_dies_takes_the_others_along(node) -> None:
    with running(UP, "arm:=RVM1") as command:
        command.wait("started")
        pids = command.children()
        for name in ("bridge/RVM1/enable", "kinematics/RVM1/solve_ik"):
            until(
                lambda name=name: any(
                    found == f"/{name}" for found, _ in node.get_service_names_and_types()
                ),
                name,
            )
        os.kill(command.find("executables arm_simulator"), signal.SIGKILL)
        command.wait("arm_simulator ended with exit code -9")
        assert command.end() == 1
        await_gone(pids)


def test_closing_rviz_ends_no_bridge(node, tmp_path, monkeypatch) -> None:
    """The program stands in for RViz, whose window is closed when it is told to end."""
    stand_in = tmp_path / "rviz2"
    stand_in.write_text("#!/bin/sh\necho shown\nexec sleep 600\n")
    stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with running(UP, "rviz:=true", "servers:=false") as command:
        command.wait("[rviz2] shown")
        command.wait(UP_AND_READY)
        os.kill(command.find("sleep 600"), signal.SIGTERM)
        command.wait("rviz2 ended with exit code -15; the others go on")
        hold = node.create_client(Trigger, "bridge/PSM1/hold")
        answer = call(hold, Trigger.Request(), TIMEOUT_S)
        assert answer.success, answer.message
        assert len(command.children()) == 2
        _end(command, signal.SIGINT)


def test_a_bridge_that_is_killed_while_it_moves_ends_all_with_its_name(node) -> None:
    """They were still there 2 s later, the server waiting for a bridge that was gone."""
    with running(UP) as command:
        command.wait(UP_AND_READY)
        pids = command.children()
        client = BlockOClient(node, "PSM1")
        moving = threading.Event()

        def hear(feedback) -> None:
            if feedback.progress > 0.01 and not moving.is_set():
                moving.set()
                os.kill(command.find("executables arm_bridge"), signal.SIGKILL)

        assert "went away" in _trace(client, hear)
        command.wait("bridge_PSM1 ended with exit code -9; stopping the others")
        begin = time.monotonic()
        assert command.end() == 1
        assert time.monotonic() - begin < END_S
        assert "it is killed" not in command.output
        await_gone(pids)
        client.close()


def _trace(client: BlockOClient, hear) -> str:
    """Trace, and tell why that failed: by the server's word, or by its end if that comes first."""
    try:
        result = client.trace(TracedFigure(scale=0.2), hear)
    except CallFailed as error:
        return str(error)
    assert not result.success
    return str(result.message)


def test_a_real_arm_hears_nothing_before_it_is_enabled(run, node) -> None:
    run(simulated_arms(["PSM1"], "real"))
    sent = CommandLog(node, "real/PSM1/", load_arm("PSM"), lambda: None)
    diagnostics = HeardDiagnostics(node, "real")
    with running(UP, "hardware:=dvrk", "servers:=false", "namespace:=real") as command:
        command.wait("PSM1 are REAL arms; nothing is sent before enable")
        command.wait(READY)
        assert len(command.children()) == 1
        until(lambda: sent.is_connected, "the bridge's commands")

        def is_connected() -> bool:
            line = diagnostics.newest("bridge_PSM1: PSM1 connection")
            return line is not None and line.values.get("state") == "DISABLED"

        until(is_connected, "the bridge hears the arm")
        assert sent.is_silent()
        enable = node.create_client(Trigger, "real/bridge/PSM1/enable")
        answer = call(enable, Trigger.Request(), TIMEOUT_S)
        assert answer.success, answer.message
        assert sent.words() == ["enable"]
        _end(command, signal.SIGTERM)


def test_below_nohup_the_arms_go_on_when_the_terminal_is_closed(node) -> None:
    """Nobody reads what is printed any more, and SIGHUP comes: ``up`` once ended by that."""
    command = [sys.executable, "-m", UP, "servers:=false", "arm:=PSM3", "bring_up:=false"]
    # Buffered, as a user's is: what could not be written must not fail at the end, either.
    environ = {**os.environ, "PYTHONUNBUFFERED": ""}
    nohup = partial(signal.signal, signal.SIGHUP, signal.SIG_IGN)
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=environ, preexec_fn=nohup
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("started")
        process.stdout.close()
        process.send_signal(signal.SIGHUP)
        enable = node.create_client(Trigger, "bridge/PSM3/enable")
        # A bridge that cannot find its arm says so then, where nobody can read what it prints.
        answer = call(enable, Trigger.Request(), ANSWER_S)
        assert answer.success, answer.message
        process.send_signal(signal.SIGINT)
        assert process.wait(TIMEOUT_S) == 0
    finally:
        process.kill()
        process.wait()


def test_killed_during_its_start_it_leaves_nothing_behind() -> None:
    with running(UP, "servers:=false") as command:
        command.wait("started")
        pids = command.children()
        command.process.kill()
        await_gone(pids)


def test_a_terminal_that_is_closed_ends_all(node) -> None:
    with running(UP, "arm:=PSM2", "servers:=false") as command:
        command.wait(UP_AND_READY)
        _end(command, signal.SIGHUP)


@pytest.mark.parametrize("killed", ["up", "executables arm_bridge", "executables arm_simulator"])
def test_whatever_is_killed_while_all_end_nothing_is_left(killed) -> None:
    with running(UP, "servers:=false", "bring_up:=false") as command:
        command.wait("started")
        command.wait(READY)
        pids = command.children()
        victim = command.process.pid if killed == "up" else command.find(killed)
        command.process.send_signal(signal.SIGINT)
        # Whatever comes first: it may have ended by now.
        with contextlib.suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)
        assert command.end() == (-signal.SIGKILL if killed == "up" else 0), command.output
        assert "Traceback" not in command.output
        await_gone(pids)


def test_a_second_system_with_the_same_arms_ends_in_a_sentence(run) -> None:
    run(simulated_arms(["ECM"]))
    first = run(Process("arm_bridge", name="first", parameters={"arm": "ECM"}))
    until(lambda: READY in first.output, "the first bridge")
    with running(UP, "servers:=false", "arm:=ECM") as command:
        assert command.end() == 1
        assert re.search(r"another (simulator|bridge) of ECM \(process \d+\)", command.output)
        assert "ended with exit code 1; stopping the others" in command.output
    assert first.is_running and "enable" not in first.output.replace("ECM/enable", "")


def test_what_makes_no_sense_is_one_sentence() -> None:
    with running(UP, "arm:=HAL") as command:
        assert command.end() == 1
    assert command.output.startswith("dvrk up: arm: must be one of PSM1")
    assert len(command.output.splitlines()) == 1

"""``ros2 launch`` itself, with real processes, ended in every way that a user ends it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from command_log import CommandLog
from observer import until
from ros2_tools import HAS_LAUNCH, ROOT, install, launch_command, without_colour
from running_command import RunningCommand, await_gone, running_command
from tf2_msgs.msg import TFMessage

from dvrk_kinematics import load_arm
from dvrk_kinematics.ros.bringup.system_arguments import ARGUMENTS
from dvrk_kinematics.ros.common import qos

pytestmark = [
    pytest.mark.ros,
    pytest.mark.skipif(not HAS_LAUNCH, reason="no ros2 launch; DVRK_ROS_TOOLS can name a prefix"),
]

UP_AND_READY = "home: homed"
Launch = Callable[..., AbstractContextManager[RunningCommand]]


@pytest.fixture(scope="module")
def environ(tmp_path_factory: pytest.TempPathFactory, own_domain: None) -> dict[str, str]:
    return without_colour(install(tmp_path_factory.mktemp("installed") / "prefix"))


@pytest.fixture
def launch(environ: dict[str, str]) -> Iterator[Launch]:
    def start(file: str, *arguments: str) -> AbstractContextManager[RunningCommand]:
        return running_command(launch_command(file, *arguments), environ)

    yield start


def _wait_started(command: RunningCommand, count: int) -> list[int]:
    command.wait("process started with pid", count)
    pids = [int(pid) for pid in re.findall(r"process started with pid \[(\d+)\]", command.output)]
    assert len(pids) == count
    return pids


def _is_importing(pid: int) -> bool:
    """Whether a process has come as far as loading libraries."""
    try:
        return "/numpy/" in Path(f"/proc/{pid}/maps").read_text()
    except OSError:
        return True


def test_the_arguments_are_shown_with_what_they_mean(environ) -> None:
    told = [*launch_command("arm.launch.py"), "--show-args"]
    shown = subprocess.run(told, env=environ, capture_output=True, text=True, timeout=120.0)
    assert shown.returncode == 0, shown.stderr
    for argument in ARGUMENTS:
        assert f"'{argument.name}':" in shown.stdout and argument.help in shown.stdout


def test_an_arm_comes_up_is_recorded_and_ends_with_one_ctrl_c(launch, tmp_path) -> None:
    bag = tmp_path / "bag"
    told = ("rviz:=True", "record:=1", f"output:={bag}")
    with launch("arm.launch.py", *told) as command:
        pids = _wait_started(command, 5)
        assert "rviz2 is not installed; going on without it" in command.output or "[rviz2-" in (
            command.output
        )
        assert "[record-5]" in command.output and "[bridge_PSM1-2]" in command.output
        command.wait(UP_AND_READY)
        command.wait("recording")
        command.signal_all(signal.SIGINT)
        assert command.end() == 0, command.output
    assert "Traceback" not in command.output, command.output
    assert command.output.count("process has finished cleanly") == 5, command.output
    await_gone(pids)
    assert (bag / "metadata.yaml").is_file()


def test_two_ctrl_c_during_the_start_end_all_without_a_traceback(launch) -> None:
    with launch("arm.launch.py") as command:
        pids = _wait_started(command, 4)
        # launch itself loses a Ctrl-C that comes while it notes what it has started.
        until(lambda: all(map(_is_importing, pids)), "processes that import")
        command.signal_all(signal.SIGINT)
        command.signal_all(signal.SIGINT)
        command.end()
    await_gone(pids)
    assert "in <module>" not in command.output, command.output


@pytest.mark.parametrize(
    ("number", "is_told_to_all"),
    [(signal.SIGTERM, False), (signal.SIGKILL, False), (signal.SIGHUP, True)],
    ids=["SIGTERM", "SIGKILL", "terminal closed"],
)
def test_however_the_launch_ends_nothing_is_left(launch, number, is_told_to_all) -> None:
    with launch("arm.launch.py", "servers:=false") as command:
        pids = _wait_started(command, 2)
        command.wait(UP_AND_READY)
        if is_told_to_all:
            command.signal_all(number)
        else:
            command.process.send_signal(number)
        assert command.process.wait(60.0) != 0
        await_gone(pids)


def test_killed_while_its_processes_still_import_nothing_is_left(launch) -> None:
    with launch("arm.launch.py", "servers:=false") as command:
        pids = _wait_started(command, 2)
        command.process.kill()
        await_gone(pids)


def test_a_bridge_that_is_killed_ends_the_launch_with_its_name(launch) -> None:
    with launch("arm.launch.py") as command:
        pids = _wait_started(command, 4)
        command.wait(UP_AND_READY)
        os.kill(command.find("/arm_bridge"), signal.SIGKILL)
        assert command.end() == 1
    assert "bridge_PSM1 ended with exit code -9; stopping the others" in command.output
    await_gone(pids)


def test_closing_rviz_ends_no_bridge(environ, tmp_path) -> None:
    """The program stands in for RViz, whose window is closed when it is told to end."""
    stand_in = tmp_path / "rviz2"
    stand_in.write_text("#!/bin/sh\necho shown\nexec sleep 600\n")
    stand_in.chmod(0o755)
    told = launch_command("arm.launch.py", "rviz:=true", "servers:=false")
    path = f"{tmp_path}:{environ['PATH']}"
    with running_command(told, {**environ, "PATH": path}) as command:
        pids = _wait_started(command, 3)
        command.wait("shown")
        command.wait(UP_AND_READY)
        os.kill(command.find("sleep 600"), signal.SIGTERM)
        command.wait("rviz2 ended with exit code -15; the others go on")
        assert command.find("/arm_bridge"), "it was ended too"
        command.signal_all(signal.SIGINT)
        assert command.end() == 0, command.output
    await_gone(pids)


def test_a_server_that_is_killed_ends_the_launch_with_its_name(launch) -> None:
    with launch("arm.launch.py") as command:
        pids = _wait_started(command, 4)
        command.wait(UP_AND_READY)
        os.kill(command.find("/trajectory_server"), signal.SIGKILL)
        assert command.end() == 1
    assert "trajectory_server ended with exit code -9; stopping the others" in command.output
    await_gone(pids)


def test_a_node_that_dies_at_its_start_ends_the_launch_with_its_name(launch, tmp_path) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text("bridge_PSM1: {ros__parameters: {velocity_scale: 7.0}}\n")
    with launch("arm.launch.py", f"params_file:={file}", "servers:=false") as command:
        pids = _wait_started(command, 2)
        assert command.end() == 1
    assert "velocity_scale" in command.output
    assert "bridge_PSM1 ended with exit code 1; stopping the others" in command.output
    await_gone(pids)


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        (["params_file:={folder}/flat.yaml"], "has no ros__parameters at 'velocity_scale'"),
        (["hardware:=dvrk", "bring_up:=true"], "a real arm is brought up by the person"),
        (["arm:=PSM1,HAL"], "arm: must be one of PSM1"),
        (["brign_up:=false"], "brign_up: is no argument; did you mean bring_up? there are: arm"),
        (["arm:=PSM1,PSM2", "prefix:=none"], "PSM1 and PSM2 would share the names of their links"),
    ],
)
def test_what_makes_no_sense_is_one_sentence_and_nothing_starts(
    launch, tmp_path, told, sentence
) -> None:
    (tmp_path / "flat.yaml").write_text("velocity_scale: 0.1\n")
    with launch("arm.launch.py", *(text.format(folder=tmp_path) for text in told)) as command:
        assert command.end() == 1
    assert sum(sentence in line for line in command.output.splitlines()) == 1, command.output
    assert "process started" not in command.output and "Traceback" not in command.output


def test_a_node_is_started_again_where_that_was_asked_for(launch) -> None:
    with launch("arm.launch.py", "servers:=false", "respawn:=true") as command:
        _wait_started(command, 2)
        command.wait(UP_AND_READY)
        os.kill(command.find("/arm_bridge"), signal.SIGKILL)
        command.wait("bridge_PSM1 ended with exit code -9; starting it again (1 of 5)")
        command.wait(UP_AND_READY, 2)
        pids = _wait_started(command, 3)
        command.signal_all(signal.SIGINT)
        assert command.end() == 0
    await_gone(pids)


def test_the_block_o_tells_line_by_line_how_far_it_is(launch) -> None:
    """Once it was 39 s of nothing, and then one line of 18 kB."""
    with launch("block_o.launch.py", "scale:=0.2") as command:
        pids = _wait_started(command, 5)
        command.wait("tracing ", 3)
        assert command.find("/trace_block_o"), "it traces while it tells"
        command.wait("[trace_block_o-5]: process has finished cleanly")
        command.signal_all(signal.SIGINT)
        assert command.end() == 0, command.output
    await_gone(pids)
    told = [line for line in command.output.split("\n") if line.startswith("[trace_block_o-5]")]
    assert any("tracing 100 %" in line for line in told)
    assert not any("\r" in line for line in told)
    assert max(map(len, command.output.split("\n"))) < 500


def test_a_figure_of_ros2_run_is_cancelled_by_ctrl_c(launch, environ, node) -> None:
    sent = CommandLog(node, "PSM1/", load_arm("PSM"), lambda: None)
    told = ["ros2", "run", "dvrk_kinematics", "trace_block_o", "--scale", "0.3"]
    with launch("arm.launch.py") as system:
        pids = _wait_started(system, 4)
        system.wait(UP_AND_READY)
        with running_command(told, environ) as command:
            command.wait("tracing ")
            until(sent.count, "a motion")
            command.signal_all(signal.SIGINT)
            assert command.end() == 130
            assert "trace_block_o: cancelling the goal" in command.output
            assert "trace_block_o: interrupted" in command.output
            assert "Traceback" not in command.output, command.output
        begin_s = time.monotonic()
        until(lambda: sent.quiet_s() > 0.5, "the end of the motion")
        assert time.monotonic() - begin_s < 10.0, "it was traced to its end, which takes 25 s"
        system.signal_all(signal.SIGINT)
        assert system.end() == 0
    await_gone(pids)


def test_an_arm_without_a_prefix_has_its_base_on_tf(launch, node) -> None:
    heard: dict[str, str] = {}

    def hear(message: TFMessage) -> None:
        heard.update({one.child_frame_id: one.header.frame_id for one in message.transforms})

    node.create_subscription(TFMessage, "/tf_static", hear, qos.TF_STATIC)
    node.create_subscription(TFMessage, "/tf", hear, qos.TF)
    told = ("prefix:=none", "instrument:=400093", "servers:=false")
    with launch("arm.launch.py", *told) as command:
        pids = _wait_started(command, 2)
        until(lambda: "yaw_link" in heard and "base" in heard, "frames without a prefix")
        assert heard["base"] == "PSM1_base" and "PSM1_yaw_link" not in heard
        command.signal_all(signal.SIGINT)
        assert command.end() == 0
    await_gone(pids)


def test_pytest_collects_beside_the_plugins_of_launch(environ) -> None:
    """Those of Jazzy do not know this pytest."""
    told = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider"]
    told.append(str(Path(__file__).with_name("test_launch_files.py")))
    done = subprocess.run(
        told, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=120.0
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_several_arms_are_viewed_and_recorded_together(launch, tmp_path) -> None:
    with launch("record.launch.py", "arm:=PSM1,PSM2", f"output:={tmp_path / 'bag'}") as command:
        pids = _wait_started(command, 1)
        (told,) = command.children().values()
        assert "--arms PSM1 PSM2" in told
        command.wait("recording")
        command.signal_all(signal.SIGINT)
        command.end()
    await_gone(pids)


def test_without_rviz_there_is_nothing_to_view(launch, environ) -> None:
    if any(Path(folder, "rviz2").exists() for folder in environ["PATH"].split(":")):
        pytest.skip("RViz is installed")
    with launch("view.launch.py", "arm:=PSM1,PSM2") as command:
        assert command.end() == 1
    assert "rviz2 is not installed; nothing was started" in command.output

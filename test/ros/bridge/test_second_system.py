"""A second system of the same arm: it ends in a sentence, and the first one does not notice."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from bridge_client import bridge_of
from joint_goals import HOME, SUCCEEDED, TIMEOUT_S, at

from bench.processes import die_with_parent
from dvrk_kinematics import load_arm
from dvrk_kinematics.ros.bringup.processes import Process, command_line, simulated_arms
from dvrk_kinematics.ros.common.sole_publisher import find_elsewhere


def start(process: Process) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command_line(process),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=die_with_parent,
    )


def await_end(process: subprocess.Popen[str]) -> str:
    """Wait until a process ends by itself; gives what it said."""
    try:
        return process.communicate(timeout=TIMEOUT_S)[0]
    finally:
        process.kill()
        process.wait()


def wait_running(bridge: Any) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while "nothing is sent before" not in bridge.output:
        assert bridge.is_running and time.monotonic() < deadline, bridge.output
        time.sleep(0.05)


def test_a_second_bridge_and_a_second_simulator_end_and_disturb_nobody(make_rig: Any) -> None:
    rig = make_rig("first")
    client = rig.client
    client.get_ready()
    client.reach(HOME)
    sent = client.commands.mark()
    goal = client.go(at(yaw=0.4), 6.0)
    client.wait_moving(0.2, before=sent)
    seconds = [start(bridge_of("first", arm="PSM1")), start(simulated_arms(["PSM1"], "first"))]
    said = [await_end(second) for second in seconds]
    assert [second.returncode for second in seconds] == [1, 1], said
    what = "runs already and publishes /first/PSM1"
    assert f"another bridge of PSM1 (process {rig.bridge.pid}) {what}/servo_jp" in said[0]
    assert f"another simulator of PSM1 (process {rig.simulator.pid}) {what}/meas" in said[1]
    assert "ROS_DOMAIN_ID" in said[0] and "Traceback" not in "".join(said)
    response = goal.result(TIMEOUT_S)
    assert response.status == SUCCEEDED, response
    client.commands.check()
    assert client.commands.words() == ["enable", "home"]


@pytest.mark.parametrize(
    ("server", "does"),
    [
        ("trajectory_server", "publishes /doubled/trajectory/PSM1/flight_plan"),
        ("kinematics_server", "answers at /doubled/kinematics/PSM1"),
    ],
)
def test_a_second_server_of_an_arm_ends_and_one_of_other_arms_goes_on(
    run: Any, server: str, does: str
) -> None:
    def serving(*arms: str) -> Process:
        return Process(server, "doubled", parameters={"arms": list(arms)})

    def wait_serving(process: Any) -> None:
        deadline = time.monotonic() + TIMEOUT_S
        while "/<arm>/" not in process.output:
            assert process.is_running and time.monotonic() < deadline, process.output
            time.sleep(0.05)

    first = run(serving("PSM1", "PSM2"))
    wait_serving(first)
    second = start(serving("PSM3", "PSM1"))
    said = second.communicate(timeout=TIMEOUT_S)[0]
    assert second.returncode == 1 and "Traceback" not in said, said
    assert f"another {server} of PSM1 (process {first.pid}) runs already and {does}; " in said
    assert first.is_running
    wait_serving(run(serving("PSM3")))


@pytest.mark.parametrize("command", ["demo", "trace_block_o"])
def test_who_starts_a_second_system_never_commands_the_first(
    make_rig: Any, command: str, tmp_path: Path
) -> None:
    """Its own bridge ends soon, but its client may have found the first one's services before."""
    client = make_rig("" if command == "demo" else "traced").client
    client.until(lambda: client.commands.is_connected, "the bridge's commands")
    line = [sys.executable, "-m", f"dvrk_kinematics.ros.demo.{command}"]
    if command == "demo":
        line += ["--no-record", "--output", str(tmp_path / "demo")]
    else:
        line += ["--bring-up", "--started-by", "1000000000", "--ros-args", "-r", "__ns:=/traced"]
    done = subprocess.run(
        line,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
        preexec_fn=die_with_parent,
    )
    assert done.returncode == 1, done
    said = done.stdout + done.stderr
    assert "another bridge of PSM1" in said or "ended with exit code 1" in said, said
    assert "Traceback" not in said
    assert client.commands.is_silent()


def test_of_two_that_start_together_exactly_one_goes_on() -> None:
    both = [start(bridge_of("together")) for _ in range(2)]
    try:
        deadline = time.monotonic() + TIMEOUT_S
        while all(process.poll() is None for process in both):
            assert time.monotonic() < deadline, "both go on"
            time.sleep(0.05)
        over, going = sorted(both, key=lambda process: process.poll() is None)
        assert over.returncode == 1 and "another bridge of PSM1" in over.communicate()[0]
        assert going.poll() is None
        going.terminate()
        assert going.wait(TIMEOUT_S) == 0
    finally:
        for process in both:
            process.kill()
            process.wait()


def test_two_descriptions_with_one_root_are_told_apart(run: Any, tmp_path: Path) -> None:
    """The root would have two parents on tf, and the arms would jump from one to the other."""
    parts, above = ['<link name="world"/>'], "world"
    for name in load_arm("PSM").joint_names:
        limit = '<axis xyz="0 0 1"/><limit lower="-1" upper="1" velocity="1" effort="1"/>'
        parts.append(
            f'<link name="{name}_link"/><joint name="{name}" type="revolute">'
            f'<parent link="{above}"/><child link="{name}_link"/>{limit}</joint>'
        )
        above = f"{name}_link"
    file = tmp_path / "psm.urdf"
    file.write_text(f'<robot name="r">{"".join(parts)}</robot>')
    wait_running(run(bridge_of("roots", arm="PSM1", description=str(file))))
    second = start(bridge_of("roots", arm="PSM2", description=str(file)))
    said = await_end(second)
    assert second.returncode == 1 and "its root 'world' is the root of another arm's" in said
    wait_running(run(bridge_of("roots", arm="PSM2", description=str(file), join="none")))


def test_a_bridge_on_another_machine_is_told_from_one_that_died_on_this() -> None:
    """An endpoint's gid begins with vendor and machine; the dead are in the graph for a while."""

    def bridge(name: str, machine: int, process: int) -> Any:
        gid = [1, 15, machine, 7, process, *[0] * 11]
        return SimpleNamespace(node_namespace="/", node_name=name, endpoint_gid=gid)

    assert find_elsewhere([bridge("old", 1, 1), bridge("new", 1, 2)]) == []
    assert find_elsewhere([bridge("here", 1, 1), bridge("there", 2, 2)]) == ["/here", "/there"]

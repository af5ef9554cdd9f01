"""What a bridge may command: simulated arms by default, a real one only when told so."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from bridge_client import BridgeClient, bridge_of
from joint_goals import HOME, check_ended
from rclpy.node import Node

from dvrk_kinematics.driver import Reason, ResultCode
from dvrk_kinematics.models.urdf.describe_urdf import describe
from dvrk_kinematics.ros.bringup.processes import Process, command_line, simulated_arms

TIMEOUT_S = 40.0


def test_a_publisher_that_is_no_simulator_is_refused_and_hears_nothing(
    run_alone: Any, node: Node, start: Any
) -> None:
    start("bridge/stand_in_dvrk.py", "stranger", "PSM1")
    run_alone(bridge_of("stranger"))
    client = BridgeClient(node, "PSM1", "stranger")
    client.until(lambda: len(client.joint_states) > 5, "its state, which is shown all the same")
    for name in ("enable", "home", "pause", "resume", "disable", "hold"):
        answer = client.trigger(name)
        assert not answer.success, (name, answer.message)
    assert "start with hardware:=dvrk" in client.trigger("enable").message
    result = client.go([0.1, 0.1, 0.1, 0.0, 0.0, 0.0], 1.0).result(TIMEOUT_S)
    assert "is no arm_simulator" in result.result.error_string
    client.wait_diagnosed("connection", "is no arm_simulator", hardware="simulated")
    assert client.commands.is_silent()


def test_with_hardware_it_is_commanded_once_it_is_enabled_and_not_before(
    run_alone: Any, node: Node
) -> None:
    run_alone(simulated_arms(["PSM1"], "real"))
    run_alone(bridge_of("real", hardware="dvrk"))
    client = BridgeClient(node, "PSM1", "real")
    client.until(lambda: client.commands.is_connected, "the bridge's commands")
    client.wait_diagnosed("connection", "DISABLED", hardware="dvrk", state="DISABLED")
    result = client.go([0.1, 0.1, 0.1, 0.0, 0.0, 0.0], 1.0).result(TIMEOUT_S)
    assert "call bridge/PSM1/enable first" in result.result.error_string
    assert client.commands.is_silent()
    client.get_ready()
    assert client.commands.words() == ["enable", "home"]
    before = client.commands.mark()
    goal = client.go([0.1, 0.1, 0.1, 0.0, 0.0, 0.0], 0.5)
    client.wait_moving(before=before)
    goal.result(TIMEOUT_S)
    client.commands.check()


def test_an_arm_whose_is_busy_sticks_is_not_waited_for_for_ever(
    run_alone: Any, node: Node, start: Any
) -> None:
    start("bridge/stand_in_dvrk.py", "stuck", "PSM1", "dvrk_system", "sticks")
    run_alone(bridge_of("stuck", hardware="dvrk", state_timeout=6.0, home_timeout=4.0))
    client = BridgeClient(node, "PSM1", "stuck")
    client.wait_diagnosed("connection", "ENABLED", is_homed="False")
    client.do("enable")

    def is_told() -> bool:
        # The arm may hear of it so late that it says what it does the next time only.
        homed = client.trigger("home")
        assert not homed.success and "not homed after 4 s" in homed.message, homed.message
        return "(is_homed True, is_busy True)" in homed.message

    client.until(is_told, "the end of the wait")
    result = client.go(HOME, 1.0).result(TIMEOUT_S)
    check_ended(result, Reason.BUSY, ResultCode.INVALID_GOAL)
    again = client.trigger("enable")
    assert not again.success and "after 6 s the arm is ENABLED, is_busy True" in again.message
    assert client.commands.setpoints().size == 0


def test_of_two_nodes_with_one_name_neither_is_trusted(
    run_alone: Any, node: Node, start: Any
) -> None:
    """The simulator of another arm has the name that a dVRK has, and could answer for it."""
    start("bridge/stand_in_dvrk.py", "twins", "PSM1", "dvrk")
    run_alone(simulated_arms(["PSM2"], "twins"))
    run_alone(bridge_of("twins"))
    client = BridgeClient(node, "PSM1", "twins")
    client.until(lambda: client.commands.is_connected, "the bridge's commands")

    def is_told() -> bool:
        # One of them is found before the other.
        answer = client.trigger("enable")
        assert not answer.success
        return "2 nodes are called /twins/dvrk" in answer.message

    client.until(is_told, "both nodes of one name")
    assert client.commands.is_silent()


def test_a_real_arm_that_takes_the_place_of_a_simulated_one_is_not_commanded(
    run_alone: Any, node: Node, start: Any
) -> None:
    """The graph shows the one that died for a while longer, and both have the same name."""
    simulator = run_alone(simulated_arms(["PSM1"], "changed"))
    run_alone(bridge_of("changed"))
    client = BridgeClient(node, "PSM1", "changed")
    client.get_ready()
    words = client.commands.words()
    simulator.kill()
    client.until(lambda: "since the last measured_js" in client.trigger("home").message, "silence")
    start("bridge/stand_in_dvrk.py", "changed", "PSM1", "dvrk")
    before = len(client.joint_states)

    def is_shown() -> bool:
        for name in ("enable", "home"):
            assert not client.trigger(name).success
        return len(client.joint_states) > before + 600

    client.until(is_shown, "the arm that came")
    assert client.commands.words() == words
    assert client.commands.mark() == 0


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"arm": "PSMX"}, "unknown arm 'PSMX'"),
        ({"arm": "no arm"}, "'no arm' is not the name of an arm"),
        ({"instrument": "NONSENSE_1"}, "NONSENSE"),
        ({"hardware": "real"}, "hardware: 'real' is none of simulated, dvrk"),
        ({"hardware": "dvrk", "use_sim_time": True}, "a real arm runs on real time"),
        ({"description": "/nowhere/psm.urdf"}, "/nowhere/psm.urdf"),
        ({"description": "/nowhere/psm.urdf.xacro"}, "does not exist"),
        ({"description_root": "base"}, "is about a description of your own"),
        ({"tf_rate": 300.0}, "tf_rate: 300.0 Hz is above rate, 200.0 Hz"),
        ({"arm": "SUJ", "setup_joints": ["PSM9"]}, "PSM9"),
        ({"generation": "Xi"}, "Xi"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(
    parameters: dict[str, Any], sentence: str
) -> None:
    done = subprocess.run(
        command_line(Process("arm_bridge", parameters=parameters)),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    assert done.returncode == 1
    assert sentence in done.stderr and "Traceback" not in done.stderr


def test_a_description_of_another_arm_is_refused_with_the_joints_that_differ(
    tmp_path: Path,
) -> None:
    other = tmp_path / "other.urdf"
    limit = '<limit lower="-1" upper="1" velocity="1" effort="1"/>'
    other.write_text(
        '<robot name="r"><link name="a"/><link name="b"/><joint name="elbow" type="revolute">'
        f'<parent link="a"/><child link="b"/>{limit}</joint></robot>'
    )
    process = Process("arm_bridge", parameters={"description": str(other)})
    done = subprocess.run(command_line(process), capture_output=True, text=True, timeout=TIMEOUT_S)
    assert done.returncode == 1 and "moves elbow, which PSM1 does not report" in done.stderr


def test_the_description_of_an_arm_with_fewer_joints_is_refused(tmp_path: Path) -> None:
    """The joints of an ECM have the names of a PSM's first four."""
    file = tmp_path / "ecm.urdf"
    file.write_text(describe("ECM"))
    process = Process("arm_bridge", parameters={"description": str(file)})
    done = subprocess.run(command_line(process), capture_output=True, text=True, timeout=TIMEOUT_S)
    assert done.returncode == 1
    assert "does not move wrist_pitch, wrist_yaw, which PSM1 has" in done.stderr


def test_a_bridge_that_ends_leaves_no_middleware_running() -> None:
    """Actions that nobody destroyed kept it alive, and the process could hang at its end."""
    script = (
        "import os, signal, threading\n"
        "from pathlib import Path\n"
        "from dvrk_kinematics.ros.bridge.node import BridgeNode, main\n"
        "begin = BridgeNode.__init__\n"
        "def begin_and_end(self):\n"
        "    begin(self)\n"
        "    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGTERM)).start()\n"
        "BridgeNode.__init__ = begin_and_end\n"
        "code = main([])\n"
        "threads = [(t / 'comm').read_text() for t in Path('/proc/self/task').iterdir()]\n"
        "print(code, [name for name in threads if name.startswith('dds.ev')])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=TIMEOUT_S
    )
    assert done.returncode == 0 and done.stdout == "0 []\n", done.stderr

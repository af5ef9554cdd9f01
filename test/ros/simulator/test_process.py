"""The simulator as a process: its end, its parameters, its namespaces, and faults on purpose."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest
from arm_client import ArmClient
from crtk_msgs.srv import TriggerOperatingState
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.node import Node
from std_srvs.srv import Trigger

from dvrk_kinematics.errors import UnknownName
from dvrk_kinematics.ros.bringup.processes import Process, command_line, simulated_arms
from dvrk_kinematics.ros.client.calls import call
from dvrk_kinematics.ros.common.stamps import stamp_to_ns
from dvrk_kinematics.ros.crtk.contract import CONTRACT, Kind
from dvrk_kinematics.ros.simulator.command_queue import ARM_READERS
from dvrk_kinematics.simulation import SimulatedEcm, SimulatedPsm

TIMEOUT_S = 30.0
END_S = 5.0
"""From the signal to the end of a process, at most."""


def test_every_command_and_reading_of_the_contract_is_a_member_of_the_arm() -> None:
    for kind, arm in ((Kind.PSM, SimulatedPsm), (Kind.ECM, SimulatedEcm)):
        for topic in CONTRACT[kind].topics:
            if topic.rate.name in ("STATE", "COMMAND"):
                assert hasattr(arm, topic.name.replace("/", "_")), topic.name
    assert ARM_READERS.keys() <= {topic.name for topic in CONTRACT[Kind.PSM].topics}


def test_a_process_is_described_as_data() -> None:
    process = simulated_arms(["PSM1", "ECM"], "lab", rate=100.0, setup_joints=True)
    line = command_line(process)
    assert line[1:4] == ["-m", "dvrk_kinematics.ros.executables", "arm_simulator"]
    assert line[4:] == [
        *("--ros-args", "-r", "__ns:=/lab", "-p", 'arms:=["PSM1", "ECM"]'),
        *("-p", "rate:=100.0", "-p", "setup_joints:=true"),
    ]
    assert command_line(Process("arm_simulator"))[4:] == []
    with pytest.raises(UnknownName, match="valid: arm, arm_bridge, arm_simulator"):
        Process("nonsense")


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"arms": ["PSM1", "PSM1"]}, "names an arm twice"),
        ({"arms": ["MTML"]}, "'MTML' is none of PSM1, PSM2, PSM3, ECM"),
        ({"tf_rate": 300.0}, "tf_rate: 300.0 Hz is above rate, 200.0 Hz"),
        ({"instrument": "NONSENSE_1"}, "NONSENSE"),
    ],
)
def test_parameters_that_make_no_sense_are_refused_in_a_sentence(
    parameters: dict[str, Any], sentence: str
) -> None:
    arms = parameters.pop("arms", ["PSM1"])
    done = subprocess.run(
        command_line(simulated_arms(arms, **parameters)),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    assert done.returncode == 1
    assert sentence in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_cleanly_in_time(run: Any, node: Node, sign: int) -> None:
    namespace = sign.name.lower()
    process = run(simulated_arms(["PSM1"], namespace))
    ready = node.create_client(TriggerOperatingState, f"{namespace}/PSM1/operating_state")
    call(ready, TriggerOperatingState.Request(), TIMEOUT_S)
    begin = time.monotonic()
    process.send_signal(sign)
    output, _ = process.communicate(timeout=TIMEOUT_S)
    assert time.monotonic() - begin < END_S
    assert process.returncode == 0
    said, *rest = output.splitlines()
    # Where the machine keeps it from leaving within 2 s, the watchdog ends it and says so.
    assert all("leaving the middleware took more than 2 s" in line for line in rest), rest
    assert said.endswith(
        "simulated PSM1 at 200 Hz, as a dVRK wakes up: PSM1/state_command takes enable and home"
    )


def test_a_failure_of_the_loop_ends_the_process_and_says_why() -> None:
    script = (
        "import sys; from dvrk_kinematics.ros.simulator import node\n"
        "def fail(system, now_ns): raise RuntimeError('the arm fell off')\n"
        "node.SimulatedSystem.step = fail\n"
        "sys.exit(node.main([]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=TIMEOUT_S
    )
    assert done.returncode == 1 and "the arm fell off" in done.stderr


def test_two_simulators_live_side_by_side_in_namespaces(run: Any, node: Node) -> None:
    left, right = (ArmClient(node, "PSM1", f"{side}/", durable=True) for side in ("left", "right"))
    for side in ("left", "right"):
        run(simulated_arms(["PSM1"], side))
    for client in (left, right):
        client.hear("operating_state", "status", "measured_js", "tool_type")
        client.wait("operating_state", lambda c=client: c.heard["operating_state"])
    left.enable()
    left.home()
    assert left.state.state == "ENABLED" and right.state.state == "DISABLED"
    assert left.newest("measured_js").header.stamp.sec > 0
    # Not homed: no joints, and stamp 0.
    silent = right.newest("measured_js")
    assert not silent.name and not silent.position and silent.header.stamp.sec == 0
    assert left.heard["tool_type"][-1].data == "LARGE_NEEDLE_DRIVER:400006[..]"


@pytest.fixture(scope="module")
def faulty(run: Any, node: Node) -> ArmClient:
    run(simulated_arms(["PSM1"], "faulty", faults=True))
    client = ArmClient(node, "PSM1", "faulty/", durable=True)
    client.hear("operating_state", "status", "error", "warning", "measured_js", "goal_reached")
    client.check_connections()
    client.enable()
    client.home()
    return client


def inject(node: Node, fault: str) -> Any:
    client = node.create_client(Trigger, f"faulty/dvrk/faults/PSM1/{fault}")
    return call(client, Trigger.Request(), TIMEOUT_S)


def set_one(node: Node, name: str, value: ParameterValue) -> Any:
    client = node.create_client(SetParameters, "faulty/dvrk/set_parameters")
    request = SetParameters.Request(parameters=[Parameter(name=name, value=value)])
    return call(client, request, TIMEOUT_S).results[0]


def set_parameter(node: Node, name: str, value: ParameterValue) -> bool:
    return bool(set_one(node, name, value).successful)


def test_state_can_be_dropped_and_comes_back(faulty: ArmClient, node: Node) -> None:
    faulty.newest("measured_js")
    assert inject(node, "dropped_state").success
    # What was on its way still comes.
    faulty.wait("measured_js", lambda: faulty.silent_s("measured_js") > 0.3)
    assert inject(node, "clear").success
    faulty.newest("measured_js")


def _age_s(message: Any) -> float:
    return time.time() - stamp_to_ns(message.header.stamp) * 1e-9


def test_state_can_be_late(faulty: ArmClient, node: Node) -> None:
    late = ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=0.5)
    assert set_parameter(node, "fault_delay", late)
    assert inject(node, "delayed_state").success
    faulty.wait("measured_js", lambda: _age_s(faulty.heard["measured_js"][-1]) > 0.45)
    assert inject(node, "clear").success


def test_a_late_publisher_sends_bursts_and_pauses(faulty: ArmClient, node: Node) -> None:
    often = ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=20.0)
    assert set_parameter(node, "fault_gaps", often)
    assert inject(node, "late_publisher").success
    start = len(faulty.heard["measured_js"])
    # Some of 600 messages are never made; by then there were some 60 gaps.
    faulty.wait("measured_js", lambda: len(faulty.heard["measured_js"]) >= start + 600)
    assert inject(node, "clear").success
    stamps = [stamp_to_ns(m.header.stamp) for m in faulty.heard["measured_js"][start:]]
    steps = np.diff(stamps)
    assert steps.min() > -20_000, "a burst comes in the order of its stamps"
    assert np.sum(steps > 12_000_000) >= 5, "pauses leave gaps in the stamps"


def test_a_stalled_joint_makes_the_servo_give_up(faulty: ArmClient, node: Node) -> None:
    snake = ParameterValue(type=ParameterType.PARAMETER_STRING, string_value="wrist_pitch1")
    assert set_parameter(node, "fault_joint", snake)
    refused = inject(node, "stalled_joint")
    assert not refused.success and "wrist_pitch1" in refused.message
    yaw = ParameterValue(type=ParameterType.PARAMETER_STRING, string_value="yaw")
    assert set_parameter(node, "fault_joint", yaw)
    assert inject(node, "stalled_joint").success
    faulty.send_joints("move_jp", [1.2, 0.0, 0.12, 0.0, 0.0, 0.0])
    faulty.wait("operating_state", lambda: faulty.state.state == "FAULT")
    assert any("tracking error" in text for text in faulty.texts("error"))
    assert inject(node, "clear").success
    faulty.command("disable", lambda state: state.state == "DISABLED")
    faulty.enable()
    faulty.home()


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("fault_joint", "nonsense", "'nonsense' is not a joint of PSM1: yaw, pitch, insertion"),
        ("fault_jump", 4.0, "4.0 is more than the whole range of yaw, 3.176"),
        ("fault_jump", float("nan"), "value: nan"),
        ("fault_longest_gap", 1e9, "1000000000.0"),
    ],
)
def test_a_fault_out_of_all_proportion_is_refused(
    faulty: ArmClient, node: Node, name: str, value: float | str, sentence: str
) -> None:
    told = ParameterValue(type=ParameterType.PARAMETER_DOUBLE)
    if isinstance(value, str):
        told.type, told.string_value = ParameterType.PARAMETER_STRING, value
    else:
        told.double_value = value
    result = set_one(node, name, told)
    assert not result.successful
    assert sentence in result.reason


def test_a_tool_can_be_taken_off_and_put_back(faulty: ArmClient, node: Node) -> None:
    faulty.hear("tool_type")
    assert inject(node, "tool_removed").success
    faulty.wait("tool_type", lambda: [m.data for m in faulty.heard["tool_type"][-1:]] == [""])
    assert inject(node, "clear").success
    faulty.wait("tool_type", lambda: "400006" in faulty.heard["tool_type"][-1].data)


def test_an_encoder_jumps(faulty: ArmClient, node: Node) -> None:
    before = faulty.newest("measured_js").position[0]
    assert inject(node, "encoder_jump").success
    faulty.wait("measured_js", lambda: faulty.heard["measured_js"][-1].position[0] > before + 0.05)
    assert inject(node, "clear").success


def test_power_loss_is_a_fault(faulty: ArmClient, node: Node) -> None:
    assert inject(node, "power_loss").success
    faulty.wait("operating_state", lambda: faulty.state.state == "FAULT")
    assert inject(node, "clear").success

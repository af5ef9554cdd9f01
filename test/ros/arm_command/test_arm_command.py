"""./dvrk arm against a simulated arm and its bridge: every verb, what it says, and its end."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import rclpy
from control_msgs.msg import SpeedScalingFactor
from rclpy.context import Context
from rclpy.node import Node
from screen import become_its_terminal, read_screen, show

from bench.processes import die_with_parent
from dvrk_kinematics.errors import ArmNotReady, BridgeMissing
from dvrk_kinematics.ros.arm_command.arm_client import ArmClient
from dvrk_kinematics.ros.arm_command.command import carry_out, parse
from dvrk_kinematics.ros.bringup.processes import Process, command_line, simulated_arms
from dvrk_kinematics.ros.client.heard_diagnostics import DiagnosticLine
from dvrk_kinematics.ros.common import qos
from dvrk_kinematics.ros.common.patience import Patience
from dvrk_kinematics.ros.common.spinning_node import SpinningNode

SPACE, OTHER_SPACE = "desk", "lab"
COMMAND = [*command_line(Process("arm")), "--namespace", SPACE, "PSM1"]


@pytest.fixture(scope="module")
def desk(own_domain: None) -> Iterator[Node]:
    """A spinning node in the namespace of the arm."""
    with spinning_in(SPACE) as made:
        yield made


@contextmanager
def spinning_in(namespace: str) -> Iterator[Node]:
    """A spinning node in a namespace."""
    context = Context()
    rclpy.init(context=context)
    made = Node("person", namespace=namespace, context=context)
    with SpinningNode(made):
        yield made
    for action in list(made.waitables):
        if hasattr(action, "destroy"):
            action.destroy()
    made.destroy_node()
    rclpy.try_shutdown(context=context)


@pytest.fixture(scope="module")
def client(run: Any, desk: Node) -> ArmClient:
    """A client of an arm that nobody has brought up."""
    run(simulated_arms(["PSM1"], SPACE))
    run(Process("arm_bridge", SPACE, parameters={"arm": "PSM1"}))
    client = ArmClient(desk, "PSM1")
    # The bridge is there before it has found its arm, and says so.
    deadline_s = time.monotonic() + 60.0
    while (line := client.wait_for_line("connection")) and line.values["state"] != "DISABLED":
        assert time.monotonic() < deadline_s, line
    return client


class Person:
    """Types commands, and reads what they say."""

    def __init__(self, client: ArmClient, capsys: pytest.CaptureFixture[str]) -> None:
        self._client = client
        self._capsys = capsys

    def types(self, *words: str) -> str:
        """What a command says that is done."""
        code, said, refused = self._run(words)
        assert (code, refused) == (0, ""), (words, said, refused)
        return said

    def is_refused(self, *words: str) -> str:
        """What a command says that is not done."""
        code, _, refused = self._run(words)
        assert code == 1
        return refused

    def _run(self, words: tuple[str, ...]) -> tuple[int, str, str]:
        self._capsys.readouterr()
        code = carry_out(self._client, parse(["PSM1", *words]))
        return code, *self._capsys.readouterr()


@pytest.fixture
def person(client: ArmClient, capsys: pytest.CaptureFixture[str]) -> Person:
    return Person(client, capsys)


def test_an_arm_that_is_not_up_says_what_to_type_next(person: Person, client: ArmClient) -> None:
    text = person.types("status")
    assert text.startswith("PSM1: DISABLED, not homed, not enabled through its bridge")
    step = "next: ./dvrk arm PSM1 enable --namespace desk"
    assert "none that are valid" in text and text.endswith(f"{step}\n")
    with pytest.raises(ArmNotReady, match=f"no valid joints: DISABLED.*{step}$"):
        carry_out(client, parse(["PSM1", "go", "yaw=10deg"]))
    assert "PSM1: home: " in person.is_refused("home")


def test_an_arm_is_brought_up_moved_and_looked_at(person: Person, client: ArmClient) -> None:
    assert person.types("enable").startswith("PSM1: enable: ENABLED")
    assert person.types("home") == "PSM1: home: homed\n"
    # Diagnostics come once a second, and every command starts with new ones but here.
    client.wait_for_line("connection")
    assert "goal reached" in person.types("go", "yaw=5deg", "insertion+=-10mm", "--time", "0.3s")
    # A result can overtake the states on their way.
    deadline_s = time.monotonic() + 60.0
    while np.degrees(client.read_joints()[0]) != pytest.approx(5.0, abs=1e-3):
        assert time.monotonic() < deadline_s, client.read_joints()
    assert "goal reached" in person.types("go", "z+=-5mm", "--speed", "1")
    client.wait_for_line("motion")
    text = person.types("status")
    assert text.startswith("PSM1: ENABLED, homed; at rest\n")
    assert " tip " in text and "mm in PSM1_base" in text and "LARGE_NEEDLE_DRIVER" in text
    assert "next:" not in text
    assert person.types("watch", "0.1s").startswith("PSM1: ENABLED, homed; ")
    opening = person.types("jaw", "30deg").removeprefix("PSM1: jaw: ").removesuffix(" deg\n")
    assert float(opening) == pytest.approx(30.0, abs=0.6)


def test_jogs_move_the_tip_or_a_joint_and_end_by_themselves(
    person: Person, client: ArmClient
) -> None:
    assert "the tip moved by" in person.types("jog", "x", "5mm/s", "0.3s", "--tool")
    begin_s = time.monotonic()
    said = person.types("jog", "wrist_pitch", "-20deg/s", "1s")
    took_s = time.monotonic() - begin_s
    # As far as that speed comes in the time that the machine took.
    assert -20.0 * took_s < float(said.split("moved by ")[1].split()[0]) < -1.0
    rests = client.read_joints()
    client.wait_for_line("motion")
    np.testing.assert_array_equal(client.read_joints(), rests)


def test_refusals_are_the_bridges_own_sentences(person: Person) -> None:
    assert "goal leaves the joint limits, yaw" in person.is_refused("go", "yaw=120deg")
    assert "goal leaves the joint limits, jaw" in person.is_refused("jaw", "300deg")
    assert person.types("pause") == "PSM1: pause: PAUSED\n"
    for words in (("go", "yaw=0"), ("jog", "x", "5mm/s", "3s"), ("jaw", "0")):
        assert "not enabled through the bridge" in person.is_refused(*words)
    text = person.types("status")
    assert "last refusal   not enabled through the bridge" in text and " s ago\n" in text
    assert person.types("resume").startswith("PSM1: resume: ")
    assert person.types("enable").startswith("PSM1: enable: ENABLED")
    assert person.types("hold").startswith("PSM1: hold: ")


def test_watch_draws_over_what_it_drew_on_a_terminal_of_80_columns(person: Person) -> None:
    person.types("pause")
    # The sentence of a refusal is wider than that.
    person.is_refused("jaw", "0")
    person.types("resume")
    person.types("enable")

    def is_drawn_thrice(text: str) -> bool:
        return text.count("\x1b[J") == 2 and text.endswith("s ago\n")

    text = show(become_its_terminal, *COMMAND, "watch", is_enough=is_drawn_thrice)
    assert max(len(line) for line in text.split("\n")) > 80
    screen = read_screen(text, 80)
    assert screen.count("PSM1: ") == screen.count("orientation") == 1
    assert " s ago\n" in screen and "last stop" in screen


def test_an_arm_without_a_bridge_is_told_with_those_that_have_one(desk: Node) -> None:
    told: list[str] = []
    with pytest.raises(BridgeMissing) as caught:
        ArmClient(desk, "PSM2", Patience(told.append), bound_s=3.2)
    assert "bridges that run: /desk/PSM1" in str(caught.value)
    start = "./dvrk up --arm PSM2 namespace:=desk"
    assert str(caught.value).endswith(start)
    assert told == [
        f"waiting for the bridge of PSM2; {start} in another terminal starts one (up to 3 s)"
    ]


def test_ctrl_c_cancels_the_goal_and_says_so(client: ArmClient) -> None:
    began = client.read_joints()
    command = subprocess.Popen(
        [*COMMAND, "go", "yaw=-30deg", "--time", "30s"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=die_with_parent,
    )
    try:
        while np.abs(client.read_joints() - began).max() < 1e-4:
            assert command.poll() is None
        command.send_signal(signal.SIGINT)
        said, refused = command.communicate(timeout=60)
    finally:
        command.kill()
        command.wait()
    assert command.returncode == 130
    assert "going there in 30.0 s" in said
    assert "cancelling the goal" in refused and "Traceback" not in refused
    line = client.wait_for_line("last stop")
    assert line is not None and line.values["stop"] == "CANCELLED"


def test_a_jaw_that_is_held_tells_that_and_no_refusal_from_before(
    person: Person, client: ArmClient
) -> None:
    """It told the refusal of a goal of the arm that was refused before."""
    person.types("jaw", "0deg")
    assert "goal leaves the joint limits, yaw" in person.is_refused("go", "yaw=120deg")
    speed = client.node.create_publisher(
        SpeedScalingFactor, "bridge/PSM1/speed_scaling_input", qos.SPEED_SCALING
    )
    speed.publish(SpeedScalingFactor(factor=0.02))
    slowed = client.wait_for_line("motion")
    while slowed is None or slowed.values["speed_scaling_input"] != "0.02":
        slowed = client.wait_for_line("motion")
    command = subprocess.Popen(
        [*COMMAND, "jaw", "60deg"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    opening = 0.0
    while opening < 1e-3:
        assert command.poll() is None
        jaw = client.read_status().jaw
        opening = 0.0 if jaw is None else jaw.position
    assert client.trigger("hold").is_done
    _, refused = command.communicate(timeout=60)
    assert command.returncode == 1
    assert refused == "PSM1: jaw: hold was asked for\n"
    line = client.wait_for_line("last stop")
    assert line is not None
    said = {name: line.values[name] for name in ("jaw_stop", "jaw_stop_kind", "jaw_stopped")}
    assert said == {
        "jaw_stop": "HOLD_REQUESTED",
        "jaw_stop_kind": "path stop",
        "jaw_stopped": "hold was asked for",
    }
    assert float(line.values["jaw_stop_age_s"]) < float(line.values["refusal_age_s"])
    speed.publish(SpeedScalingFactor(factor=1.0))


def test_disable_takes_the_power_off(person: Person) -> None:
    assert person.types("disable") == "PSM1: disable: DISABLED\n"


def test_arms_of_one_name_in_two_namespaces_are_told_apart(
    run: Any, client: ArmClient, capsys: pytest.CaptureFixture[str]
) -> None:
    """Either was told with the state of the one that had said something last."""
    run(simulated_arms(["PSM1"], OTHER_SPACE))
    bridge = run(Process("arm_bridge", OTHER_SPACE, parameters={"arm": "PSM1"}))
    with spinning_in(OTHER_SPACE) as lab:
        other = ArmClient(lab, "PSM1")
        outcome = other.trigger("enable")
        assert outcome.is_done, outcome
        for _ in range(3):
            for one, state in ((client, "DISABLED"), (other, "ENABLED")):
                assert _hear(one).values["state"] == state
                assert one.read_status().value("connection", "state") == state
        bridge.kill()
        deadline_s, text = time.monotonic() + 60.0, ""
        while "the bridge has been silent for" not in text:
            assert time.monotonic() < deadline_s, text
            capsys.readouterr()
            assert carry_out(other, parse(["PSM1", "watch", "0.1s"])) == 0
            text = capsys.readouterr().out
        assert text.startswith("PSM1: the bridge has been silent for")
        assert "ENABLED" not in text and "last refusal unknown" in text


def _hear(client: ArmClient) -> DiagnosticLine:
    line = client.wait_for_line("connection")
    assert line is not None
    return line
